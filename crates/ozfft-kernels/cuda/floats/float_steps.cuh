// Lines in f32, in f32 with the error of every operation carried along, and in f64: the modes `fast`, `kahan` and `double` of the crate
// `floats`, with its bits. A line is transformed by a list of operations (`steps.rs` there), each from one array to another.
//
// Where a line fits into shared memory, a block takes several of them there and does all operations (`whole_lines`). A panel of lines has them
// side by side, an odd number of places for every point, so that both neighbouring points and neighbouring lines are in different banks.
// Longer lines lie in device memory between the operations, of which every one is a launch (`one_phase`); so do lines of other
// kernels that want them contiguous, and lines that are refined.
//
// Products are never fused with sums but where it says so: bits are those of IEEE 754's operations in the order that is written here.
#pragma once
#include "arch/mma_floats.cuh"

enum FloatOperation { FLOAT_BUTTERFLY, FLOAT_PRODUCT, FLOAT_MULTIPLY };

struct FloatStep {
    int operation;
    // Of a small DFT, or of numbers that are multiplied.
    int points;
    int stride, groups;
    // The power of two that the stride is, or -1.
    int stride_power;
    // The first constant.
    int constants;
    // Whether parts are exchanged before (1) and after (2) a multiplication, and up to which number there are zeros after it.
    int swap, zero_to;
};

constexpr int FLOAT_STEPS = 32, FLOAT_DIMENSIONS = 4;

// Where lines are: points at one distance, lines along some dimensions, the innermost first. Distances are in complex numbers.
struct FloatPlaces {
    const void *numbers;
    i64 point_distance;
    i64 line_distances[FLOAT_DIMENSIONS];
};

// What a launch of one_phase does besides operations.
enum FloatPhase { FLOAT_SCALES = -1, FLOAT_READ = -2, FLOAT_WRITE = -3 };

struct FloatStepsTask {
    FloatPlaces input, output;
    // Lengths of the dimensions but the outermost.
    u64 dimensions[FLOAT_DIMENSIONS - 1];
    const void *constants;
    u64 lines, first_line;
    // Arrays between operations, and the bits of every line's largest magnitude; one_phase alone has them.
    void *from, *to, *largest;
    // The norm's factor, also as f32 where it is a power of two.
    double factor;
    // With these a result y of line l and point k becomes minuend[l·points + k] - y·share, or y + addend[l·points + k].
    const float2 *minuend, *addend;
    float share, single_factor;
    // Points of a line, and numbers of an array.
    int points, length;
    // Lines of a block, a power of two (2^lines_power), and places of a point in a panel.
    int lines_power, pitch;
    // Whether parts are exchanged on input and output.
    int swap;
    // Lines with exponents from here on are divided by 2^room first, because they could overflow where the scaled result does not.
    int room_from, room;
    // Whether neighbouring lines are nearer to each other than neighbouring points, where they are read and where they are written.
    int lines_are_near[2];
    // 0 where numbers are only copied.
    int is_scaled;
    int step_count;
    // A step, or a FloatPhase.
    int phase;
    FloatStep steps[FLOAT_STEPS];
};

namespace float_steps {

// --- Numbers ---------------------------------------------------------------------------------------------------------------------

DEVICE float fused(float a, float b, float c) { return arithmetic::fused(a, b, c); }
DEVICE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

template <class N> struct Pair {
    N re, im;
};

// A constant of a table: real or imaginary part.
template <class S> struct Plain {
    using Scalar = S;
    struct Constant {
        S high;
    };
    S value;

    DEVICE static Plain exactly(S value) { return {value}; }
    DEVICE S rounded() const { return value; }
    DEVICE Plain add(Plain b) const { return {value + b.value}; }
    DEVICE Plain sub(Plain b) const { return {value - b.value}; }
    DEVICE Plain times(Constant by) const { return {unfused(value, by.high)}; }
    DEVICE Plain plus_product(Plain b, Constant by) const { return {fused(b.value, by.high, value)}; }
    DEVICE static Pair<Plain> rotated(Pair<Plain> x, Constant c, Constant s) {
        return {{fused(x.re.value, c.high, -unfused(x.im.value, s.high))}, {fused(x.re.value, s.high, unfused(x.im.value, c.high))}};
    }
};

// A value and what roundings have taken from it (`kahan.rs`).
struct Carried {
    using Scalar = float;
    struct Constant {
        float high, low;
    };
    float value, error;

