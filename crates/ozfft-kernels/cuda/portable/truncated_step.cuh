// One small DFT over many columns for recipes whose products keep as many diagonals as data words have digits, D of them:
// the same integers as step.cuh, with everything about digits known to the compiler.
//
// Every step works in place: a column is read completely before its outputs are written over it.
#pragma once
#include "arch/mma_sync.cuh"
#include "numerics/numbers.cuh"
#include "portable/panel.cuh"

// Lines in shared memory as rows of a matrix: row r of the first step, column c, lies r · row_pitch + c · column_pitch behind
// the line's first point. Distances are chosen by the host so that neighbours in both directions lie on different banks.
struct RowPanel {
    Line *lines;
    Words *points;
    // Exponents of words before they are brought under one; upper bytes of outputs.
    int32_t *extra;
    int32_t row_pitch, column_pitch;
    // Points of a row, and rows.
    int32_t columns, rows;
    int32_t count;
};

// Division of numbers below 2^16.
struct Divisor {
    uint32_t value, factor;
    DEVICE explicit Divisor(int32_t by) : value(static_cast<uint32_t>(by)), factor(by > 1 ? 0xffffffffu / static_cast<uint32_t>(by) + 1 : 0) {}
    DEVICE int32_t quotient(int32_t x) const {
        const uint32_t q = static_cast<uint32_t>(static_cast<uint64_t>(static_cast<uint32_t>(x)) * factor >> 32);
        return static_cast<int32_t>(factor == 0 ? static_cast<uint32_t>(x) : q);
    }
};

// A sum of digit products in units of the data words, `low + top · 2^49`; only eight digits need the top.
struct Tall {
    int64_t low;
    int32_t top;
};
DEVICE Tall operator+(Tall a, Tall b) { return {wrapping_add(a.low, b.low), a.top + b.top}; }
DEVICE Tall operator-(Tall a, Tall b) { return {wrapping_subtract(a.low, b.low), a.top - b.top}; }
DEVICE Tall negated(Tall a) { return {negated(a.low), -a.top}; }
DEVICE Tall negated_if(bool condition, Tall a) { return condition ? negated(a) : a; }
// Words are longer than what may be added up in the lower part.
template <int D> DEVICE Tall tall(int64_t word) {
    return D < 8 ? Tall{word, 0} : Tall{word & ((int64_t{1} << 49) - 1), static_cast<int32_t>(word >> 49)};
}

// Diagonals of four sums (two outputs' real parts, then their imaginary parts) put together and rounded, halves upwards:
// modulo 2^64, or with the topmost diagonal apart.
template <int D> DEVICE Tall rounded(const int (&sums)[D][4], int e, bool apart) {
    const int low = ((sums[D - 1][e] + 64) >> UNIT_BITS) + 2 * sums[D - 2][e] + 512 * sums[D - 3][e];
    const int middle = sums[D - 4][e] + 256 * sums[D - 5][e];
    uint32_t high = 0;
    Tall all = {0, 0};
    if (D >= 6) high = static_cast<uint32_t>(sums[D >= 6 ? D - 6 : 0][e]);
    if (D >= 7) high += 256u * static_cast<uint32_t>(sums[D >= 7 ? D - 7 : 0][e]);
    if (D >= 8) {
        if (apart) {
            all.top = sums[0][e];
        } else {
            high += 65536u * static_cast<uint32_t>(sums[0][e]);
        }
    }
    all.low = wide_product(middle, 1 << 17) + low;
    if (D >= 6) {
        all.low = wrapping_add(all.low, static_cast<int64_t>(static_cast<uint64_t>(high) << 33));
    }
    return all;
}

// A word's digits as signed bytes, the leading one topmost.
struct Digits {
    uint32_t lower, upper;
};
template <int D> DEVICE Digits digits_of(int64_t word) {
    const uint64_t bias = 0x8080808080808080u >> (64 - 8 * D) << (64 - 8 * D);
    const uint64_t digits = ((static_cast<uint64_t>(word) << (64 - 8 * D)) + bias) ^ bias;
    return {static_cast<uint32_t>(digits), static_cast<uint32_t>(digits >> 32)};
}

