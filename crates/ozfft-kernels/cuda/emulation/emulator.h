// The names of threads.cuh and mma_sync.cuh on a host without a GPU: for tests of the kernels' arithmetic and of their
// use of barriers, not for speed. The other headers of instructions have emulated_….h beside them.
//
// A thread block is a set of fibers on one operating-system thread, run one after the other until each has to wait: at a
// barrier of the block, at a numbered barrier, or for the other lanes of its warp. A warpgroup goes as far as it gets
// before the next has its turn, so that one which does not wait for another is found far ahead of it, or far behind.
// What a GPU leaves undefined is reported: lanes of a warp that do not all reach an exchange, barriers that some threads
// never reach, work under way that a thread does not wait for, and addresses beyond shared memory end the program with a
// message. Kernels are called once for every fiber, with the same parameters.
#pragma once
// Kernels take longer to compile than they run, and are compiled without much optimisation; much of their time they spend in what is here, with the
// containers that it uses. Other compilers than GCC ignore this.
#pragma GCC push_options
#pragma GCC optimize("O3")
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

#define DEVICE inline
#define DEVICE_APART inline
#define DEVICE_CONSTANT constexpr
#define KERNEL(threads, blocks) extern "C" void
#define PARAMETERS const

namespace emulator {

constexpr int WARP = 32, WARPGROUP = 128;
constexpr int NUMBERED_BARRIERS = 16;
constexpr size_t STACK_BYTES = 128 << 10;
// Where shared memory begins: not at 0, nor does a GPU's.
constexpr uint32_t SHARED_START = 1024;

struct Index {
    unsigned x = 0, y = 0, z = 0;
};

// Where a fiber or the scheduler goes on. The library's `setjmp` and `longjmp` look after clean-up besides, which took a tenth of the tests' time.
#if defined(__GNUC__) && defined(__x86_64__)
using Place = void *[5];
#define NOTE_PLACE(place) __builtin_setjmp(place)
#define GO_TO(place) __builtin_longjmp(place, 1)
#else
using Place = jmp_buf;
#define NOTE_PLACE(place) _setjmp(place)
#define GO_TO(place) _longjmp(place, 1)
#endif

// Something that fibers wait at: the last of them to arrive lets all of them go.
struct Meeting {
    int arrived = 0;
    uint64_t rounds = 0;
};

struct Fiber {
    std::unique_ptr<unsigned char[]> stack;
    ucontext_t start;
    Place resume;
    bool begun = false, done = false;
    // Waits until the meeting has had more rounds than this.
    const Meeting *meeting = nullptr;
    uint64_t round = 0;
    // Products and copies that this thread has begun and not waited for.
    int under_way = 0;
};

// What the lanes of a warp hand each other.
struct Exchange {
    Meeting meeting;
    alignas(16) unsigned char given[WARP][64];
    alignas(16) unsigned char taken[WARP][64];
};

struct Block {
    Index thread, block, threads, blocks;
    std::vector<Fiber> fibers;
    std::vector<Exchange> warps;
    Meeting barriers[NUMBERED_BARRIERS];
    std::vector<unsigned char> shared;
    unsigned char *shared_start = nullptr;
    size_t shared_bytes = 0;
    // Copies that have been begun, and that any thread may wait for.
    int under_way = 0;
    Place scheduler;
    int current = 0;
    const std::function<void()> *kernel = nullptr;
};

// The block of this thread of the operating system, set by `launch`. An object in its place would be asked at every use whether it has been constructed.
inline thread_local Block *running = nullptr;
inline Block &block() { return *running; }

[[noreturn]] inline void fail(const char *what) {
    const Block &state = block();
    std::fprintf(stderr, "emulated block %u, thread %d: %s\n", state.block.x, state.current, what);
    std::abort();
}

// Leaves the fiber. A function of its own, as none may go to a place that it has noted itself.
[[noreturn, gnu::noinline]] inline void leave() { GO_TO(block().scheduler); }

// Leaves the fiber until the meeting's next round.
[[gnu::noinline]] inline void wait(const Meeting &meeting) {
    Block &state = block();
    Fiber &fiber = state.fibers[state.current];
    fiber.meeting = &meeting;
    fiber.round = meeting.rounds;
    if (NOTE_PLACE(fiber.resume) == 0) {
        leave();
    }
}

// Meets `count` fibers; the last one to arrive does the work that all wait for. Other threads of the operating system
// never run a block's fibers, so a reference to the state stays good.
template <class Work> inline void meet(Meeting &meeting, int count, const Work &work) {
    if (++meeting.arrived == count) {
        work();
        meeting.arrived = 0;
        meeting.rounds++;
    } else {
        wait(meeting);
    }
}

// Memory at an address of shared memory.
inline unsigned char *shared_at(uint32_t address, size_t bytes, size_t alignment) {
    const Block &state = block();
    if (address < SHARED_START || address - SHARED_START + bytes > state.shared_bytes || address % alignment != 0) {
        fail("uses an address that is not one of its shared memory, or not aligned");
    }
    return state.shared_start + (address - SHARED_START);
}

inline Fiber &fiber() { return block().fibers[block().current]; }
inline Exchange &warp() { return block().warps[block().current / WARP]; }
inline int lane() { return block().current % WARP; }

// A fiber is started once, and runs kernel after kernel.
[[noreturn]] inline void fiber_main() {
    for (;;) {
        (*block().kernel)();
        Fiber &own = fiber();
        if (own.under_way != 0) {
            fail("ends before the products or copies that it has begun");
        }
        own.done = true;
        if (NOTE_PLACE(own.resume) == 0) {
            leave();
        }
    }
}

// Goes on with a fiber.
[[noreturn, gnu::noinline]] inline void enter(Fiber &fiber) {
    if (fiber.begun) {
        GO_TO(fiber.resume);
    }
    fiber.begun = true;
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack.get();
    fiber.start.uc_stack.ss_size = STACK_BYTES;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, fiber_main, 0);
    setcontext(&fiber.start);
    fail("cannot be started");
}

