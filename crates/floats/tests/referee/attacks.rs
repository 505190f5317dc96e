//! Lines that aim at a bound: numbers halfway between two of the format, inputs for which the matrix' own error is largest, one large
//! number above many that its exponent leaves few bits, and climbing from the worst of them.

use crate::chirp::ChirpTable;
use crate::norms::{Which, halves, worst_input};
use crate::rounding::Pieces;
use floats::{Direction, FloatPlan, Format, Mode, Path, Unit, tables};
use num_complex::Complex;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::{Scale, compare_f32, compare_scaled, dft};
use ozfft_testkit::{everything, oracle};

const SEED: u64 = 0xa77a;

type Line = Vec<Complex<f64>>;

/// Numbers that end up halfway: the last bit that a format keeps, and one below it, after so many parts.
fn tie(generator: &mut Generator, bits: u32, parts: u32) -> f64 {
    let kept = bits * parts;
    let odd = (generator.next_u64() >> (64 - kept.min(24))) | 1;
    // Near one, where a unit in the last place is the largest share of a number; now and then anywhere.
    let below = f64::from(-(kept.min(24) as i32)).exp2();
    let magnitude = match generator.below(4) {
        0 => 1.0 + (odd as f64 * below).fract(),
        1 => 1.0 + 3.0 * below,
        _ => 1.0 + below,
    };
    if generator.below(2) == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Where climbing starts.
fn starts(plan: &FloatPlan, generator: &mut Generator) -> Vec<Line> {
    let (mode, n) = (plan.mode(), plan.len());
    let (bits, parts) = match mode.format() {
        Some(format) => (format.bits(), mode.parts().min(3) as u32),
        None => (24, 1),
    };
    let mut lines: Vec<Line> = Vec::new();
    if plan.path() == Path::Bluestein {
        lines.extend(ChirpTable::of(n).tones(n));
        if plan.direction() == Direction::Inverse {
            let parts = lines.iter_mut().flatten();
            parts.for_each(|z| *z = Complex::new(z.im, z.re));
        }
    }
    for _ in 0..4 {
        let mut number = || tie(generator, bits, parts);
        lines.push((0..n).map(|_| Complex::new(number(), number())).collect());
    }
    for _ in 0..2 {
        lines.push((0..n).map(|_| generator.uniform_complex()).collect());
    }
    // Inputs for which the entries' errors are worst, even and odd.
    if let (Some(format), true) = (mode.format(), n > 1) {
        let pieces = match mode {
            Mode::OzakiTwoLevel => Pieces::Digits,
            _ => Pieces::Parts(format),
        };
        let [even, odd] = halves(n, pieces, mode.parts(), Which::Left);
        for (half, sign) in [(even, 1.0), (odd, -1.0)] {
            let first = if sign > 0.0 { 0 } else { 1 };
            let vector = worst_input(&half);
            let mut line = vec![Complex::new(0.0, 0.0); n];
            for (j, &value) in vector.iter().enumerate() {
                let j = j + first;
                // Signs alone, and near a tie: both errors at once.
                let value = value.signum() * (1.0 + f64::from(-(bits as i32)).exp2());
                line[j] = Complex::new(value, value);
                line[(n - j) % n] = Complex::new(sign * value, sign * value);
            }
            lines.push(line);
        }
    }
    // One large number, the others half a unit of what its exponent leaves.
    for unit in [30, 31, 24, 16] {
        let small = f64::from(-unit).exp2();
        let mut line: Line = (0..n)
            .map(|_| {
                let odd = |generator: &mut Generator| (2 * generator.below(200)) as f64 - 199.0;
                Complex::new(odd(generator), odd(generator)) * (small / 2.0)
            })
            .collect();
        line[generator.below(n)] = Complex::new(1.0, 0.0);
        lines.push(line);
    }
    // Everything into one output, exactly, and out of it again.
    lines.push(vec![
        Complex::new(
            1.0 + f64::from(-(bits as i32)).exp2(),
            1.0
        );
        n
    ]);
    lines
}

/// One thing about a line changed.
fn changed(line: &Line, mode: Mode, generator: &mut Generator) -> Line {
    let mut line = line.clone();
    let (bits, parts) = match mode.format() {
        Some(format) => (format.bits(), mode.parts().min(3) as u32),
        None => (24, 1),
    };
    for _ in 0..1 + generator.below(2) {
        let place = generator.below(line.len());
        let value = &mut line[place];
        match generator.below(6) {
            0 => value.re = -value.re,
            1 => value.im = -value.im,
            2 => *value = Complex::new(tie(generator, bits, parts), value.im),
            3 => *value = Complex::new(value.re, tie(generator, bits, parts)),
            4 => *value *= 1.0 + generator.uniform() / 8.0,
            _ => *value = Complex::new(0.0, value.re),
        }
    }
    line
}

/// Errors over the bound: lines of f32, or of f64 where `double`.
fn ratios(plan: &FloatPlan, double: bool, lines: &[Line]) -> Vec<f64> {
    let n = plan.len();
    let direction = match plan.direction() {
        Direction::Forward => oracle::Direction::Forward,
        Direction::Inverse => oracle::Direction::Inverse,
    };
    let mut workspace = plan.workspace();
    if double {
        let mut batch: Line = lines.concat();
        plan.process_f64(&mut batch, &mut workspace)
            .expect("whole lines");
        let bound = plan.bound_f64().expect("a mode for f64");
        let each = batch.chunks(n).zip(lines);
        let error = |(ours, line): (&[Complex<f64>], &Line)| {
            compare_scaled(ours, &dft(line, direction), Scale::One).l2 / bound
        };
        return each.map(error).collect();
    }
    let narrow = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
    let mut batch: Vec<Complex<f32>> = lines.iter().flatten().map(narrow).collect();
    let given = batch.clone();
    plan.process(&mut batch, &mut workspace)
        .expect("whole lines");
    let each = batch.chunks(n).zip(given.chunks(n));
    let error = |(ours, line): (&[Complex<f32>], &[Complex<f32>])| {
        let wide: Line = line
            .iter()
            .map(|z| Complex::new(z.re.into(), z.im.into()))
            .collect();
        compare_f32(ours, &dft(&wide, direction), Scale::One).l2 / plan.bound()
    };
    each.map(error).collect()
}

/// The worst that was found for a plan.
fn climb(plan: &FloatPlan, double: bool, rounds: usize, generator: &mut Generator) -> f64 {
    let mode = plan.mode();
    let lines = starts(plan, generator);
    let found = ratios(plan, double, &lines);
    let mut best: Vec<(f64, Line)> = found.into_iter().zip(lines).collect();
    let order = |list: &mut Vec<(f64, Line)>| {
        list.retain(|(ratio, _)| ratio.is_finite());
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        list.truncate(3);
    };
    order(&mut best);
    for _ in 0..rounds {
        let candidates: Vec<Line> = (0..16)
            .map(|i| changed(&best[i % best.len()].1, mode, generator))
            .collect();
        let found = ratios(plan, double, &candidates);
        best.extend(found.into_iter().zip(candidates));
        order(&mut best);
    }
    best[0].0
}

#[test]
fn no_line_that_aims_at_a_bound_exceeds_it() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    for mode in Mode::ALL {
        let units: Vec<Unit> = match mode.format() {
            Some(Format::Bf16) => Unit::available().collect(),
            _ => vec![Unit::Scalar],
        };
        let mut worst = (0.0, String::new());
        for unit in units {
            for n in [2usize, 3, 4, 8, 13, 16, 17, 31, 60, 136] {
                // Blocks of two factors, long for plain code.
                if n > 100 && unit == Unit::Scalar && mode.needs_matrix_unit() {
                    continue;
                }
                let direction = match n % 2 {
                    0 => Direction::Forward,
                    _ => Direction::Inverse,
                };
                let plan = FloatPlan::new(n, mode, direction, unit).expect("every length");
                let rounds = if n > 60 { 6 } else { 25 };
                let kinds: &[bool] = if mode.takes_f64() {
                    &[false, true]
                } else {
                    &[false]
                };
                for &double in kinds {
                    let ratio = climb(&plan, double, rounds, &mut generator);
                    if ratio > worst.0 {
                        worst = (ratio, format!("{n} points on {unit}, f64 data: {double}"));
                    }
                    assert!(
                        ratio < 1.0,
                        "{} seed {SEED:#x}: {ratio} of the bound",
                        plan.how()
                    );
                }
            }
        }
        println!("{mode}: {:.3} of the bound, {}", worst.0, worst.1);
    }
}

