// Lines of every kind with products by residues: complex, real and Hermitian ones, in doubles or in singles; and moduli as few as the words at hand need.
//
// What is computed, and to the bit, is what residue_lines.cuh has for complex lines of doubles. Of real lines the second step leaves out the rows beyond the middle, which
// mirror the others; of Hermitian ones the first step leaves out such columns.
#pragma once
#include "residues/residue_adaptive.cuh"
#include "residues/residue_lines.cuh"

// Words of 64 bits, and matrices of 55: what a sum is divided by.
struct DoubleWords {
    static constexpr int DIGITS = 8, PLACES = 55, FIRST_MODULI = 15, LAST_MODULI = MOST_MODULI;
    static constexpr bool SINGLE = false, ADAPTIVE = false;
};
// Moduli by the words of eight columns.
struct AdaptiveWords : DoubleWords {
    static constexpr bool ADAPTIVE = true;
};
// Words of 40 bits, and matrices of 31.
struct SingleWords {
    static constexpr int DIGITS = 5, PLACES = 31, FIRST_MODULI = 9, LAST_MODULI = 10;
    static constexpr bool SINGLE = true, ADAPTIVE = false;
};

// The residues of eight outputs of 8 columns, as in multiply_residues, from so many pairs of moduli.
template <bool ADAPTIVE, int COUNT, int N>
DEVICE void multiply_pairs(const Operands<COUNT, N> &operands, const FragmentPair *fragments, int32_t pairs, Residues (&outputs)[4]) {
    for_numbers<0, MOST_MODULI / 4>([&](auto group) {
        constexpr int FIRST = 4 * group;
        uint32_t bytes[4][4] = {};
        for_numbers<FIRST / 2, FIRST / 2 + 2>([&](auto pair) {
            constexpr int BEGIN = 2 * pair, END = BEGIN + 2 < COUNT ? BEGIN + 2 : COUNT;
            if (!ADAPTIVE || pair < LEAST_PAIRS || pair < pairs) {
                for_numbers<BEGIN, END>([&](auto number) { multiply_modulo<COUNT, N, Stage::NONE>(number, operands, fragments, bytes); });
            }
        });
#pragma unroll
        for (int i = 0; i < 4; i++) outputs[i].bytes[group] = packed_bytes(bytes[i][0], bytes[i][1], bytes[i][2], bytes[i][3]);
    });
}

template <bool ADAPTIVE, int COUNT, int N> DEVICE void decompose_pairs(const int64_t (&words)[4][SLOTS_OF_A_LANE<N>], int32_t pairs, Operands<COUNT, N> &operands) {
    uint32_t low[4][SLOTS_OF_A_LANE<N>], high[4][SLOTS_OF_A_LANE<N>];
    without_signs<N>(words, low, high);
    for_numbers<0, (COUNT + 1) / 2>([&](auto pair) {
        constexpr int BEGIN = 2 * pair, END = BEGIN + 2 < COUNT ? BEGIN + 2 : COUNT;
        if (!ADAPTIVE || pair < LEAST_PAIRS || pair < pairs) {
            for_numbers<BEGIN, END>([&](auto number) { decompose_modulo<COUNT, N, Stage::NONE>(number, low, high, operands); });
        }
    });
}

// An integer divided by 2^places, rounded downwards; of fewer places than 32 what is above 64 bits is void.
DEVICE Rounded divided(const LongInteger &x, int32_t places) {
    const bool above = places >= 32;
    const uint32_t low = above ? x.words[1] : x.words[0], middle = above ? x.words[2] : x.words[1], high = above ? x.words[3] : x.words[2];
    const uint32_t bits = static_cast<uint32_t>(places) % 32;
    const uint64_t lower = __funnelshift_r(low, middle, bits), upper = __funnelshift_r(middle, high, bits);
    return {static_cast<int64_t>(upper << 32 | lower), static_cast<int32_t>(high) >> bits};
}
// Whether nothing is cut off.
DEVICE bool is_multiple(const LongInteger &x, int32_t places) {
    const uint32_t mask = (1u << (static_cast<uint32_t>(places) % 32)) - 1;
    return places >= 32 ? x.words[0] == 0 && (x.words[1] & mask) == 0 : (x.words[0] & mask) == 0;
}