// Runs a fiber until it waits or ends. Says whether it has not waited all the time.
[[gnu::noinline]] inline bool run_fiber(int number) {
    Block &state = block();
    Fiber &fiber = state.fibers[number];
    if (fiber.done || (fiber.meeting != nullptr && fiber.meeting->rounds == fiber.round)) {
        return false;
    }
    state.current = number;
    state.thread.x = static_cast<unsigned>(number);
    if (NOTE_PLACE(state.scheduler) == 0) {
        enter(fiber);
    }
    return true;
}

// Runs a warpgroup as far as it gets.
inline bool run_warpgroup(int group) {
    const int first = group * WARPGROUP, threads = static_cast<int>(block().threads.x);
    const int end = first + WARPGROUP < threads ? first + WARPGROUP : threads;
    bool moved_ever = false;
    for (bool moved = true; moved;) {
        moved = false;
        for (int number = first; number < end; number++) {
            moved |= run_fiber(number);
        }
        moved_ever |= moved;
    }
    return moved_ever;
}

// Runs all fibers of one block to their ends.
inline void run_block() {
    Block &state = block();
    const int threads = static_cast<int>(state.threads.x), groups = (threads + WARPGROUP - 1) / WARPGROUP;
    for (Fiber &fiber : state.fibers) {
        fiber.done = false;
        fiber.meeting = nullptr;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int group = 0; group < groups; group++) {
            // The first or the last of them is ahead.
            moved |= run_warpgroup(state.block.x % 2 == 0 ? group : groups - 1 - group);
        }
    }
    for (int number = 0; number < threads; number++) {
        if (!state.fibers[number].done) {
            state.current = number;
            fail("waits for threads that have ended or wait elsewhere");
        }
    }
    if (state.under_way != 0) {
        fail("ends before copies to the block's shared memory");
    }
}

