// What all ways of reconstruction that are exact end with, an integer of 128 bits rounded to a word; and phase B in fixed point: an
// accumulator of words of 32, 16 or 8 bits.
#pragma once
#include "residues/residue_slices.cuh"
#include "numerics/rotate.cuh"

// A rounded sum: 64 bits, and those above.
struct Rounded {
    int64_t low;
    int32_t top;
};

// How a sum is rounded: divided by 2^(55 + shift), halves upwards or, `down`, downwards.
struct Rounding {
    int32_t shift;
    bool down;
};

// The integer, to which one half of the last place has been added, in words.
struct LongInteger {
    uint32_t words[4];

    DEVICE Rounded quotient(Rounding rounding) const {
        const uint32_t bits = static_cast<uint32_t>(23 + rounding.shift);
        const uint32_t low = __funnelshift_r(words[1], words[2], bits), high = __funnelshift_r(words[2], words[3], bits);
        return {static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | low), static_cast<int32_t>(words[3]) >> bits};
    }
    // Whether what is cut off is nothing: then the integer lay half-way.
    DEVICE bool was_half(Rounding rounding) const { return words[0] == 0 && (words[1] & ((1u << (23 + rounding.shift)) - 1)) == 0; }
};

// What the sums of a lane's window begin with, so that one half of the last place is added and 1.5·2^23, which all residues
// have in common, is taken off: at its lowest slice and at the third.
struct Start {
    int32_t first, third;
    DEVICE explicit Start(Rounding rounding) {
        const int t = thread_number() % 4;
        first = t == 0 && rounding.down ? -1 : 0;
        third = t == 0 ? -(FLOAT_VALUE >> 16) : t == 1 ? 64 << rounding.shift : 0;
    }
};
static_assert((FLOAT_VALUE & 0xffff) == 0, "it is a multiple of the third slice's weight");

// The windows of a number. Carries of a window wait in its upper half, and have no sign.
DEVICE LongInteger whole(const Piece (&windows)[4]) {
    LongInteger total;
    total.words[0] = windows[0].low;
    arithmetic::add_three(windows[1].low, windows[2].low, windows[3].low, windows[0].high, windows[1].high, windows[2].high, total.words[1],
                          total.words[2], total.words[3]);
    return total;
}

DEVICE Rounded rounded_whole(const LongInteger &total, Rounding rounding, bool down_after) {
    Rounded value = total.quotient(rounding);
    if (down_after && total.was_half(rounding)) {
        value.low -= 1;
    }
    return value;
}

DEVICE Rounded put_together(const Piece (&windows)[4], Rounding rounding, bool down_after) {
    return rounded_whole(whole(windows), rounding, down_after);
}

// Both parts of a number by slices. `B` puts windows together.
template <class B> struct ExactSlices {
    template <int COUNT>
    static DEVICE void reconstruct(const Residues (&parts)[2], const SliceTable &table, uint32_t scratch, const Rounding (&rounding)[2], bool down_after,
                                   Rounded (&to)[2]) {
        Piece windows[2][4];
        const typename B::Constants constants[2] = {B::constants(Start(rounding[0])), B::constants(Start(rounding[1]))};
        sliced(parts, table, scratch, [&](const Window &window, uint32_t part) { return B::piece(window, table, constants[part]); }, windows);
#pragma unroll
        for (int part = 0; part < 2; part++) to[part] = put_together(windows[part], rounding[part], part == 1 && down_after);
    }
};

DEVICE Piece piece_of(uint64_t window) { return {static_cast<uint32_t>(window), static_cast<uint32_t>(window >> 32)}; }

// Words of 32 bits.
struct Kulisch32 {
    // A window has 2^44 more than its sums, which are below 2^43, lest carries have signs; and the next one has that less.
    using Constants = int64_t;
    static DEVICE Constants constants(Start start) {
        return (int64_t{1} << 44) - (thread_number() % 4 == 0 ? 0 : 1 << 12) + start.first + wide_product(start.third, 1 << 16);
    }
    static DEVICE Piece piece(const Window &window, const SliceTable &table, Constants more) {
        const int32_t lower = window.slices[0] + window.slices[1] * 256, upper = window.slices[2] + window.slices[3] * 256;
        int64_t sum = arithmetic::wide_product(-window.quotient, table.product) + more;
        sum = arithmetic::wide_product(upper, 1 << 16) + sum;
        return piece_of(static_cast<uint64_t>(sum + lower));
    }
};

