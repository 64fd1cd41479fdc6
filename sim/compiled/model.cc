// The C interface of one chip's model. In front of this stands what `write_cxxrtl` made of the chip,
// behind it what `glue.py` knows of the chip's ports, counters and memories.

#include "lanes.h"

namespace {

using Model = cxxrtl_design::p_chip;

template<size_t Bits>
const value<Bits> &now(const value<Bits> &port) {
    return port;
}

// A registered output. Until `commit`, its value is that of the cycle that was evaluated.
template<size_t Bits>
const value<Bits> &now(const wire<Bits> &port) {
    return port.curr;
}

template<size_t Bits>
const uint32_t *take(value<Bits> &port, const uint32_t *words) {
    for (size_t n = 0; n < port.chunks; n++)
        port.data[n] = *words++;
    return words;
}

template<class Port>
uint32_t *give(const Port &port, uint32_t *words) {
    for (uint32_t chunk : now(port).data)
        *words++ = chunk;
    return words;
}

void take_lanes(Model &model, const Lane *lanes, uint64_t cycle);
void give_lanes(const Model &model, const Lane *lanes, uint64_t cycle);
uint32_t *memory_words(Model &model, uint32_t index);
uint32_t counter_value(const Model &model, uint32_t index);

} // namespace

EXPORT void *model_new() {
    return new (std::nothrow) Model;
}

EXPORT void model_delete(void *model) {
    delete static_cast<Model *>(model);
}

// The words of a tensor memory, each in as many 32-bit words as it takes.
EXPORT uint32_t *model_memory(void *model, uint32_t index) {
    return memory_words(*static_cast<Model *>(model), index);
}

EXPORT uint32_t model_counter(void *model, uint32_t index) {
    return counter_value(*static_cast<Model *>(model), index);
}

// One evaluation a cycle is exact: the model has neither feedback nor buffered combinational wires
// (a build with them is refused), so an evaluation at a clock edge orders all logic of the cycle
// before it, outputs included, and `commit` moves the registers.
EXPORT uint64_t model_run(void *handle, const Lane *lanes, uint64_t cycle, uint64_t count,
                          uint32_t start) {
    Model &model = *static_cast<Model *>(handle);
    uint64_t done_after = count;
    model.p_start.set<uint32_t>(start);
    model.p_clk.set<uint32_t>(1);
    for (uint64_t n = 0; n < count; n++) {
        take_lanes(model, lanes, cycle + n);
        model.prev_p_clk.set<uint32_t>(0);
        model.Model::eval();
        give_lanes(model, lanes, cycle + n);
        if (done_after == count && now(model.p_done))
            done_after = n;
        model.Model::commit();
    }
    return done_after;
}
