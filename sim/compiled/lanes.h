// How a chip meets its links, shared by the models of chips and the driver that steps them.
#pragma once

#include <cstdint>

// What Python calls. All else is hidden: the libraries of different chips use the same names.
#define EXPORT extern "C" __attribute__((visibility("default")))

// One end of a link: a ring buffer for each direction, indexed by the cycle of arrival.
//
// What is given to the link in cycle t goes to slot t + delay, and what comes from it in cycle t is
// in slot t; so a ring that starts as zeros is a chain of `delay` registers. The length is a power
// of two and covers the delay and all cycles that one chip may be ahead of another.
struct Lane {
    const uint32_t *arriving;
    uint32_t *leaving;
    uint64_t arriving_words;  // words of one slot
    uint64_t leaving_words;
    uint64_t delay_cycles;    // of `leaving`
    uint64_t slot_mask;       // slots of either ring, less one

    const uint32_t *arrived(uint64_t cycle) const {
        return arriving + (cycle & slot_mask) * arriving_words;
    }

    uint32_t *left(uint64_t cycle) const {
        return leaving + ((cycle + delay_cycles) & slot_mask) * leaving_words;
    }
};

// Steps a model by `count` cycles from `cycle` on, with `start` asserted in all of them or in none.
// Returns the number of steps before the first cycle in which the chip was done, or `count`.
typedef uint64_t RunModel(void *model, const Lane *lanes, uint64_t cycle, uint64_t count,
                          uint32_t start);
