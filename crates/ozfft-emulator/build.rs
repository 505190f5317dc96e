//! Compiles the kernels with the host's C++ compiler.

use ozfft_kernels::bailey::{self, BlockShape, KernelShape, Number};
use ozfft_kernels::bailey_long::{LongShape, MANY_TRANSFORMS, Pass};
use ozfft_kernels::bailey_passes::{Ends, PassesShape};
use ozfft_kernels::bailey_real::{Half, RealShape};
use ozfft_kernels::bailey_three::ThreeShape;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Shared memory of a block of the GPU that is emulated with kernels of the template.
const SHARED_BYTES: usize = 227 << 10;

/// Steps of the template's kernels that are there, contiguous ones with conversion instructions and strided ones without: one step and
/// two, even and odd, with a step of additions, with and without a rest of four slots, units of one line and of several. All of the list
/// with `OZFFT_EVERYTHING`.
const SAMPLE: [(usize, usize); 10] = [
    (32, 1),
    (45, 1),
    (16, 4),
    (25, 4),
    (9, 7),
    (15, 5),
    (20, 18),
    (25, 10),
    (40, 25),
    (32, 32),
];

/// The same for three steps: even and odd first ones, and middle ones whose slots are a rest of four, eight, and eight and a rest.
const SAMPLE_OF_BLOCKS_OF_THREE: [[usize; 3]; 4] =
    [[7, 7, 7], [14, 7, 7], [13, 11, 5], [17, 17, 3]];

/// The same for few lines.
const SAMPLE_OF_FEW: [usize; 2] = [15, 5];

/// The same for lines of f32.
const SAMPLE_OF_SINGLE: [(usize, usize); 6] =
    [(32, 1), (16, 4), (9, 7), (20, 18), (25, 10), (40, 25)];

/// The same for lines of f64 in words of so many digits with so many diagonals.
const SAMPLE_OF_FEWER: [([u32; 2], Steps); 8] = [
    ([3, 3], &[(16, 4), (20, 18)]),
    ([4, 4], &[(9, 7), (20, 18)]),
    ([5, 5], &[(32, 1), (16, 4), (9, 7), (20, 18), (40, 25)]),
    ([6, 6], &[(16, 4), (9, 7), (20, 18)]),
    ([7, 7], &[(9, 7), (20, 18), (32, 32)]),
    ([4, 5], &[(16, 4)]),
    ([6, 7], &[(20, 18)]),
    ([7, 8], &[(20, 18)]),
];
type Steps = &'static [(usize, usize)];
const fn fewer([digits, diagonals]: [u32; 2]) -> Number {
    Number::DoubleFewer { digits, diagonals }
}
/// Their real lines and half-spectra, contiguous and strided; their passes, of two in one launch and of two through memory.
const SAMPLE_OF_FEWER_REAL: [([u32; 2], [usize; 2]); 7] = [
    ([3, 3], [9, 7]),
    ([3, 3], [32, 1]),
    ([4, 4], [16, 4]),
    ([5, 5], [20, 18]),
    ([6, 6], [9, 7]),
    ([7, 7], [16, 4]),
    ([6, 7], [20, 18]),
];
const SAMPLE_OF_FEWER_PASSES: [([usize; 2], [usize; 2]); 2] =
    [([16, 4], [32, 1]), ([15, 4], [10, 5])];
const SAMPLE_OF_FEWER_LONG: [([u32; 2], [usize; 2], [usize; 2]); 5] = [
    ([3, 3], [16, 4], [32, 1]),
    ([4, 4], [27, 4], [15, 9]),
    ([5, 5], [27, 4], [15, 9]),
    ([7, 7], [27, 4], [15, 9]),
    ([7, 8], [27, 4], [15, 9]),
];
/// Their convolutions, which go pass by pass: those of 71 and of 131 points.
const SAMPLE_OF_FEWER_CONVOLUTIONS: [[u32; 2]; 2] = [[3, 3], [7, 7]];
const SAMPLE_OF_FEWER_LONG_CONVOLUTIONS: ([u32; 2], [usize; 2], [usize; 2]) =
    ([4, 4], [20, 1], [14, 1]);

