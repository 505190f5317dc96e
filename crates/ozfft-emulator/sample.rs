//! Kernels that are emulated: for every family some of every kind, one step and two, even and odd, with a step of additions, with and
//! without a tail of four slots, units of one line and of several. Most contiguous ones have conversion instructions, strided ones have
//! none. With `OZFFT_EVERYTHING` there are all of the list of lengths.

use ozfft_kernels::template::{
    Block, Ends, Family, KernelSpec, LongPass, MANY_TRANSFORMS, Number, Pass, Real, ThreeSteps,
    TwoPasses, listed,
};
use std::collections::HashSet;

/// Shared memory of a block of the GPU that is emulated with kernels of the template.
const SHARED_BYTES: usize = 227 << 10;

/// Points of both steps of a block; 1 where there is no last one.
type Steps = [usize; 2];

/// Digits of a word, and diagonals of products.
type Digits = [u32; 2];

const BLOCKS: [Steps; 10] = [
    [32, 1],
    [45, 1],
    [16, 4],
    [25, 4],
    [9, 7],
    [15, 5],
    [20, 18],
    [25, 10],
    [40, 25],
    [32, 32],
];
const BLOCKS_FOR_FEW_LINES: Steps = [15, 5];
const BLOCKS_OF_SINGLE: [Steps; 6] = [[32, 1], [16, 4], [9, 7], [20, 18], [25, 10], [40, 25]];
const BLOCKS_BY_DIGITS: [(Digits, &[Steps]); 8] = [
    ([3, 3], &[[16, 4], [20, 18]]),
    ([4, 4], &[[9, 7], [20, 18]]),
    ([5, 5], &[[32, 1], [16, 4], [9, 7], [20, 18], [40, 25]]),
    ([6, 6], &[[16, 4], [9, 7], [20, 18]]),
    ([7, 7], &[[9, 7], [20, 18], [32, 32]]),
    ([4, 5], &[[16, 4]]),
    ([6, 7], &[[20, 18]]),
    ([7, 8], &[[20, 18]]),
];
/// Slots of one tile to three, with and without a tail of four.
const BLOCKS_IN_FP8: [Steps; 7] = [
    [32, 1],
    [45, 1],
    [16, 4],
    [9, 7],
    [20, 18],
    [40, 25],
    [32, 32],
];
const BLOCKS_IN_F16: [Steps; 4] = [[32, 1], [9, 7], [20, 18], [32, 32]];
const BLOCKS_BY_WARPGROUPS: [Steps; 5] = [[32, 1], [16, 4], [9, 7], [20, 18], [32, 32]];
/// Even and odd first steps, and middle ones whose slots are a tail of four, eight, and eight and a tail.
const BLOCKS_OF_THREE_STEPS: [[usize; 3]; 4] = [[7, 7, 7], [14, 7, 7], [13, 11, 5], [17, 17, 3]];

const REAL: [Steps; 6] = [[32, 1], [45, 1], [16, 4], [9, 7], [20, 18], [40, 25]];
const REAL_OF_SINGLE: [Steps; 5] = [[32, 1], [16, 4], [9, 7], [20, 18], [40, 25]];
/// Of f64 and of f32.
const REAL_STRIDED: [Steps; 4] = [[32, 1], [16, 4], [9, 7], [20, 18]];
const REAL_BY_DIGITS: [(Digits, Steps); 7] = [
    ([3, 3], [9, 7]),
    ([3, 3], [32, 1]),
    ([4, 4], [16, 4]),
    ([5, 5], [20, 18]),
    ([6, 6], [9, 7]),
    ([7, 7], [16, 4]),
    ([6, 7], [20, 18]),
];
/// Kernels without conversion instructions share all but the first and the last few lines with the others: one is enough.
const REAL_WITHOUT_CONVERSIONS: Steps = [9, 7];

