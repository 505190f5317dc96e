// Phase A of the reconstruction: residues times the byte slices of their weights, on the tensor unit, and the multiple of the
// moduli's product that is to be taken off (crates/residues, reconstruct/slices.rs).
//
// A lane has the residues of an output, and the tensor instruction wants them four by four in the lanes of a row: they change places through
// shared memory. Of the sums lane 4g + t has those of slices 4t to 4t+3 of four outputs: a *window* of 32 bits of the integer, which it
// puts together as the way of the reconstruction wants it; then windows go back to the lanes whose outputs they are.
#pragma once
#include "arch/mma_sync.cuh"
#include "residues/residue_moduli.cuh"

// The residues of one number, a byte for every modulus.
struct Residues {
    uint32_t bytes[MOST_MODULI / 4];
};

// What a lane knows of the weights: its slices, two of the quotient's, and 32 bits of the moduli's product.
struct alignas(16) SliceTable {
    uint32_t low_slices, high_slices, quotient;
    int32_t product;
};

// The sums of a window's slices, and how often the product comes off.
struct Window {
    int32_t slices[4];
    int32_t quotient;
};

// Slices less their part of the product's multiple, and what each has more. Bytes of the product, which is balanced in words, are
// balanced too.
DEVICE void take_off(const Window &window, const SliceTable &table, const int32_t (&more)[4], int32_t (&slices)[4]) {
    const uint32_t bytes = (static_cast<uint32_t>(table.product) + 0x808080u) ^ 0x808080u;
#pragma unroll
    for (int i = 0; i < 4; i++) slices[i] = window.slices[i] + (more[i] - window.quotient * static_cast<int8_t>(bytes >> (8 * i)));
}

// A window as its way leaves it.
struct alignas(8) Piece {
    uint32_t low, high;
};

// Shared memory of a warp: residues of both parts of 32 numbers; over them their windows, the upper two of each apart, so that
// neither reading nor writing meets on a bank.
constexpr uint32_t UPPER_WINDOWS = 512 + 64, PART_BYTES = UPPER_WINDOWS + 512 + 64, SCRATCH_BYTES = 2 * PART_BYTES;
static_assert(SCRATCH_BYTES == 2304, "the host sets aside as much");

// Residues stay as they were computed.
struct Untouched {
    DEVICE void operator()(uint32_t) const {}
};

// Both parts of a number. `piece(window, part)` puts a window together. `touch` is called where residues lie in shared memory, with the place of those of the
// first part; the others are 512 bytes behind.
template <class MakePiece, class Touch = Untouched>
DEVICE void sliced(const Residues (&parts)[2], const SliceTable &table, uint32_t scratch, const MakePiece &piece, Piece (&windows)[2][4],
                   const Touch &touch = Touch()) {
    const uint32_t lane = static_cast<uint32_t>(thread_number()) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (uint32_t part = 0; part < 2; part++) {
        const uint32_t(&bytes)[4] = parts[part].bytes;
        store_shared(scratch + 512 * part + 16 * lane, make_uint4(bytes[0], bytes[1], bytes[2], bytes[3]));
    }
    touch(scratch + 16 * lane);
    warp_barrier();
    uint32_t rows[2][4];
    load_rows(rows[0], scratch + 16 * lane);
    load_rows(rows[1], scratch + 512 + 16 * lane);
    warp_barrier();
#pragma unroll
    for (uint32_t part = 0; part < 2; part++) {
#pragma unroll
        for (uint32_t half = 0; half < 2; half++) {
            int low[4], high[4], quotient[4];
            const uint32_t near_rows = rows[part][2 * half], far_rows = rows[part][2 * half + 1];
            mma_sync_s8_half(quotient, near_rows, far_rows, table.quotient);
            mma_sync_s8_half(low, near_rows, far_rows, table.low_slices);
            mma_sync_s8_half(high, near_rows, far_rows, table.high_slices);
#pragma unroll
            for (uint32_t i = 0; i < 2; i++) {
                // Two bytes of the weights' fractions of the product, 2^15 of which are one; to the nearest.
                const Window window = {{low[2 * i], low[2 * i + 1], high[2 * i], high[2 * i + 1]},
                                       (quotient[2 * i + 1] * 256 + quotient[2 * i] + (1 << 14)) >> 15};
                const Piece made = piece(window, part);
                const uint32_t number = 16 * half + 8 * i + g;
                store_shared(scratch + PART_BYTES * part + t / 2 * UPPER_WINDOWS + 16 * number + 8 * (t % 2), make_uint2(made.low, made.high));
            }
        }
    }
    warp_barrier();
#pragma unroll
    for (uint32_t part = 0; part < 2; part++) {
        const uint4 lower = load_shared(scratch + PART_BYTES * part + 16 * lane), upper = load_shared(scratch + PART_BYTES * part + UPPER_WINDOWS + 16 * lane);
        windows[part][0] = {lower.x, lower.y};
        windows[part][1] = {lower.z, lower.w};
        windows[part][2] = {upper.x, upper.y};
        windows[part][3] = {upper.z, upper.w};
    }
    warp_barrier();
}
