// One small DFT over many columns: fold, digits, matrix products, and what outputs are made of (step.rs, bailey.rs).
//
// Every step works in place: a column is read completely before its outputs are written over it. After the last step
// outputs lie where their column was; the host's table says where to find each.
#pragma once
#include "arch/mma_sync.cuh"
#include "portable/panel.cuh"

// The four rounded values that two outputs with the same cosine and sine sums are made of (quad.rs).
template <class X> struct Quad {
    X re_sum, re_difference, im_sum, im_difference;
};

DEVICE int64_t difference(int64_t a, int64_t b) { return wrapping_subtract(a, b); }
DEVICE int64_t sum(int64_t a, int64_t b) { return wrapping_add(a, b); }
DEVICE Wide difference(Wide a, Wide b) { return a - b; }
DEVICE Wide sum(Wide a, Wide b) { return a + b; }

template <class X> DEVICE Quad<X> quad_of(X cosine_re, X cosine_im, X sine_re, X sine_im) {
    return {sum(cosine_re, sine_im), difference(cosine_re, sine_im), sum(sine_re, cosine_im), difference(sine_re, cosine_im)};
}

// Where a column lies in its line, and how its outputs are finished.
struct Column {
    int32_t line, number, first, stride;
    // Columns of the first step beyond the middle are read backwards and conjugated.
    bool mirrored;
};

DEVICE Column column_of(const Step &step, int32_t per_line, int32_t index) {
    Column column;
    column.line = index / per_line;
    column.number = index - column.line * per_line;
    column.mirrored = step.role == ROLE_FIRST && 2 * column.number > step.inner;
    const int32_t group = column.number / step.inner;
    column.first = group * step.n * step.inner + (column.number - group * step.inner);
    column.stride = step.inner;
    if (column.mirrored) {
        column.first += (step.n - 1) * step.inner;
        column.stride = -step.inner;
    }
    return column;
}

// Columns of a line that are worked on: of a Hermitian line's first step those beyond the middle are the others' mirror
// images, and of a real line's later steps the rows beyond the middle are.
DEVICE int32_t columns_per_line(const Task &task, const Step &step) {
    const int32_t all = task.block_length / step.n;
    if (step.role == ROLE_FIRST) {
        return task.symmetry == SYMMETRY_HERMITIAN ? step.inner / 2 + 1 : all;
    }
    if (step.role == ROLE_ONLY || task.symmetry != SYMMETRY_REAL) {
        return all;
    }
    const int32_t rows = task.steps[0].n;
    return all / rows * (rows / 2 + 1);
}

DEVICE Words column_element(const Panel &panel, const Column &column, int32_t i) {
    Words point = panel.points[panel.place(column.line, column.first + i * column.stride)];
    if (column.mirrored) {
        point.im = negated(point.im);
    }
    return point;
}

// One output of a block, at element `k` of its column.
DEVICE void put_output(const Task &task, const Panel &panel, const Column &column, int32_t k, Wide re, Wide im) {
    const int32_t place = panel.place(column.line, column.first + k * column.stride);
    if (task.sink != SINK_FLOATS) {
        // Words will be as long as the longest of the line allows.
        Line &line = panel.lines[column.line];
        const int32_t bits_re = bits_of_wide(re), bits_im = bits_of_wide(im);
        const int32_t bits = bits_re > bits_im ? bits_re : bits_im;
        if (bits > line.output_bits) {
            atomic_maximum(&line.output_bits, bits);
        }
    }
    store_wide(panel, place, re, im);
}

// The output that shares its sums with `k` (Quad::partner).
template <class X> DEVICE void partner_of(const Step &step, const Quad<X> &quad, X &re, X &im) {
    const bool shifted = step.fold == FOLD_TIME_SHIFTED;
    re = shifted ? negated(quad.re_difference) : quad.re_difference;
    im = shifted ? negated(quad.im_sum) : quad.im_sum;
}

