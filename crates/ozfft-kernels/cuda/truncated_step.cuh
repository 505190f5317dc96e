// One small DFT over many columns for recipes whose products keep as many diagonals as data words have digits, D of them:
// the same integers as step.cuh, with everything about digits known to the compiler.
//
// Every step works in place: a column is read completely before its outputs are written over it.
#pragma once
#include "mma_sync.cuh"
#include "numbers.cuh"
#include "panel.cuh"

// Lines in shared memory as rows of a matrix: row r of the first step, column c, lies at r · row_pitch + c. Distances are
// chosen by the host so that neighbours in both directions lie on different banks.
struct RowPanel {
    Line *lines;
    Words *points;
    // Exponents of words before they are brought under one; lowest bytes of outputs that become words.
    int32_t *extra;
    int32_t line_pitch, row_pitch;
    // Points of a row, and rows.
    int32_t columns, rows;
    int32_t count;
    // The power of two that scales between axes.
    int32_t bias;
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
DEVICE Tall tall(int64_t word) { return {word & ((int64_t{1} << 49) - 1), static_cast<int32_t>(word >> 49)}; }
DEVICE Wide wide(Tall a) {
    return {(a.low >> LOW_BITS) + (static_cast<int64_t>(a.top) << (49 - LOW_BITS)), a.low & ((int64_t{1} << LOW_BITS) - 1)};
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
        for (int f = 0; f < FRAGMENTS<D>; f++) {
            const FragmentPair &pair = matrix[(s * (FRAGMENTS<D> / 2) + f / 2) * 32];
            const uint32_t b[2] = {pair.words[f % 2][0], pair.words[f % 2][1]};
            if (f < D) {
                if (s == 0) {
                    mma_sync_s8_first(sums[f < D ? f : 0], upper[s], b);
                } else {
                    mma_sync_s8(sums[f < D ? f : 0], upper[s], b);
                }
            } else {
                mma_sync_s8(sums[f < D ? 0 : f - D + 4], lower[s], b);
            }
        }
    }
}

enum class Part { OPENING, CLOSING_SHIFTED, CLOSING_PLAIN };

// Columns of a line that are worked on: of a Hermitian line's first step those beyond the middle are the others' mirror
// images, and of a real line's last step the rows beyond the middle are.
DEVICE int32_t opening_columns(const Task &task, const RowPanel &panel) {
    return task.symmetry == SYMMETRY_HERMITIAN && task.step_count > 1 ? panel.columns / 2 + 1 : panel.columns;
}
DEVICE int32_t closing_columns(const Task &task, const RowPanel &panel) {
    return task.symmetry == SYMMETRY_REAL ? panel.rows / 2 + 1 : panel.rows;
}

// The bits of `value · 2^exponent` as a double, where they are those of a number of full precision; else `usual` is cleared
// and the result is void.
DEVICE uint64_t usual_double(Tall value, int32_t exponent, bool &usual) {
    const uint64_t all = static_cast<uint64_t>(value.low) + (static_cast<uint64_t>(static_cast<int64_t>(value.top)) << 49);
    const uint64_t sign = static_cast<uint64_t>(static_cast<int64_t>(all) >> 63);
    const uint64_t magnitude = (all ^ sign) - sign;
    const uint32_t upper = static_cast<uint32_t>(magnitude >> 32);
    usual = usual && static_cast<uint32_t>(value.top + 8192) < 16384u && upper != 0;
    const int shift = leading_zeros_of_half(upper);
    const uint64_t normal = magnitude << shift;
    const uint64_t floor = normal >> 11;
    // Up when what is cut off is above one half, or just one half and the number is odd.
    const uint32_t rest = static_cast<uint32_t>(normal) << 21 | (static_cast<uint32_t>(floor) & 1);
    const uint64_t significand = floor + (rest > 0x80000000u ? 1 : 0);
    // The hidden bit adds one to the exponent.
    const uint32_t field = static_cast<uint32_t>(exponent + 1023 + 62 - shift);
    return (significand + (static_cast<uint64_t>(field) << 52)) | (sign & SIGN);
}