// Slices without signs, below 2^20. A slice's sum is at most 2^18 and 2^17 of what is taken off; it has 2^19 more, and 2^11 less, which is
// what the one below has more.
struct UnsignedSlices {
    struct Constants {
        int32_t more[4];
    };
    static DEVICE Constants constants(Start start) {
        constexpr int32_t MORE = (1 << 19) - (1 << 11);
        return {{start.first + (thread_number() % 4 == 0 ? 1 << 19 : MORE), MORE, start.third + MORE, MORE}};
    }
    static DEVICE void of(const Window &window, const SliceTable &table, const Constants &constants, uint32_t (&slices)[4]) {
        int32_t reduced[4];
        take_off(window, table, constants.more, reduced);
#pragma unroll
        for (int i = 0; i < 4; i++) slices[i] = static_cast<uint32_t>(reduced[i]);
    }
};

// Words of 16 bits with 8 bits of the integer each, two to a register: byte b of slice i is added to word i + b, by the instruction
// that adds two words side by side. The topmost byte of a slice is a zero.
struct Kulisch16 : UnsignedSlices {
    static DEVICE Piece piece(const Window &window, const SliceTable &table, const Constants &constants) {
        uint32_t v[4];
        of(window, table, constants, v);
        using arithmetic::add_halves;
        using arithmetic::chosen_bytes;
        const uint32_t words01 = add_halves(chosen_bytes(v[0], v[1], 0x7430), chosen_bytes(v[0], v[0], 0x3133));
        const uint32_t words23 = add_halves(add_halves(chosen_bytes(v[2], v[3], 0x7430), chosen_bytes(v[1], v[2], 0x7531)), chosen_bytes(v[0], v[1], 0x7632));
        const uint32_t words45 = add_halves(chosen_bytes(v[3], v[3], 0x3231), chosen_bytes(v[2], v[2], 0x3332));
        auto joined = [](uint32_t words) { return (words & 0xffffu) + (words >> 16) * 256; };
        return piece_of(joined(words01) + (static_cast<uint64_t>(joined(words23)) << 16) + (static_cast<uint64_t>(joined(words45)) << 32));
    }
};

// Words of 8 bits with 4 bits of the integer each, four to a register: nibble n of slice i is added to word 2i + n.
struct Kulisch8 : UnsignedSlices {
    // The lowest four nibbles in bytes of their own.
    static DEVICE uint32_t spread(uint32_t x) {
        x = arithmetic::chosen_bytes(x, 0, 0x4140);
        return (x | x << 4) & 0x0f0f0f0fu;
    }
    static DEVICE Piece piece(const Window &window, const SliceTable &table, const Constants &constants) {
        uint32_t v[4], low[4];
        of(window, table, constants, v);
#pragma unroll
        for (int i = 0; i < 4; i++) low[i] = spread(v[i]);
        using arithmetic::add_bytes;
        using arithmetic::chosen_bytes;
        const uint32_t words0 = add_bytes(low[0], low[1] << 16);
        uint32_t words4 = add_bytes(low[2], low[3] << 16);
        // Nibbles 2 and 3 of slice 1, and 4 beyond them.
        words4 = add_bytes(words4, chosen_bytes(low[1], v[1], 0x7632));
        words4 = add_bytes(words4, v[0] >> 16);
        const uint32_t words8 = add_bytes(chosen_bytes(low[3], v[3], 0x7632), v[2] >> 16);
        auto joined = [](uint32_t words) {
            const uint32_t pairs = (words & 0x00ff00ffu) + (words >> 8 & 0x00ff00ffu) * 16;
            return (pairs & 0xffffu) + (pairs >> 16) * 256;
        };
        return piece_of(joined(words0) + (static_cast<uint64_t>(joined(words4)) << 16) + (static_cast<uint64_t>(joined(words8)) << 32));
    }
};