// Output `k` of a column of the last of several steps, and its partner.
DEVICE void put(const Task &task, const Panel &panel, const Step &step, const Column &column, int32_t k,
                const Quad<Wide> &quad) {
    // The first step's rows beyond the middle were computed of the conjugated line, and are conjugated back.
    const int32_t rows = task.steps[0].n;
    const int32_t row = column.number / (task.block_length / step.n / rows);
    const bool mirrored = 2 * row > rows;
    const Wide im = quad.im_difference;
    put_output(task, panel, column, k, quad.re_sum, mirrored ? im : negated(im));
    const bool shifted = step.fold == FOLD_FREQUENCY_SHIFTED;
    if (shifted || (k > 0 && 2 * k < step.n)) {
        Wide partner_re, partner_im;
        partner_of(step, quad, partner_re, partner_im);
        put_output(task, panel, column, shifted ? step.n - 1 - k : step.n - k, partner_re,
                   mirrored ? negated(partner_im) : partner_im);
    }
}

// Output `k` of a column of any other step, and its partner: rotated, and over the column or at the end of the block.
DEVICE void put(const Task &task, const Panel &panel, const Step &step, const Column &column, int32_t k,
                const Quad<int64_t> &quad) {
    const int32_t n = step.n, inner = step.inner;
    const bool pair = k > 0 && 2 * k < n && !(step.role == ROLE_FIRST && task.symmetry == SYMMETRY_REAL);
    Words output = {quad.re_sum, negated(quad.im_difference)};
    // Rows beyond the middle are outputs of the conjugated column, but in middle steps.
    Words other = {quad.re_difference, negated(quad.im_sum)};
    int32_t angle = k, other_angle = k;
    if (step.role == ROLE_FIRST) {
        angle = k * step.rotation_stride + (column.mirrored ? inner - column.number : column.number);
        other_angle = angle;
    } else if (step.role == ROLE_MIDDLE) {
        partner_of(step, quad, other.re, other.im);
        angle = k * inner + column.number % inner;
        other_angle = (n - k) * inner + column.number % inner;
    }
    if (step.rotations != nullptr) {
        output = rotate(output, step.rotations[angle]);
        if (pair) {
            other = rotate(other, step.rotations[other_angle]);
        }
    }
    if (step.role == ROLE_ONLY) {
        put_output(task, panel, column, k, widened(output.re), widened(output.im));
        if (pair) {
            put_output(task, panel, column, n - k, widened(other.re), negated(widened(other.im)));
        }
        return;
    }
    auto store = [&](int32_t first) {
        panel.points[panel.place(column.line, first + k * inner)] = output;
        if (pair) {
            panel.points[panel.place(column.line, first + (n - k) * inner)] = other;
        }
    };
    const bool hermitian = step.role == ROLE_FIRST && task.symmetry == SYMMETRY_HERMITIAN;
    const bool stands_for_two = hermitian && column.number > 0 && 2 * column.number < inner;
    if (!column.mirrored) {
        store(column.first);
    }
    if (column.mirrored || stands_for_two) {
        const bool negates = step.mirror_negates != 0;
        output = {negates ? negated(output.re) : output.re, negates ? output.im : negated(output.im)};
        other = {negates ? negated(other.re) : other.re, negates ? other.im : negated(other.im)};
        // Rows are where they would be in a column that is not mirrored; nobody reads a mirror image's column.
        store(column.mirrored ? column.number : inner - column.number);
    }
}

DEVICE Quad<int64_t> shifted_words(const Quad<Wide> &quad, int shift) {
    return {shifted_word(quad.re_sum, shift), shifted_word(quad.re_difference, shift), shifted_word(quad.im_sum, shift),
            shifted_word(quad.im_difference, shift)};
}