// Launches a kernel of `blocks` × `threads` threads.
inline void launch(uint64_t blocks, int threads, size_t shared_bytes, const std::function<void()> &kernel) {
    // Kept from launch to launch, and its fibers with it.
    static thread_local Block state;
    running = &state;
    if (threads % WARP != 0) {
        fail("blocks are whole warps here");
    }
    while (state.fibers.size() < static_cast<size_t>(threads)) {
        state.fibers.emplace_back();
        // Left as it is, so that most of it takes no memory.
        state.fibers.back().stack.reset(new unsigned char[STACK_BYTES]);
    }
    state.warps.assign(threads / WARP, Exchange{});
    state.threads.x = static_cast<unsigned>(threads);
    state.blocks.x = static_cast<unsigned>(blocks);
    state.shared_bytes = shared_bytes;
    state.kernel = &kernel;
    for (uint64_t number = 0; number < blocks; number++) {
        // Shared memory begins with anything on a GPU.
        state.shared.assign(shared_bytes + 1024, 0xa5);
        const size_t address = reinterpret_cast<size_t>(state.shared.data());
        state.shared_start = state.shared.data() + (1024 - address % 1024) % 1024;
        state.block.x = static_cast<unsigned>(number);
        run_block();
    }
}

} // namespace emulator

#define threadIdx (emulator::block().thread)
#define blockIdx (emulator::block().block)
#define blockDim (emulator::block().threads)
#define gridDim (emulator::block().blocks)

struct alignas(8) uint2 {
    unsigned x, y;
};
DEVICE uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
DEVICE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

DEVICE unsigned char *shared_memory() { return emulator::block().shared_start; }
DEVICE uint32_t shared_address(const void *place) {
    return emulator::SHARED_START + static_cast<uint32_t>(static_cast<const unsigned char *>(place) - shared_memory());
}
template <class T> DEVICE T loaded(uint32_t at) {
    T value;
    std::memcpy(&value, emulator::shared_at(at, sizeof(T), sizeof(T)), sizeof(T));
    return value;
}
DEVICE uint4 load_shared(uint32_t at) { return loaded<uint4>(at); }
DEVICE uint2 load_shared_two(uint32_t at) { return loaded<uint2>(at); }
DEVICE int load_shared_int(uint32_t at) { return loaded<int>(at); }
DEVICE void store_shared(uint32_t at, uint4 value) {
    std::memcpy(emulator::shared_at(at, sizeof(value), sizeof(value)), &value, sizeof(value));
}
DEVICE void store_shared(uint32_t at, uint2 value) {
    std::memcpy(emulator::shared_at(at, sizeof(value), sizeof(value)), &value, sizeof(value));
}
DEVICE void store_shared_int(uint32_t at, int value) {
    std::memcpy(emulator::shared_at(at, sizeof(value), sizeof(value)), &value, sizeof(value));
}
DEVICE int load_shared_byte(uint32_t at) { return *emulator::shared_at(at, 1, 1); }
DEVICE void store_shared_byte(uint32_t at, unsigned value) { *emulator::shared_at(at, 1, 1) = static_cast<unsigned char>(value); }

DEVICE int thread_number() { return emulator::block().current; }

// A numbered barrier; number 0 is the block's own. It counts arrivals: a thread that arrives twice is not told apart.
DEVICE void named_barrier(int number, int threads) {
    emulator::meet(emulator::block().barriers[number], threads, [] {});
}
DEVICE void block_barrier() { named_barrier(0, static_cast<int>(emulator::block().threads.x)); }
DEVICE void warp_barrier() {
    emulator::meet(emulator::warp().meeting, emulator::WARP, [] {});
}