// The same as a single, in the lower half.
DEVICE uint64_t usual_single(Tall value, int32_t exponent, bool &usual) {
    const uint64_t all = static_cast<uint64_t>(value.low) + (static_cast<uint64_t>(static_cast<int64_t>(value.top)) << 49);
    const uint64_t sign = static_cast<uint64_t>(static_cast<int64_t>(all) >> 63);
    const uint64_t magnitude = (all ^ sign) - sign;
    const int shift = leading_zeros(magnitude);
    const int32_t field = exponent + 127 + 62 - shift;
    usual = usual && static_cast<uint32_t>(value.top + 8192) < 16384u && magnitude != 0 && static_cast<uint32_t>(field) < 253u;
    const uint64_t normal = magnitude << (shift & 63);
    const uint32_t upper = static_cast<uint32_t>(normal >> 32), floor = upper >> 8;
    const uint32_t below = static_cast<uint32_t>(normal) != 0 ? 1 : 0;
    const uint32_t rest = upper << 24 | (floor & 1) | below;
    const uint32_t significand = floor + (rest > 0x80000000u ? 1 : 0);
    return (significand + (static_cast<uint32_t>(field) << 23)) | (static_cast<uint32_t>(sign) & 0x80000000u);
}

DEVICE_APART uint64_t unusual(int64_t low, int32_t top, int32_t exponent, bool single) {
    return converted(wide({low, top}), exponent, single);
}

// Exponents of lines' outputs that a double has in full precision whatever the output, zero excepted.
constexpr int32_t LEAST_EXPONENT = -900, LARGEST_EXPONENT = 900;

// Outputs of a block: floating-point bits, or integers of 72 bits for words of the next pass.
struct Finisher {
    const Task &task;
    const RowPanel &panel;
    int32_t exponent;
    bool flip;

    DEVICE Finisher(const Task &task, const RowPanel &panel, const Line &line)
        : task(task), panel(panel), exponent(line.exponent + task.exponent_offset + panel.bias), flip(task.output.conjugate != 0) {}

    DEVICE void put(Line &line, int32_t place, Tall re, Tall im) const {
        if (task.sink == SINK_FLOATS) {
            im = negated_if(flip, im);
            bool usual = exponent >= LEAST_EXPONENT && exponent <= LARGEST_EXPONENT;
            Words bits;
            if (task.output.single == 0) {
                bits.re = static_cast<int64_t>(usual_double(re, exponent, usual));
                bits.im = static_cast<int64_t>(usual_double(im, exponent, usual));
            } else {
                bits.re = static_cast<int64_t>(usual_single(re, exponent, usual));
                bits.im = static_cast<int64_t>(usual_single(im, exponent, usual));
            }
            if (!usual) {
                const bool single = task.output.single != 0;
                bits.re = static_cast<int64_t>(unusual(re.low, re.top, exponent, single));
                bits.im = static_cast<int64_t>(unusual(im.low, im.top, exponent, single));
            }
            panel.points[place] = bits;
        } else {
            // Words will be as long as the longest of the line allows.
            auto upper = [](Tall x) { return wrapping_add(x.low >> 8, static_cast<int64_t>(x.top) << 41); };
            const Words words = {upper(re), upper(im)};
            const int32_t re_byte = static_cast<int32_t>(re.low) & 0xff, im_byte = static_cast<int32_t>(im.low) & 0xff;
            auto magnitude = [](int64_t x, int32_t byte) {
                return static_cast<uint64_t>(x < 0 ? ~x + (byte == 0 ? 1 : 0) : x);
            };
            const uint64_t both = magnitude(words.re, re_byte) | magnitude(words.im, im_byte);
            const int32_t bits = 72 - leading_zeros(both);
            if (bits > line.output_bits) {
                atomic_maximum(&line.output_bits, bits);
            }
            panel.points[place] = words;
            panel.extra[place] = re_byte | im_byte << 8;
        }
    }
};