/// Convolutions, from lines that meet the table of the chirp where it errs most.
#[test]
fn no_line_that_aims_at_the_table_of_a_chirp_exceeds_the_bound() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    let rounds = if everything() { 100 } else { 8 };
    for mode in [Mode::Fast, Mode::Kahan, Mode::Double, Mode::OzakiTwoLevel] {
        for (n, direction) in [
            (67, Direction::Forward),
            (509, Direction::Inverse),
            (1009, Direction::Forward),
            (2018, Direction::Inverse),
        ] {
            let plan = FloatPlan::new(n, mode, direction, Unit::Scalar).expect("every length");
            if plan.path() != Path::Bluestein {
                continue;
            }
            for double in [false, true]
                .into_iter()
                .filter(|wide| mode.takes_f64() || !wide)
            {
                let ratio = climb(&plan, double, rounds, &mut generator);
                println!("{mode}, {n} points, f64 data {double}: {ratio:.4} of the bound");
                assert!(
                    ratio < 1.0,
                    "{} seed {SEED:#x}: {ratio} of the bound",
                    plan.how()
                );
            }
        }
    }
}

/// All numbers halfway between two of the format: each is off by as much as it can be, and the bound is nearly reached.
#[test]
fn ties_reach_most_of_the_bound_of_one_part() {
    for (mode, n) in [
        (Mode::Bf16, 4),
        (Mode::Fp16, 4),
        (Mode::Bf16, 1),
        (Mode::Fp16, 1),
    ] {
        let plan = FloatPlan::new(n, mode, Direction::Forward, Unit::Scalar).expect("every length");
        let bits = mode.format().expect("a format").bits() as i32;
        let line =
            vec![Complex::new(1.0 + f64::from(-bits).exp2(), 1.0 + f64::from(-bits).exp2()); n];
        let ratio = ratios(&plan, false, &[line])[0];
        assert!((0.9..1.0).contains(&ratio), "{mode}, {n} points: {ratio}");
    }
}

