//! Units against the definition, bit for bit, and the probe against units that are not what they seem.

use floats::unit::{
    Alignment, Finding, MatrixUnit, Order, Rounding, Scalar, Shape, TILE, Term, probe,
};
use floats::{Direction, FloatError, FloatPlan, Format, Mode, Unit};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::{Requirement, available};
use std::sync::Arc;

/// bf16 numbers of all kinds: near one, tiny, subnormal, of all exponents.
fn number(generator: &mut Generator, kind: usize) -> u16 {
    let bits = generator.next_u64() as u16;
    let (sign, mantissa) = (bits & 0x8000, bits & 0x7f);
    let exponent = match kind {
        // Within some powers of two of one: sums cancel.
        0 => 125 + generator.below(6) as u16,
        // Products and sums near the smallest normal number.
        1 => 60 + generator.below(8) as u16,
        // Subnormal numbers and zero among small ones.
        2 => generator.below(3) as u16,
        // Everything finite whose products are.
        _ => 1 + generator.below(180) as u16,
    };
    sign | exponent << 7 | mantissa
}

fn pairs(generator: &mut Generator, count: usize, kind: usize) -> Vec<u32> {
    (0..count)
        .map(|_| {
            let (first, second) = (number(generator, kind), number(generator, kind));
            u32::from(first) | u32::from(second) << 16
        })
        .collect()
}

/// More than 10^5 sums for each unit, with one to four terms, odd pitches, all shapes of blocks.
fn bits_are_those_of_the_definition(unit: Unit) {
    let requirement = match unit {
        Unit::AmxBf16 => Requirement::Amx,
        _ => Requirement::Bf16,
    };
    let Some(unit) = available(requirement, unit.get()) else {
        return;
    };
    let definition = Scalar::new(unit.order());
    let mut generator = Generator::new(20_25);
    let (mut compared, mut subnormal_kinds) = (0, 0);
    for round in 0..120 {
        let kind = round % 4;
        let (rows, columns) = (
            TILE * (1 + generator.below(3)),
            TILE * (1 + generator.below(5)),
        );
        let depth = TILE * (1 + generator.below(4));
        let shape = Shape {
            rows,
            pairs: depth,
            columns,
            left_pitch: depth + generator.below(5),
            right_pitch: columns + generator.below(5),
            sums_pitch: columns + generator.below(5),
        };
        let terms = 1 + generator.below(4);
        let arrays: Vec<_> = (0..terms)
            .map(|_| {
                // A factor of small numbers meets one of ordinary ones, so that products are just subnormal.
                let other = if kind == 2 { 0 } else { kind };
                (
                    pairs(&mut generator, rows * shape.left_pitch, kind),
                    pairs(&mut generator, depth * shape.right_pitch, other),
                )
            })
            .collect();
        let terms: Vec<Term> = arrays
            .iter()
            .map(|(left, right)| Term { left, right })
            .collect();
        let mut ours = vec![f32::NAN; rows * shape.sums_pitch];
        let mut exact = ours.clone();
        unit.multiply(&shape, &terms, &mut ours);
        definition.multiply(&shape, &terms, &mut exact);
        for (place, (a, b)) in ours.iter().zip(&exact).enumerate() {
            let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(
                same,
                "{} round {round} place {place}: {a:e} {b:e}, seed 2025",
                unit.name()
            );
            assert!(!a.is_subnormal());
            if kind == 1 || kind == 2 {
                subnormal_kinds += 1;
            }
        }
        compared += rows * columns;
    }
    println!(
        "{}: {compared} sums, {subnormal_kinds} of tiny numbers",
        unit.name()
    );
    assert!(compared >= 100_000);
}

#[test]
fn avx512_bf16_is_the_definition_bit_for_bit() {
    bits_are_those_of_the_definition(Unit::Avx512Bf16);
}

#[test]
fn amx_bf16_is_the_definition_bit_for_bit() {
    bits_are_those_of_the_definition(Unit::AmxBf16);
}

