// Faster concatenation of CXXRTL values.
//
// The runtime's own `concat_expr` builds a value of full width for each part of a chain, which is
// quadratic in the parts; a beat of eight lanes is such a chain. Here every part is put straight
// into its place. Partial specialisations for all that can stand on the left of a chain take the
// place of the primary template, so neither the runtime nor the generated model is changed.
#pragma once

#include <cxxrtl/cxxrtl.h>

namespace cxxrtl {

template<size_t At, size_t Bits, size_t Width>
CXXRTL_ALWAYS_INLINE void place(value<Bits> &whole, const value<Width> &part) {
    constexpr size_t chunk_bits = value<Bits>::chunk::bits;
    constexpr size_t first = At / chunk_bits, shift = At % chunk_bits;
    for (size_t n = 0; n < part.chunks; n++) {
        whole.data[first + n] |= part.data[n] << shift;
        if (shift != 0 && first + n + 1 < whole.chunks)
            whole.data[first + n + 1] |= part.data[n] >> ((chunk_bits - shift) % chunk_bits);
    }
}

template<size_t At, size_t Bits, class T, size_t Stop, size_t Start>
CXXRTL_ALWAYS_INLINE void place(value<Bits> &whole, const slice_expr<T, Stop, Start> &part) {
    place<At>(whole, part.val());
}

template<size_t At, size_t Bits, class T, class U>
CXXRTL_ALWAYS_INLINE void place(value<Bits> &whole, const concat_expr<T, U> &parts) {
    place<At + U::bits>(whole, parts.ms_expr);
    place<At>(whole, parts.ls_expr);
}

// What a `concat_expr` has, with the conversion to a value done by `place`.
template<class T, class U>
struct flat_concat : public expr_base<concat_expr<T, U>> {
    static constexpr size_t bits = T::bits + U::bits;

    T &ms_expr;
    U &ls_expr;

    flat_concat(T &ms_expr, U &ls_expr) : ms_expr(ms_expr), ls_expr(ls_expr) {}
    flat_concat(const flat_concat<T, U> &) = delete;

    CXXRTL_ALWAYS_INLINE value<bits> val() const {
        value<bits> whole;
        place<0>(whole, static_cast<const concat_expr<T, U> &>(*this));
        return whole;
    }

    CXXRTL_ALWAYS_INLINE operator value<bits>() const {
        return val();
    }

    CXXRTL_ALWAYS_INLINE void assign(const value<bits> &rhs) {
        ms_expr = rhs.template rtrunc<T::bits>();
        ls_expr = rhs.template trunc<U::bits>();
    }
};

#define SHARDWRIGHT_FLAT_CONCAT(...)                                                           \
    struct concat_expr<__VA_ARGS__, U> : public flat_concat<__VA_ARGS__, U> {                  \
        using flat_concat<__VA_ARGS__, U>::flat_concat;                                        \
        CXXRTL_ALWAYS_INLINE concat_expr &operator=(                                           \
                const value<flat_concat<__VA_ARGS__, U>::bits> &rhs) {                         \
            this->assign(rhs);                                                                 \
            return *this;                                                                      \
        }                                                                                      \
    };

template<size_t Bits, class U>
SHARDWRIGHT_FLAT_CONCAT(value<Bits>)
template<size_t Bits, class U>
SHARDWRIGHT_FLAT_CONCAT(const value<Bits>)
template<class T, size_t Stop, size_t Start, class U>
SHARDWRIGHT_FLAT_CONCAT(slice_expr<T, Stop, Start>)
template<class T, size_t Stop, size_t Start, class U>
SHARDWRIGHT_FLAT_CONCAT(const slice_expr<T, Stop, Start>)
template<class Left, class Right, class U>
SHARDWRIGHT_FLAT_CONCAT(concat_expr<Left, Right>)
template<class Left, class Right, class U>
SHARDWRIGHT_FLAT_CONCAT(const concat_expr<Left, Right>)

#undef SHARDWRIGHT_FLAT_CONCAT

} // namespace cxxrtl