    DEVICE static Carried exactly(float value) { return {value, 0}; }
    DEVICE float rounded() const { return value + error; }
    DEVICE Carried add(Carried b) const {
        const float sum = value + b.value, of_b = sum - value, of_a = sum - of_b;
        return {sum, ((value - of_a) + (b.value - of_b)) + (error + b.error)};
    }
    DEVICE Carried sub(Carried b) const {
        const float difference = value - b.value, of_b = difference - value, of_a = difference - of_b;
        return {difference, ((value - of_a) - (b.value + of_b)) + (error - b.error)};
    }
    DEVICE Carried times(Constant by) const {
        const float product = unfused(value, by.high), lost = fused(value, by.high, -product);
        return {product, fused(error, by.high, fused(value, by.low, lost))};
    }
    DEVICE Carried plus_product(Carried b, Constant by) const { return add(b.times(by)); }
    DEVICE static Pair<Carried> rotated(Pair<Carried> x, Constant c, Constant s) {
        return {x.re.times(c).sub(x.im.times(s)), x.re.times(s).add(x.im.times(c))};
    }
};

// How numbers of an arithmetic lie in arrays, and its constants in tables.
template <class N> struct Stored;
template <> struct Stored<Plain<float>> {
    using Element = float2;
    DEVICE static Pair<Plain<float>> pair(float2 x) { return {{x.x}, {x.y}}; }
    DEVICE static float2 element(Pair<Plain<float>> x) { return make_float2(x.re.value, x.im.value); }
    DEVICE static Pair<Plain<float>::Constant> constant(const void *table, int i) {
        const float2 x = constant_entry(static_cast<const float2 *>(table) + i);
        return {{x.x}, {x.y}};
    }
};
template <> struct Stored<Plain<double>> {
    using Element = double2;
    DEVICE static Pair<Plain<double>> pair(double2 x) { return {{x.x}, {x.y}}; }
    DEVICE static double2 element(Pair<Plain<double>> x) { return make_double2(x.re.value, x.im.value); }
    DEVICE static Pair<Plain<double>::Constant> constant(const void *table, int i) {
        const double2 x = constant_entry(static_cast<const double2 *>(table) + i);
        return {{x.x}, {x.y}};
    }
};
template <> struct Stored<Carried> {
    using Element = float4;
    DEVICE static Pair<Carried> pair(float4 x) { return {{x.x, x.y}, {x.z, x.w}}; }
    DEVICE static float4 element(Pair<Carried> x) { return make_float4(x.re.value, x.re.error, x.im.value, x.im.error); }
    DEVICE static Pair<Carried::Constant> constant(const void *table, int i) {
        const float4 x = constant_entry(static_cast<const float4 *>(table) + i);
        return {{x.x, x.y}, {x.z, x.w}};
    }
};

template <class N> DEVICE Pair<N> add(Pair<N> a, Pair<N> b) { return {a.re.add(b.re), a.im.add(b.im)}; }
template <class N> DEVICE Pair<N> sub(Pair<N> a, Pair<N> b) { return {a.re.sub(b.re), a.im.sub(b.im)}; }
// a - i·b and a + i·b.
template <class N> DEVICE void quarter_turns(Pair<N> a, Pair<N> b, Pair<N> &first, Pair<N> &second) {
    first = {a.re.add(b.im), a.im.sub(b.re)};
    second = {a.re.sub(b.im), a.im.add(b.re)};
}
template <class N> DEVICE Pair<N> swapped_if(Pair<N> x, bool swap) { return swap ? Pair<N>{x.im, x.re} : x; }

// --- Small DFTs (`small_dft.rs`) ----------------------------------------------------------------------------------------------------

template <class N> DEVICE void four(Pair<N> a, Pair<N> b, Pair<N> c, Pair<N> d, Pair<N> (&y)[4]) {
    const Pair<N> even = add(a, c), odd = add(b, d);
    y[0] = add(even, odd);
    y[2] = sub(even, odd);
    quarter_turns(sub(a, c), sub(b, d), y[1], y[3]);
}

// `constants` are those behind the rotations.
template <class N, int R> DEVICE void small_dft(Pair<N> (&x)[R], const void *table, int constants) {
    if constexpr (R == 2) {
        const Pair<N> a = x[0], b = x[1];
        x[0] = add(a, b);
        x[1] = sub(a, b);
    } else if constexpr (R == 4) {
        Pair<N> y[4];
        four(x[0], x[1], x[2], x[3], y);
#pragma unroll
        for (int i = 0; i < 4; i++) x[i] = y[i];
    } else if constexpr (R == 8) {
        const auto half_root = Stored<N>::constant(table, constants).re;
        Pair<N> even[4];
        four(add(x[0], x[4]), add(x[1], x[5]), add(x[2], x[6]), add(x[3], x[7]), even);
        const Pair<N> b0 = sub(x[0], x[4]), d1 = sub(x[1], x[5]), b2 = sub(x[2], x[6]), d3 = sub(x[3], x[7]);
        const Pair<N> b1 = {d1.re.add(d1.im).times(half_root), d1.im.sub(d1.re).times(half_root)};
        const Pair<N> b3 = {d3.re.sub(d3.im).times(half_root), d3.re.add(d3.im).times(half_root)};
        Pair<N> first, second;
        quarter_turns(b0, b2, first, second);
        const Pair<N> difference = sub(b1, b3), sum = add(b1, b3);
        quarter_turns(second, sum, x[3], x[7]);
        x[0] = even[0];
        x[2] = even[1];
        x[4] = even[2];
        x[6] = even[3];
        x[1] = add(first, difference);
        x[5] = sub(first, difference);
    } else {
        // Sums of pairs take the places of the first half, differences those of the second.
        constexpr int HALF = R / 2;
        const Pair<N> x0 = x[0];
        Pair<N> sums[HALF + 1], differences[HALF + 1];
#pragma unroll
        for (int j = 1; j <= HALF; j++) {
            sums[j] = add(x[j], x[R - j]);
            differences[j] = sub(x[j], x[R - j]);
            x[0] = add(x[0], sums[j]);
        }
#pragma unroll
        for (int k = 1; k <= HALF; k++) {
            auto root = Stored<N>::constant(table, constants + k);
            Pair<N> even = {x0.re.plus_product(sums[1].re, root.re), x0.im.plus_product(sums[1].im, root.re)};
            Pair<N> odd = {differences[1].re.times(root.im), differences[1].im.times(root.im)};
#pragma unroll
            for (int j = 2; j <= HALF; j++) {
                root = Stored<N>::constant(table, constants + j * k % R);
                even = {even.re.plus_product(sums[j].re, root.re), even.im.plus_product(sums[j].im, root.re)};
                odd = {odd.re.plus_product(differences[j].re, root.im), odd.im.plus_product(differences[j].im, root.im)};
            }
            quarter_turns(even, odd, x[k], x[R - k]);
        }
    }
}

// --- Operations ------------------------------------------------------------------------------------------------------------------

// An array of one line.
template <class N> struct Line {
    typename Stored<N>::Element *first;
    int pitch;

    DEVICE Pair<N> load(int i) const { return Stored<N>::pair(first[(size_t)i * pitch]); }
    DEVICE void store(int i, Pair<N> x) const { first[(size_t)i * pitch] = Stored<N>::element(x); }
};

// One small DFT of a stage and its rotations (`stockham.rs`).
template <class N, int R> DEVICE void butterfly(const FloatStep &step, const void *table, Line<N> from, Line<N> to, int number) {
    const int p = step.stride_power >= 0 ? number >> step.stride_power : number / step.stride, q = number - p * step.stride;
    Pair<N> x[R];
#pragma unroll
    for (int i = 0; i < R; i++) x[i] = from.load(q + step.stride * (p + step.groups * i));
    small_dft<N, R>(x, table, step.constants + (R - 1) * step.groups);
    const int first = q + step.stride * R * p;
    to.store(first, x[0]);
#pragma unroll
    for (int k = 1; k < R; k++) {
        if (p != 0) {
            const auto by = Stored<N>::constant(table, step.constants + (k - 1) * step.groups + p);
            x[k] = N::rotated(x[k], by.re, by.im);
        }
        to.store(first + step.stride * k, x[k]);
    }
}

// One output of the product with the whole matrix (`gemm.rs`).
template <class N> DEVICE void product(const FloatStep &step, const void *table, Line<N> from, Line<N> to, int k) {
    const int n = step.points;
    const N zero = N::exactly(0);
    Pair<N> sum = {zero, zero};
    int at = 0;
    for (int j = 0; j < n; j++) {
        const Pair<N> x = from.load(j);
        const auto root = Stored<N>::constant(table, step.constants + at);
        const auto minus_sine = Stored<N>::constant(table, step.constants + (at == 0 ? 0 : n - at)).im;
        sum.re = sum.re.plus_product(x.re, root.re).plus_product(x.im, root.im);
        sum.im = sum.im.plus_product(x.re, minus_sine).plus_product(x.im, root.re);
        at += k;
        at = at >= n ? at - n : at;
    }
    to.store(k, sum);
}

// How many pieces of work an operation has for a line.
DEVICE_CONSTANT int pieces(const FloatStep &step) {
    return step.operation == FLOAT_BUTTERFLY ? step.stride * step.groups : step.points > step.zero_to ? step.points : step.zero_to;
}

// A piece of an operation. `ALL`: odd numbers of points, products and multiplications are there as well.
template <class N, bool ALL> DEVICE void piece(const FloatStep &step, const void *table, Line<N> from, Line<N> to, int number) {
    if (step.operation == FLOAT_BUTTERFLY) {
        switch (step.points) {
            case 8: return butterfly<N, 8>(step, table, from, to, number);
            case 4: return butterfly<N, 4>(step, table, from, to, number);
            case 2: return butterfly<N, 2>(step, table, from, to, number);
        }
        if constexpr (ALL) {
            switch (step.points) {
                case 3: return butterfly<N, 3>(step, table, from, to, number);
                case 5: return butterfly<N, 5>(step, table, from, to, number);
                case 7: return butterfly<N, 7>(step, table, from, to, number);
                case 11: return butterfly<N, 11>(step, table, from, to, number);
                case 13: return butterfly<N, 13>(step, table, from, to, number);
            }
        }
    } else if constexpr (ALL) {
        if (step.operation == FLOAT_PRODUCT) return product<N>(step, table, from, to, number);
        if (number < step.points) {
            const auto by = Stored<N>::constant(table, step.constants + number);
            const Pair<N> x = swapped_if(from.load(number), (step.swap & 1) != 0);
            from.store(number, swapped_if(N::rotated(x, by.re, by.im), (step.swap & 2) != 0));
        } else {
            from.store(number, {N::exactly(0), N::exactly(0)});
        }
    }
}

// --- Numbers in and out (`sample.rs`, and `float_line.rs` of the crate `ozfft`) ----------------------------------------------------

template <class D> struct Data;
template <> struct Data<float> {
    using Two = float2;
    using Bits = int32_t;
    static constexpr int MANTISSA = 23, BIAS = 127;
    DEVICE static Bits magnitude(float x) { return arithmetic::bits_of(x) & 0x7fffffff; }
    DEVICE static float power(int p) { return arithmetic::from_bits((unsigned)(BIAS + p) << MANTISSA); }
    DEVICE static float nan() { return arithmetic::from_bits(0x7fc00000u); }
};
template <> struct Data<double> {
    using Two = double2;
    using Bits = uint64_t;
    static constexpr int MANTISSA = 52, BIAS = 1023;
    DEVICE static Bits magnitude(double x) { return (Bits)((unsigned)__double2hiint(x) & 0x7fffffffu) << 32 | (unsigned)__double2loint(x); }
    DEVICE static double power(int p) { return __hiloint2double((BIAS + p) << 20, 0); }
    DEVICE static double nan() { return __hiloint2double(0x7ff80000, 0); }
};

// What a line is multiplied by.
struct Scale {
    bool finite;
    // 2^-room first, so that the norm's factor finds room; then 2^power.
    int room, power;
};

template <class D> DEVICE Scale scale_of(typename Data<D>::Bits largest, const FloatStepsTask &task) {
    constexpr int ORDINARY = 40, BIAS = Data<D>::BIAS;
    const int exponent = (int)(largest >> Data<D>::MANTISSA) - BIAS;
    if (exponent > BIAS) return {false, 0, 0};
    if (largest == 0) return {true, 0, 0};
    const int room = exponent >= task.room_from ? task.room : 0, left = exponent - room;
    if (left >= -ORDINARY && left <= ORDINARY) return {true, room, 0};
    return {true, room, left > BIAS - 1 ? 1 - BIAS : -left > BIAS - 1 ? BIAS - 1 : -left};
}

// A number of the caller's as the arithmetic takes it.
template <class D, class S> DEVICE S scaled(D x, const Scale &scale) {
    if (!scale.finite) return 0;
    if (scale.room != 0) x = unfused(x, Data<D>::power(-scale.room));
    const S wide = x;
    return scale.power != 0 ? unfused(wide, (S)Data<D>::power(scale.power)) : wide;
}

// A result as the caller gets it; the norm's factor comes after.
template <class D, class S> DEVICE D unscaled(S y, const Scale &scale) {
    return (D)(scale.power != 0 ? unfused(y, (S)Data<D>::power(-scale.power)) : y);
}
template <class D, bool ANY_FACTOR> DEVICE D normed(D y, const Scale &scale, const FloatStepsTask &task) {
    if constexpr (ANY_FACTOR) {
        if (task.factor == 1.0 && scale.room == 0) return y;
        return (D)unfused((double)y, unfused(task.factor, Data<double>::power(scale.room)));
    } else {
        if (task.single_factor == 1.0f && scale.room == 0) return y;
        return unfused(y, unfused(task.single_factor, Data<float>::power(scale.room)));
    }
}

// The first point of a line.
DEVICE i64 first_of_line(const FloatPlaces &places, const FloatStepsTask &task, u64 line) {
    i64 at = 0;
    u64 rest = task.first_line + line;
#pragma unroll
    for (int i = 0; i < FLOAT_DIMENSIONS - 1; i++) {
        if (task.dimensions[i] == 1) continue;
        const u64 next = rest / task.dimensions[i];
        at += (i64)(rest - next * task.dimensions[i]) * places.line_distances[i];
        rest = next;
    }
    return at + (i64)rest * places.line_distances[FLOAT_DIMENSIONS - 1];
}

// Writes a result and what becomes of it.
template <class N, class D, bool ANY_FACTOR>
DEVICE void write(const FloatStepsTask &task, u64 line, int point, Pair<N> x, const Scale &scale, typename Data<D>::Two *to) {
    x = swapped_if(x, task.swap != 0);
    D re = unscaled<D>(x.re.rounded(), scale), im = unscaled<D>(x.im.rounded(), scale);
    if constexpr (sizeof(D) == 4) {
        if (task.minuend != nullptr) {
            const float2 from = task.minuend[line * task.points + point];
            re = fused(re, -task.share, from.x);
            im = fused(im, -task.share, from.y);
        }
    }
    re = normed<D, ANY_FACTOR>(re, scale, task);
    im = normed<D, ANY_FACTOR>(im, scale, task);
    // Last, because operations on f32 return a NaN with other bits than a processor's.
    to->x = scale.finite && re == re ? re : Data<D>::nan();
    to->y = scale.finite && im == im ? im : Data<D>::nan();
}

// --- Lines that fit into shared memory ----------------------------------------------------------------------------------------------

template <class N, class D, bool ALL> DEVICE void whole_lines(const FloatStepsTask &task) {
    using Two = typename Data<D>::Two;
    using Bits = typename Data<D>::Bits;
    using Element = typename Stored<N>::Element;
    const int lines = 1 << task.lines_power, threads = (int)blockDim.x, thread = (int)threadIdx.x, panel = task.length * task.pitch;
    Element *const first = reinterpret_cast<Element *>(shared_memory());
    Bits *const largest = reinterpret_cast<Bits *>(first + 2 * panel);
    const u64 before = (u64)blockIdx.x << task.lines_power;
    // A thread has points of one line, neighbouring threads neighbours in memory.
    const auto mine = [&](int side, int &line, int &point) {
        const int each = threads >> task.lines_power;
        line = task.lines_are_near[side] ? thread & (lines - 1) : thread / each;
        point = task.lines_are_near[side] ? thread >> task.lines_power : thread - line * each;
        return each;
    };
    for (int i = thread; i < lines; i += threads) largest[i] = 0;
    block_barrier();
    {
        int line, point;
        const int each = mine(0, line, point);
        const bool there = before + line < task.lines;
        const Two *from = static_cast<const Two *>(task.input.numbers) + (there ? first_of_line(task.input, task, before + line) : 0);
        const Line<N> to = {first + line, task.pitch};
        Bits found = 0;
        for (int i = point; i < task.points; i += each) {
            Two x = {0, 0};
            if (there) x = from[i * task.input.point_distance];
            const Bits re = Data<D>::magnitude(x.x), im = Data<D>::magnitude(x.y);
            found = re > found ? re : found;
            found = im > found ? im : found;
            to.store(i, swapped_if(Pair<N>{N::exactly(x.x), N::exactly(x.y)}, task.swap != 0));
        }
        if (found != 0) atomic_maximum(&largest[line], found);
        block_barrier();
        const Scale scale = scale_of<D>(largest[line], task);
        // Every thread has what it wrote itself. Values are exact so far, and parts may be exchanged before or after.
        if (!scale.finite || scale.room != 0 || scale.power != 0)
            for (int i = point; i < task.points; i += each) {
                const Pair<N> x = to.load(i);
                to.store(i, {N::exactly(scaled<D, typename N::Scalar>((D)x.re.value, scale)), N::exactly(scaled<D, typename N::Scalar>((D)x.im.value, scale))});
            }
    }
    int side = 0;
    for (int number = 0; number < task.step_count; number++) {
        const FloatStep &step = task.steps[number];
        const int all = pieces(step) << task.lines_power;
        block_barrier();
        for (int i = thread; i < all; i += threads) {
            const int line = i & (lines - 1);
            piece<N, ALL>(step, task.constants, {first + side * panel + line, task.pitch}, {first + (1 - side) * panel + line, task.pitch}, i >> task.lines_power);
        }
        if (step.operation != FLOAT_MULTIPLY) side = 1 - side;
    }
    block_barrier();
    int line, point;
    const int each = mine(1, line, point);
    if (before + line >= task.lines) return;
    const Scale scale = scale_of<D>(largest[line], task);
    Two *to = static_cast<Two *>(const_cast<void *>(task.output.numbers)) + first_of_line(task.output, task, before + line);
    const Line<N> from = {first + side * panel + line, task.pitch};
    for (int i = point; i < task.points; i += each)
        write<N, D, (ALL || sizeof(typename N::Scalar) == 8)>(task, before + line, i, from.load(i), scale, to + i * task.output.point_distance);
}

// --- Lines in device memory ----------------------------------------------------------------------------------------------------------

// A block has some pieces of one line, or of some lines that are near each other.
template <class N, class D> DEVICE void one_phase(const FloatStepsTask &task) {
    using Two = typename Data<D>::Two;
    using Bits = typename Data<D>::Bits;
    using Element = typename Stored<N>::Element;
    const bool is_step = task.phase >= 0;
    const FloatStep &step = task.steps[is_step ? task.phase : 0];
    const int count = is_step ? pieces(step) : task.points;
    const bool lines_first = !is_step && task.lines_are_near[task.phase == FLOAT_WRITE] != 0;
    // 16 lines side by side are whole sectors of memory.
    const int together = lines_first ? 16 : 1, threads = (int)blockDim.x / together;
    const unsigned chunks = (unsigned)((count + threads - 1) / threads);
    const u64 line = (u64)(blockIdx.x / chunks) * together + threadIdx.x % together;
    const int i = (int)(blockIdx.x % chunks) * threads + (int)threadIdx.x / together;
    const bool there = line < task.lines && i < count;
    if (is_step) {
        const size_t at = (size_t)line * task.length;
        if (there) piece<N, true>(step, task.constants, {static_cast<Element *>(task.from) + at, 1}, {static_cast<Element *>(task.to) + at, 1}, i);
        return;
    }
    Bits *const largest = static_cast<Bits *>(task.largest) + line;
    if (task.phase == FLOAT_WRITE) {
        if (!there) return;
        const Scale scale = task.is_scaled ? scale_of<D>(*largest, task) : Scale{true, 0, 0};
        Pair<N> x = Stored<N>::pair(static_cast<const Element *>(task.from)[(size_t)line * task.length + i]);
        if (task.addend != nullptr) {
            const float2 more = task.addend[line * task.points + i];
            x = add(x, Pair<N>{N::exactly(more.x), N::exactly(more.y)});
        }
        write<N, D, true>(task, line, i, x, scale,
                          static_cast<Two *>(const_cast<void *>(task.output.numbers)) + first_of_line(task.output, task, line) + i * task.output.point_distance);
        return;
    }
    Two x = {0, 0};
    if (there) x = static_cast<const Two *>(task.input.numbers)[first_of_line(task.input, task, line) + i * task.input.point_distance];
    if (task.phase == FLOAT_SCALES) {
        const Bits re = Data<D>::magnitude(x.x), im = Data<D>::magnitude(x.y);
        Bits found = re > im ? re : im;
        // Among the lanes that have the same line.
        for (int distance = 16; distance >= together; distance /= 2) {
            const Bits other = shuffle_xor(found, distance);
            found = other > found ? other : found;
        }
        if (there && (int)(threadIdx.x % 32) < together) atomic_maximum(largest, found);
        return;
    }
    if (!there) return;
    const Scale scale = task.is_scaled ? scale_of<D>(*largest, task) : Scale{true, 0, 0};
    const Pair<N> read = {N::exactly(scaled<D, typename N::Scalar>(x.x, scale)), N::exactly(scaled<D, typename N::Scalar>(x.y, scale))};
    static_cast<Element *>(task.to)[(size_t)line * task.length + i] = Stored<N>::element(swapped_if(read, task.swap != 0));
}

}  // namespace float_steps
