//! Tables of the kernels with products by residues (`bailey_step_residues.cu`): matrices modulo every modulus as the tensor instruction
//! wants them, and the weights that put integers together again.

#[cfg(test)]
mod residue_adaptive_tests;
#[cfg(test)]
mod residue_fp8_tests;
#[cfg(test)]
mod residue_karatsuba_tests;
#[cfg(test)]
mod residue_kinds_tests;
#[cfg(test)]
mod residue_redundant_tests;
#[cfg(test)]
mod residue_short_tests;
#[cfg(test)]
mod residue_tests;
#[cfg(test)]
mod residue_tile_tests;
pub(super) mod residues_fp8;
pub(super) mod residues_karatsuba;

use crate::error::FftError;
use crate::executor::cuda::device::machine::Machine;
use crate::kind::Kind;
use crate::problem::{Problem, Products};
use crate::recipe::{Digits, Fold, Recipe};
use crate::sample::Real;
use crate::stages::residue_products::largest_sum;
use crate::substrate::{GpuUnit, Substrate};
use crate::transform::bailey::Block;
use crate::transform::passes::Passes;
use crate::transform::step::Step;
use ozfft_kernels::RESIDUE_MODULI;
use residues::reconstruct::Method;
use residues::reconstruct::weights::{balanced, fraction, weight};
use residues::{I256, Moduli, ResidueError, Set, U256, residue_of};

/// What all sums of a step have in common, because the kernels keep them as the bits of the float `1.5 · 2^23 + sum`.
const COMMON: u64 = 0xc0_0000;

/// Redundant moduli of the kernels that have some.
const REDUNDANT: usize = ozfft_kernels::RESIDUE_REDUNDANT_MODULI.len();

/// Kernels with redundant moduli take sums for right whose upper bits, from 2^96 on, are of at most this magnitude (`MOST_UPPER` in `residue_redundant.cuh`).
fn most_upper(n: usize, first: bool) -> u64 {
    match first {
        true => (127 << 13) + 1,
        false => ((n as u64 * 17 * 127) << 9) + 1,
    }
}

/// Bits of the weights' fractions, in two bytes.
const FRACTION_BITS: u32 = 15;

/// The kernel for what a problem asks of the residues engine.
pub(crate) fn kernel<T: Real>(
    problem: &Problem,
    machine: &dyn Machine,
) -> Result<&'static str, FftError> {
    let refuse = |what: &str| {
        Err(FftError::Unsupported(format!(
            "on GPUs the residues engine has no kernel for {what}; take the engine digits, or the device cpu"
        )))
    };
    let options = &problem.residues;
    if !machine.has_tuned_kernels() {
        return refuse("devices of other compute capabilities than 9.0");
    }
    let name = options.reconstruction.name();
    let int8 = matches!(
        problem.substrate,
        Substrate::Auto | Substrate::Gpu(GpuUnit::Int8MmaSync)
    );
    let usual = options.reconstruction == Method::Kulisch32 && options.redundancy == 0 && int8;
    if options.adaptive {
        return match T::IS_DOUBLE {
            true if usual => Ok(ozfft_kernels::RESIDUE_ADAPTIVE_KERNELS[0]),
            true => refuse("adaptive moduli but by kulisch32 on Int8MmaSync"),
            false => refuse("adaptive moduli of f32"),
        };
    }
    if !T::IS_DOUBLE || problem.kind() != Kind::ComplexToComplex {
        return match T::IS_DOUBLE {
            _ if !usual => refuse(
                "other numbers than complex f64, but by kulisch32 on Int8MmaSync without redundant moduli",
            ),
            true => Ok(ozfft_kernels::RESIDUE_REAL_KERNELS[0]),
            false => Ok(ozfft_kernels::RESIDUE_SINGLE_KERNELS[0]),
        };
    }
    if options.redundancy > 0 {
        return match options.redundancy {
            REDUNDANT if int8 => Ok(ozfft_kernels::RESIDUE_REDUNDANT_KERNELS[0]),
            REDUNDANT => refuse("redundant moduli but on Int8MmaSync"),
            other => refuse(&format!("{other} redundant moduli, only for {REDUNDANT}")),
        };
    }
    if is_fp8(problem) {
        return match ozfft_kernels::residue_fp8_kernel(name) {
            Some(kernel) => Ok(kernel),
            None => refuse(&format!("the reconstruction {name} of products in fp8")),
        };
    }
    if !int8 {
        return refuse("other substrates than Int8MmaSync and Fp8Wgmma");
    }
    match ozfft_kernels::residue_kernel(name) {
        Some(kernel) if kernel.ends_with("_conversions") && problem.integers_only => {
            refuse(&format!("the reconstruction {name} in integers only"))
        }
        Some(kernel) => Ok(kernel),
        None => refuse(&format!("the reconstruction {name}")),
    }
}

