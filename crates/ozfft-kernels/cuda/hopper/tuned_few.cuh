// Words of five or six digits on wgmma: their digits as operands, products, and sums put together.
//
// A word's lower four digits are a register, the one or two topmost ones of all slots share a product of their own. Four
// bytes of every thread in that product (or in one more, where it is full) are constants: the matrix has numbers there that
// take off what data digits are biased by, and add one half of the unit. So sums come out as those of signed digits, ready to
// be cut off.
#pragma once
#include "hopper/tuned_lines.cuh"
#include "arch/wgmma_columns.cuh"

namespace tuned {

// Constant digits of a thread: 255 three times, and 1. few.rs knows them.
constexpr unsigned CONSTANT_DIGITS = 0x01ffffffu;

// Who a thread is, like `Lane`; not negative, which spares the compiler some care.
struct Seat {
    unsigned group, warp, g, t;
    DEVICE bool first() const { return (g | t) == 0; }
    DEVICE unsigned in_group() const { return 32 * warp + 4 * g + t; }
    // Of the tensor instruction's rows.
    DEVICE unsigned column() const { return 8 * warp + g; }
    DEVICE Seat() {
        const unsigned thread = (unsigned)thread_number();
        group = thread / 128;
        warp = thread / 32 % 4;
        g = thread / 4 % 8;
        t = thread % 4;
    }
};

// Products of words of `DATA` digits that keep `DATA` diagonals.
template <int DATA> struct Few {
    static_assert(DATA == 5 || DATA == 6, "the lower four digits and one or two more");
    static constexpr int TOPS = DATA - 4;
    static constexpr int WORD_BITS = 8 * DATA - 3;
    static constexpr unsigned HIGH_BIAS = TOPS == 1 ? 0x80u : 0x8080u;

    // Outputs whose sums are worked out at once: of 16, sums of six diagonals do not fit the registers.
    static constexpr int outputs(int slots) { return TOPS == 1 ? slots : 8; }
    // All their diagonals side by side; six groups of 8 columns at least.
    static constexpr int columns(int slots) { return DATA * outputs(slots) < 48 ? 48 : DATA * outputs(slots); }
    // Constants have a product of their own where topmost digits take up 32 bytes.
    static constexpr bool constants_apart(int slots) { return TOPS * slots == 32; }
    // Of their matrix: topmost digits (and constants), then the lower four for every eight of slots.
    static constexpr int part_bytes(int slots) {
        return 32 * columns(slots) * (constants_apart(slots) ? 2 : 1) + slots / 8 * 32 * 4 * outputs(slots);
    }

    template <int SLOTS> struct Sums {
        static constexpr int K_TILES = outputs(SLOTS) / 8;
        int of[columns(SLOTS) / 2];
        DEVICE void wait() { wgmma_wait(of); }
    };

    // The digits of a thread's words, for a product.
    template <int SLOTS> struct Operand {
        static constexpr int STEPS = SLOTS / 8, COLUMNS = columns(SLOTS), LOW_COLUMNS = 4 * outputs(SLOTS);
        static constexpr bool APART = constants_apart(SLOTS);
        unsigned low[STEPS][4], top[4];
        unsigned tops[STEPS][4];  // of every word

        // Word of the slot t + 4·number: real part (0) or imaginary part (1), biased by 128 in all digits: the lower four, and
        // a register with the topmost ones.
        DEVICE void put(int number, int part, unsigned lower, unsigned upper) {
            low[number / 2][2 * (number % 2) + part] = lower;
            tops[number / 2][2 * (number % 2) + part] = upper;
        }
        DEVICE void put(int number, int part, i64 word) { put(number, part, low_of(word), high_of(word)); }

        // Call once all words are there; topmost digits begin at byte number `BYTE` of their registers, and the fourth byte of
        // a single one's is 0.
        template <int BYTE> DEVICE void complete() {
            constexpr unsigned TWO_BYTES = TOPS == 1 ? 0x3340 + 0x11 * BYTE : 0x5410 + 0x1111 * BYTE;
#pragma unroll
            for (int part = 0; part < 2; part++) {
                const unsigned first = chosen_bytes(tops[0][part], tops[0][2 + part], TWO_BYTES);
                if (STEPS == 1) {
                    top[part] = first;
                    top[2 + part] = CONSTANT_DIGITS;
                } else {
                    const unsigned second = chosen_bytes(tops[STEPS - 1][part], tops[STEPS - 1][2 + part], TWO_BYTES);
                    top[part] = TOPS == 1 ? chosen_bytes(first, second, 0x5410) : first;
                    top[2 + part] = TOPS == 1 ? CONSTANT_DIGITS : second;
                }
            }
        }

        // Begins to sum up.
        DEVICE void multiply(Sums<SLOTS> &sums, uint64_t matrix) {
            constexpr int PRODUCT = 2 * COLUMNS;  // 32 bytes a column, in units of 16
            compiler_fence(top[0], top[1]);
            compiler_fence(top[2], top[3]);
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                compiler_fence(low[s][0], low[s][1]);
                compiler_fence(low[s][2], low[s][3]);
            }
            wgmma_fence();
            wgmma_u8_first<COLUMNS>(sums.of, top, matrix);
            if constexpr (APART) {
                const unsigned constants[4] = {0, 0, CONSTANT_DIGITS, CONSTANT_DIGITS};
                wgmma_u8_more<COLUMNS>(sums.of, constants, matrix + PRODUCT);
            }
#pragma unroll
            for (int s = 0; s < STEPS; s++)
                wgmma_u8_more<LOW_COLUMNS>(sums.of, low[s], matrix + PRODUCT * (APART ? 2 : 1) + 2 * LOW_COLUMNS * s);
            wgmma_commit();
        }
    };

    // A rounded sum, or several of them added, in pieces without carries: low + high·2^17, and, of six digits, the topmost
    // diagonal at 2^33.
    struct Pieces {
        int low, high, top;
        DEVICE Pieces operator+(const Pieces &o) const { return {low + o.low, high + o.high, top + o.top}; }
        DEVICE Pieces operator-(const Pieces &o) const { return {low - o.low, high - o.high, top - o.top}; }
        DEVICE Pieces operator-() const { return {-low, -high, -top}; }

        // What is put together. A low piece stays within 2^30.
        DEVICE i64 whole(int factor) const {
            const i64 sum = wide_product(high - (1 << 13), factor) + join((unsigned)low + (1u << 30), 0);
            return TOPS == 1 ? sum : join(low_of(sum), high_of(sum) + 2u * (unsigned)top);
        }
    };

    // Sum number e (0, 1: real parts of two outputs, 2, 3: imaginary parts) of an eight of outputs. The last four diagonals
    // come first.
    template <int SLOTS> static DEVICE Pieces pieces(const Sums<SLOTS> &sums, int eight, int e) {
        const auto diagonal = [&](int d) {
            const int group = d >= TOPS ? d - TOPS : d + 4;
            return sums.of[4 * (Sums<SLOTS>::K_TILES * group + eight) + e];
        };
        const int low = (diagonal(DATA - 1) >> 7) + 2 * (diagonal(DATA - 2) + 256 * diagonal(DATA - 3));
        const int high = diagonal(DATA - 4) + 256 * diagonal(DATA - 5);
        return {low, high, TOPS == 1 ? 0 : diagonal(0)};
    }

    // A word with its digits biased by 128.
    static DEVICE i64 biased(i64 word) { return word + join(BIAS, HIGH_BIAS); }
};

}  // namespace tuned
