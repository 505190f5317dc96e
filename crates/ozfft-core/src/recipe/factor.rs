//! Which small steps make up a length.
//!
//! The rule is a cost, measured on AMX and AVX-512 VNNI (`docs/speed.md`): a step of size `n` takes about `n`
//! multiplications a point, plus what every step takes regardless (folding, digits, rotation). Lengths with a prime
//! factor above [`LARGEST_STEP`] go to Bluestein.
//!
//! Unit steps, of 2 and 4 points, are cheap on a CPU, and blocks of nothing else would be faster there than those with
//! matrix steps. They would also leave all work to 32-bit multiplications, which graphics processors have few of; and
//! recipes are the same everywhere, or bits would not be. So a block has one unit step at most.

use crate::portable;
use crate::recipe::{BlockRecipe, LineRecipe};

/// Largest step. The error of a step grows with its size: 127 points in one step would miss 1e-16.
const LARGEST_STEP: usize = 64;
/// Longest line under one exponent: two full tiles. The proven bound grows with the square root of the block, so
/// a longer line is split into passes with separate exponents rather than into more steps.
pub const LONGEST_BLOCK: usize = 1024;
/// The same for the convolutions of Bluestein's algorithm, which go through two transforms and an amplification.
pub const LONGEST_CONVOLUTION_BLOCK: usize = 256;
/// Cost of a step besides its multiplications, in multiplications per point and digit product.
const STEP_COST: usize = 48;
/// Cost of a trivial radix-2/4 step: additions and a rotation.
const UNIT_COST: usize = 42;
/// Half of this many inputs fill a tile of the matrix units; more take a second one.
const TILE: usize = 32;

fn is_unit(n: usize) -> bool {
    n == 2 || n == 4
}

fn step_cost(n: usize) -> usize {
    if is_unit(n) {
        return UNIT_COST;
    }
    n + n.saturating_sub(TILE) + STEP_COST
}

/// Prime factors in ascending order, with repetition.
pub fn prime_factors(mut n: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut p = 2;
    while p * p <= n {
        while n.is_multiple_of(p) {
            factors.push(p);
            n /= p;
        }
        p += if p == 2 { 1 } else { 2 };
    }
    if n > 1 {
        factors.push(n);
    }
    factors
}

/// Whether `n` can be transformed as one step.
pub fn is_step(n: usize) -> bool {
    (2..=LARGEST_STEP).contains(&n)
}

/// Whether `n >= 1` is a product of steps.
pub fn is_smooth(n: usize) -> bool {
    (2..=LARGEST_STEP).fold(n, |mut rest, d| {
        while rest.is_multiple_of(d) {
            rest /= d;
        }
        rest
    }) == 1
}

fn divisors(n: usize) -> Vec<usize> {
    let mut all = vec![1];
    let factors = prime_factors(n);
    let mut start = 0;
    while start < factors.len() {
        let p = factors[start];
        let count = factors[start..].iter().take_while(|&&q| q == p).count();
        let mut power = 1;
        let base = all.clone();
        for _ in 0..count {
            power *= p;
            all.extend(base.iter().map(|d| d * power));
        }
        start += count;
    }
    all.sort_unstable();
    all
}

/// The cheapest step sizes for a block, largest first, and their cost; `None` when a prime factor is too large.
fn steps(n: usize) -> Option<(usize, Vec<usize>)> {
    fn search(n: usize, largest: usize, units: usize) -> Option<(usize, Vec<usize>)> {
        if n == 1 {
            return Some((0, Vec::new()));
        }
        // Large steps first, so that among equal costs the one with fewer steps wins.
        divisors(n)
            .into_iter()
            .rev()
            .filter(|&d| d > 1 && d <= largest && is_step(d) && (units > 0 || !is_unit(d)))
            .filter_map(|d| {
                let (cost, mut rest) = search(n / d, d, units - usize::from(is_unit(d)))?;
                rest.insert(0, d);
                Some((cost + step_cost(d), rest))
            })
            .reduce(|best, other| if other.0 < best.0 { other } else { best })
    }
    search(n, usize::MAX, 1)
}

/// Cuts a smooth length into blocks of nearly equal length; `None` when that cannot be done.
fn blocks(n: usize, longest: usize) -> Option<(usize, Vec<BlockRecipe>)> {
    if n <= longest {
        let (cost, sizes) = steps(n)?;
        return Some((cost, vec![BlockRecipe::from_sizes(&sizes)]));
    }
    let mut count = 2u32;
    while (longest as u128).pow(count) < n as u128 {
        count += 1;
    }
    // Divisors on either side of the ideal are often equally far from it, and rounding decides: it must be the same everywhere.
    let ideal = portable::power(n as f64, 1.0 / f64::from(count));
    // Nearest to the ideal first; a later, less balanced cut serves when the rest does not split.
    let mut candidates: Vec<usize> = divisors(n)
        .into_iter()
        .filter(|&d| d > 1 && d <= longest)
        .collect();
    let distance = |d: usize| portable::ln(d as f64 / ideal).abs();
    candidates.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    candidates.into_iter().find_map(|d| {
        let (cost, sizes) = steps(d)?;
        let (rest_cost, rest) = blocks(n / d, longest)?;
        let mut all = vec![BlockRecipe::from_sizes(&sizes)];
        all.extend(rest);
        Some((cost + rest_cost + STEP_COST, all))
    })
}