// Both parts of a number in words of 32 bits, as ExactSlices<Kulisch32> has them, divided by 2^places, halves upwards, or `down` downwards.
DEVICE void reconstruct_divided(const Residues (&parts)[2], const SliceTable &table, uint32_t scratch, int32_t places, const bool (&down)[2], bool down_after,
                                Rounded (&to)[2]) {
    const int32_t t = thread_number() % 4, half = places - 1;
    // See Kulisch32::constants: one half of the last place lies in one of the windows.
    const int64_t common = (int64_t{1} << 44) - (t == 0 ? FLOAT_VALUE : 1 << 12) + (t == half / 32 ? int64_t{1} << half % 32 : 0);
    const int64_t constants[2] = {common - (t == 0 && down[0] ? 1 : 0), common - (t == 0 && down[1] ? 1 : 0)};
    Piece windows[2][4];
    sliced(parts, table, scratch, [&](const Window &window, uint32_t part) { return Kulisch32::piece(window, table, constants[part]); }, windows);
#pragma unroll
    for (int part = 0; part < 2; part++) {
        const LongInteger total = whole(windows[part]);
        to[part] = divided(total, places);
        if (part == 1 && down_after && is_multiple(total, places)) {
            to[part].low -= 1;
        }
    }
}

// An output of the first step. Of a Hermitian line's column that stands for two, the other one, too.
DEVICE void put_first_of_two(const Task &task, const RowPanel &panel, const Step &step, const Column &column, int32_t k, int32_t row, Words value) {
    put_first(panel, step, column, k, row, value);
    if (task.symmetry == SYMMETRY_HERMITIAN && column.number > 0 && 2 * column.number < panel.columns) {
        const int32_t at = column.start + row * panel.row_pitch;
        Words image = panel.points[at + column.number * panel.column_pitch];
        if (step.mirror_negates != 0) {
            image.re = negated(image.re);
        } else {
            image.im = negated(image.im);
        }
        panel.points[at + (panel.columns - column.number) * panel.column_pitch] = image;
    }
}

// Columns of N points, of which every line has COLUMNS.
template <class Numbers, bool CLOSING, int N, int COLUMNS> DEVICE void step_of_kind(const Task &task, const RowPanel &panel, const Step &step, uint32_t scratch) {
    constexpr bool ADAPTIVE = Numbers::ADAPTIVE;
    constexpr int COUNT = CLOSING ? Numbers::LAST_MODULI : Numbers::FIRST_MODULI, HALF = COLUMNS / 2 + 1;
    using Tables = ResidueTables<N, MOST_MODULI>;
    const int32_t warps = static_cast<int32_t>(blockDim.x) / 32, warp = thread_number() / 32;
    const int32_t lane = thread_number() % 32, g = lane / 4, t = lane % 4;
    const Tables tables(step);
    const bool mirrors = task.symmetry == (CLOSING ? SYMMETRY_REAL : SYMMETRY_HERMITIAN);
    const int32_t total = (mirrors ? HALF : COLUMNS) * panel.count;
    for (int32_t base = 8 * warp; base < total; base += 8 * warps) {
        // What is missing in the last tile is computed as its first column once more, and nobody sees it.
        const bool active = base + g < total;
        const int32_t index = active ? base + g : base;
        Column column;
        column.line = mirrors ? index / HALF : index / COLUMNS;
        column.number = index - column.line * (mirrors ? HALF : COLUMNS);
        column.start = panel.lines[column.line].base;
        column.mirrored = !CLOSING && 2 * column.number > COLUMNS ? -1 : 0;
        Operands<COUNT, N> operands;
        Need need = {0, CHOICES - 1};
        {
            int64_t words[4][SLOTS_OF_A_LANE<N>];
            fold<CLOSING, N>(panel, column, t, words);
            if constexpr (ADAPTIVE) {
                need = need_of<CLOSING, N>(words, panel.lines[column.line].output_bits, reinterpret_cast<const uint64_t *>(tables.slices + 32 * CHOICES));
                if (lane == 0) {
                    // Real and imaginary parts of the words that cosines meet and of those that sines meet.
                    const int32_t columns = total - base < 8 ? total - base : 8;
                    atomic_add(&counts_of_block()[(CLOSING ? CHOICES : 0) + need.choice], static_cast<unsigned>(4 * columns));
                }
            }
            decompose_pairs<ADAPTIVE, COUNT, N>(words, LEAST_PAIRS + need.choice, operands);
        }
        // All lanes of the warp have read their columns before any of them writes.
        warp_barrier();
        const SliceTable slices = table_entry(tables.slices + (ADAPTIVE ? 32 * need.choice : 0) + lane);
        const int32_t places = Numbers::PLACES + (CLOSING ? 0 : step.shift) - need.zeros;
#pragma unroll 1
        for (int32_t turn = 0; turn < TURNS<N>; turn++) {
            const bool far = turn % 2 != 0;
            Residues residues[4];
            multiply_pairs<ADAPTIVE, COUNT, N>(operands, tables.fragments + turn * Tables::OF_A_TURN + lane, LEAST_PAIRS + need.choice, residues);
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int32_t k = turn / 2 * 8 + 2 * t + e;
                // As in residue_step.
                const bool middle = !CLOSING && far && e == 0 && k == 0;
                const Residues parts[2] = {residues[e], residues[2 + e]};
                const bool down[2] = {false, !far};
                Rounded value[2];
                reconstruct_divided(parts, slices, scratch, places, down, middle, value);
                if (!active) {
                    continue;
                }
                if (CLOSING) {
                    const int32_t place = column.start + column.number * panel.row_pitch + (far ? N - 1 - k : k) * panel.column_pitch;
                    const bool conjugated = 2 * column.number > panel.rows;
                    const Rounded im = negated_if(conjugated, value[1]);
                    if (Numbers::DIGITS == 8) {
                        put_last(panel, place, value[0], im);
                    } else {
                        panel.points[place] = {value[0].low, im.low};
                    }
                } else {
                    const int64_t im = far && !middle ? negated(value[1].low) : value[1].low;
                    const int32_t row = middle ? N / 2 : far ? N - k : k;
                    put_first_of_two(task, panel, step, column, middle ? N / 2 : k, row, {value[0].low, im});
                }
            }
        }
    }
}

