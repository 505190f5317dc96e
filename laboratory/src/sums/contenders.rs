//! What exact reductions are compared with: plain loops, one after the other or in many lanes, and compensated ones.

use accurate::dot::Dot2;
use accurate::traits::DotWithAccumulator;

/// The plain loop.
pub fn naive_sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// The plain loop over pairs.
pub fn naive_dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Lanes of the loops below: four registers of AVX-512, enough to hide the latency of an addition.
const LANES: usize = 32;

#[inline(always)]
fn sum_in_lanes(values: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        lanes
            .iter_mut()
            .zip(chunk)
            .for_each(|(lane, value)| *lane += value);
    }
    lanes.iter().chain(rest).sum()
}

#[inline(always)]
fn dot_in_lanes(left: &[f64], right: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + naive_dot(a_rest, b_rest)
}

#[cfg(target_arch = "x86_64")]
mod wide {
    #[target_feature(enable = "avx512f")]
    pub fn sum(values: &[f64]) -> f64 {
        super::sum_in_lanes(values)
    }

    #[target_feature(enable = "avx512f")]
    pub fn dot(left: &[f64], right: &[f64]) -> f64 {
        super::dot_in_lanes(left, right)
    }
}

/// The fastest loop that rounds every addition: in many lanes, with the widest vectors there are.
#[allow(unsafe_code)]
pub fn vector_sum(values: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has these instructions.
        return unsafe { wide::sum(values) };
    }
    sum_in_lanes(values)
}

/// The same for products.
#[allow(unsafe_code)]
pub fn vector_dot(left: &[f64], right: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has these instructions.
        return unsafe { wide::dot(left, right) };
    }
    dot_in_lanes(left, right)
}

/// Ogita, Rump and Oishi's Sum2: errors of all additions are summed beside the sum.
pub fn compensated_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut errors) = (0.0, 0.0);
    for value in values {
        let (next, error) = two_sum(sum, value);
        sum = next;
        errors += error;
    }
    sum + errors
}

/// The same after every number.
pub fn compensated_prefix_sums(values: &[f64], output: &mut [f64]) {
    let (mut sum, mut errors) = (0.0, 0.0);
    for (&value, output) in values.iter().zip(output) {
        let (next, error) = two_sum(sum, value);
        sum = next;
        errors += error;
        *output = sum + errors;
    }
}

/// Their Dot2: errors of products, too.
pub fn compensated_dot(left: &[f64], right: &[f64]) -> f64 {
    let pairs = left.iter().copied().zip(right.iter().copied());
    pairs.dot_with_accumulator::<Dot2<f64>>()
}

fn two_sum(left: f64, right: f64) -> (f64, f64) {
    let sum = left + right;
    let shadow = sum - left;
    (sum, (left - (sum - shadow)) + (right - shadow))
}

/// A reduction of parts on threads, added up at the end.
pub fn on_threads(values: &[f64], threads: usize, reduce: impl Fn(&[f64]) -> f64 + Sync) -> f64 {
    let share = values.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let reduce = &reduce;
        let parts: Vec<_> = values
            .chunks(share)
            .map(|part| scope.spawn(move || reduce(part)))
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().unwrap_or(f64::NAN))
            .sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_sums() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let ones = vec![1.0; values.len()];
        for sum in [
            naive_sum(&values),
            vector_sum(&values),
            compensated_sum(values.iter().copied()),
            compensated_dot(&values, &ones),
            on_threads(&values, 3, naive_sum),
            naive_dot(&values, &ones),
            vector_dot(&values, &ones),
        ] {
            assert_eq!(sum, 499_500.0);
        }
        let cancelling = [1e16, 1.0, -1e16];
        assert_eq!(compensated_sum(cancelling.into_iter()), 1.0);
        assert_eq!(compensated_dot(&cancelling, &[1.0; 3]), 1.0);
        let mut prefixes = [0.0; 3];
        compensated_prefix_sums(&cancelling, &mut prefixes);
        assert_eq!(prefixes, [1e16, 1e16, 1.0]);
    }
}
