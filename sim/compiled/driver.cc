// Steps the chips of a system together.
//
// Every link delays by at least one cycle each way, so a chip can be stepped by as many cycles as
// the fastest link takes before it depends on what another chip does in the meantime. One such
// round runs chip by chip, on one thread or several; between two rounds the barrier networks catch
// up, and a look is taken at who is done.

#include "lanes.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

struct Chip {
    void *model;
    RunModel *run;
    const Lane *lanes;
    uint64_t done_cycle;  // first cycle in which it was done, or NEVER
};

// A receiver at a barrier: the ring of its offers, and the ring that takes the group's go to the
// sender. Both have a word for each slot.
struct Receiver {
    const uint32_t *ready;
    uint32_t *go;
    uint64_t delay_cycles;  // of `go`
    uint64_t offered;
};

// The register of offers of each receiver wraps around at `offered_mask`, as in BarrierNetwork.
struct Barrier {
    Receiver *receivers;
    uint64_t receiver_count;
    uint64_t offered_mask;
    uint64_t slot_mask;
};

struct System {
    Chip *chips;
    uint64_t chip_count;
    Barrier *barriers;
    uint64_t barrier_count;
    uint64_t look_ahead_cycles;  // cycles of a round, at most the delay of the fastest link
    uint64_t thread_count;
    uint64_t cycle;              // next cycle to step
    uint64_t started;            // whether a run has begun, during which a start is ignored
};

namespace {

constexpr uint64_t NEVER = ~uint64_t(0);
constexpr int SPINS_BEFORE_YIELD = 2000;

void settle(Barrier &barrier, uint64_t cycle) {
    uint64_t slot = cycle & barrier.slot_mask;
    Receiver *end = barrier.receivers + barrier.receiver_count;
    uint32_t go = 1;
    for (Receiver *r = barrier.receivers; r != end; r++)
        go &= r->offered != 0 || r->ready[slot] != 0;
    for (Receiver *r = barrier.receivers; r != end; r++) {
        r->offered = (r->offered + r->ready[slot] - go) & barrier.offered_mask;
        r->go[(cycle + r->delay_cycles) & barrier.slot_mask] = go;
    }
}

// The rounds of one call. The members that are not atomic change only between two rounds, while
// every thread but the last to arrive waits in `meet`.
struct Rounds {
    System &system;
    uint64_t left;
    uint32_t start;
    uint64_t count;
    std::atomic<uint64_t> parties{0};
    std::atomic<uint64_t> arrived{0};
    std::atomic<uint64_t> round{0};

    Rounds(System &system, uint64_t cycles, uint32_t start)
        : system(system), left(cycles), start(start),
          count(std::min(cycles, system.look_ahead_cycles)) {}

    void step(uint64_t first, uint64_t last) {
        for (Chip *chip = system.chips + first; chip != system.chips + last; chip++) {
            uint64_t steps = chip->run(chip->model, chip->lanes, system.cycle, count, start);
            if (chip->done_cycle == NEVER && steps < count)
                chip->done_cycle = system.cycle + steps;
        }
    }

    void between() {
        for (uint64_t n = 0; n < system.barrier_count; n++)
            for (uint64_t ahead = 0; ahead < count; ahead++)
                settle(system.barriers[n], system.cycle + ahead);
        system.cycle += count;
        bool all_done = std::all_of(
            system.chips, system.chips + system.chip_count,
            [](const Chip &chip) { return chip.done_cycle != NEVER; });
        left = all_done ? 0 : left - count;
        count = std::min(left, system.look_ahead_cycles);
    }

    void meet() {
        uint64_t before = round.load(std::memory_order_acquire);
        if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == parties) {
            between();
            arrived.store(0, std::memory_order_relaxed);
            round.store(before + 1, std::memory_order_release);
            return;
        }
        for (int spins = 0; round.load(std::memory_order_acquire) == before; spins++)
            if (spins >= SPINS_BEFORE_YIELD)
                std::this_thread::yield();
    }

    // Steps the share of one thread, which is a run of neighbouring chips.
    void work(uint64_t index) {
        while (parties.load(std::memory_order_acquire) == 0)
            std::this_thread::yield();
        uint64_t first = index * system.chip_count / parties;
        uint64_t last = (index + 1) * system.chip_count / parties;
        while (count != 0) {
            step(first, last);
            meet();
        }
    }
};

} // namespace

// Steps all chips by `cycles` cycles, or fewer if every chip is done: then up to the end of a
// round. Where the machine has no more threads to give, fewer do the work.
EXPORT void system_run(System *system, uint64_t cycles, uint32_t start) {
    start = start && !system->started;
    system->started |= start;
    Rounds rounds(*system, cycles, start);
    std::vector<std::thread> threads;
    try {
        threads.reserve(system->thread_count);
        while (threads.size() + 1 < system->thread_count)
            threads.emplace_back(&Rounds::work, &rounds, threads.size() + 1);
    } catch (const std::system_error &) {
    }
    rounds.parties.store(threads.size() + 1, std::memory_order_release);
    rounds.work(0);
    for (std::thread &thread : threads)
        thread.join();
}