// Two fragments of the tensor instruction's second operand, a lane's part.
struct alignas(16) FragmentPair {
    uint32_t words[2][2];
};

// Fragments for every eight of slots: all diagonals with the upper four digits, then those that the lower ones meet.
template <int D> constexpr int FRAGMENTS = D > 4 ? 2 * D - 4 : D;

template <int D, int TILES>
DEVICE void multiply(int (&sums)[D][4], const uint32_t (&lower)[TILES][4], const uint32_t (&upper)[TILES][4],
                     const FragmentPair *matrix) {
#pragma unroll
    for (int s = 0; s < TILES; s++) {
#pragma unroll
        for (int f = 0; f < FRAGMENTS<D>; f += 2) {
            const FragmentPair pair = table_entry(matrix + (s * (FRAGMENTS<D> / 2) + f / 2) * 32);
#pragma unroll
            for (int i = f; i < f + 2; i++) {
                if (i >= D) {
                    mma_sync_s8(sums[i < D ? 0 : i - D + 4], lower[s], pair.words[i - f]);
                } else if (s == 0) {
                    mma_sync_s8_first(sums[i < D ? i : 0], upper[s], pair.words[i - f]);
                } else {
                    mma_sync_s8(sums[i < D ? i : 0], upper[s], pair.words[i - f]);
                }
            }
        }
    }
}

enum class Part { ONLY, OPENING, CLOSING_SHIFTED, CLOSING_PLAIN };

// Columns of a line that are worked on: of a Hermitian line's first step those beyond the middle are the others' mirror
// images, and of a real line's last step the rows beyond the middle are.
DEVICE int32_t opening_columns(const Task &task, const RowPanel &panel) {
    return task.symmetry == SYMMETRY_HERMITIAN && panel.columns > 1 ? panel.columns / 2 + 1 : panel.columns;
}
DEVICE int32_t closing_columns(const Task &task, const RowPanel &panel) {
    return task.symmetry == SYMMETRY_REAL ? panel.rows / 2 + 1 : panel.rows;
}

// An output of a block, as an integer of 64 bits. Of those that do not fit the upper bytes are kept apart, with a mark.
constexpr int32_t LONGER = 1 << 16;

DEVICE_APART int32_t upper_bytes(int64_t re, int32_t re_top, int64_t im, int32_t im_top) {
    auto byte = [](int64_t low, int32_t top) { return (static_cast<int32_t>(low >> 49) + top) >> 15 & 0xff; };
    return LONGER | byte(re, re_top) | byte(im, im_top) << 8;
}

template <int D> DEVICE void put_output(const RowPanel &panel, int32_t place, Tall re, Tall im) {
    if (D < 8) {
        panel.points[place] = {re.low, im.low};
        return;
    }
    auto all = [](Tall x) { return wrapping_add(x.low, static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(x.top) << 17) << 32)); };
    auto is_long = [](Tall x) { return static_cast<uint32_t>(x.top + 8192) >= 16384u; };
    panel.points[place] = {all(re), all(im)};
    panel.extra[place] = is_long(re) || is_long(im) ? upper_bytes(re.low, re.top, im.low, im.top) : 0;
}

// `x / 2^unit` to nearest, halves away from zero, of a double that has a leading bit or is far below the unit.
DEVICE int64_t rounded_double(int64_t bits, int32_t unit) {
    const uint32_t high = static_cast<uint32_t>(bits >> 32);
    const u64 magnitude = static_cast<u64>(bits) << 11 | SIGN;
    // One bit more, to round with.
    const u64 cut = arithmetic::shift_right(magnitude, static_cast<uint32_t>(unit + 1085) - (high >> 20 & 0x7ff));
    uint32_t w0, w1;
    arithmetic::flipped_plus_one(static_cast<uint32_t>(cut), static_cast<uint32_t>(cut >> 32), static_cast<int32_t>(high) >> 31, w0, w1);
    return static_cast<int64_t>(static_cast<uint64_t>(w1) << 32 | w0) >> 1;
}