// Hands every lane the value of the lane that `source` names for it.
template <class T, class Source> DEVICE T exchanged(T value, const Source &source) {
    static_assert(sizeof(T) <= 64, "values of up to 64 bytes are exchanged");
    emulator::Exchange &warp = emulator::warp();
    const int own = emulator::lane();
    std::memcpy(warp.given[own], &value, sizeof(T));
    const int from = source(own);
    std::memcpy(warp.given[own] + sizeof(T), &from, sizeof(int));
    emulator::meet(warp.meeting, emulator::WARP, [&warp] {
        for (int lane = 0; lane < emulator::WARP; lane++) {
            int from;
            std::memcpy(&from, warp.given[lane] + sizeof(T), sizeof(int));
            std::memcpy(warp.taken[lane], warp.given[from & 31], sizeof(T));
        }
    });
    std::memcpy(&value, warp.taken[own], sizeof(T));
    return value;
}
template <class T> DEVICE T shuffle_xor(T value, int mask) {
    return exchanged(value, [mask](int lane) { return lane ^ mask; });
}
template <class T> DEVICE T shuffle(T value, int lane) {
    return exchanged(value, [lane](int) { return lane; });
}
template <class T> DEVICE T shuffle_up(T value, int distance) {
    return exchanged(value, [distance](int lane) { return lane < distance ? lane : lane - distance; });
}
DEVICE unsigned warp_maximum(unsigned value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        const unsigned other = shuffle_xor(value, mask);
        value = other > value ? other : value;
    }
    return value;
}
DEVICE unsigned warp_or(unsigned value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        value |= shuffle_xor(value, mask);
    }
    return value;
}

DEVICE bool warp_any(bool value) { return warp_or(value ? 1 : 0) != 0; }
DEVICE unsigned warp_sum(unsigned value) {
    for (int mask = 16; mask > 0; mask /= 2) {
        value += shuffle_xor(value, mask);
    }
    return value;
}

// Fibers change places only where they wait, so plain operations are atomic among them, and seen in their order.
DEVICE void block_fence() {}
DEVICE void device_fence() {}
DEVICE void atomic_add(int *place, int value) { *place += value; }
DEVICE void atomic_add(uint64_t *place, uint64_t value) { *place += value; }
DEVICE int exchanged_for_zero(int *place) {
    const int before = *place;
    *place = 0;
    return before;
}
DEVICE unsigned atomic_add(unsigned *place, unsigned value) {
    const unsigned before = *place;
    *place += value;
    return before;
}
DEVICE void atomic_or(uint32_t *place, uint32_t bits) { *place |= bits; }
DEVICE void atomic_maximum(unsigned *place, unsigned value) { *place = value > *place ? value : *place; }
DEVICE void atomic_maximum(int32_t *place, int32_t value) { *place = value > *place ? value : *place; }
DEVICE void atomic_maximum(uint64_t *place, uint64_t value) { *place = value > *place ? value : *place; }
DEVICE int leading_zeros(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }
DEVICE int leading_zeros_of_half(uint32_t value) { return value == 0 ? 32 : __builtin_clz(value); }
template <class T> DEVICE T table_entry(const T *place) { return *place; }
DEVICE uint2 table_half(const uint2 *place) { return *place; }
DEVICE long long larger_complement(long long x) { return x < 0 ? ~x : x; }
DEVICE long long complement_if_negative(long long x, long long sign) { return sign < 0 ? ~x : x; }
DEVICE uint4 load_once(const uint4 *place) { return *place; }
DEVICE uint2 load_once(const uint2 *place) { return *place; }
DEVICE unsigned load_once(const unsigned *place) { return *place; }