#[test]
fn the_definition_is_what_hand_worked_sums_say() {
    // 1.5·2 + 2^-23·(-1) in the documented order: second number of the pair first.
    let bf16 = |value: f32| (value.to_bits() >> 16) as u16;
    let pair = |a: f32, b: f32| u32::from(bf16(a)) | u32::from(bf16(b)) << 16;
    let shape = Shape {
        rows: TILE,
        pairs: TILE,
        columns: TILE,
        left_pitch: TILE,
        right_pitch: TILE,
        sums_pitch: TILE,
    };
    let sum = |order: Order, values: &[(f32, f32)]| {
        let mut left = vec![0; TILE * TILE];
        let mut right = vec![0; TILE * TILE];
        for (i, &(first, second)) in values.iter().enumerate() {
            left[i] = pair(first, second);
            right[i * TILE] = pair(1.0, 1.0);
        }
        let mut sums = vec![0.0; TILE * TILE];
        let terms = [Term {
            left: &left,
            right: &right,
        }];
        Scalar::new(order).multiply(&shape, &terms, &mut sums);
        sums[0]
    };
    let large = 2f32.powi(24);
    // Pairs: 1, then 2^24 swallows it, then 1 more is lost again to the tie, then -2^24.
    assert_eq!(sum(Order::Pairs, &[(large, 1.0), (-large, 1.0)]), 0.0);
    // Tiles: 2^24 - 2^24 and 1 + 1 in chains of their own.
    assert_eq!(sum(Order::Tiles, &[(large, 1.0), (-large, 1.0)]), 2.0);
    // Second numbers first: 2^24 - 2^24 + 1, and not 2^24 + 1 - 2^24.
    assert_eq!(sum(Order::Pairs, &[(-large, large), (0.0, 1.0)]), 1.0);
}

/// What is wrong with a simulated unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    RoundsProducts,
    SumsInBf16,
    Truncates,
    SumsOf22Bits,
    DropsTheLastPair,
    SecondTermLost,
}

#[derive(Debug)]
struct Faulty(Fault);

fn to_bits(value: f64, bits: i32, nearest: bool) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let exponent = value.abs().log2().floor() as i32;
    let unit = f64::from(exponent + 1 - bits).exp2();
    let scaled = value / unit;
    unit * if nearest {
        scaled.round_ties_even()
    } else {
        scaled.trunc()
    }
}

impl MatrixUnit for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn order(&self) -> Order {
        Order::Pairs
    }

    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) {
        let value = |half: u32| f64::from(f32::from_bits(half << 16));
        let fault = self.0;
        for row in 0..shape.rows {
            for column in 0..shape.columns {
                let mut sum = 0f64;
                for (number, term) in terms.iter().enumerate() {
                    if fault == Fault::SecondTermLost && number == 1 {
                        continue;
                    }
                    for pair in 0..shape.pairs {
                        if fault == Fault::DropsTheLastPair && pair + 1 == shape.pairs {
                            continue;
                        }
                        let left = term.left[row * shape.left_pitch + pair];
                        let right = term.right[pair * shape.right_pitch + column];
                        for shift in [0, 16] {
                            let product =
                                value(left >> shift & 0xffff) * value(right >> shift & 0xffff);
                            let product = match fault {
                                Fault::RoundsProducts => to_bits(product, 8, true),
                                _ => product,
                            };
                            sum = match fault {
                                Fault::SumsInBf16 => to_bits(sum + product, 8, true),
                                Fault::SumsOf22Bits => to_bits(sum + product, 22, true),
                                Fault::Truncates => to_bits(sum + product, 24, false),
                                _ => to_bits(sum + product, 24, true),
                            };
                        }
                    }
                }
                sums[row * shape.sums_pitch + column] = sum as f32;
            }
        }
    }
}

const MATRIX_MODES: [Mode; 5] = [
    Mode::Bf16,
    Mode::Bf16Refined,
    Mode::Ozaki,
    Mode::OzakiHq,
    Mode::OzakiTwoLevel,
];

fn rejected(fault: Fault, mode: Mode) -> Option<Finding> {
    match FloatPlan::on_unit(64, mode, Direction::Forward, Arc::new(Faulty(fault))) {
        Err(error @ FloatError::UnitNotFit { finding, .. }) => {
            let message = error.to_string();
            assert!(message.contains(&finding.to_string()), "{message}");
            Some(finding)
        }
        Err(other) => panic!("{fault:?}: {other}"),
        Ok(_) => None,
    }
}

#[test]
fn a_unit_that_rounds_products_is_found_and_rejected() {
    let finding = probe(&Faulty(Fault::RoundsProducts));
    assert_eq!((finding.product_bits, finding.sum_bits), (Some(8), 24));
    for mode in MATRIX_MODES {
        let finding = rejected(Fault::RoundsProducts, mode).expect("rejected");
        assert!(finding.to_string().starts_with("products rounded to bf16"));
    }
}