DEVICE int64_t flipped(int64_t x, int64_t sign) { return wrapping_subtract(x ^ sign, sign); }

// A column that a lane works on.
struct Column {
    int32_t line, number, start;
    // -1 where a column is read backwards and conjugated: those of the first of two steps beyond the middle.
    int64_t mirrored;
};

// Two outputs of the first of two steps, or of the only one, made of the sums of row `k`.
template <int D, Part PART>
DEVICE void put_opening(const Task &task, const RowPanel &panel, const Step &step, const Column &column, int32_t k, bool first, int64_t cr,
                        int64_t ci, int64_t sr, int64_t si) {
    const int32_t n = step.n;
    // Row 0 of a time-shifted step has output 0 in its cosines and the middle one in its sines.
    const bool two = first && step.fold == FOLD_TIME_SHIFTED;
    Words near = {wrapping_add(cr, two ? 0 : si), wrapping_subtract(ci, two ? 0 : sr)};
    // Rows beyond the middle are outputs of the conjugated column.
    Words far = {two ? si : wrapping_subtract(cr, si), negated(wrapping_add(sr, two ? 0 : ci))};
    const bool has_far = (!first || two) && (two || PART == Part::ONLY || task.symmetry != SYMMETRY_REAL);
    const int32_t far_row = two ? n / 2 : n - k;
    if (PART == Part::OPENING || step.rotations != nullptr) {
        const int32_t number = column.mirrored != 0 ? panel.columns - column.number : column.number;
        const Angle *const row = step.rotations + k * step.rotation_stride + number;
        Angle angle = table_entry(row);
        near = rotate(near, angle);
        if (two) {
            angle = table_entry(row + far_row * step.rotation_stride);
        }
        far = rotate(far, angle);
    }
    if (PART == Part::ONLY) {
        put_output<D>(panel, column.start + k * panel.row_pitch, tall<D>(near.re), tall<D>(near.im));
        if (has_far) {
            put_output<D>(panel, column.start + far_row * panel.row_pitch, tall<D>(far.re), negated_if(!two, tall<D>(far.im)));
        }
        return;
    }
    const bool negates = step.mirror_negates != 0;
    auto mirror_image = [negates](Words x, int64_t sign) { return negates ? Words{flipped(x.re, sign), x.im} : Words{x.re, flipped(x.im, sign)}; };
    // Rows are where they would be in a column that is not mirrored; nobody reads a mirror image's column.
    auto store = [&](int32_t at) {
        panel.points[at + k * panel.row_pitch] = near;
        if (has_far) {
            panel.points[at + far_row * panel.row_pitch] = far;
        }
    };
    near = mirror_image(near, column.mirrored);
    far = mirror_image(far, column.mirrored);
    store(column.start + column.number * panel.column_pitch);
    if (task.symmetry == SYMMETRY_HERMITIAN && column.number > 0 && 2 * column.number < panel.columns) {
        // It stands for two.
        near = mirror_image(near, -1);
        far = mirror_image(far, -1);
        store(column.start + (panel.columns - column.number) * panel.column_pitch);
    }
}