/// Whether a problem asks for products in fp8.
pub(crate) fn is_fp8(problem: &Problem) -> bool {
    matches!(
        problem.substrate,
        Substrate::Fp8 | Substrate::Gpu(GpuUnit::Fp8Wgmma)
    )
}

/// Whether the processor's bound holds for what the kernel computes: it is exact, or rounds sums that the processor rounds,
/// too. Pairs of floats and corrected floats are summed up in another order, and fractions in another form.
pub(crate) fn bound_is_proven(way: Method) -> bool {
    let exact = [
        Method::Garner,
        Method::Kulisch32,
        Method::Kulisch16,
        Method::Kulisch8,
        Method::Fp8Bands,
    ];
    exact.contains(&way) || matches!(way, Method::Double | Method::Sum2)
}

/// The kernel for a line, of those that do what `kernel` does for lines of 1024 points; or what is in the way.
pub(crate) fn kernel_for(
    kernel: &'static str,
    passes: &Passes,
    recipe: &Recipe,
    chirped: bool,
) -> Result<&'static str, FftError> {
    let digits = match ozfft_kernels::RESIDUE_SINGLE_KERNELS.contains(&kernel) {
        true => Digits::SINGLE,
        false => Digits::DOUBLE,
    };
    let steps = match passes.blocks() {
        [block] if !chirped => steps_for_residues(block, recipe, digits),
        _ => None,
    };
    let Some(steps) = steps else {
        return Err(FftError::Unsupported(format!(
            "on GPUs the residues engine has kernels for lines of 256, 512 and 1024 points and, of such numbers, {} digits, not for {} points and {} digits; \
             take the engine digits, or the device cpu",
            digits.data,
            passes.len(),
            recipe.digits.data
        )));
    };
    ozfft_kernels::residue_kernel_for(kernel, steps).ok_or_else(|| {
        FftError::Unsupported(format!(
            "the kernel {kernel} takes lines of 1024, not of {} points; take the substrate int8-mma-sync and one of the reconstructions \
             kulisch32, kulisch16, kulisch8, garner and double, the engine digits, or the device cpu",
            passes.len()
        ))
    })
}

/// The points of both steps of a block that kernels may take: 16 or 32 each, with these digits and all of their products.
fn steps_for_residues(block: &Block, recipe: &Recipe, digits: Digits) -> Option<[usize; 2]> {
    let [first, last] = block.steps() else {
        return None;
    };
    let folds = [first.recipe.fold, last.recipe.fold];
    let steps = [first.recipe.n, last.recipe.n];
    let suits = recipe.products == Products::Exact
        && (recipe.digits.data, recipe.digits.matrix) == (digits.data, digits.matrix)
        && folds == [Fold::TimeShifted, Fold::FrequencyShifted]
        && [[32, 32], [32, 16], [16, 16]].contains(&steps);
    suits.then_some(steps)
}

/// The tables of step `number` for a kernel: `ResidueTables` of `residue_step.cuh`.
pub(crate) fn tables(
    step: &Step,
    number: usize,
    digits: Digits,
    kernel: &str,
) -> Result<Vec<u32>, FftError> {
    let bound = largest_sum(&step.recipe, number == 0, digits) + U256::from(COMMON);
    if ozfft_kernels::RESIDUE_ADAPTIVE_KERNELS.contains(&kernel) {
        return adaptive_tables(step, number, digits, bound);
    }
    if ozfft_kernels::RESIDUE_REDUNDANT_KERNELS.contains(&kernel) {
        assert_eq!(step.shift, 0, "kernels know what is added for rounding");
        let needed = Moduli::first(Set::Int8, RESIDUE_MODULI.len())?;
        let all = Moduli::first(Set::Int8, RESIDUE_MODULI.len() + REDUNDANT)?;
        let mut words = fragments(step, digits, &all, all.len());
        words.extend(slices(&needed, bound)?);
        words.extend(corrections(
            &needed,
            &all,
            bound,
            most_upper(step.recipe.n, number == 0),
        )?);
        return Ok(words);
    }
    let counts = match ozfft_kernels::RESIDUE_SINGLE_KERNELS.contains(&kernel) {
        true => ozfft_kernels::RESIDUE_SINGLE_COUNTS,
        false => ozfft_kernels::RESIDUE_COUNTS,
    };
    let moduli = Moduli::first(Set::Int8, counts[number])?;
    let mut words = fragments(step, digits, &moduli, RESIDUE_MODULI.len());
    words.extend(slices(&moduli, bound)?);
    Ok(words)
}