/// The same for products in fp8: slots of one tile to three, with and without a rest of four.
const SAMPLE_IN_FP8: [(usize, usize); 7] = [
    (32, 1),
    (45, 1),
    (16, 4),
    (9, 7),
    (20, 18),
    (40, 25),
    (32, 32),
];
/// Their passes: of two in one launch, of two through memory, and of a convolution, that of 71 points.
const SAMPLE_OF_PASSES_IN_FP8: [([usize; 2], [usize; 2]); 2] =
    [([16, 4], [32, 1]), ([15, 4], [10, 5])];
const SAMPLE_OF_LONG_IN_FP8: ([usize; 2], [usize; 2]) = ([27, 4], [15, 9]);
const SAMPLE_OF_CONVOLUTIONS_IN_FP8: [usize; 2] = [12, 12];

/// The same in f16; its long passes are those of fp8.
const SAMPLE_IN_F16: [(usize, usize); 4] = [(32, 1), (9, 7), (20, 18), (32, 32)];
const SAMPLE_OF_PASSES_IN_F16: ([usize; 2], [usize; 2]) = ([16, 4], [32, 1]);

/// The same for warps that multiply together.
const SAMPLE_BY_WARPGROUPS: [(usize, usize); 5] = [(32, 1), (16, 4), (9, 7), (20, 18), (32, 32)];

/// The same for real lines and half-spectra, with conversion instructions.
const SAMPLE_OF_REAL: [(usize, usize); 6] = [(32, 1), (45, 1), (16, 4), (9, 7), (20, 18), (40, 25)];

/// The same for those of f32.
const SAMPLE_OF_SINGLE_REAL: [(usize, usize); 5] = [(32, 1), (16, 4), (9, 7), (20, 18), (40, 25)];

/// The same for strided ones, of f64 and of f32.
const SAMPLE_OF_STRIDED_REAL: [(usize, usize); 4] = [(32, 1), (16, 4), (9, 7), (20, 18)];

/// The same for two passes.
const SAMPLE_OF_PASSES: [([usize; 2], [usize; 2]); 5] = [
    ([16, 4], [32, 1]),
    ([7, 7], [28, 1]),
    ([45, 1], [7, 7]),
    ([42, 1], [12, 4]),
    ([15, 4], [10, 5]),
];

/// The same for lines of f32, complex and real, and for real lines and half-spectra of f64.
const SAMPLE_OF_SINGLE_PASSES: [([usize; 2], [usize; 2]); 4] = [
    ([16, 4], [32, 1]),
    ([7, 7], [28, 1]),
    ([45, 1], [7, 7]),
    ([15, 4], [10, 5]),
];
const SAMPLE_OF_REAL_PASSES: [([usize; 2], [usize; 2]); 6] = [
    ([16, 4], [32, 1]),
    ([7, 7], [28, 1]),
    ([45, 1], [7, 7]),
    ([42, 1], [12, 4]),
    ([9, 6], [9, 6]),
    ([15, 4], [10, 5]),
];

/// The same for passes whose words go through memory: two of a transform, and the middle one of three.
const SAMPLE_OF_LONG: [([usize; 2], [usize; 2]); 5] = [
    ([16, 4], [32, 1]),
    ([25, 4], [25, 4]),
    ([27, 4], [15, 9]),
    ([16, 8], [16, 8]),
    ([15, 9], [15, 9]),
];
const SAMPLE_OF_REAL_AND_SINGLE_LONG: [([usize; 2], [usize; 2]); 2] =
    [([16, 4], [32, 1]), ([27, 4], [15, 9])];
const SAMPLE_OF_THREE: [[usize; 2]; 3] = [[11, 11], [11, 1], [11, 11]];
/// The same of a power of two, 2^21, which takes as long as ten of the others: with `OZFFT_EVERYTHING`.
const SAMPLE_OF_THREE_LARGE: [[usize; 2]; 3] = [[16, 8]; 3];
/// And those of three steps, of 7^5 and 7^6 points.
const THREE_STEPS: [usize; 3] = [7, 7, 7];
const TWO_STEPS: [usize; 3] = [7, 1, 7];