// A warp takes 8 columns. Row g of the tensor instruction's first operand is the real part of column g, row g + 8 its
// imaginary part; 32 bytes of a row are four digits of 8 slots. TILES is the number of tiles of eight slots, and of outputs.
template <int D, int TILES, Part PART>
DEVICE void matrix_step(const Task &task, const RowPanel &panel, const Step &step) {
    constexpr bool OPENING = PART == Part::OPENING || PART == Part::ONLY;
    const int32_t per_line = OPENING ? opening_columns(task, panel) : closing_columns(task, panel);
    const Divisor columns(per_line);
    const int32_t total = per_line * panel.count;
    const int32_t warps = static_cast<int32_t>(blockDim.x) / 32, warp = static_cast<int32_t>(threadIdx.x) / 32;
    const int32_t lane = static_cast<int32_t>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const int32_t n = step.n;
    const bool shifted_input = OPENING && step.fold == FOLD_TIME_SHIFTED;
    const int32_t slots = shifted_input || PART == Part::CLOSING_SHIFTED ? n / 2 : n / 2 + 1;
    const FragmentPair *const fragments = reinterpret_cast<const FragmentPair *>(step.matrix) + lane;
    constexpr int PER_TILE = TILES * (FRAGMENTS<D> / 2) * 32;
    for (int32_t base = 8 * warp; base < total; base += 8 * warps) {
        const bool active = base + g < total;
        const int32_t index = active ? base + g : base;
        Column column;
        column.line = columns.quotient(index);
        column.number = index - column.line * per_line;
        column.start = panel.lines[column.line].base;
        const bool mirrored = PART == Part::OPENING && 2 * column.number > panel.columns;
        column.mirrored = mirrored ? -1 : 0;
        int32_t first = column.start + column.number * (OPENING ? panel.column_pitch : panel.row_pitch);
        int32_t distance = OPENING ? panel.row_pitch : panel.column_pitch;
        if (mirrored) {
            first += (n - 1) * distance;
            distance = -distance;
        }
        uint32_t cosine_lower[TILES][4], cosine_upper[TILES][4], sine_lower[TILES][4], sine_upper[TILES][4];
        auto fold = [&](const auto &element) {
#pragma unroll
            for (int s = 0; s < TILES; s++) {
#pragma unroll
                for (int part = 0; part < 2; part++) {
                    // Slots beyond the last one meet zeros of the matrices.
                    const int32_t wanted = 8 * s + 4 * part + t, slot = wanted < slots ? wanted : slots - 1;
                    const bool alone = s == 0 && part == 0 && !shifted_input && slot == 0;
                    int32_t partner = shifted_input ? n - 1 - slot : n - slot;
                    if (s == 0 && part == 0 && alone) {
                        partner = PART == Part::CLOSING_SHIFTED ? n / 2 : 0;
                    }
                    const Words a = element(first + slot * distance), b = element(first + partner * distance);
                    Words even = {wrapping_add(a.re, b.re), wrapping_add(a.im, b.im)};
                    Words odd = {wrapping_subtract(a.re, b.re), wrapping_subtract(a.im, b.im)};
                    if (PART == Part::CLOSING_SHIFTED) {
                        const Words exchanged = even;
                        even = odd;
                        odd = exchanged;
                    }
                    if (s == 0 && part == 0 && alone) {
                        even = a;
                        odd = b;
                    }
                    if (PART == Part::OPENING) {
                        even.im = flipped(even.im, column.mirrored);
                        odd.im = flipped(odd.im, column.mirrored);
                    }
                    const Digits even_re = digits_of<D>(even.re), even_im = digits_of<D>(even.im);
                    const Digits odd_re = digits_of<D>(odd.re), odd_im = digits_of<D>(odd.im);
                    cosine_lower[s][2 * part] = even_re.lower;
                    cosine_lower[s][2 * part + 1] = even_im.lower;
                    cosine_upper[s][2 * part] = even_re.upper;
                    cosine_upper[s][2 * part + 1] = even_im.upper;
                    sine_lower[s][2 * part] = odd_re.lower;
                    sine_lower[s][2 * part + 1] = odd_im.lower;
                    sine_upper[s][2 * part] = odd_re.upper;
                    sine_upper[s][2 * part + 1] = odd_im.upper;
                }
            }
        };
        if (OPENING && panel.lines[column.line].rounded == 0) {
            const int32_t unit = panel.lines[column.line].exponent;
            fold([&](int32_t place) {
                const Words bits = panel.points[place];
                return Words{rounded_double(bits.re, unit), rounded_double(bits.im, unit)};
            });
        } else {
            fold([&](int32_t place) { return panel.points[place]; });
        }
        // All lanes of the warp have read their columns before any of them writes.
        warp_barrier();
        const bool conjugated = !OPENING && 2 * column.number > panel.rows;
#pragma unroll 1
        for (int32_t tile = 0; tile < TILES; tile++) {
            int sums[D][4];
            Tall cosine[4], sine[4];
            multiply<D, TILES>(sums, cosine_lower, cosine_upper, fragments + tile * PER_TILE);
#pragma unroll
            for (int e = 0; e < 4; e++) cosine[e] = rounded<D>(sums, e, !OPENING);
            multiply<D, TILES>(sums, sine_lower, sine_upper, fragments + (TILES + tile) * PER_TILE);
#pragma unroll
            for (int e = 0; e < 4; e++) sine[e] = rounded<D>(sums, e, !OPENING);
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int32_t k = 8 * tile + 2 * t + e;
                if (!active || k >= slots) {
                    continue;
                }
                const Tall cr = cosine[e], ci = cosine[2 + e], sr = sine[e], si = sine[2 + e];
                if (OPENING) {
                    put_opening<D, PART>(task, panel, step, column, k, e == 0 && k == 0, cr.low, ci.low, sr.low, si.low);
                } else {
                    // Rows beyond the middle were computed of the conjugated line, and are conjugated back.
                    put_output<D>(panel, first + k * distance, cr + si, negated_if(conjugated, ci - sr));
                    if (PART == Part::CLOSING_SHIFTED || k > 0) {
                        const int32_t far = PART == Part::CLOSING_SHIFTED ? n - 1 - k : n - k;
                        put_output<D>(panel, first + far * distance, cr - si, negated_if(conjugated, sr + ci));
                    }
                }
            }
        }
    }
}