/// The same where there is a choice of moduli: the slices of every choice, and for all but the last the largest sum of a column's magnitudes that it holds.
fn adaptive_tables(
    step: &Step,
    number: usize,
    digits: Digits,
    bound: U256,
) -> Result<Vec<u32>, FftError> {
    let counts = ozfft_kernels::RESIDUE_ADAPTIVE_COUNTS[number];
    let moduli = |count: usize| Moduli::first(Set::Int8, count);
    let [few @ .., all] = counts;
    let mut words = fragments(step, digits, &moduli(all)?, RESIDUE_MODULI.len());
    let mut most = Vec::new();
    for count in few {
        let moduli = moduli(count)?;
        let held = held_by_slices(&moduli);
        words.extend(slices(&moduli, held)?);
        let sum = (held - U256::from(COMMON)) / U256::from(digits.matrix_one());
        most.push(u64::try_from(sum).unwrap_or(u64::MAX));
    }
    words.extend(slices(&moduli(all)?, bound)?);
    words.extend(
        most.iter()
            .flat_map(|&sum| [sum as u32, (sum >> 32) as u32]),
    );
    Ok(words)
}

/// The largest integer that [`slices`] of these moduli may stand for: a sixteenth less than half of their product, which leaves room for what two bytes of a
/// fraction are off.
fn held_by_slices(moduli: &Moduli) -> U256 {
    let half = moduli.product() >> 1;
    half - (half >> 4)
}

/// `Corrections` of `residue_redundant.cuh`: products of all but one of the moduli that are needed, and what they are modulo the redundant ones.
fn corrections(
    needed: &Moduli,
    all: &Moduli,
    bound: U256,
    most_upper: u64,
) -> Result<Vec<u32>, ResidueError> {
    let (values, redundant) = all.values().split_at(needed.len());
    assert_eq!(redundant, ozfft_kernels::RESIDUE_REDUNDANT_MODULI);
    assert!(
        bound + (U256::ONE << 54) < U256::from(most_upper) << 96,
        "right sums are taken for right"
    );
    let largest = U256::from(most_upper + 1) << 96;
    // So any as many of all moduli as are needed hold what is taken for right.
    Moduli::new(all.set(), &all.values()[REDUNDANT..])?.demand(largest)?;
    let product_without = |left_out: usize| {
        let others = values.iter().enumerate().filter(|&(i, _)| i != left_out);
        others.fold(U256::ONE, |product, (_, &m)| product * U256::from(m))
    };
    let products: Vec<U256> = (0..values.len()).map(product_without).collect();
    let mut words: Vec<u32> = products
        .iter()
        .flat_map(|&product| (0..4u32).map(move |i| (product >> (32 * i)).as_u32()))
        .collect();
    let [first, second] = [redundant[0], redundant[1]].map(U256::from);
    for product in products {
        let inverse = (1..first.as_u32())
            .find(|&x| product * U256::from(x) % first == U256::ONE)
            .unwrap_or_else(|| unreachable!("moduli are coprime"));
        words.extend([inverse, (product % second).as_u32(), 0, 0]);
    }
    Ok(words)
}