// A step of 2 or 4 points, whose matrix entries are 0 and ±1: a thread takes a column.
DEVICE void unit_step(const Task &task, const Panel &panel, const Step &step) {
    const int32_t per_line = columns_per_line(task, step);
    for (int32_t index = static_cast<int32_t>(threadIdx.x); index < per_line * panel.count;
         index += static_cast<int32_t>(blockDim.x)) {
        const Column column = column_of(step, per_line, index);
        Wide re[4], im[4];
        for (int i = 0; i < 4; i++) {
            // A step of two points has its elements twice.
            const Words point = column_element(panel, column, step.n == 2 ? i % 2 : i);
            re[i] = widened(point.re);
            im[i] = widened(point.im);
        }
#pragma unroll 1
        for (int32_t k = 0; 2 * k <= step.n; k++) {
            const Wide zero = {0, 0};
            Wide cosine_re, cosine_im, sine_re = zero, sine_im = zero;
            if (step.n == 2) {
                cosine_re = k == 0 ? re[0] + re[1] : re[0] - re[1];
                cosine_im = k == 0 ? im[0] + im[1] : im[0] - im[1];
            } else if (k == 1) {
                cosine_re = re[0] - re[2];
                cosine_im = im[0] - im[2];
                sine_re = re[1] - re[3];
                sine_im = im[1] - im[3];
            } else {
                const Wide even_re = re[0] + re[2], odd_re = re[1] + re[3];
                const Wide even_im = im[0] + im[2], odd_im = im[1] + im[3];
                cosine_re = k == 0 ? even_re + odd_re : even_re - odd_re;
                cosine_im = k == 0 ? even_im + odd_im : even_im - odd_im;
            }
            const Quad<Wide> quad = quad_of(cosine_re, cosine_im, sine_re, sine_im);
            if (step.role == ROLE_LAST) {
                put(task, panel, step, column, k, quad);
            } else {
                put(task, panel, step, column, k, shifted_words(quad, step.shift));
            }
        }
    }
}

// Rounds deposits to words, or to wide integers.
DEVICE void round_deposit(const Deposit &deposit, int shift, int64_t &value) { value = deposit.word(shift); }
DEVICE void round_deposit(const Deposit &deposit, int, Wide &value) { value = deposit.wide(); }
DEVICE void clear(int64_t &value) { value = 0; }
DEVICE void clear(Wide &value) { value = {0, 0}; }

// Both halves of a word's digits as signed bytes.
struct Halves {
    uint32_t lower, upper;
};
DEVICE Halves digits_of(int64_t word, uint64_t bias) {
    const uint64_t digits = (static_cast<uint64_t>(word) + bias) ^ bias;
    return {static_cast<uint32_t>(digits), static_cast<uint32_t>(digits >> 32)};
}

// A lane's part of the tensor instruction's second operand, read at once.
struct alignas(8) Fragment {
    uint32_t words[2];
};
DEVICE Fragment fragment_at(const uint32_t *words) { return *reinterpret_cast<const Fragment *>(words); }