/// The same for Bluestein's convolutions: of one block, and of two passes, each a launch. Their lengths are those of 71, 67 and 2053 points.
const SAMPLE_OF_CONVOLUTIONS: [[usize; 2]; 2] = [[12, 12], [14, 10]];
const SAMPLE_OF_LONG_CONVOLUTIONS: ([usize; 2], [usize; 2]) = ([16, 4], [10, 7]);

/// The same for both passes there and back in one launch: 131, 773, 1009 and 1579 points. Single steps, a product or a step of four points
/// after the first one in either pass.
const SAMPLE_OF_WHOLE_CONVOLUTIONS: [([usize; 2], [usize; 2]); 4] = [
    ([20, 1], [14, 1]),
    ([7, 7], [32, 1]),
    ([16, 4], [32, 1]),
    ([16, 4], [10, 5]),
];
/// All others from 129 to 2048 points.
const OTHER_WHOLE_CONVOLUTIONS: [([usize; 2], [usize; 2]); 44] = [
    ([16, 1], [18, 1]),
    ([16, 1], [20, 1]),
    ([16, 1], [21, 1]),
    ([18, 1], [20, 1]),
    ([16, 1], [24, 1]),
    ([14, 1], [28, 1]),
    ([20, 1], [20, 1]),
    ([24, 1], [18, 1]),
    ([28, 1], [16, 1]),
    ([24, 1], [20, 1]),
    ([32, 1], [16, 1]),
    ([28, 1], [20, 1]),
    ([24, 1], [24, 1]),
    ([32, 1], [20, 1]),
    ([28, 1], [24, 1]),
    ([24, 1], [30, 1]),
    ([24, 1], [32, 1]),
    ([28, 1], [28, 1]),
    ([32, 1], [25, 1]),
    ([32, 1], [27, 1]),
    ([28, 1], [32, 1]),
    ([32, 1], [30, 1]),
    ([32, 1], [32, 1]),
    ([32, 1], [35, 1]),
    ([32, 1], [36, 1]),
    ([32, 1], [40, 1]),
    ([32, 1], [42, 1]),
    ([36, 1], [40, 1]),
    ([32, 1], [12, 4]),
    ([40, 1], [40, 1]),
    ([12, 4], [36, 1]),
    ([14, 4], [32, 1]),
    ([12, 4], [40, 1]),
    ([14, 4], [40, 1]),
    ([12, 4], [12, 4]),
    ([16, 4], [40, 1]),
    ([14, 4], [12, 4]),
    ([12, 4], [15, 4]),
    ([12, 4], [16, 4]),
    ([14, 4], [14, 4]),
    ([16, 4], [9, 6]),
    ([14, 4], [16, 4]),
    ([16, 4], [15, 4]),
    ([16, 4], [16, 4]),
];

/// Those that have kernels with their second choice of parameters, too: passes of a long transform, and real lines.
const SAMPLE_OF_OTHER_PARAMETERS: ([usize; 2], [usize; 2]) = ([25, 4], [25, 4]);
const REAL_OF_OTHER_PARAMETERS: [usize; 2] = [9, 7];

/// Kernels of a file: what a compiler takes seconds for.
const KERNELS_OF_A_FILE: usize = 16;