// Two outputs of the first of two steps, or of the only one, made of the sums of row `k`.
template <int D>
DEVICE void put_opening(const Task &task, const RowPanel &panel, const Step &step, int32_t line_number, int32_t number, bool mirrored,
                        int32_t k, int64_t cr, int64_t ci, int64_t sr, int64_t si) {
    const int32_t n = step.n;
    // Row 0 of a time-shifted step has output 0 in its cosines and the middle one in its sines.
    const bool two = step.fold == FOLD_TIME_SHIFTED && k == 0;
    Words near = {wrapping_add(cr, two ? 0 : si), wrapping_subtract(ci, two ? 0 : sr)};
    // Rows beyond the middle are outputs of the conjugated column.
    Words far = {wrapping_subtract(two ? 0 : cr, si), negated(wrapping_add(sr, two ? 0 : ci))};
    if (two) {
        far.re = negated(far.re);
    }
    const bool has_far = two || (k > 0 && !(task.symmetry == SYMMETRY_REAL && step.role == ROLE_FIRST));
    const int32_t far_row = two ? n / 2 : n - k;
    const int32_t column = mirrored ? panel.columns - number : number;
    if (step.rotations != nullptr) {
        const Angle angle = step.rotations[k * step.rotation_stride + column];
        near = rotate(near, angle);
        if (has_far) {
            far = rotate(far, two ? step.rotations[far_row * step.rotation_stride + column] : angle);
        }
    }
    const int32_t start = line_number * panel.line_pitch;
    if (step.role == ROLE_ONLY) {
        Line &line = panel.lines[line_number];
        const Finisher finisher(task, panel, line);
        finisher.put(line, start + k, tall(near.re), tall(near.im));
        if (has_far) {
            finisher.put(line, start + far_row, tall(far.re), negated_if(!two, tall(far.im)));
        }
        return;
    }
    auto store = [&](int32_t at) {
        panel.points[start + k * panel.row_pitch + at] = near;
        if (has_far) {
            panel.points[start + far_row * panel.row_pitch + at] = far;
        }
    };
    const bool stands_for_two = task.symmetry == SYMMETRY_HERMITIAN && number > 0 && 2 * number < panel.columns;
    if (!mirrored) {
        store(number);
    }
    if (mirrored || stands_for_two) {
        const bool negates = step.mirror_negates != 0;
        near = {negates ? negated(near.re) : near.re, negates ? near.im : negated(near.im)};
        far = {negates ? negated(far.re) : far.re, negates ? far.im : negated(far.im)};
        // Rows are where they would be in a column that is not mirrored; nobody reads a mirror image's column.
        store(mirrored ? number : panel.columns - number);
    }
}