/// The bound of digits is over a hundred times the expected error at such lengths because of lines like these: one number as large as its
/// exponent says, and digits of the others along the directions for which products that are not formed count most.
#[test]
fn lines_of_one_large_number_need_a_share_of_the_bound_of_digits() {
    for n in [1000, 30030] {
        let mode = Mode::OzakiTwoLevel;
        let plan = FloatPlan::new(n, mode, Direction::Forward, Unit::best()).expect("every length");
        let (n1, n2) = tables::factors(n, mode).expect("two factors");
        let directions = [3, 2, 1].map(|part| {
            let [even, _] = halves(n1, Pieces::Digits, part, Which::Next);
            worst_input(&even)
        });
        let value = |j1: usize| {
            let j = j1.min(n1 - j1);
            let digits = directions.each_ref().map(|along| 127.0 * along[j].signum());
            let [second, third, last] = digits;
            ((second * 256.0 + third) * 256.0 + last * (1.0 + 0.499 / 127.0)) * (-30f64).exp2()
        };
        let mut line: Line = (0..n)
            .map(|place| Complex::new(value(place / n2), value(place / n2)))
            .collect();
        line[0] = Complex::new(1.0, 0.0);
        let ratio = ratios(&plan, true, &[line])[0];
        let times = ratio * plan.bound_f64().unwrap() / plan.expected_f64().unwrap();
        println!("{n} points: {ratio:.3} of the bound, {times:.0} times what is expected");
        assert!((0.05..1.0).contains(&ratio), "{n} points: {ratio}");
    }
}