/// Writes the sample's source, and the list of its kernels' names.
fn write_template(folder: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-env-changed=OZFFT_EVERYTHING");
    let everything = std::env::var_os("OZFFT_EVERYTHING").is_some();
    let listed: Vec<BlockShape> = bailey::listed().map(|(shape, _)| shape).collect();
    let steps = listed
        .iter()
        .filter(|shape| everything || SAMPLE.contains(&(shape.first, shape.last)));
    let mut shapes: Vec<(Box<dyn KernelShape>, bool)> = Vec::new();
    for BlockShape {
        first,
        last,
        strided,
        ..
    } in steps
    {
        let shape = BlockShape::new(Number::Double, [*first, *last], *strided, SHARED_BYTES);
        shapes.push((Box::new(shape.expect("a shape that fits")), *strided));
    }
    for strided in [false, true] {
        let shape = BlockShape::new(Number::Double, SAMPLE_OF_FEW, strided, SHARED_BYTES);
        let few = shape.expect("a shape that fits").for_few();
        shapes.push((few.expect("a shape that fits"), strided));
    }
    for shape in &listed {
        let steps = [shape.first, shape.last];
        if everything || SAMPLE_OF_SINGLE.contains(&(shape.first, shape.last)) {
            let single = BlockShape::new(Number::Single, steps, shape.strided, SHARED_BYTES);
            let single = single.expect("a shape that fits");
            // Those with conversion instructions are the same: one of both is enough.
            shapes.push((Box::new(single), shape.strided));
        }
    }
    for shape in &listed {
        let steps = [shape.first, shape.last];
        let samples = [
            (Number::DoubleFp8, &SAMPLE_IN_FP8[..]),
            (Number::DoubleF16, &SAMPLE_IN_F16[..]),
            (Number::DoubleWgmma, &SAMPLE_BY_WARPGROUPS[..]),
        ];
        for (number, sample) in samples {
            // Of warps that multiply together the sample is all: their steps are those of `mma.sync`.
            let all = everything && number != Number::DoubleWgmma;
            if all || sample.contains(&(shape.first, shape.last)) {
                let shape_of = BlockShape::new(number, steps, shape.strided, SHARED_BYTES);
                let shape_of = shape_of.expect("a shape that fits");
                shapes.push((Box::new(shape_of), shape.strided));
            }
        }
    }
    for (digits, sample) in SAMPLE_OF_FEWER {
        for &(first, last) in sample {
            for strided in [false, true] {
                let number = fewer(digits);
                let shape = BlockShape::new(number, [first, last], strided, SHARED_BYTES);
                shapes.push((Box::new(shape.expect("a shape that fits")), strided));
            }
        }
    }
    for (digits, steps) in SAMPLE_OF_FEWER_REAL {
        for half in [Half::Output, Half::Input] {
            for strided in [false, true] {
                let kind = (fewer(digits), half);
                let shape = RealShape::new(kind, steps, strided, SHARED_BYTES);
                shapes.push((Box::new(shape.expect("a shape that fits")), strided));
            }
        }
    }
    let real = listed.iter().filter(|shape| !shape.strided);
    for BlockShape { first, last, .. } in real {
        let steps = [*first, *last];
        if everything || SAMPLE_OF_REAL.contains(&(*first, *last)) {
            for half in [Half::Output, Half::Input] {
                let kind = (Number::Double, half);
                let shape = RealShape::new(kind, steps, false, SHARED_BYTES);
                let shape = shape.expect("a shape that fits");
                shapes.push((Box::new(shape), false));
                // One without conversion instructions: they share all but the first and the last few lines.
                if everything || steps == [9, 7] {
                    shapes.push((Box::new(shape), true));
                }
            }
        }
        if everything || SAMPLE_OF_SINGLE_REAL.contains(&(*first, *last)) {
            for half in [Half::Output, Half::Input] {
                let kind = (Number::Single, half);
                let shape = RealShape::new(kind, steps, false, SHARED_BYTES);
                shapes.push((Box::new(shape.expect("a shape that fits")), false));
            }
        }
        if everything || SAMPLE_OF_STRIDED_REAL.contains(&(*first, *last)) {
            for (number, half) in [
                (Number::Double, Half::Output),
                (Number::Double, Half::Input),
                (Number::Single, Half::Output),
                (Number::Single, Half::Input),
            ] {
                let shape = RealShape::new((number, half), steps, true, SHARED_BYTES);
                shapes.push((Box::new(shape.expect("a shape that fits")), false));
            }
        }
    }
    for steps in SAMPLE_OF_BLOCKS_OF_THREE {
        for strided in [false, true] {
            let shape = ThreeShape::new(steps, strided, SHARED_BYTES);
            shapes.push((Box::new(shape.expect("a shape that fits")), strided));
        }
    }
    let double = Ends::Complex(Number::Double);
    for (ends, first, second) in SAMPLE_OF_PASSES
        .into_iter()
        .map(|(first, second)| (double, first, second))
        .chain(
            SAMPLE_OF_SINGLE_PASSES
                .map(|(first, second)| (Ends::Complex(Number::Single), first, second)),
        )
        .chain(
            SAMPLE_OF_PASSES_IN_FP8
                .map(|(first, second)| (Ends::Complex(Number::DoubleFp8), first, second)),
        )
        .chain({
            let (first, second) = SAMPLE_OF_PASSES_IN_F16;
            [(Ends::Complex(Number::DoubleF16), first, second)]
        })
    {
        for strided in [false, true] {
            let shape = PassesShape::new(first, second, (ends, strided), SHARED_BYTES);
            shapes.push((Box::new(shape.expect("a shape that fits")), strided));
        }
    }
    for (number, (first, second)) in SAMPLE_OF_REAL_PASSES.into_iter().enumerate() {
        for ends in [Ends::RealToHalf, Ends::HalfToReal] {
            let kind = (ends(Number::Double), false);
            let shape = PassesShape::new(first, second, kind, SHARED_BYTES);
            let shape = shape.expect("a shape that fits");
            shapes.push((Box::new(shape), false));
            // One without conversion instructions.
            if number == 0 {
                shapes.push((Box::new(shape), true));
            }
        }
    }
    for (first, second) in SAMPLE_OF_SINGLE_PASSES {
        for ends in [Ends::RealToHalf, Ends::HalfToReal] {
            let kind = (ends(Number::Single), false);
            let shape = PassesShape::new(first, second, kind, SHARED_BYTES);
            shapes.push((Box::new(shape.expect("a shape that fits")), false));
        }
    }
    for (first, second) in SAMPLE_OF_FEWER_PASSES {
        let number = Number::fewer(5);
        for (ends, strided) in [
            (Ends::Complex(number), false),
            (Ends::Complex(number), true),
            (Ends::RealToHalf(number), false),
            (Ends::HalfToReal(number), false),
        ] {
            let shape = PassesShape::new(first, second, (ends, strided), SHARED_BYTES);
            shapes.push((Box::new(shape.expect("a shape that fits")), strided));
        }
    }
    let points = |steps: [usize; 2]| (steps[0] * steps[1]) as u64;
    let in_three = |[first, last]: [usize; 2]| [first, 1, last];
    for (digits, first, second) in SAMPLE_OF_FEWER_LONG {
        for (steps, other, pass) in [
            (first, second, Pass::Opening),
            (second, first, Pass::Closing),
            (first, second, Pass::OpeningReal),
            (first, second, Pass::OpeningHalf),
            (second, first, Pass::ClosingReal),
        ] {
            let pass = (fewer(digits), pass);
            let shape = LongShape::new(in_three(steps), points(other), pass, SHARED_BYTES, false);
            let shape = shape.expect("a shape that fits");
            // With conversion instructions and, of complex lines in seven digits, without.
            shapes.push((Box::new(shape), false));
            if digits == [7, 7] && matches!(pass.1, Pass::Opening | Pass::Closing) {
                shapes.push((Box::new(shape), true));
            }
        }
    }
    let mut long: Vec<LongShape> = Vec::new();
    let mut add_long = |steps: [usize; 3], side_by_side: u64, pass| {
        let pass = (Number::Double, pass);
        let shape = LongShape::new(steps, side_by_side, pass, SHARED_BYTES, false);
        let shape = shape.expect("a shape that fits");
        // What is launched for other numbers of lines may be the same kernel.
        if long
            .iter()
            .all(|other| other.name(false) != shape.name(false))
        {
            long.push(shape);
        }
    };
    for (steps, side_by_side, pass) in [
        (TWO_STEPS, 343, Pass::Opening),
        (THREE_STEPS, 49, Pass::Closing),
        (THREE_STEPS, 343, Pass::Opening),
        (THREE_STEPS, 343, Pass::Closing),
        (THREE_STEPS, 343, Pass::OpeningReal),
        (THREE_STEPS, 343, Pass::OpeningHalf),
        (THREE_STEPS, 343, Pass::ClosingReal),
    ] {
        add_long(steps, side_by_side, pass);
    }
    let mut add = |steps, side_by_side, pass| add_long(in_three(steps), side_by_side, pass);
    for (first, second) in SAMPLE_OF_LONG {
        add(first, points(second), Pass::Opening);
        add(second, points(first), Pass::Closing);
    }
    let of_three = [SAMPLE_OF_THREE, SAMPLE_OF_THREE_LARGE];
    for passes in of_three.into_iter().take(if everything { 2 } else { 1 }) {
        let [one, two, three] = passes.map(points);
        add(passes[0], two * three, Pass::Opening);
        add(passes[1], three, Pass::Middle);
        add(passes[2], one * two, Pass::Closing);
    }
    for (first, second) in SAMPLE_OF_REAL_AND_SINGLE_LONG {
        for (steps, other, number, pass) in [
            (first, second, Number::Single, Pass::Opening),
            (second, first, Number::Single, Pass::Closing),
            (first, second, Number::Double, Pass::OpeningReal),
            (first, second, Number::Double, Pass::OpeningHalf),
            (second, first, Number::Double, Pass::ClosingReal),
            (first, second, Number::Single, Pass::OpeningReal),
            (first, second, Number::Single, Pass::OpeningHalf),
            (second, first, Number::Single, Pass::ClosingReal),
        ] {
            let pass = (number, pass);
            let shape = LongShape::new(in_three(steps), points(other), pass, SHARED_BYTES, false);
            shapes.push((Box::new(shape.expect("a shape that fits")), false));
        }
    }
    let (first, second) = SAMPLE_OF_LONG_IN_FP8;
    for (steps, other, pass) in [
        (first, second, (Number::DoubleFp8, Pass::Opening)),
        (second, first, (Number::DoubleFp8, Pass::Closing)),
        (first, second, (Number::DoubleF16, Pass::Opening)),
        (second, first, (Number::DoubleF16, Pass::Closing)),
    ] {
        let shape = LongShape::new(in_three(steps), points(other), pass, SHARED_BYTES, false);
        shapes.push((Box::new(shape.expect("a shape that fits")), true));
    }
    for shape in long {
        // With conversion instructions and without: all passes of a transform are of one kind.
        shapes.push((Box::new(shape), false));
        shapes.push((Box::new(shape), true));
    }
    let mut convolution = |steps, side_by_side, kind| {
        let shape = LongShape::new(in_three(steps), side_by_side, kind, SHARED_BYTES, false);
        shapes.push((Box::new(shape.expect("a shape that fits")), true));
    };
    for pass in [Pass::ChirpedProduct, Pass::ProductClosing] {
        let kind = (Number::DoubleFp8, pass);
        convolution(SAMPLE_OF_CONVOLUTIONS_IN_FP8, MANY_TRANSFORMS, kind);
    }
    for digits in SAMPLE_OF_FEWER_CONVOLUTIONS {
        for pass in [Pass::ChirpedProduct, Pass::ProductClosing] {
            let kind = (fewer(digits), pass);
            convolution(SAMPLE_OF_CONVOLUTIONS[0], MANY_TRANSFORMS, kind);
        }
    }
    {
        let (digits, first, second) = SAMPLE_OF_FEWER_LONG_CONVOLUTIONS;
        for (steps, other, pass) in [
            (first, second, Pass::ChirpedOpening),
            (first, second, Pass::ProductOpening),
            (second, first, Pass::Product),
            (second, first, Pass::UnchirpedClosing),
        ] {
            convolution(steps, points(other), (fewer(digits), pass));
        }
    }
    for number in [Number::Double, Number::Single] {
        for steps in SAMPLE_OF_CONVOLUTIONS {
            for pass in [Pass::ChirpedProduct, Pass::ProductClosing] {
                convolution(steps, MANY_TRANSFORMS, (number, pass));
            }
        }
        let (first, second) = SAMPLE_OF_LONG_CONVOLUTIONS;
        for pass in [Pass::ChirpedOpening, Pass::ProductOpening] {
            convolution(first, points(second), (number, pass));
        }
        for pass in [Pass::Product, Pass::UnchirpedClosing] {
            convolution(second, points(first), (number, pass));
        }
    }
    let others = OTHER_WHOLE_CONVOLUTIONS.into_iter();
    let all = SAMPLE_OF_WHOLE_CONVOLUTIONS
        .into_iter()
        .chain(others.filter(|_| everything));
    for (number, (first, second)) in all.enumerate() {
        for kind in [Number::Double, Number::Single] {
            let kind = (Ends::Convolution(kind), false);
            let shape = PassesShape::new(first, second, kind, SHARED_BYTES);
            let shape = shape.expect("a shape that fits");
            shapes.push((Box::new(shape), false));
            // Of the sample also without conversion instructions.
            if number < SAMPLE_OF_WHOLE_CONVOLUTIONS.len() {
                shapes.push((Box::new(shape), true));
            }
        }
    }
    // What `ozfft tune` may choose instead: real lines, a block of three steps, both passes of a long transform.
    let others = {
        let (first, second) = SAMPLE_OF_OTHER_PARAMETERS;
        let real = RealShape::new(
            (Number::Double, Half::Output),
            REAL_OF_OTHER_PARAMETERS,
            false,
            SHARED_BYTES,
        );
        let three = ThreeShape::new(SAMPLE_OF_BLOCKS_OF_THREE[0], false, SHARED_BYTES);
        let pass = |steps, beside, pass| {
            let kind = (Number::Double, pass);
            LongShape::new(in_three(steps), points(beside), kind, SHARED_BYTES, false)
        };
        let [opening, closing] = [
            pass(first, second, Pass::Opening),
            pass(second, first, Pass::Closing),
        ];
        [
            real.map(|shape| shape.candidates()),
            three.map(|shape| shape.candidates()),
            opening.map(|shape| shape.candidates()),
            closing.map(|shape| shape.candidates()),
        ]
    };
    for candidates in others {
        let other = candidates.and_then(|all| all.into_iter().nth(1));
        shapes.push((other.expect("other parameters"), false));
    }
    let written = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the build's folder can be written to");
        path
    };
    let mut names = String::new();
    let mut declarations = String::new();
    let mut calls = String::new();
    let mut files = Vec::new();
    for (file, shapes) in shapes.chunks(KERNELS_OF_A_FILE).enumerate() {
        let mut kernels = String::from(
            "#include \"passes/bailey_convolution.cuh\"\n#include \"block/bailey_f16.cuh\"\n#include \"block/bailey_fewer.cuh\"\n#include \"block/bailey_fp8.cuh\"\n#include \"passes/bailey_long.cuh\"\n#include \"passes/bailey_real_passes.cuh\"\n#include \"block/bailey_single.cuh\"\n#include \"block/bailey_three.cuh\"\n#include \"block/bailey_wgmma.cuh\"\n#include \"launch.h\"\n",
        );
        let mut table = String::new();
        for (count, (shape, strided)) in shapes.iter().enumerate() {
            let conversions = !strided;
            let name = shape.name(conversions);
            // Every source declares a type `Shape`.
            let source = shape.source(conversions);
            writeln!(kernels, "namespace shape_{count} {{\n{source}}}").expect("a string");
            let parameters = shape.parameters();
            writeln!(
                table,
                "        {{{name:?}, launch_kernel<{parameters}, shape_{count}::{name}>}},"
            )
            .expect("a string");
            writeln!(names, "    {name:?},").expect("a string");
        }
        let signature = format!(
            "extern \"C\" bool ozfft_emulate_template_{file}(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes)"
        );
        write!(
            kernels,
            "{signature} {{\n\
             \u{20}   static const NamedKernel kernels[] = {{\n{table}    }};\n\
             \u{20}   return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);\n}}\n"
        )
        .expect("a string");
        writeln!(declarations, "{signature};").expect("a string");
        write!(
            calls,
            " || ozfft_emulate_template_{file}(name, parameters, blocks, threads, shared_bytes)"
        )
        .expect("a string");
        let kernels = in_namespace(&kernels);
        files.push(written(&format!("template_{file}.cpp"), &kernels));
    }
    let all = format!(
        "#include <cstddef>\n#include <cstdint>\n{declarations}\
         extern \"C\" bool ozfft_emulate_template(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {{\n\
         \u{20}   return false{calls};\n}}\n"
    );
    files.push(written("template.cpp", &all));
    written("template_names.rs", &format!("[\n{names}]"));
    // What the host knows of every shape of the list, at both sizes of shared memory, is what the kernels' source says.
    let mut asserts = String::from(
        "#include \"block/bailey_f16.cuh\"\n#include \"block/bailey_fewer.cuh\"\n#include \"block/bailey_fp8.cuh\"\n#include \"block/bailey_wgmma.cuh\"\n",
    );
    let numbers = [
        Number::Double,
        Number::fewer(3),
        Number::fewer(6),
        fewer([5, 6]),
        Number::DoubleFp8,
        Number::DoubleF16,
        Number::DoubleWgmma,
    ];
    for (shape, number) in listed
        .into_iter()
        .flat_map(|shape| numbers.map(|number| (shape, number)))
    {
        for kilobytes in [227, 99] {
            let steps = [shape.first, shape.last];
            let found = BlockShape::new(number, steps, shape.strided, kilobytes << 10);
            // Warps that multiply together need room for the tables, which Hopper has.
            let Some(shape) = found else {
                assert_eq!((number, kilobytes), (Number::DoubleWgmma, 99), "{steps:?}");
                continue;
            };
            writeln!(
                asserts,
                "static_assert({shape}::THREADS == {} && {shape}::SHARED == {}, \"bailey.rs\");",
                shape.threads(),
                shape.shared_bytes(),
                shape = shape.type_name()
            )
            .expect("a string");
        }
    }
    files.push(written("template_shapes.cpp", &in_namespace(&asserts)));
    files
}

