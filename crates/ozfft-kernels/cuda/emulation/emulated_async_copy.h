// The names of async_copy.cuh on a host without a GPU: copies are made when the thread waits for them. Until then the
// shared memory that they go to holds what nobody wrote, so that reading it too early, or late reads of what was there
// before, make bits differ.
#pragma once
#include "emulation/emulator.h"

namespace emulator {

struct AsyncCopy {
    uint32_t to;
    const void *from;  // null: zeros
};

struct CopyQueue {
    std::vector<AsyncCopy> begun, committed;
};

// That of the running fiber.
inline CopyQueue &copy_queue() {
    static thread_local std::vector<CopyQueue> queues;
    if (queues.size() < block().fibers.size()) {
        queues.resize(block().fibers.size());
    }
    return queues[block().current];
}

// What memory holds while a copy to it is under way.
inline void spoil(uint32_t to, size_t bytes) { std::memset(shared_at(to, bytes, 16), 0xc3, bytes); }

}  // namespace emulator

DEVICE void copy_async(uint32_t to, const void *from, bool present) {
    emulator::spoil(to, 16);
    emulator::copy_queue().begun.push_back({to, present ? from : nullptr});
    emulator::fiber().under_way++;
}
DEVICE void copy_commit() {
    emulator::CopyQueue &queue = emulator::copy_queue();
    queue.committed.insert(queue.committed.end(), queue.begun.begin(), queue.begun.end());
    queue.begun.clear();
}
DEVICE void copy_wait() {
    emulator::CopyQueue &queue = emulator::copy_queue();
    for (const emulator::AsyncCopy &copy : queue.committed) {
        unsigned char *to = emulator::shared_at(copy.to, 16, 16);
        if (copy.from != nullptr) {
            std::memcpy(to, copy.from, 16);
        } else {
            std::memset(to, 0, 16);
        }
        emulator::fiber().under_way--;
    }
    queue.committed.clear();
}
