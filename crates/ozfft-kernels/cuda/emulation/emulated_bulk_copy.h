// The names of bulk_copy.cuh on a host without a GPU.
//
// Loads arrive when the first thread waits for their barrier, and spoil the memory that they go to when they are begun.
// Stores read shared memory when their thread waits for that, and write when it waits for their end.
#pragma once
#include "emulation/emulated_async_copy.h"
#include <map>

// A tensor of 8-byte numbers: dimensions from the contiguous one on, the distances of all others in bytes, and the box
// that is copied at once. Rows of 64 or 128 bytes lie exchanged in shared memory, as the GPU's patterns of this length.
struct alignas(64) TensorMap {
    uint64_t address, rank, dimensions[5], distances[4], box[5];
};
static_assert(sizeof(TensorMap) == 128, "as large as the driver's");

namespace emulator {

struct BoxCopy {
    TensorMap map;
    int64_t corner[5];
    uint32_t shared;
    uint64_t bytes() const {
        uint64_t bytes = 8;
        for (uint64_t dimension = 0; dimension < map.rank; dimension++) {
            bytes *= map.box[dimension];
        }
        return bytes;
    }
};

inline BoxCopy box_copy(const TensorMap *map, uint64_t rank, int first, int last, uint32_t shared) {
    BoxCopy copy = {*map, {first}, shared};
    copy.corner[rank - 1] = last;
    if (map->rank != rank) {
        fail("copies a box of another tensor's dimensions");
    }
    // As the driver's documentation has it.
    shared_at(shared, copy.bytes(), 128);
    return copy;
}

// Calls `number` for every number of the box with its place in shared memory and, where the tensor has it, in global
// memory.
template <class Number> inline void each_number(const BoxCopy &copy, const Number &number) {
    const TensorMap &map = copy.map;
    // Bits 4 and 5, or 4 to 6, of a place are exchanged by those three bits above.
    const uint32_t pattern = map.box[0] * 8 == 64 ? 3 : 7;
    uint64_t index[5] = {};
    const uint64_t count = copy.bytes() / 8;
    for (uint64_t i = 0; i < count; i++) {
        bool inside = true;
        uint64_t address = map.address;
        for (uint64_t dimension = 0; dimension < map.rank; dimension++) {
            const int64_t at = copy.corner[dimension] + static_cast<int64_t>(index[dimension]);
            // Rows end at multiples of 16 bytes: seen on an H200, which wrote 8 bytes beyond odd numbers of numbers.
            const uint64_t end = dimension == 0 ? (map.dimensions[0] + 1) / 2 * 2 : map.dimensions[dimension];
            inside = inside && at >= 0 && static_cast<uint64_t>(at) < end;
            address += at * (dimension == 0 ? 8 : map.distances[dimension - 1]);
        }
        const uint32_t place = copy.shared + static_cast<uint32_t>(8 * i);
        number(shared_at(place ^ ((place >> 7 & pattern) << 4), 8, 8), inside ? reinterpret_cast<unsigned char *>(address) : nullptr);
        for (uint64_t dimension = 0; dimension < map.rank && ++index[dimension] == map.box[dimension]; dimension++) {
            index[dimension] = 0;
        }
    }
}

// A barrier that waits for bytes: a round is over when its bytes have been announced and have come.
struct TransferBarrier {
    Meeting meeting;
    unsigned parity = 0;
    bool announced = false;
    uint64_t missing = 0;
    std::vector<BoxCopy> loads;
};

// What shared memory holds where a barrier is.
constexpr uint64_t BARRIER_MARK = 0xba441e4ba441e4ba;

inline std::map<uint32_t, TransferBarrier> &transfer_barriers() {
    static thread_local std::map<uint32_t, TransferBarrier> barriers;
    return barriers;
}
inline TransferBarrier &transfer_barrier(uint32_t at) {
    uint64_t mark;
    std::memcpy(&mark, shared_at(at, 8, 8), 8);
    if (mark != BARRIER_MARK) {
        fail("uses a barrier that was not created, or was overwritten");
    }
    return transfer_barriers()[at];
}

struct BoxStore {
    BoxCopy copy;
    bool committed, read;
    std::vector<unsigned char> numbers;
};

// Those of the running fiber.
inline std::vector<BoxStore> &box_stores() {
    static thread_local std::vector<std::vector<BoxStore>> stores;
    if (stores.size() < block().fibers.size()) {
        stores.resize(block().fibers.size());
    }
    return stores[block().current];
}

}  // namespace emulator

