// One DFT of 32 or 16 points over many columns, its products by residues: the same integers as step.cuh has with exact products.
//
// A warp takes 8 columns. Folded words become residues, modulus by modulus, and a row of the tensor instruction has the words, half as many as
// points, that cosines meet and then those that sines meet, so that its sums are those of outputs already: row g the real part of
// column g, row g + 8 its imaginary part. Outputs k of the lower half and their partners come one after the other.
#pragma once
#include "residues/residue_redundant.cuh"
#include "portable/truncated_step.cuh"

// What is left out, to see what it costs; results are void then.
enum class Stage { NONE, DECOMPOSITION, PRODUCTS, RECONSTRUCTION };

// Points of the largest step, which in fp8 all have.
constexpr int POINTS = 32;
// Of a column of N points a lane has the slots t, 4 + t and so on.
template <int N> constexpr int SLOTS_OF_A_LANE = N / 8;
// Eight outputs k or their partners at a time.
template <int N> constexpr int TURNS = N / 8;
// Fragments of so many moduli lie side by side, in 16 bytes.
template <int N> constexpr int FRAGMENTS_TOGETHER = 2 * POINTS / N;

// The tables of a step: fragments for every turn, of several moduli side by side for every lane, then slices of the weights, then what corrects sums.
template <int N, int MODULI> struct ResidueTables {
    static constexpr int OF_A_TURN = (MODULI + FRAGMENTS_TOGETHER<N> - 1) / FRAGMENTS_TOGETHER<N> * 32;
    const FragmentPair *fragments;
    const SliceTable *slices;
    const Corrections *corrections;
    DEVICE explicit ResidueTables(const Step &step)
        : fragments(reinterpret_cast<const FragmentPair *>(step.matrix)),
          slices(reinterpret_cast<const SliceTable *>(fragments + TURNS<N> * OF_A_TURN)),
          corrections(reinterpret_cast<const Corrections *>(slices + 32)) {}
};

// The operands of a column, [modulus][register of the tensor instruction]. Of 32 points a register has one kind of all slots of a lane: even real, even
// imaginary, odd imaginary, minus odd real. Of 16 points it has two kinds of its two slots: even real and odd imaginary; even imaginary and minus odd real.
template <int COUNT, int N> struct Operands {
    uint32_t bytes[COUNT][N / 8];
};

// Modulo one of them.
template <int COUNT, int N, Stage WITHOUT, int NUMBER>
DEVICE void decompose_modulo(Number<NUMBER> number, const uint32_t (&low)[4][SLOTS_OF_A_LANE<N>], const uint32_t (&high)[4][SLOTS_OF_A_LANE<N>], Operands<COUNT, N> &operands) {
    auto byte = [&](int kind, int j) { return WITHOUT == Stage::DECOMPOSITION ? low[kind][j] + high[kind][j] : residue_of_word<NUMBER>(low[kind][j], high[kind][j]); };
#pragma unroll
    for (int i = 0; i < N / 8; i++) {
        if constexpr (N == 32) {
            operands.bytes[number][i] = packed_bytes(byte(i, 0), byte(i, 1), byte(i, 2), byte(i, 3));
        } else {
            operands.bytes[number][i] = packed_bytes(byte(i, 0), byte(i, 1), byte(i + 2, 0), byte(i + 2, 1));
        }
    }
}

// Words without signs.
template <int N> DEVICE void without_signs(const int64_t (&words)[4][SLOTS_OF_A_LANE<N>], uint32_t (&low)[4][SLOTS_OF_A_LANE<N>], uint32_t (&high)[4][SLOTS_OF_A_LANE<N>]) {
#pragma unroll
    for (int kind = 0; kind < 4; kind++) {
#pragma unroll
        for (int j = 0; j < SLOTS_OF_A_LANE<N>; j++) {
            low[kind][j] = static_cast<uint32_t>(words[kind][j]);
            high[kind][j] = static_cast<uint32_t>(words[kind][j] >> 32) ^ 0x80000000u;
        }
    }
}

template <int COUNT, int N, Stage WITHOUT> DEVICE void decompose(const int64_t (&words)[4][SLOTS_OF_A_LANE<N>], Operands<COUNT, N> &operands) {
    uint32_t low[4][SLOTS_OF_A_LANE<N>], high[4][SLOTS_OF_A_LANE<N>];
    without_signs<N>(words, low, high);
    for_numbers<0, COUNT>([&](auto number) { decompose_modulo<COUNT, N, WITHOUT>(number, low, high, operands); });
}