const PASSES: [[Steps; 2]; 5] = [
    [[16, 4], [32, 1]],
    [[7, 7], [28, 1]],
    [[45, 1], [7, 7]],
    [[42, 1], [12, 4]],
    [[15, 4], [10, 5]],
];
/// Complex and real.
const PASSES_OF_SINGLE: [[Steps; 2]; 4] = [
    [[16, 4], [32, 1]],
    [[7, 7], [28, 1]],
    [[45, 1], [7, 7]],
    [[15, 4], [10, 5]],
];
const PASSES_OF_FIVE_DIGITS: [[Steps; 2]; 2] = [[[16, 4], [32, 1]], [[15, 4], [10, 5]]];
const PASSES_IN_FP8: [[Steps; 2]; 2] = [[[16, 4], [32, 1]], [[15, 4], [10, 5]]];
const PASSES_IN_F16: [[Steps; 2]; 1] = [[[16, 4], [32, 1]]];
const REAL_PASSES: [[Steps; 2]; 6] = [
    [[16, 4], [32, 1]],
    [[7, 7], [28, 1]],
    [[45, 1], [7, 7]],
    [[42, 1], [12, 4]],
    [[9, 6], [9, 6]],
    [[15, 4], [10, 5]],
];

/// Both passes of transforms whose words go through memory.
const LONG: [[Steps; 2]; 5] = [
    [[16, 4], [32, 1]],
    [[25, 4], [25, 4]],
    [[27, 4], [15, 9]],
    [[16, 8], [16, 8]],
    [[15, 9], [15, 9]],
];
const LONG_OF_REAL_AND_SINGLE: [[Steps; 2]; 2] = [[[16, 4], [32, 1]], [[27, 4], [15, 9]]];
const LONG_BY_DIGITS: [(Digits, [Steps; 2]); 5] = [
    ([3, 3], [[16, 4], [32, 1]]),
    ([4, 4], [[27, 4], [15, 9]]),
    ([5, 5], [[27, 4], [15, 9]]),
    ([7, 7], [[27, 4], [15, 9]]),
    ([7, 8], [[27, 4], [15, 9]]),
];
/// In fp8 and in f16.
const LONG_IN_FLOATS: [Steps; 2] = [[27, 4], [15, 9]];
const LONG_OF_THREE_PASSES: [Steps; 3] = [[11, 11], [11, 1], [11, 11]];
/// Those of 2^21 points, which take as long as ten of the others: with `OZFFT_EVERYTHING`.
const LONG_OF_THREE_LARGE_PASSES: [Steps; 3] = [[16, 8]; 3];
/// Passes of three steps, of 7^5 and 7^6 points, and how many lines lie side by side.
const LONG_OF_THREE_STEPS: [([usize; 3], u64, Pass); 7] = [
    ([7, 1, 7], 343, Pass::Opening),
    ([7, 7, 7], 49, Pass::Closing),
    ([7, 7, 7], 343, Pass::Opening),
    ([7, 7, 7], 343, Pass::Closing),
    ([7, 7, 7], 343, Pass::OpeningReal),
    ([7, 7, 7], 343, Pass::OpeningHalf),
    ([7, 7, 7], 343, Pass::ClosingReal),
];