DEVICE void transfer_barrier_create(uint32_t barrier) {
    std::memcpy(emulator::shared_at(barrier, 8, 8), &emulator::BARRIER_MARK, 8);
    emulator::transfer_barriers()[barrier] = {};
}
DEVICE void transfer_barriers_created() {}
DEVICE void transfer_expect(uint32_t at, int bytes) {
    emulator::TransferBarrier &barrier = emulator::transfer_barrier(at);
    if (barrier.announced) {
        emulator::fail("announces bytes before those of the last round have come");
    }
    barrier.announced = true;
    barrier.missing += bytes;
}
DEVICE void transfer_wait(uint32_t at, unsigned parity) {
    emulator::TransferBarrier &barrier = emulator::transfer_barrier(at);
    while (barrier.parity == parity) {
        if (!barrier.announced || barrier.missing != 0) {
            emulator::wait(barrier.meeting);
            continue;
        }
        for (const emulator::BoxCopy &load : barrier.loads) {
            emulator::each_number(load, [](unsigned char *shared, const unsigned char *global) {
                if (global != nullptr) {
                    std::memcpy(shared, global, 8);
                } else {
                    std::memset(shared, 0, 8);
                }
            });
        }
        emulator::block().under_way -= static_cast<int>(barrier.loads.size());
        barrier.loads.clear();
        barrier.announced = false;
        barrier.parity ^= 1;
    }
}

namespace emulator {
inline void load_box(uint32_t to, const BoxCopy &copy, uint32_t at) {
    TransferBarrier &barrier = transfer_barrier(at);
    spoil(to, copy.bytes());
    barrier.loads.push_back(copy);
    barrier.missing -= copy.bytes();
    block().under_way++;
    // Whoever waits looks again.
    barrier.meeting.rounds++;
}
}  // namespace emulator

DEVICE void tensor_load(uint32_t to, const TensorMap *map, int c0, int c4, uint32_t at) {
    emulator::load_box(to, emulator::box_copy(map, 5, c0, c4, to), at);
}
DEVICE void tensor_load_rows(uint32_t to, const TensorMap *map, int c0, int c3, uint32_t at) {
    emulator::load_box(to, emulator::box_copy(map, 4, c0, c3, to), at);
}
DEVICE void tensor_store(const TensorMap *map, int c0, int c3, uint32_t from) {
    emulator::box_stores().push_back({emulator::box_copy(map, 4, c0, c3, from), false, false, {}});
    emulator::fiber().under_way++;
}
DEVICE void tensor_store_five(const TensorMap *map, int c0, int c4, uint32_t from) {
    emulator::box_stores().push_back({emulator::box_copy(map, 5, c0, c4, from), false, false, {}});
    emulator::fiber().under_way++;
}
DEVICE void stores_commit() {
    for (emulator::BoxStore &store : emulator::box_stores()) {
        store.committed = true;
    }
}
DEVICE void stores_have_read() {
    for (emulator::BoxStore &store : emulator::box_stores()) {
        if (store.committed && !store.read) {
            emulator::each_number(store.copy, [&store](const unsigned char *shared, unsigned char *) {
                store.numbers.insert(store.numbers.end(), shared, shared + 8);
            });
            store.read = true;
        }
    }
}
DEVICE void stores_complete() {
    stores_have_read();
    std::vector<emulator::BoxStore> waiting;
    for (emulator::BoxStore &store : emulator::box_stores()) {
        if (!store.committed) {
            waiting.push_back(std::move(store));
            continue;
        }
        const unsigned char *number = store.numbers.data();
        emulator::each_number(store.copy, [&number](unsigned char *, unsigned char *global) {
            if (global != nullptr) {
                std::memcpy(global, number, 8);
            }
            number += 8;
        });
        emulator::fiber().under_way--;
    }
    emulator::box_stores() = std::move(waiting);
}