// A warp takes 8 columns. Row g of the tensor instruction's first operand is the real part of column g, row g + 8 its
// imaginary part; 32 bytes of a row are four digits of 8 slots. TILES is the number of eights of slots, and of outputs.
template <int D, int TILES, Part PART>
DEVICE void matrix_step(const Task &task, const RowPanel &panel, const Step &step) {
    const int32_t per_line = PART == Part::OPENING ? opening_columns(task, panel) : closing_columns(task, panel);
    const Divisor columns(per_line);
    const int32_t total = per_line * panel.count;
    const int32_t warps = static_cast<int32_t>(blockDim.x) / 32, warp = static_cast<int32_t>(threadIdx.x) / 32;
    const int32_t lane = static_cast<int32_t>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const int32_t n = step.n;
    const bool shifted_input = PART == Part::OPENING && step.fold == FOLD_TIME_SHIFTED;
    const int32_t slots = shifted_input || PART == Part::CLOSING_SHIFTED ? n / 2 : n / 2 + 1;
    const FragmentPair *const fragments = reinterpret_cast<const FragmentPair *>(step.matrix) + lane;
    constexpr int PER_TILE = TILES * (FRAGMENTS<D> / 2) * 32;
    for (int32_t base = 8 * warp; base < total; base += 8 * warps) {
        const bool active = base + g < total;
        const int32_t index = active ? base + g : base;
        const int32_t line_number = columns.quotient(index), number = index - line_number * per_line;
        const int32_t start = line_number * panel.line_pitch;
        // Columns of the first of two steps beyond the middle are read backwards and conjugated.
        const bool mirrored = PART == Part::OPENING && 2 * number > panel.columns;
        int32_t first = start + (PART == Part::OPENING ? number : number * panel.row_pitch);
        int32_t distance = PART == Part::OPENING ? panel.row_pitch : 1;
        if (mirrored) {
            first += (n - 1) * distance;
            distance = -distance;
        }
        uint32_t cosine_lower[TILES][4], cosine_upper[TILES][4], sine_lower[TILES][4], sine_upper[TILES][4];
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
                const Words a = panel.points[first + slot * distance], b = panel.points[first + partner * distance];
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
                if (PART == Part::OPENING && mirrored) {
                    even.im = negated(even.im);
                    odd.im = negated(odd.im);
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
        // All lanes of the warp have read their columns before any of them writes.
        warp_barrier();
        constexpr bool CLOSING = PART != Part::OPENING;
        const bool conjugated = CLOSING && 2 * number > panel.rows;
#pragma unroll 1
        for (int32_t tile = 0; tile < TILES; tile++) {
            int sums[D][4];
            Tall cosine[4], sine[4];
            multiply<D, TILES>(sums, cosine_lower, cosine_upper, fragments + tile * PER_TILE);
#pragma unroll
            for (int e = 0; e < 4; e++) cosine[e] = rounded<D>(sums, e, CLOSING);
            multiply<D, TILES>(sums, sine_lower, sine_upper, fragments + (TILES + tile) * PER_TILE);
#pragma unroll
            for (int e = 0; e < 4; e++) sine[e] = rounded<D>(sums, e, CLOSING);
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const int32_t k = 8 * tile + 2 * t + e;
                if (!active || k >= slots) {
                    continue;
                }
                const Tall cr = cosine[e], ci = cosine[2 + e], sr = sine[e], si = sine[2 + e];
                if (PART == Part::OPENING) {
                    put_opening<D>(task, panel, step, line_number, number, mirrored, k, cr.low, ci.low, sr.low, si.low);
                } else {
                    Line &line = panel.lines[line_number];
                    const Finisher finisher(task, panel, line);
                    // Rows beyond the middle were computed of the conjugated line, and are conjugated back.
                    finisher.put(line, first + k, cr + si, conjugated ? sr - ci : ci - sr);
                    if (PART == Part::CLOSING_SHIFTED || k > 0) {
                        const int32_t far = PART == Part::CLOSING_SHIFTED ? n - 1 - k : n - k;
                        finisher.put(line, first + far, cr - si, negated_if(conjugated, sr + ci));
                    }
                }
            }
        }
    }
}

// A last step of 2 or 4 points, whose matrix entries are 0 and ±1: a thread takes a column.
DEVICE void closing_unit_step(const Task &task, const RowPanel &panel, const Step &step) {
    const int32_t per_line = closing_columns(task, panel);
    const Divisor columns(per_line);
    for (int32_t index = static_cast<int32_t>(threadIdx.x); index < per_line * panel.count; index += static_cast<int32_t>(blockDim.x)) {
        const int32_t line_number = columns.quotient(index), number = index - line_number * per_line;
        const int32_t first = line_number * panel.line_pitch + number * panel.row_pitch;
        Line &line = panel.lines[line_number];
        const Finisher finisher(task, panel, line);
        const bool conjugated = 2 * number > panel.rows;
        auto element = [&](int i, Tall &re, Tall &im) {
            const Words point = panel.points[first + i];
            re = tall(point.re);
            im = tall(point.im);
        };
        auto put = [&](int k, Tall re, Tall im) { finisher.put(line, first + k, re, negated_if(conjugated, im)); };
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