/// Bluestein's convolutions of one block, and of two passes, each a launch: those of 71, 67 and 2053 points.
const CONVOLUTIONS: [Steps; 2] = [[12, 12], [14, 10]];
const LONG_CONVOLUTIONS: [Steps; 2] = [[16, 4], [10, 7]];
const CONVOLUTIONS_IN_FP8: Steps = [12, 12];
/// In fewer digits, those of 71 and of 131 points.
const CONVOLUTIONS_BY_DIGITS: [(Digits, Steps); 2] = [([3, 3], [12, 12]), ([7, 7], [12, 12])];
const LONG_CONVOLUTIONS_BY_DIGITS: (Digits, [Steps; 2]) = ([4, 4], [[20, 1], [14, 1]]);
/// Both passes there and back in one launch: 131, 773, 1009 and 1579 points. Single steps, a product or a step of four points after the
/// first one in either pass.
const WHOLE_CONVOLUTIONS: [[Steps; 2]; 4] = [
    [[20, 1], [14, 1]],
    [[7, 7], [32, 1]],
    [[16, 4], [32, 1]],
    [[16, 4], [10, 5]],
];
/// All others from 129 to 2048 points: with `OZFFT_EVERYTHING`.
const OTHER_WHOLE_CONVOLUTIONS: [[Steps; 2]; 44] = [
    [[16, 1], [18, 1]],
    [[16, 1], [20, 1]],
    [[16, 1], [21, 1]],
    [[18, 1], [20, 1]],
    [[16, 1], [24, 1]],
    [[14, 1], [28, 1]],
    [[20, 1], [20, 1]],
    [[24, 1], [18, 1]],
    [[28, 1], [16, 1]],
    [[24, 1], [20, 1]],
    [[32, 1], [16, 1]],
    [[28, 1], [20, 1]],
    [[24, 1], [24, 1]],
    [[32, 1], [20, 1]],
    [[28, 1], [24, 1]],
    [[24, 1], [30, 1]],
    [[24, 1], [32, 1]],
    [[28, 1], [28, 1]],
    [[32, 1], [25, 1]],
    [[32, 1], [27, 1]],
    [[28, 1], [32, 1]],
    [[32, 1], [30, 1]],
    [[32, 1], [32, 1]],
    [[32, 1], [35, 1]],
    [[32, 1], [36, 1]],
    [[32, 1], [40, 1]],
    [[32, 1], [42, 1]],
    [[36, 1], [40, 1]],
    [[32, 1], [12, 4]],
    [[40, 1], [40, 1]],
    [[12, 4], [36, 1]],
    [[14, 4], [32, 1]],
    [[12, 4], [40, 1]],
    [[14, 4], [40, 1]],
    [[12, 4], [12, 4]],
    [[16, 4], [40, 1]],
    [[14, 4], [12, 4]],
    [[12, 4], [15, 4]],
    [[12, 4], [16, 4]],
    [[14, 4], [14, 4]],
    [[16, 4], [9, 6]],
    [[14, 4], [16, 4]],
    [[16, 4], [15, 4]],
    [[16, 4], [16, 4]],
];

/// Kernels that `ozfft tune` may choose instead of the usual ones: real lines, a block of three steps, both passes of a long transform.
const OTHER_REAL: Steps = [9, 7];
const OTHER_LONG: [Steps; 2] = [[25, 4], [25, 4]];

const LAYOUTS: [bool; 2] = [false, true];
const REAL_ENDS: [Ends; 2] = [Ends::RealToHalf, Ends::HalfToReal];

const fn in_digits([digits, diagonals]: Digits) -> Number {
    Number::DoubleFewer { digits, diagonals }
}

fn points([first, last]: Steps) -> u64 {
    (first * last) as u64
}

/// The pass of such a block, of which so many lines lie side by side.
fn pass_of([first, last]: Steps, side_by_side: u64, pass: Pass) -> LongPass {
    LongPass::new([first, 1, last], side_by_side, pass)
}

/// Kernels, and whether they have conversion instructions.
pub(crate) struct Sample {
    everything: bool,
    kernels: Vec<(KernelSpec, bool)>,
}

impl Sample {
    pub(crate) fn kernels(everything: bool) -> Vec<(KernelSpec, bool)> {
        let kernels = Vec::new();
        let mut sample = Sample {
            everything,
            kernels,
        };
        sample.add_blocks();
        sample.add_real_lines();
        sample.add_two_passes();
        sample.add_long_passes();
        sample.add_convolutions();
        sample.add_other_parameters();
        // Kernels for other numbers of lines may be the same.
        let mut names = HashSet::new();
        let mut kernels = sample.kernels;
        kernels.retain(|(spec, conversions)| names.insert(spec.name(*conversions)));
        kernels
    }

    /// All lengths of the list if everything is emulated.
    fn lengths(&self, sample: &[Steps]) -> Vec<Steps> {
        let is_wanted = |steps: &Steps| self.everything || sample.contains(steps);
        let contiguous = listed().filter(|entry| !entry.strided);
        contiguous
            .map(|entry| entry.steps)
            .filter(is_wanted)
            .collect()
    }

    fn add(&mut self, family: impl Into<Family>, number: Number, strided: bool, conversions: bool) {
        let spec = KernelSpec::new(family, number, strided, SHARED_BYTES);
        let spec = spec.expect("a kernel that fits");
        self.kernels.push((spec, conversions));
    }

    /// With conversion instructions if contiguous.
    fn add_layouts(&mut self, family: impl Into<Family>, number: Number) {
        let family = family.into();
        for strided in LAYOUTS {
            self.add(family, number, strided, !strided);
        }
    }

