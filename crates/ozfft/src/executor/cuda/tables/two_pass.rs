//! Tuned kernels for transforms of two passes in one launch (`crates/ozfft-kernels/cuda/hopper/tuned_passes.cu`): which transforms
//! they take, and their tables.

use crate::executor::cuda::select::tuned::{KernelSource, Kernels, TunedOn};
use crate::executor::cuda::tables::common::{matrices, rotations};
use crate::executor::cuda::tables::tuned_tables::{constants, operand};
use crate::problem::Products;
use crate::recipe::{Digits, Fold, Recipe};
use crate::stages::twiddle::Twiddle;
use crate::transform::bailey::Block;
use crate::transform::passes::Passes;
use ozfft_kernels::{Elements, PassesShape, Product, TUNED_THREADS};

/// The tuned kernels that take a transform, if there are some.
pub(crate) fn shape_of(
    tuned_on: &TunedOn<'_>,
    recipe: &Recipe,
    passes: &Passes,
) -> Option<&'static PassesShape> {
    let [first, second] = passes.blocks() else {
        return None;
    };
    let usual = tuned_on.machine.has_tuned_kernels()
        && tuned_on.product == Product::Int8
        && !tuned_on.single
        && recipe.digits == Digits::DOUBLE
        && recipe.products == Products::Truncated;
    let mut shapes = ozfft_kernels::TUNED_PASSES.iter();
    let fits = |shape: &&PassesShape| {
        shape.passes == [first.len(), second.len()] && [first, second].into_iter().all(is_for_them)
    };
    shapes.find(|shape| usual && fits(shape))
}

fn is_for_them(block: &Block) -> bool {
    let steps = block.steps().iter().map(|step| step.recipe);
    let steps: Vec<_> = steps.map(|step| (step.n, step.fold, step.shift)).collect();
    steps == [(16, Fold::TimeShifted, 0), (4, Fold::Trivial, 0)]
}

/// Transforms that are contiguous: one for a block at a time.
pub(crate) fn kernels(shape: &'static PassesShape, conversions: bool) -> Kernels {
    Kernels {
        product: Product::Int8,
        elements: Elements::Complex,
        single: false,
        contiguous_alone: false,
        few_alone: false,
        source: KernelSource::Tuned {
            lines: 1,
            shared_bytes: shape.shared_bytes,
            contiguous: shape.kernels[usize::from(conversions)],
            strided: None,
        },
    }
}

/// The tables of both passes, as the kernel keeps them in shared memory.
pub(crate) fn tables(passes: &Passes) -> Vec<u8> {
    let [first, second] = passes.blocks() else {
        unreachable!("tuned transforms have two passes");
    };
    let [opening, closing] = [first, second].map(|block| &block.steps()[0]);
    // The step of 16 points is the same in both.
    let mut image = Vec::new();
    for matrix in matrices(opening) {
        operand(matrix, &mut image);
    }
    constants(Product::Int8, opening, true, &mut image);
    rotations(opening, &mut image);
    rotations(closing, &mut image);
    let powers: Vec<_> = passes.roots()[0].powers().collect();
    for (column, output) in root_places() {
        let root = powers[column * output];
        let Twiddle { real, imaginary } = Twiddle::new(root.re, root.im);
        let halves = [real.0, real.1, imaginary.0, imaginary.1];
        image.extend_from_slice(bytemuck::cast_slice(&halves));
    }
    image
}

/// Columns of the first pass, and their outputs, in the order in which threads rotate them: eight of every thread, four in
/// either half of the rows of the second step.
fn root_places() -> impl Iterator<Item = (usize, usize)> {
    (0..8).flat_map(|number| {
        (0..TUNED_THREADS as usize).map(move |thread| {
            let (warp, g, t) = (thread / 32, thread % 32 / 4, thread % 4);
            let row = 2 * t + g / 4;
            let k = number % 4;
            let output = match number / 4 {
                0 => row + 16 * k,
                // Rows beyond the middle run backwards, and row 8, the middle, is the conjugate of a conjugated one.
                _ => 8 + row + 16 * ((3 - k + usize::from(row == 0)) % 4),
            };
            (4 * warp + g % 4, output)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::tables::tuned_tables::tests::passes;
    use crate::transform::tables::Tables;

    const POINTS: usize = 64;

    #[test]
    fn every_output_of_every_column_has_its_root() {
        let mut seen = vec![false; POINTS * POINTS];
        for (column, output) in root_places() {
            assert!(!std::mem::replace(
                &mut seen[POINTS * column + output],
                true
            ));
        }
        assert!(seen.into_iter().all(|seen| seen));
    }

    #[test]
    fn both_passes_have_the_same_step_and_their_own_rotations() {
        let tables_of_plans = Tables::default();
        let passes = passes(4096, &tables_of_plans);
        let [first, second] = passes.blocks() else {
            panic!("two passes")
        };
        let step = |block: &Block| {
            let mut image = Vec::new();
            for matrix in matrices(&block.steps()[0]) {
                operand(matrix, &mut image);
            }
            constants(Product::Int8, &block.steps()[0], true, &mut image);
            image
        };
        assert_eq!(step(first), step(second));
        for block in [first, second] {
            assert!(is_for_them(block));
            assert_eq!(block.steps()[0].rotations.len(), 9 * 3);
        }
        let image = tables(&passes);
        let expected = step(first).len() + 2 * 16 * 9 * 3 + 16 * POINTS * POINTS;
        assert_eq!(image.len(), expected);
    }
}