// A step of any other size: a warp takes 8 columns. Row g of the tensor instruction's first operand is the real part of
// column g, row g + 8 its imaginary part; 32 bytes of a row are one half of the digits of 8 slots. TILES is the number
// of tiles of eight slots, and of outputs.
template <int TILES, class X>
DEVICE void matrix_step(const Task &task, const Panel &panel, const Step &step) {
    const int32_t per_line = columns_per_line(task, step);
    const int32_t total = per_line * panel.count;
    const int32_t warps = static_cast<int32_t>(blockDim.x) / 32, warp = static_cast<int32_t>(threadIdx.x) / 32;
    const int32_t lane = static_cast<int32_t>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    const int32_t n = step.n;
    const int32_t slots = step.fold == FOLD_PLAIN ? n / 2 + 1 : n / 2;
    const int32_t data = task.data_digits, diagonals = task.diagonals;
    const int32_t halves = data > 4 ? 2 : 1;
    const uint64_t bias = 0x8080808080808080u >> (64 - 8 * data);
    const int32_t padding = (diagonals - data) % 2;
    const int32_t pairs = (diagonals + padding + 1) / 2, dropped = (diagonals + padding - data) / 2;
    const bool exact = task.exact != 0;
    const int32_t fragment = 64;
    const int32_t per_diagonal = halves * TILES * fragment;
    const uint32_t *const sine_matrix = step.matrix + TILES * diagonals * per_diagonal;
    for (int32_t base = 8 * warp; base < total; base += 8 * warps) {
        const bool active = base + g < total;
        const Column column = column_of(step, per_line, active ? base + g : base);
        // Folded columns as digits: [half][eight of slots][operand register].
        uint32_t cosine[2][TILES][4], sine[2][TILES][4];
#pragma unroll
        for (int s = 0; s < TILES; s++) {
#pragma unroll
            for (int part = 0; part < 2; part++) {
                const int32_t slot = 8 * s + 4 * part + t;
                Words even = {0, 0}, odd = {0, 0};
                if (slot < slots) {
                    const bool alone = slot == 0 && step.fold != FOLD_TIME_SHIFTED;
                    const Words a = column_element(panel, column, slot);
                    if (alone) {
                        even = a;
                        if (step.fold == FOLD_FREQUENCY_SHIFTED) {
                            odd = column_element(panel, column, n / 2);
                        }
                    } else {
                        const Words b = column_element(panel, column, step.fold == FOLD_TIME_SHIFTED ? n - 1 - slot : n - slot);
                        even = {sum(a.re, b.re), sum(a.im, b.im)};
                        odd = {difference(a.re, b.re), difference(a.im, b.im)};
                        if (step.fold == FOLD_FREQUENCY_SHIFTED) {
                            const Words exchanged = even;
                            even = odd;
                            odd = exchanged;
                        }
                    }
                }
                const Halves even_re = digits_of(even.re, bias), even_im = digits_of(even.im, bias);
                const Halves odd_re = digits_of(odd.re, bias), odd_im = digits_of(odd.im, bias);
                cosine[0][s][2 * part] = even_re.lower;
                cosine[0][s][2 * part + 1] = even_im.lower;
                cosine[1][s][2 * part] = even_re.upper;
                cosine[1][s][2 * part + 1] = even_im.upper;
                sine[0][s][2 * part] = odd_re.lower;
                sine[0][s][2 * part + 1] = odd_im.lower;
                sine[1][s][2 * part] = odd_re.upper;
                sine[1][s][2 * part + 1] = odd_im.upper;
            }
        }
        // All lanes of the warp have read their columns before any of them writes.
        warp_barrier();
#pragma unroll 1
        for (int32_t tile = 0; tile < TILES; tile++) {
            // The sums of output 8·tile + 2t and the next one, in what must be rounded one by one.
            Deposit deposits[2][4] = {};
#pragma unroll 1
            for (int32_t pair = 0; pair < pairs; pair++) {
                int cosine_pair[4] = {0, 0, 0, 0}, sine_pair[4] = {0, 0, 0, 0};
#pragma unroll 1
                for (int32_t lower = 0; lower < 2; lower++) {
                    const int32_t diagonal = diagonals + padding - 2 * pair - 2 + lower;
                    int cosine_sum[4] = {0, 0, 0, 0}, sine_sum[4] = {0, 0, 0, 0};
                    if (diagonal >= 0 && diagonal < diagonals) {
                        const int32_t at = (tile * diagonals + diagonal) * per_diagonal + 2 * lane;
#pragma unroll
                        for (int half = 0; half < 2; half++) {
                            // The digits of this half that a diagonal meets, if any: `data - 1 - 4·half - byte`.
                            const int32_t most = data - 1 - 4 * half, least = most > 3 ? most - 3 : 0;
                            if (half >= halves || diagonal < least || diagonal - most >= task.matrix_digits) {
                                continue;
                            }
#pragma unroll
                            for (int s = 0; s < TILES; s++) {
                                const int32_t place = at + (half * TILES + s) * fragment;
                                mma_sync_s8(cosine_sum, cosine[half][s], fragment_at(step.matrix + place).words);
                                mma_sync_s8(sine_sum, sine[half][s], fragment_at(sine_matrix + place).words);
                            }
                        }
                    }
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        cosine_pair[i] = cosine_pair[i] * (lower != 0 ? 256 : 1) + cosine_sum[i];
                        sine_pair[i] = sine_pair[i] * (lower != 0 ? 256 : 1) + sine_sum[i];
                    }
                }
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    const int cosine_re = cosine_pair[r], cosine_im = cosine_pair[2 + r];
                    const int sine_re = sine_pair[r], sine_im = sine_pair[2 + r];
                    int taken[4] = {cosine_re, cosine_im, sine_re, sine_im};
                    if (exact) {
                        // Combined before they are rounded. Row 0 of a time-shifted step belongs to two outputs.
                        const bool two = step.fold == FOLD_TIME_SHIFTED && tile == 0 && t == 0 && r == 0;
                        taken[0] = two ? cosine_re : cosine_re + sine_im;
                        taken[1] = two ? sine_im : cosine_re - sine_im;
                        taken[2] = two ? sine_re : sine_re + cosine_im;
                        taken[3] = two ? -cosine_im : sine_re - cosine_im;
                    }
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        deposits[r][i].take(taken[i], pair - dropped);
                    }
                }
            }
            // Row 0 of a time-shifted step has output 0 in its cosines and the middle one in its sines. Not unrolled: the
            // code is large, and most of the time goes elsewhere.