// Eight outputs of 8 columns modulo one of them, to a byte each: a lane has real parts of two, then imaginary parts. Those of four moduli go together.
template <int COUNT, int N, Stage WITHOUT, int NUMBER>
DEVICE void multiply_modulo(Number<NUMBER> number, const Operands<COUNT, N> &operands, const FragmentPair *fragments, uint32_t (&bytes)[4][4]) {
    constexpr int PLACE = NUMBER % FRAGMENTS_TOGETHER<N>;
    const FragmentPair together = table_entry(fragments + number / FRAGMENTS_TOGETHER<N> * 32);
    const uint32_t(&data)[N / 8] = operands.bytes[number];
    int sums[4];
    if (WITHOUT == Stage::PRODUCTS) {
        // One instruction each, of what the product takes, lest everything else is worked out once for all turns.
#pragma unroll
        for (int i = 0; i < 4; i++) sums[i] = static_cast<int>(data[i % (N / 8)] ^ together.words[PLACE % 2][i % 2]);
    } else if constexpr (N == 32) {
        mma_sync_s8_onto(sums, data, together.words[PLACE], FLOAT_BITS);
    } else {
        mma_sync_s8_half_onto(sums, data[0], data[1], together.words[PLACE / 2][PLACE % 2], FLOAT_BITS);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) bytes[i][NUMBER % 4] = residue_byte<NUMBER>(sums[i]);
}

// The residues of eight outputs of 8 columns: a lane has real parts of two, then imaginary parts. Those of the first and of any further moduli are apart.
template <int COUNT, int N, Stage WITHOUT>
DEVICE void multiply_residues(const Operands<COUNT, N> &operands, const FragmentPair *fragments, Residues (&outputs)[4], uint32_t (&further)[4]) {
    for_numbers<0, (COUNT + 3) / 4>([&](auto group) {
        constexpr int FIRST = 4 * group;
        uint32_t bytes[4][4] = {};
        for_numbers<FIRST, (FIRST + 4 < COUNT ? FIRST + 4 : COUNT)>([&](auto number) {
            multiply_modulo<COUNT, N, WITHOUT>(number, operands, fragments, bytes);
        });
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t packed = packed_bytes(bytes[i][0], bytes[i][1], bytes[i][2], bytes[i][3]);
            if constexpr (FIRST < MOST_MODULI) {
                outputs[i].bytes[group] = packed;
            } else {
                further[i] = packed;
            }
        }
    });
}

template <bool CLOSING, int N = POINTS> DEVICE void fold(const RowPanel &panel, const Column &column, int32_t t, int64_t (&words)[4][SLOTS_OF_A_LANE<N>]) {
    int32_t first = column.start + column.number * (CLOSING ? panel.row_pitch : panel.column_pitch);
    int32_t distance = CLOSING ? panel.column_pitch : panel.row_pitch;
    if (column.mirrored != 0) {
        first += (N - 1) * distance;
        distance = -distance;
    }
    auto take = [&](const auto &element) {
#pragma unroll
        for (int j = 0; j < SLOTS_OF_A_LANE<N>; j++) {
            const int32_t slot = 4 * j + t;
            const bool alone = CLOSING && slot == 0;
            const int32_t partner = CLOSING ? (alone ? N / 2 : N - slot) : N - 1 - slot;
            const Words a = element(first + slot * distance), b = element(first + partner * distance);
            Words sums = {wrapping_add(a.re, b.re), wrapping_add(a.im, b.im)};
            Words differences = {wrapping_subtract(a.re, b.re), wrapping_subtract(a.im, b.im)};
            Words even = CLOSING ? differences : sums, odd = CLOSING ? sums : differences;
            even = alone ? a : even;
            odd = alone ? b : odd;
            words[0][j] = even.re;
            words[1][j] = flipped(even.im, column.mirrored);
            words[2][j] = flipped(odd.im, column.mirrored);
            words[3][j] = negated(odd.re);
        }
    };
    if (!CLOSING && panel.lines[column.line].rounded == 0) {
        const int32_t unit = panel.lines[column.line].exponent;
        take([&](int32_t place) {
            const Words bits = panel.points[place];
            return Words{rounded_double(bits.re, unit), rounded_double(bits.im, unit)};
        });
    } else {
        take([&](int32_t place) { return panel.points[place]; });
    }
}

// An output of the first step: rotated, to its row.
DEVICE void put_first(const RowPanel &panel, const Step &step, const Column &column, int32_t k, int32_t row, Words value) {
    const int32_t number = column.mirrored != 0 ? panel.columns - column.number : column.number;
    value = rotate(value, table_entry(step.rotations + k * step.rotation_stride + number));
    if (step.mirror_negates != 0) {
        value.re = flipped(value.re, column.mirrored);
    } else {
        value.im = flipped(value.im, column.mirrored);
    }
    panel.points[column.start + row * panel.row_pitch + column.number * panel.column_pitch] = value;
}