#[test]
fn a_unit_that_sums_in_bf16_is_found_and_rejected() {
    let finding = probe(&Faulty(Fault::SumsInBf16));
    assert_eq!((finding.product_bits, finding.sum_bits), (None, 8));
    for mode in MATRIX_MODES {
        let finding = rejected(Fault::SumsInBf16, mode).expect("rejected");
        assert!(finding.to_string().contains("sums in bf16"));
    }
}

#[test]
fn a_unit_that_truncates_is_found_and_rejected_except_where_sums_are_exact() {
    let finding = probe(&Faulty(Fault::Truncates));
    assert_eq!((finding.product_bits, finding.sum_bits), (Some(16), 24));
    assert_eq!(finding.rounding, Rounding::Truncated);
    for mode in MATRIX_MODES {
        let rejected = rejected(Fault::Truncates, mode);
        assert_eq!(rejected.is_none(), mode == Mode::OzakiTwoLevel, "{mode}");
    }
}

#[test]
fn a_unit_with_short_sums_is_found_and_rejected() {
    let finding = probe(&Faulty(Fault::SumsOf22Bits));
    assert_eq!((finding.product_bits, finding.sum_bits), (Some(16), 22));
    for mode in MATRIX_MODES {
        assert!(rejected(Fault::SumsOf22Bits, mode).is_some(), "{mode}");
    }
}

#[test]
fn what_a_truncating_unit_aligns_is_found() {
    for (depth, guard_bits) in [(16, 2), (16, 0), (8, 1), (4, 3), (2, 0)] {
        let order = Order::Aligned { depth, guard_bits };
        for unit in [Scalar::new(order), Scalar::fp16(order)] {
            let finding = probe(&unit);
            println!("{} {order:?}: {finding}", unit.name());
            assert!(finding.keeps_f32_sums_of_exact_products(), "{finding}");
            assert_eq!(finding.rounding, Rounding::Truncated);
            assert_eq!(finding.alignment, Some(Alignment { depth, guard_bits }));
            assert!(!finding.flushes_factors);
        }
    }
    // A bit short of f32, sums show it themselves.
    let finding = probe(&Scalar::fp16(Order::Pairs));
    assert_eq!((finding.product_bits, finding.sum_bits), (Some(22), 24));
    assert_eq!(
        (finding.rounding, finding.alignment),
        (Rounding::Nearest, None)
    );
}

/// A unit that says it aligns better than it does, or says nothing of f16 numbers that it takes for zero.
#[derive(Debug)]
struct Pretending {
    unit: Scalar,
    says: Order,
    flushes: bool,
}

impl MatrixUnit for Pretending {
    fn name(&self) -> &str {
        "pretending"
    }

    fn order(&self) -> Order {
        self.says
    }

    fn format(&self) -> Format {
        self.unit.format()
    }

    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) {
        let half = |number: u32| match number & 0x7c00 {
            0 if self.flushes => 0,
            _ => number,
        };
        let word = |&pair: &u32| half(pair & 0xffff) | half(pair >> 16) << 16;
        let arrays: Vec<_> = terms
            .iter()
            .map(|term| {
                let words = |array: &[u32]| array.iter().map(word).collect::<Vec<u32>>();
                (words(term.left), words(term.right))
            })
            .collect();
        let terms: Vec<Term> = arrays
            .iter()
            .map(|(left, right)| Term { left, right })
            .collect();
        self.unit.multiply(shape, &terms, sums);
    }
}

#[test]
fn a_unit_that_aligns_worse_than_it_says_is_rejected() {
    let aligned = |depth, guard_bits| Order::Aligned { depth, guard_bits };
    let plan = |is: Order, says: Order, mode: Mode| {
        let unit = Pretending {
            unit: match mode.format() {
                Some(Format::Fp16) => Scalar::fp16(is),
                _ => Scalar::new(is),
            },
            says,
            flushes: false,
        };
        FloatPlan::on_unit(64, mode, Direction::Forward, Arc::new(unit))
    };
    for mode in [
        Mode::Bf16,
        Mode::Ozaki,
        Mode::OzakiHq,
        Mode::Fp16,
        Mode::Fp16Ozaki,
    ] {
        assert!(plan(aligned(16, 2), aligned(16, 2), mode).is_ok(), "{mode}");
        assert!(plan(aligned(8, 3), aligned(16, 2), mode).is_ok(), "{mode}");
        for (is, says) in [
            (aligned(16, 1), aligned(16, 2)),
            (aligned(32, 2), aligned(16, 2)),
            (aligned(16, 2), Order::Pairs),
        ] {
            let error = plan(is, says, mode).unwrap_err();
            assert!(
                matches!(error, FloatError::UnitNotFit { .. }),
                "{mode}: {error}"
            );
        }
    }
    // Exact sums are exact however they are aligned.
    assert!(plan(aligned(16, 0), aligned(16, 2), Mode::OzakiTwoLevel).is_ok());
}