    fn add_blocks(&mut self) {
        for (number, sample) in [
            (Number::Double, &BLOCKS[..]),
            (Number::Single, &BLOCKS_OF_SINGLE),
            (Number::DoubleFp8, &BLOCKS_IN_FP8),
            (Number::DoubleF16, &BLOCKS_IN_F16),
        ] {
            for steps in self.lengths(sample) {
                self.add_layouts(Block { steps }, number);
            }
        }
        // Of warps that multiply together the sample is all: their steps are those of `mma.sync`.
        for steps in BLOCKS_BY_WARPGROUPS {
            self.add_layouts(Block { steps }, Number::DoubleWgmma);
        }
        for (digits, sample) in BLOCKS_BY_DIGITS {
            for &steps in sample {
                self.add_layouts(Block { steps }, in_digits(digits));
            }
        }
        for steps in BLOCKS_OF_THREE_STEPS {
            self.add_layouts(ThreeSteps { steps }, Number::Double);
        }
        for strided in LAYOUTS {
            let steps = BLOCKS_FOR_FEW_LINES;
            let spec = KernelSpec::new(Block { steps }, Number::Double, strided, SHARED_BYTES);
            let few = spec.and_then(|spec| spec.for_few());
            self.kernels
                .push((few.expect("a kernel that fits"), !strided));
        }
    }

    fn add_real_lines(&mut self) {
        for ends in REAL_ENDS {
            for steps in self.lengths(&REAL) {
                self.add(Real { steps, ends }, Number::Double, false, true);
                if self.everything || steps == REAL_WITHOUT_CONVERSIONS {
                    self.add(Real { steps, ends }, Number::Double, false, false);
                }
            }
            for steps in self.lengths(&REAL_OF_SINGLE) {
                self.add(Real { steps, ends }, Number::Single, false, true);
            }
            for steps in self.lengths(&REAL_STRIDED) {
                for number in [Number::Double, Number::Single] {
                    self.add(Real { steps, ends }, number, true, true);
                }
            }
            for (digits, steps) in REAL_BY_DIGITS {
                self.add_layouts(Real { steps, ends }, in_digits(digits));
            }
        }
    }

    fn add_two_passes(&mut self) {
        let five = Number::fewer(5);
        for (number, sample) in [
            (Number::Double, &PASSES[..]),
            (Number::Single, &PASSES_OF_SINGLE),
            (Number::DoubleFp8, &PASSES_IN_FP8),
            (Number::DoubleF16, &PASSES_IN_F16),
            (five, &PASSES_OF_FIVE_DIGITS),
        ] {
            for &steps in sample {
                let ends = Ends::Complex;
                self.add_layouts(TwoPasses { steps, ends }, number);
            }
        }
        for ends in REAL_ENDS {
            for (number, sample) in [
                (Number::Double, &REAL_PASSES[..]),
                (Number::Single, &PASSES_OF_SINGLE),
                (five, &PASSES_OF_FIVE_DIGITS),
            ] {
                for &steps in sample {
                    self.add(TwoPasses { steps, ends }, number, false, true);
                }
            }
            let steps = REAL_PASSES[0];
            self.add(TwoPasses { steps, ends }, Number::Double, false, false);
        }
    }

    /// Both passes of transforms.
    fn add_long(
        &mut self,
        [first, second]: [Steps; 2],
        [opening, closing]: [Pass; 2],
        number: Number,
        conversions: bool,
    ) {
        let opening = pass_of(first, points(second), opening);
        let closing = pass_of(second, points(first), closing);
        self.add(opening, number, false, conversions);
        self.add(closing, number, false, conversions);
    }