namespace emulator {

// What a lane gives to a tensor instruction: the layout is described in mma_sync.cuh.
struct Operands {
    int c[4];
    uint32_t a[4], b[2];
};

// The product of a warp.
template <class Byte> void multiply_bytes(Exchange &warp) {
    Byte rows[16][32];
    int8_t columns[8][32];
    for (int lane = 0; lane < WARP; lane++) {
        Operands given;
        std::memcpy(&given, warp.given[lane], sizeof(given));
        const int g = lane / 4, t = lane % 4;
        std::memcpy(&rows[g][4 * t], &given.a[0], 4);
        std::memcpy(&rows[g + 8][4 * t], &given.a[1], 4);
        std::memcpy(&rows[g][16 + 4 * t], &given.a[2], 4);
        std::memcpy(&rows[g + 8][16 + 4 * t], &given.a[3], 4);
        std::memcpy(&columns[g][4 * t], &given.b[0], 4);
        std::memcpy(&columns[g][16 + 4 * t], &given.b[1], 4);
    }
    for (int lane = 0; lane < WARP; lane++) {
        Operands given;
        std::memcpy(&given, warp.given[lane], sizeof(given));
        const int g = lane / 4, t = lane % 4;
        for (int i = 0; i < 4; i++) {
            const Byte *row = rows[g + 8 * (i / 2)];
            const int8_t *column = columns[2 * t + i % 2];
            int sum = 0;
            for (int byte = 0; byte < 32; byte++) {
                sum += row[byte] * column[byte];
            }
            given.c[i] += sum;
        }
        std::memcpy(warp.taken[lane], given.c, sizeof(given.c));
    }
}

}  // namespace emulator

template <class Byte> DEVICE void mma_sync_bytes(int *c, const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    emulator::Exchange &warp = emulator::warp();
    const int own = emulator::lane();
    emulator::Operands mine;
    std::memcpy(mine.c, c, sizeof(mine.c));
    std::memcpy(mine.a, a, sizeof(a));
    std::memcpy(mine.b, b, sizeof(b));
    std::memcpy(warp.given[own], &mine, sizeof(mine));
    emulator::meet(warp.meeting, emulator::WARP, [&warp] { emulator::multiply_bytes<Byte>(warp); });
    std::memcpy(c, warp.taken[own], sizeof(mine.c));
}
DEVICE void mma_sync_s8(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) { mma_sync_bytes<int8_t>(c, a, b); }
// Bytes of `a` without signs, onto zeros or the four sums from c[at] on.
DEVICE void mma_sync_u8(int (&c)[8], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    if (first) std::memset(c + at, 0, 4 * sizeof(int));
    mma_sync_bytes<uint8_t>(c + at, a, b);
}
// The same with bytes of `a` that have signs.
DEVICE void mma_sync_s8(int (&c)[8], int at, const uint32_t (&a)[4], const uint32_t (&b)[2], bool first) {
    if (first) std::memset(c + at, 0, 4 * sizeof(int));
    mma_sync_bytes<int8_t>(c + at, a, b);
}
DEVICE void mma_sync_s8_first(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    c[0] = c[1] = c[2] = c[3] = 0;
    mma_sync_s8(c, a, b);
}
// Onto one number for all sums.
DEVICE void mma_sync_s8_onto(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], int start) {
    c[0] = c[1] = c[2] = c[3] = start;
    mma_sync_s8(c, a, b);
}
// With 16 bytes of every row, onto zeros.
DEVICE void mma_sync_s8_half(int (&c)[4], uint32_t low_rows, uint32_t high_rows, uint32_t column) {
    const uint32_t a[4] = {low_rows, high_rows, 0, 0}, b[2] = {column, 0};
    mma_sync_s8_first(c, a, b);
}
// And onto one number for all sums.
DEVICE void mma_sync_s8_half_onto(int (&c)[4], uint32_t low_rows, uint32_t high_rows, uint32_t column, int start) {
    const uint32_t a[4] = {low_rows, high_rows, 0, 0}, b[2] = {column, 0};
    mma_sync_s8_onto(c, a, b, start);
}
// Row g of matrix i lies where lane 8·i + g says.
DEVICE void load_rows(uint32_t (&rows)[4], uint32_t at) {
    const int lane = emulator::lane();
    for (int i = 0; i < 4; i++) {
        const uint32_t start = exchanged(at, [i](int own) { return 8 * i + own / 4; });
        rows[i] = loaded<uint32_t>(start + 4 * (lane % 4));
    }
}

#pragma GCC pop_options