// Steps of FIRST and LAST points.
template <class Numbers, int FIRST, int LAST> DEVICE void run_residues_of_kind(const Task &task, const Adaptation &adaptation = Adaptation()) {
    const int32_t lines = task.lines_per_block, points = lines * task.line_pitch;
    if (Numbers::ADAPTIVE) {
        clear_counts_of_block();
    }
    for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * lines; first < task.line_count; first += static_cast<uint64_t>(gridDim.x) * lines) {
        const uint64_t left = task.line_count - first;
        const int32_t count = left < static_cast<uint64_t>(lines) ? static_cast<int32_t>(left) : lines;
        const RowPanel panel = row_panel_of(task, count, points);
        // Behind the points.
        unsigned char *behind = reinterpret_cast<unsigned char *>(panel.extra + points);
        behind += (16 - shared_address(behind) % 16) % 16;
        uint64_t *const squares = reinterpret_cast<uint64_t *>(behind);
        for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += static_cast<int32_t>(blockDim.x)) {
            prepare_line(task, panel.lines[i], first + static_cast<uint64_t>(i));
            panel.lines[i].base = i * task.line_pitch;
            squares[i] = 0;
        }
        block_barrier();
        load(task, panel);
        block_barrier();
        if constexpr (Numbers::ADAPTIVE) {
            if (adaptation.unit != NO_UNIT) {
                add_up_squares(task, panel, squares);
                block_barrier();
            }
            quantise(task, panel, [&](int32_t i, int32_t exponent) { return coarsened(adaptation, panel.lines[i], squares[i], exponent); });
        } else {
            quantise(task, panel);
        }
        const uint32_t scratch = shared_address(behind) + static_cast<uint32_t>(thread_number() / 32) * SCRATCH_BYTES;
        step_of_kind<Numbers, false, FIRST, LAST>(task, panel, task.steps[0], scratch);
        block_barrier();
        step_of_kind<Numbers, true, LAST, FIRST>(task, panel, task.steps[1], scratch);
        block_barrier();
        store_floats_as<Numbers::DIGITS, Numbers::SINGLE>(task, panel);
        block_barrier();
    }
    if (Numbers::ADAPTIVE) {
        add_counts_of_block(adaptation);
    }
}