/// The cheapest smooth convolution length of at least `least`.
fn convolution(least: usize) -> Vec<BlockRecipe> {
    // Every power of two is smooth, so the search ends; lengths in between save up to half.
    let limit = least.next_power_of_two();
    let mut best: Option<(f64, Vec<BlockRecipe>)> = None;
    for odd in [1usize, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45, 49] {
        let mut m = odd;
        while m < least {
            m *= 2;
        }
        if m > limit {
            continue;
        }
        if let Some((cost, blocks)) = blocks(m, LONGEST_CONVOLUTION_BLOCK) {
            let total = cost as f64 * m as f64;
            if best.as_ref().is_none_or(|(lowest, _)| total < *lowest) {
                best = Some((total, blocks));
            }
        }
    }
    best.map(|(_, blocks)| blocks)
        .unwrap_or_else(|| unreachable!("a power of two always splits"))
}

/// How a line of `n >= 1` points is transformed.
pub fn line(n: usize) -> LineRecipe {
    if n == 1 {
        return LineRecipe::Copy;
    }
    match is_smooth(n).then(|| blocks(n, LONGEST_BLOCK)).flatten() {
        Some((_, blocks)) => LineRecipe::Passes(blocks),
        None => LineRecipe::Bluestein {
            n,
            convolution: convolution(2 * n - 1),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the system's functions round as ours do no recipe tells them apart, so the source is looked at.
    #[test]
    fn recipes_call_no_function_of_the_systems_library() {
        let code = include_str!("factor.rs").split("#[cfg(test)]").next();
        let code = code.expect("the code before the tests");
        for function in [
            "ln()", "log2()", "powf(", "powi(", "exp2()", "exp()", "cbrt()",
        ] {
            assert!(!code.contains(&format!(".{function}")), "{function}");
        }
        assert!(code.contains("portable::ln(") && code.contains("portable::power("));
    }

    /// Both divisors next to the ideal are equally far from it; the system's logarithm decided, and 43 of 45,192 lengths up to 2^20 had
    /// another recipe where it was not rounded to nearest. These are some of both kinds.
    #[test]
    fn cuts_depended_on_the_systems_logarithm() {
        for (n, first) in [
            (8415, 85),
            (11271, 221),
            (17745, 169),
            (33660, 180),
            (76500, 255),
            (2048, 64),
            (1280, 32),
            (1536, 32),
            (1 << 15, 256),
        ] {
            let LineRecipe::Passes(blocks) = line(n) else {
                panic!("{n} is smooth");
            };
            assert_eq!(blocks[0].len(), first, "{n}");
        }
    }

    #[test]
    fn recipes_of_common_lengths() {
        let shown = |n| line(n).to_string();
        assert_eq!(shown(1), "copy");
        assert_eq!(shown(2), "2u");
        assert_eq!(shown(4), "4u");
        assert_eq!(shown(16), "16t");
        assert_eq!(shown(128), "16t·8f");
        assert_eq!(shown(64), "16t·4u");
        assert_eq!(shown(256), "16t·16f");
        assert_eq!(shown(1024), "32t·32f");
        assert_eq!(shown(4096), "16t·4u | 16t·4u");
        assert_eq!(shown(1000), "40t·25p");
        assert_eq!(shown(61), "61p");
        assert_eq!(shown(1 << 20), "32t·32f | 32t·32f");
        assert!(shown(67).starts_with("bluestein 67"));
    }

    #[test]
    fn every_length_has_a_recipe_that_multiplies_up() {
        // All short ones, and some of the others: all of them take twenty seconds.
        let lengths = (1..4_000).chain((4_000..20_000).step_by(7));
        for n in lengths.chain([
            65_537,
            100_003,
            1_000_000,
            1 << 24,
            (1 << 24) + 43,
            61 * 61 * 61,
        ]) {
            let recipe = line(n);
            assert_eq!(recipe.len(), n);
            let blocks = match &recipe {
                LineRecipe::Copy => continue,
                LineRecipe::Passes(blocks) => blocks,
                LineRecipe::Bluestein { convolution, .. } => {
                    let m: usize = convolution.iter().map(BlockRecipe::len).product();
                    assert!(m >= 2 * n - 1 && m < 4 * n);
                    convolution
                }
            };
            for block in blocks {
                assert!(block.len() <= LONGEST_BLOCK);
                assert!(block.steps.iter().all(|s| is_step(s.n)));
            }
        }
    }
}
