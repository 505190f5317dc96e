//! Random cases of everything that the library computes from slices, each against the referee.

use super::common::*;
use kulisch::{Accumulator, Instructions, Rounding, linear};
use num_bigint::{BigInt, BigUint};

/// A result that is not what it should be.
pub type Wrong = String;

fn same(what: &str, found: f64, expected: f64, input: &[&[f64]]) -> Result<u64, Wrong> {
    if found.to_bits() == expected.to_bits() {
        return Ok(1);
    }
    let shown: Vec<_> = input
        .iter()
        .map(|values| &values[..values.len().min(40)])
        .collect();
    Err(format!(
        "{what}: {found:e} instead of {expected:e} for {shown:?}"
    ))
}

fn directions() -> [(Rounding, Direction); 4] {
    [
        (Rounding::NearestEven, Direction::Nearest),
        (Rounding::Up, Direction::Up),
        (Rounding::Down, Direction::Down),
        (Rounding::TowardZero, Direction::Zero),
    ]
}

fn pick_instructions(generator: &mut Generator) -> Instructions {
    let all: Vec<_> = Instructions::all_available().collect();
    all[generator.below(all.len())]
}

/// Runs one random case; returns how many results were compared.
pub fn run(generator: &mut Generator) -> Result<u64, Wrong> {
    let count = match generator.below(200) {
        0 => generator.below(9000),
        1..20 => generator.below(300),
        _ => generator.below(24),
    };
    let x = generator.numbers(count);
    match generator.below(12) {
        0..4 => sums(generator, &x),
        4..7 => products(generator, &x),
        7 => statistics(&x),
        8 => floats(generator, count),
        9 => prefixes(&x),
        10 => complex(generator, count),
        _ => matrices(generator),
    }
}

fn sums(generator: &mut Generator, x: &[f64]) -> Result<u64, Wrong> {
    let nearest = expected_sum(x, Direction::Nearest);
    let mut compared = same("sum", kulisch::sum(x), nearest, &[x])?;
    let magnitudes: Vec<f64> = x.iter().map(|value| value.abs()).collect();
    let expected = expected_sum(&magnitudes, Direction::Nearest);
    compared += same("magnitude_sum", kulisch::magnitude_sum(x), expected, &[x])?;
    // In another order, in two parts, one of them number by number.
    let mut shuffled = x.to_vec();
    generator.shuffle(&mut shuffled);
    let (first, second) = shuffled.split_at(generator.below(x.len() + 1));
    let mut accumulator = Accumulator::new();
    let instructions = pick_instructions(generator);
    accumulator
        .add_slice_with(instructions, first)
        .map_err(|error| error.to_string())?;
    let mut other = Accumulator::new();
    other.extend(second.iter().copied());
    accumulator.merge(&other);
    for (rounding, direction) in directions() {
        let what = format!("{instructions:?} and parts, {rounding:?}");
        let expected = expected_sum(x, direction);
        compared += same(&what, accumulator.round_to(rounding), expected, &[x])?;
    }
    Ok(compared)
}

fn products(generator: &mut Generator, x: &[f64]) -> Result<u64, Wrong> {
    let mut y = generator.numbers(x.len());
    let mut x = x.to_vec();
    if generator.below(3) == 0 {
        let half = x.len() / 2;
        for k in 0..half {
            (x[half + k], y[half + k]) = (x[k], -y[k]);
        }
    }
    let (x, y) = (&x[..], &y[..]);
    let expected = expected_dot(x, y, Direction::Nearest);
    let found = kulisch::dot(x, y).map_err(|error| error.to_string())?;
    let mut compared = same("dot", found, expected, &[x, y])?;
    let square_root = double_square_root(&exact_dot(x, x));
    compared += same("norm", kulisch::norm(x), square_root, &[x])?;
    let cut = generator.below(x.len() + 1);
    let instructions = pick_instructions(generator);
    let mut accumulator = Accumulator::new();
    accumulator
        .add_products_with(instructions, &x[cut..], &y[cut..])
        .map_err(|error| error.to_string())?;
    for k in 0..cut {
        accumulator.add_product(x[k], y[k]);
    }
    for (rounding, direction) in directions() {
        let what = format!("{instructions:?} products, {rounding:?}");
        let expected = expected_dot(x, y, direction);
        compared += same(&what, accumulator.round_to(rounding), expected, &[x, y])?;
    }
    Ok(compared)
}