#[test]
fn an_f16_unit_that_takes_subnormal_numbers_for_zero_is_rejected() {
    let unit = |flushes| {
        Arc::new(Pretending {
            unit: Scalar::fp16(Order::Pairs),
            says: Order::Pairs,
            flushes,
        })
    };
    assert!(probe(&*unit(true)).flushes_factors);
    for mode in [Mode::Fp16, Mode::Fp16Ozaki] {
        assert!(FloatPlan::on_unit(64, mode, Direction::Forward, unit(false)).is_ok());
        let error = FloatPlan::on_unit(64, mode, Direction::Forward, unit(true)).unwrap_err();
        assert!(error.to_string().contains("subnormal"), "{error}");
    }
}

#[test]
fn a_unit_of_the_other_format_is_rejected() {
    let bf16 = Arc::new(Scalar::new(Order::Pairs));
    let fp16 = Arc::new(Scalar::fp16(Order::Pairs));
    assert!(FloatPlan::on_unit(64, Mode::Fp16, Direction::Forward, bf16).is_err());
    assert!(FloatPlan::on_unit(64, Mode::Ozaki, Direction::Forward, fp16).is_err());
}

#[test]
fn a_unit_that_loses_products_is_found_and_rejected() {
    for fault in [Fault::DropsTheLastPair, Fault::SecondTermLost] {
        assert!(!probe(&Faulty(fault)).integers_right, "{fault:?}");
        for mode in MATRIX_MODES {
            assert!(rejected(fault, mode).is_some(), "{mode}");
        }
    }
}

#[test]
fn units_of_this_machine_keep_f32_sums_of_exact_products() {
    for unit in Unit::available() {
        let finding = unit.probe().unwrap();
        println!("{unit}: {finding}");
        assert!(finding.keeps_f32_sums_of_exact_products());
        assert_eq!(finding.rounding, Rounding::Nearest);
        // Both instructions are documented so, and the definition follows them.
        assert!(finding.flushes_factors && finding.flushes_sums);
    }
}

#[test]
fn names_are_read_back() {
    for unit in Unit::ALL {
        assert_eq!(unit.to_string().parse::<Unit>(), Ok(unit));
    }
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse::<Mode>(), Ok(mode));
    }
    let error = "tpu".parse::<Unit>().unwrap_err().to_string();
    assert!(
        error.contains("tpu") && error.contains("avx512_bf16"),
        "{error}"
    );
}

/// What a unit says of matrices of one tile with these pitches; every array has room for them with a pitch of [`TILE`].
fn rejection(unit: &Arc<dyn MatrixUnit>, [left, right, sums]: [usize; 3]) -> String {
    let shape = Shape {
        rows: TILE,
        pairs: TILE,
        columns: TILE,
        left_pitch: left,
        right_pitch: right,
        sums_pitch: sums,
    };
    let matrix = vec![0u32; TILE * TILE];
    let mut results = vec![0f32; TILE * TILE];
    let term = Term {
        left: &matrix,
        right: &matrix,
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        unit.multiply(&shape, &[term], &mut results);
    }));
    let payload = outcome.expect_err("arrays that are too short were accepted");
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_default()
}

#[test]
fn pitches_whose_product_overflows_are_rejected_by_every_unit() {
    // 15 rows of the first pitch end at 2^64 - 1 + 16, which wraps around to 15; with the others they end below the array's length, too.
    let wrapping = [
        usize::MAX / 15,
        usize::MAX / 15 + 1,
        usize::MAX / 16 + 1,
        usize::MAX,
    ];
    for unit in Unit::available().map(|unit| unit.get().expect("it is available")) {
        for pitch in wrapping {
            for (name, pitches) in [
                ("left", [pitch, TILE, TILE]),
                ("right", [TILE, pitch, TILE]),
                ("sums", [TILE, TILE, pitch]),
            ] {
                let message = rejection(&unit, pitches);
                let says_why = message.starts_with(name) && message.contains(&pitch.to_string());
                assert!(says_why, "{}: {message}", unit.name());
            }
        }
        // One number too far, and rows that overlap.
        assert!(rejection(&unit, [TILE, TILE, TILE + 1]).contains("do not fit"));
        assert!(rejection(&unit, [TILE - 1, TILE, TILE]).contains("overlap"));
    }
}