// A last step of 2 or 4 points, whose matrix entries are 0 and ±1: a thread takes a column.
template <int D> DEVICE void closing_unit_step(const Task &task, const RowPanel &panel, const Step &step) {
    const int32_t per_line = closing_columns(task, panel);
    const Divisor columns(per_line);
    for (int32_t index = static_cast<int32_t>(threadIdx.x); index < per_line * panel.count; index += static_cast<int32_t>(blockDim.x)) {
        const int32_t line_number = columns.quotient(index), number = index - line_number * per_line;
        const int32_t first = panel.lines[line_number].base + number * panel.row_pitch;
        const bool conjugated = 2 * number > panel.rows;
        auto element = [&](int i, Tall &re, Tall &im) {
            const Words point = panel.points[first + i * panel.column_pitch];
            re = tall<D>(point.re);
            im = tall<D>(point.im);
        };
        auto put = [&](int k, Tall re, Tall im) { put_output<D>(panel, first + k * panel.column_pitch, re, negated_if(conjugated, im)); };
        Tall re[4], im[4];
        element(0, re[0], im[0]);
        element(1, re[1], im[1]);
        if (step.n == 2) {
            put(0, re[0] + re[1], im[0] + im[1]);
            put(1, re[0] - re[1], im[0] - im[1]);
            continue;
        }
        element(2, re[2], im[2]);
        element(3, re[3], im[3]);
        const Tall even_re = re[0] + re[2], even_im = im[0] + im[2], odd_re = re[1] + re[3], odd_im = im[1] + im[3];
        put(0, even_re + odd_re, even_im + odd_im);
        put(2, even_re - odd_re, even_im - odd_im);
        // A quarter turn, exact.
        const Tall cr = re[0] - re[2], ci = im[0] - im[2], sr = re[1] - re[3], si = im[1] - im[3];
        put(1, cr + si, ci - sr);
        put(3, cr - si, ci + sr);
    }
}