fn statistics(x: &[f64]) -> Result<u64, Wrong> {
    let count = BigUint::from(x.len());
    if x.is_empty() {
        return Ok(0);
    }
    let sum = exact_sum(x);
    let mut mean = double_quotient(&sum, &count);
    if sum == BigInt::ZERO {
        mean = zero_of(x.iter().copied());
    }
    let mut compared = same("mean", kulisch::mean(x), mean, &[x])?;
    let plain: BigInt = x.iter().map(|&value| multiple(value)).sum();
    let spread = exact_dot(x, x) * BigInt::from(count.clone()) - &plain * &plain;
    for lost in 0..2u64 {
        if x.len() as u64 > lost {
            let expected = double_quotient(&spread, &(&count * (&count - BigUint::from(lost))));
            compared += same("variance", kulisch::variance(x, lost), expected, &[x])?;
        }
    }
    Ok(compared)
}

fn floats(generator: &mut Generator, count: usize) -> Result<u64, Wrong> {
    let (low, high) = [(-160, 130), (-4, 4), (-152, -120), (120, 130)][generator.below(4)];
    let mut float = |_| loop {
        let value = generator.number(low, high) as f32;
        if value.is_finite() {
            return value;
        }
    };
    let x: Vec<f32> = (0..count).map(&mut float).collect();
    let y: Vec<f32> = (0..count).map(&mut float).collect();
    let wide = |values: &[f32]| {
        values
            .iter()
            .map(|&value| value.into())
            .collect::<Vec<f64>>()
    };
    let (a, b) = (wide(&x), wide(&y));
    let rounded = |exact: &BigInt, zero: f64| {
        if *exact == BigInt::ZERO {
            zero
        } else {
            single(exact, Direction::Nearest).into()
        }
    };
    let sum = rounded(&exact_sum(&a), expected_sum(&a, Direction::Nearest));
    let mut compared = same("sum_f32", kulisch::sum_f32(&x).into(), sum, &[&a])?;
    let dot = rounded(&exact_dot(&a, &b), expected_dot(&a, &b, Direction::Nearest));
    let found = kulisch::dot_f32(&x, &y).map_err(|error| error.to_string())?;
    compared += same("dot_f32", found.into(), dot, &[&a, &b])?;
    Ok(compared)
}

fn prefixes(x: &[f64]) -> Result<u64, Wrong> {
    let mut sums = vec![f64::NAN; x.len()];
    kulisch::prefix_sums(x, &mut sums).map_err(|error| error.to_string())?;
    let mut compared = 0;
    let step = x.len() / 50 + 1;
    for k in (0..x.len()).step_by(step) {
        let expected = expected_sum(&x[..=k], Direction::Nearest);
        compared += same("prefix_sums", sums[k], expected, &[&x[..=k]])?;
    }
    Ok(compared)
}