/// A translation unit for every file of `src`, or for those of linear algebra.
fn write_units(folder: &Path, all: bool) -> Vec<PathBuf> {
    let files = std::fs::read_dir("src").expect("the sources");
    let names = files.map(|file| file.expect("an entry").file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".cpp") && (all || name.starts_with("ozaki")));
    names.sort();
    let unit_of = |name: &String| {
        let unit = folder.join(format!("unit_{name}"));
        let text = in_namespace(&format!("#include \"{name}\"\n"));
        std::fs::write(&unit, text).expect("the build's folder can be written to");
        unit
    };
    names.iter().map(unit_of).collect()
}

/// Sources in an anonymous namespace, after the headers of the system that they include: kernels of two files may have functions and types
/// of one name, of which the linker would otherwise take either one for both.
fn in_namespace(sources: &str) -> String {
    format!("#include \"system.h\"\nnamespace {{\n{sources}}}\n")
}

fn main() {
    let kernels = "../ozfft-kernels/cuda";
    println!("cargo::rerun-if-changed={kernels}");
    println!("cargo::rerun-if-changed=src");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo has set it"));
    let all = std::env::var_os("CARGO_FEATURE_TRANSFORMS").is_some();
    let mut units = write_units(&folder, all);
    if all {
        units.extend(write_template(&folder));
    }
    // Clippy links nothing, and cargo keeps what it builds apart: kernels would be compiled once more, for nobody.
    println!("cargo::rerun-if-env-changed=RUSTC_WORKSPACE_WRAPPER");
    let wrapper = std::env::var("RUSTC_WORKSPACE_WRAPPER").unwrap_or_default();
    if wrapper.contains("clippy-driver") {
        return;
    }
    let mut build = cc::Build::new();
    let (host, target) = (std::env::var("HOST"), std::env::var("TARGET"));
    if host == target {
        // Products of emulated tensor units are half of the time: they run where they were compiled, with all vectors there.
        build.flag_if_supported("-march=native");
    }
    build
        .files(units)
        .include("src")
        .cpp(true)
        .std("c++17")
        // Kernels take longer to compile than they run; what they spend most of their time in, emulator.h, asks for more.
        .opt_level_str("g")
        // Fibers jump between stacks, which this check takes for an error.
        .flag("-U_FORTIFY_SOURCE")
        // A GPU's integers wrap around, and it fuses no operations but those that are asked for.
        .flag("-fwrapv")
        .flag("-ffp-contract=off")
        .flag("-Wno-unknown-pragmas")
        // Kernels take structures of 64-byte alignment by value, which old compilers did in another way.
        .flag_if_supported("-Wno-psabi")
        // Loops whose length is not known are worth vectors too.
        .flag_if_supported("-fvect-cost-model=dynamic")
        .include(kernels)
        .compile("ozfft_emulated_kernels");
}