#pragma unroll 1
            for (int item = 0; item < 3; item++) {
                const int r = item == 2 ? 1 : 0;
                const int32_t row = 8 * tile + 2 * t + r;
                const bool two = step.fold == FOLD_TIME_SHIFTED && row == 0;
                if (!active || row >= slots || (item == 1 && !two)) {
                    continue;
                }
                X value[4], zero;
                clear(zero);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    // Registers cannot be indexed.
                    const Deposit deposit = {r == 0 ? deposits[0][i].carry : deposits[1][i].carry,
                                             r == 0 ? deposits[0][i].low : deposits[1][i].low,
                                             r == 0 ? deposits[0][i].high : deposits[1][i].high};
                    round_deposit(deposit, UNIT_BITS + step.shift, value[i]);
                }
                Quad<X> quad;
                if (exact) {
                    quad = {value[0], value[1], value[2], value[3]};
                    if (two) {
                        quad = item == 0 ? Quad<X>{value[0], zero, zero, value[3]} : Quad<X>{value[1], zero, zero, value[2]};
                    }
                } else {
                    const bool no_cosine = two && item == 1, no_sine = two && item == 0;
                    quad = quad_of(no_cosine ? zero : value[0], no_cosine ? zero : value[1], no_sine ? zero : value[2],
                                   no_sine ? zero : value[3]);
                }
                put(task, panel, step, column, item == 1 ? n / 2 : row, quad);
            }
        }
    }
}

// Steps of up to MOST_TILES tiles of eight slots.
template <int MOST_TILES, class X>
DEVICE void matrix_step_of(const Task &task, const Panel &panel, const Step &step) {
    if (step.tiles == 1) {
        matrix_step<1, X>(task, panel, step);
    } else if (step.tiles == 2) {
        matrix_step<2, X>(task, panel, step);
    } else if constexpr (MOST_TILES > 2) {
        if (step.tiles == 3) {
            matrix_step<3, X>(task, panel, step);
        } else {
            matrix_step<4, X>(task, panel, step);
        }
    }
}

template <int MOST_TILES> DEVICE void run_step(const Task &task, const Panel &panel, const Step &step) {
    if (step.fold == FOLD_UNIT) {
        unit_step(task, panel, step);
    } else if (step.role == ROLE_LAST) {
        matrix_step_of<MOST_TILES, Wide>(task, panel, step);
    } else {
        matrix_step_of<MOST_TILES, int64_t>(task, panel, step);
    }
}