fn complex(generator: &mut Generator, count: usize) -> Result<u64, Wrong> {
    let pairs = |values: Vec<f64>| {
        values
            .chunks(2)
            .map(|pair| [pair[0], pair[1]])
            .collect::<Vec<_>>()
    };
    let (x, y) = (
        pairs(generator.numbers(2 * count)),
        pairs(generator.numbers(2 * count)),
    );
    let mut compared = 0;
    for conjugate in [false, true] {
        let sign = if conjugate { -1.0 } else { 1.0 };
        let column = |values: &[[f64; 2]], part: usize, sign: f64| {
            values
                .iter()
                .map(|value| sign * value[part])
                .collect::<Vec<f64>>()
        };
        let both = |a: Vec<f64>, b: Vec<f64>| [a, b].concat();
        let (re, im) = (column(&x, 0, 1.0), column(&x, 1, sign));
        let minus_im = column(&x, 1, -sign);
        let (other_re, other_im) = (column(&y, 0, 1.0), column(&y, 1, 1.0));
        let left = both(re.clone(), minus_im);
        let real = expected_dot(
            &left,
            &both(other_re.clone(), other_im.clone()),
            Direction::Nearest,
        );
        let imaginary = expected_dot(&both(re, im), &both(other_im, other_re), Direction::Nearest);
        let found = if conjugate {
            kulisch::conjugate_dot(&x, &y)
        } else {
            kulisch::complex_dot(&x, &y)
        };
        let found = found.map_err(|error| error.to_string())?;
        let flat = [x.as_flattened(), y.as_flattened()];
        compared += same("complex dot, real", found[0], real, &flat)?;
        compared += same("complex dot, imaginary", found[1], imaginary, &flat)?;
    }
    Ok(compared)
}

fn matrices(generator: &mut Generator) -> Result<u64, Wrong> {
    let (rows, inner, columns) = (generator.below(6), generator.below(12), generator.below(20));
    let left = generator.numbers(rows * inner);
    let right = generator.numbers(inner * columns);
    let mut result = vec![f64::NAN; rows * columns];
    linear::multiply_matrices((rows, inner, columns), &left, &right, &mut result)
        .map_err(|error| error.to_string())?;
    let mut compared = 0;
    let column = |j: usize| {
        (0..inner)
            .map(|k| right[k * columns + j])
            .collect::<Vec<f64>>()
    };
    for i in 0..rows {
        let row = &left[i * inner..][..inner];
        for j in 0..columns {
            let expected = expected_dot(row, &column(j), Direction::Nearest);
            compared += same(
                "multiply_matrices",
                result[i * columns + j],
                expected,
                &[row, &column(j)],
            )?;
        }
    }
    // The right matrix's columns as vectors: dense, batched, and sparse with everything stored.
    let vector = generator.numbers(inner);
    let mut result = vec![f64::NAN; rows];
    linear::multiply_vector(&left, &vector, &mut result).map_err(|error| error.to_string())?;
    let mut batched = vec![f64::NAN; rows];
    linear::multiply_vectors((1, rows, inner), &left, &vector, &mut batched)
        .map_err(|error| error.to_string())?;
    let starts: Vec<usize> = (0..=rows).map(|row| row * inner).collect();
    let places: Vec<usize> = (0..rows * inner).map(|k| k % inner).collect();
    let sparse = linear::SparseMatrix::new(&starts, &places, &left, inner)
        .map_err(|error| error.to_string())?;
    let mut scattered = vec![f64::NAN; rows];
    sparse
        .multiply_vector(&vector, &mut scattered)
        .map_err(|error| error.to_string())?;
    for i in 0..rows {
        let row = &left[i * inner..][..inner];
        let expected = expected_dot(row, &vector, Direction::Nearest);
        compared += same("multiply_vector", result[i], expected, &[row, &vector])?;
        compared += same("multiply_vectors", batched[i], expected, &[row, &vector])?;
        compared += same("sparse", scattered[i], expected, &[row, &vector])?;
    }
    // A stencil over the right matrix as one long array.
    let terms = generator.below(5) + 1;
    if right.len() > 2 * terms {
        let coefficients = generator.numbers(terms);
        let offsets: Vec<isize> = (0..terms)
            .map(|_| generator.between(-(terms as i32), terms as i32) as isize)
            .collect();
        let mut result = vec![f64::NAN; right.len() - 2 * terms];
        linear::stencil(&coefficients, &offsets, &right, terms, &mut result)
            .map_err(|error| error.to_string())?;
        for (place, &found) in result.iter().enumerate() {
            let at = |offset: &isize| right[(terms + place).wrapping_add_signed(*offset)];
            let values: Vec<f64> = offsets.iter().map(at).collect();
            let expected = expected_dot(&coefficients, &values, Direction::Nearest);
            compared += same("stencil", found, expected, &[&coefficients, &values])?;
        }
    }
    Ok(compared)
}