/// Matrices modulo all moduli: for every turn of eight outputs or their partners, so many moduli that they have four words of 32 bits, and lane those
/// words, zeros where there is room for more moduli. Lane `4g + t` has output `g`, and of it slots `4j + t`, a byte each, of the cosines first, then of the sines.
fn fragments(step: &Step, digits: Digits, moduli: &Moduli, room: usize) -> Vec<u32> {
    let n = step.recipe.n;
    let slots_of_a_lane = n / 8;
    let together = 64 / n;
    let mut words = Vec::new();
    for turn in 0..n / 8 {
        let far = turn % 2 == 1;
        for first in (0..room).step_by(together) {
            for lane in 0..32 {
                let (row, t) = (turn / 2 * 8 + lane / 4, lane % 4);
                let bytes = (first..first + together).flat_map(|number| {
                    let modulus = moduli.values().get(number).copied();
                    (0..2 * slots_of_a_lane).map(move |i| {
                        let (j, sines) = (i % slots_of_a_lane, i >= slots_of_a_lane);
                        let entry = entry_of(step, digits, (row, far), (4 * j + t, sines));
                        modulus.map_or(0, |m| residue_of(I256::from(entry), m) as u8)
                    })
                });
                let bytes: Vec<u8> = bytes.collect();
                let bytes = bytes.chunks_exact(4);
                words.extend(bytes.map(|word| {
                    word.iter()
                        .rev()
                        .fold(0, |word, &byte| word << 8 | u32::from(byte))
                }));
            }
        }
    }
    words
}

/// What a slot of the cosines or the sines is multiplied with for output `row`, or `far`, its partner.
pub(crate) fn entry_of(
    step: &Step,
    digits: Digits,
    (row, far): (usize, bool),
    (slot, sines): (usize, bool),
) -> i64 {
    let matrices = step
        .matrices
        .as_ref()
        .expect("steps of 16 and of 32 points have matrices");
    let (cosine, sine) = (matrices.cosine.digits(), matrices.sine.digits());
    // Row 0 of a time-shifted step has output 0 in its cosines and the middle one in its sines.
    let alone = step.recipe.fold == Fold::TimeShifted && row == 0;
    match (sines, alone) {
        (false, true) if far => 0,
        (true, true) if !far => 0,
        (false, _) => cosine.entry(row, slot, digits),
        (true, false) if far => -sine.entry(row, slot, digits),
        (true, _) => sine.entry(row, slot, digits),
    }
}

/// `SliceTable` of `residue_slices.cuh` for every lane. A lane `4g + t` has, of moduli `4t` to `4t + 3`, slices `4⌊g/2⌋ + g mod 2` and the next
/// but one, a byte of the fractions, and the product's word `t`.
pub(crate) fn slices(moduli: &Moduli, bound: U256) -> Result<Vec<u32>, ResidueError> {
    moduli.demand(bound)?;
    let product = moduli.product();
    let weights: Vec<I256> = (0..moduli.len()).map(|k| weight(moduli, k)).collect();
    // Fractions of the product, to the nearest, and what they are off: see reconstruct/slices.rs of the crate `residues`.
    let mut off = U256::ZERO;
    let fractions: Vec<I256> = weights
        .iter()
        .map(|&u| {
            let (fraction, rest) = fraction(u, FRACTION_BITS, product);
            off += rest;
            fraction
        })
        .collect();
    // Residues are at most 128.
    assert!(
        off << 8 < (product - (bound << 1)) << FRACTION_BITS,
        "two bytes of the fractions tell how often the product comes off"
    );
    let bytes = |x: I256, count: usize| {
        let (bytes, rest) = balanced(x, 8, count);
        assert_eq!(rest, 0, "weights and fractions fit their bytes");
        bytes
    };
    let slices: Vec<Vec<i32>> = weights.iter().map(|&u| bytes(u, 16)).collect();
    let fractions: Vec<Vec<i32>> = fractions.iter().map(|&f| bytes(f, 2)).collect();
    let (product, rest) = balanced(product.as_i256(), 32, 4);
    assert_eq!(rest, 0, "the product fits its words");
    assert!(
        product
            .iter()
            .all(|&word| balanced(word.into(), 8, 4).1 == 0),
        "the product's words are four balanced bytes each"
    );
    let mut words = Vec::new();
    for lane in 0..32 {
        let (g, t) = (lane / 4, lane % 4);
        let of = |columns: &[Vec<i32>], place: usize| {
            u32::from_le_bytes(std::array::from_fn(|j| {
                columns
                    .get(4 * t + j)
                    .map_or(0, |column| column[place] as u8)
            }))
        };
        let slice = 4 * (g / 2) + g % 2;
        words.extend([
            of(&slices, slice),
            of(&slices, slice + 2),
            of(&fractions, g % 2),
            product[t] as u32,
        ]);
    }
    Ok(words)
}