    fn add_long_passes(&mut self) {
        const COMPLEX: [Pass; 2] = [Pass::Opening, Pass::Closing];
        const FROM_REAL: [Pass; 2] = [Pass::OpeningReal, Pass::Closing];
        const TO_REAL: [Pass; 2] = [Pass::OpeningHalf, Pass::ClosingReal];
        let mut sample: Vec<LongPass> = Vec::new();
        for (steps, side_by_side, pass) in LONG_OF_THREE_STEPS {
            sample.push(LongPass::new(steps, side_by_side, pass));
        }
        let of_three = [LONG_OF_THREE_PASSES, LONG_OF_THREE_LARGE_PASSES];
        for passes in of_three
            .into_iter()
            .take(if self.everything { 2 } else { 1 })
        {
            let [one, two, three] = passes.map(points);
            sample.push(pass_of(passes[0], two * three, Pass::Opening));
            sample.push(pass_of(passes[1], three, Pass::Middle));
            sample.push(pass_of(passes[2], one * two, Pass::Closing));
        }
        // With conversion instructions and without: all passes of a transform are of one kind.
        for conversions in [true, false] {
            for &pass in &sample {
                self.add(pass, Number::Double, false, conversions);
            }
            for steps in LONG {
                self.add_long(steps, COMPLEX, Number::Double, conversions);
            }
        }
        for steps in LONG_OF_REAL_AND_SINGLE {
            self.add_long(steps, FROM_REAL, Number::Double, true);
            self.add_long(steps, TO_REAL, Number::Double, true);
            for passes in [COMPLEX, FROM_REAL, TO_REAL] {
                self.add_long(steps, passes, Number::Single, true);
            }
        }
        for number in [Number::DoubleFp8, Number::DoubleF16] {
            self.add_long(LONG_IN_FLOATS, COMPLEX, number, false);
        }
        for (digits, steps) in LONG_BY_DIGITS {
            for passes in [COMPLEX, FROM_REAL, TO_REAL] {
                self.add_long(steps, passes, in_digits(digits), true);
            }
            // In seven digits also without conversion instructions.
            if digits == [7, 7] {
                self.add_long(steps, COMPLEX, in_digits(digits), false);
            }
        }
    }

    fn add_convolutions(&mut self) {
        let of_one_block = [
            (CONVOLUTIONS[0], Number::Double),
            (CONVOLUTIONS[0], Number::Single),
            (CONVOLUTIONS[1], Number::Double),
            (CONVOLUTIONS[1], Number::Single),
            (CONVOLUTIONS_IN_FP8, Number::DoubleFp8),
        ];
        let by_digits = CONVOLUTIONS_BY_DIGITS.map(|(digits, steps)| (steps, in_digits(digits)));
        for (steps, number) in of_one_block.into_iter().chain(by_digits) {
            for pass in [Pass::ChirpedProduct, Pass::ProductClosing] {
                self.add(pass_of(steps, MANY_TRANSFORMS, pass), number, false, false);
            }
        }
        let (digits, steps) = LONG_CONVOLUTIONS_BY_DIGITS;
        for (steps, number) in [
            (LONG_CONVOLUTIONS, Number::Double),
            (LONG_CONVOLUTIONS, Number::Single),
            (steps, in_digits(digits)),
        ] {
            let there = [Pass::ChirpedOpening, Pass::Product];
            let back = [Pass::ProductOpening, Pass::UnchirpedClosing];
            self.add_long(steps, there, number, false);
            self.add_long(steps, back, number, false);
        }
        let ends = Ends::Convolution;
        let others = OTHER_WHOLE_CONVOLUTIONS.into_iter();
        let others = others
            .filter(|_| self.everything)
            .map(|steps| (steps, false));
        let sample = WHOLE_CONVOLUTIONS.into_iter().map(|steps| (steps, true));
        let all: Vec<([Steps; 2], bool)> = sample.chain(others).collect();
        for (steps, both_kinds) in all {
            for number in [Number::Double, Number::Single] {
                self.add(TwoPasses { steps, ends }, number, false, true);
                if both_kinds {
                    self.add(TwoPasses { steps, ends }, number, false, false);
                }
            }
        }
    }

    fn add_other_parameters(&mut self) {
        let (steps, ends) = (OTHER_REAL, Ends::RealToHalf);
        let three = ThreeSteps {
            steps: BLOCKS_OF_THREE_STEPS[0],
        };
        let [first, second] = OTHER_LONG;
        for family in [
            Real { steps, ends }.into(),
            three.into(),
            pass_of(first, points(second), Pass::Opening).into(),
            pass_of(second, points(first), Pass::Closing).into(),
        ] {
            let family: Family = family;
            let usual = KernelSpec::new(family, Number::Double, false, SHARED_BYTES);
            let other = usual.and_then(|spec| spec.candidates().into_iter().nth(1));
            self.kernels.push((other.expect("other parameters"), true));
        }
    }
}