// An output of the second step: 64 bits, and with a mark what is above, if it is more than the sign.
DEVICE void put_last(const RowPanel &panel, int32_t place, const Rounded &re, const Rounded &im) {
    panel.points[place] = {re.low, im.low};
    const bool is_long = re.top != static_cast<int32_t>(re.low >> 63) || im.top != static_cast<int32_t>(im.low >> 63);
    panel.extra[place] = is_long ? LONGER | (re.top & 0xff) | (im.top & 0xff) << 8 : 0;
}

DEVICE Rounded negated_if(bool condition, Rounded x) {
    const Rounded negative = {negated(x.low), ~x.top + (x.low == 0 ? 1 : 0)};
    return condition ? negative : x;
}

// Columns of N points, of which every line has COLUMNS.
template <class Way, bool CLOSING, int N, int COLUMNS, Stage WITHOUT>
DEVICE void residue_step(const RowPanel &panel, const Step &step, uint32_t scratch, const Watch &watch) {
    constexpr bool CHECKED = REDUNDANT<Way> > 0;
    constexpr int COUNT = CLOSING || CHECKED ? 16 : 15;
    using Tables = ResidueTables<N, MOST_MODULI + REDUNDANT<Way>>;
    const int32_t warps = static_cast<int32_t>(blockDim.x) / 32, warp = thread_number() / 32;
    const int32_t lane = thread_number() % 32, g = lane / 4, t = lane % 4;
    const Tables tables(step);
    const SliceTable slices = table_entry(tables.slices + lane);
    // Tiles of eight columns are of one line and none is missing.
    static_assert(COLUMNS % 8 == 0, "tiles are full");
    for (int32_t base = 8 * warp; base < COLUMNS * panel.count; base += 8 * warps) {
        Column column;
        column.line = base / COLUMNS;
        column.number = base % COLUMNS + g;
        column.start = panel.lines[column.line].base;
        column.mirrored = !CLOSING && 2 * column.number > COLUMNS ? -1 : 0;
        Operands<COUNT + REDUNDANT<Way>, N> operands;
        {
            int64_t words[4][SLOTS_OF_A_LANE<N>];
            fold<CLOSING, N>(panel, column, t, words);
            decompose<COUNT + REDUNDANT<Way>, N, WITHOUT>(words, operands);
        }
        // All lanes of the warp have read their columns before any of them writes.
        warp_barrier();
        const bool conjugated = CLOSING && 2 * column.number > COLUMNS;
#pragma unroll 1
        for (int32_t turn = 0; turn < TURNS<N>; turn++) {
            const bool far = turn % 2 != 0;
            Residues residues[4];
            uint32_t redundant[4];
            multiply_residues<COUNT + REDUNDANT<Way>, N, WITHOUT>(operands, tables.fragments + turn * Tables::OF_A_TURN + lane, residues, redundant);
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int32_t k = turn / 2 * 8 + 2 * t + e;
                // Row 0 of a time-shifted step has output 0 in its cosines and the middle one in its sines.
                const bool middle = !CLOSING && far && e == 0 && k == 0;
                const int32_t shift = CLOSING ? 0 : step.shift;
                // Imaginary parts are the negatives of what is rounded upwards, but of the last step's partners.
                const Rounding rounding[2] = {{shift, false}, {shift, !far}};
                const Residues parts[2] = {residues[e], residues[2 + e]};
                Rounded value[2];
                if (WITHOUT == Stage::RECONSTRUCTION) {
                    for (int part = 0; part < 2; part++) value[part] = {static_cast<int64_t>(parts[part].bytes[0] + parts[part].bytes[1]) << 32 | (parts[part].bytes[2] + parts[part].bytes[3]), 0};
                } else if constexpr (CHECKED) {
                    const uint32_t number = static_cast<uint32_t>(((base + g) * N + (far ? N - 1 - k : k)) * 2 + (CLOSING ? 1 : 0));
                    const Checks checks = {{redundant[e], redundant[2 + e]}, MOST_UPPER<CLOSING, N>, tables.corrections, watch, number};
                    Way::reconstruct(parts, slices, scratch, rounding, middle, value, checks);
                } else {
                    Way::template reconstruct<COUNT>(parts, slices, scratch, rounding, middle, value);
                }
                if (CLOSING) {
                    // Rows beyond the middle were computed of the conjugated line, and are conjugated back.
                    const int32_t place = column.start + column.number * panel.row_pitch + (far ? N - 1 - k : k) * panel.column_pitch;
                    put_last(panel, place, value[0], negated_if(conjugated, value[1]));
                } else {
                    const int64_t im = far && !middle ? negated(value[1].low) : value[1].low;
                    const int32_t row = middle ? N / 2 : far ? N - k : k;
                    put_first(panel, step, column, middle ? N / 2 : k, row, {value[0].low, im});
                }
            }
        }
    }
}
