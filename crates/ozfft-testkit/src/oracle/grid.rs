//! A grid of outputs of a transform too large to be held: the input is a function of the index.

use crate::oracle::dispatch::dispatch;
use crate::oracle::double_double::ComplexDoubleDouble;
use crate::oracle::roots::Roots;
use crate::oracle::sampled::{BLOCK, Dot, Weights, power};
use crate::oracle::spectrum::Direction;
use crate::oracle::spectrum::ExactSpectrum;
use num_complex::Complex;
use rayon::prelude::*;

/// Outputs along the last axis that share one look at the input.
const SHARED: usize = 16;

/// The DFT over all axes, at the outputs whose index along every axis is among those given, in C order of the grid.
///
/// The axes are contracted one after the other, the last one first, so that N points cost about N times the grid's
/// extent along the last axis: let it be small there. `values(start, block)` fills a block of the input whose first
/// element has the flat index `start`; it is called several times for the same elements when there are many outputs
/// along the last axis. Magnitudes must be far from overflow and underflow, as the exponent of the result is 0.
///
/// # Panics
/// If the grid does not have an entry for every axis, or an index is out of range.
///
/// ```
/// use ozfft_testkit::oracle::{Direction, dft_grid, inputs};
/// let field = inputs::uniform_complex(64 * 32, 1);
/// let fill = |start: usize, block: &mut [num_complex::Complex<f64>]| {
///     block.copy_from_slice(&field[start..start + block.len()]);
/// };
/// let grid = [vec![0, 7, 63], vec![31]];
/// assert_eq!(dft_grid(fill, &[64, 32], &grid, Direction::Forward).len(), 3);
/// ```
pub fn dft_grid(
    values: impl Fn(usize, &mut [Complex<f64>]) + Sync,
    shape: &[usize],
    grid: &[Vec<usize>],
    direction: Direction,
) -> ExactSpectrum {
    assert_eq!(shape.len(), grid.len(), "a list of indices for every axis");
    for (&extent, indices) in shape.iter().zip(grid) {
        assert!(
            indices.iter().all(|&index| index < extent),
            "indices {indices:?} along an axis of {extent}"
        );
    }
    let roots: Vec<Roots> = shape.iter().map(|&extent| Roots::new(extent)).collect();
    let mut partial = last_axis(&values, shape, &roots, grid, direction);
    // From here on an array of shape[..axis + 1] and of all chosen outputs behind it.
    let mut behind = grid[shape.len() - 1].len();
    for axis in (0..shape.len() - 1).rev() {
        partial = inner_axis(&partial, (shape[axis], behind), &roots[axis], &grid[axis]);
        behind *= grid[axis].len();
    }
    if direction == Direction::Inverse {
        partial
            .iter_mut()
            .for_each(|value| *value = value.swapped());
    }
    ExactSpectrum {
        values: partial,
        exponent: 0,
    }
}

/// Sums over the last axis: for every line the chosen outputs. Inverse transforms are forward ones of swapped parts.
fn last_axis(
    values: &(impl Fn(usize, &mut [Complex<f64>]) + Sync),
    shape: &[usize],
    roots: &[Roots],
    grid: &[Vec<usize>],
    direction: Direction,
) -> Vec<ComplexDoubleDouble> {
    let last = shape.len() - 1;
    let (extent, roots, chosen) = (shape[last], &roots[last], &grid[last]);
    let lines: usize = shape[..last].iter().product();
    let block = extent.min(BLOCK);
    let groups: Vec<Vec<(usize, Weights)>> = chosen
        .chunks(SHARED)
        .map(|group| {
            let weights = |&frequency: &usize| (frequency, Weights::new(roots, frequency, block));
            group.iter().map(weights).collect()
        })
        .collect();
    let tasks = lines * groups.len();
    let sums: Vec<Vec<ComplexDoubleDouble>> = (0..tasks)
        .into_par_iter()
        .with_min_len(16.min(lines))
        .map_init(
            || {
                (
                    vec![Complex::new(0.0, 0.0); block],
                    vec![0.0; block],
                    vec![0.0; block],
                )
            },
            |(input, re, im), task| {
                let (line, group) = (task / groups.len(), &groups[task % groups.len()]);
                let mut sums = vec![ComplexDoubleDouble::ZERO; group.len()];
                for start in (0..extent).step_by(block) {
                    let count = block.min(extent - start);
                    values(line * extent + start, &mut input[..count]);
                    for (place, value) in input[..count].iter().enumerate() {
                        (re[place], im[place]) = match direction {
                            Direction::Forward => (value.re, value.im),
                            Direction::Inverse => (value.im, value.re),
                        };
                    }
                    for (sum, (frequency, weights)) in sums.iter_mut().zip(group) {
                        let dot = dispatch(Dot {
                            re: &re[..count],
                            im: &im[..count],
                            weights,
                        });
                        *sum = *sum + dot * power(roots, *frequency, start);
                    }
                }
                sums
            },
        )
        .collect();
    sums.into_iter().flatten().collect()
}

/// Sums over the axis before those that have been summed: an array (…, extent, behind) becomes (…, chosen, behind).
fn inner_axis(
    partial: &[ComplexDoubleDouble],
    (extent, behind): (usize, usize),
    roots: &Roots,
    chosen: &[usize],
) -> Vec<ComplexDoubleDouble> {
    let sums: Vec<Vec<ComplexDoubleDouble>> = partial
        .par_chunks_exact(extent * behind)
        .map(|plane| {
            let mut sums = vec![ComplexDoubleDouble::ZERO; chosen.len() * behind];
            for (sums, &frequency) in sums.chunks_exact_mut(behind).zip(chosen) {
                for (input, row) in plane.chunks_exact(behind).enumerate() {
                    let weight = power(roots, frequency, input);
                    for (sum, &value) in sums.iter_mut().zip(row) {
                        *sum = *sum + value * weight;
                    }
                }
            }
            sums
        })
        .collect();
    sums.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{DoubleDouble, dft_nd, inputs};

    fn largest_difference(shape: &[usize], grid: &[Vec<usize>], direction: Direction) -> f64 {
        let points: usize = shape.iter().product();
        let field = inputs::uniform_complex(points, 9);
        let whole = dft_nd(&field, shape, direction);
        let fill = |start: usize, block: &mut [Complex<f64>]| {
            block.copy_from_slice(&field[start..start + block.len()]);
        };
        let found = dft_grid(fill, shape, grid, direction);
        let mut places = vec![0];
        for (&extent, chosen) in shape.iter().zip(grid) {
            places = places
                .iter()
                .flat_map(|&place| chosen.iter().map(move |index| place * extent + index))
                .collect();
        }
        assert_eq!((found.len(), found.exponent), (places.len(), 0));
        let part = |left: DoubleDouble, right: DoubleDouble| {
            (left - right.scale_by_power_of_two(whole.exponent))
                .to_f64()
                .abs()
        };
        let differences = places.iter().zip(&found.values).map(|(&place, &value)| {
            let exact = whole.values[place];
            part(value.re, exact.re).max(part(value.im, exact.im))
        });
        differences.fold(0.0, f64::max) / (points as f64).sqrt()
    }

    #[test]
    fn grids_are_parts_of_the_whole_transform() {
        for direction in [Direction::Forward, Direction::Inverse] {
            for (shape, grid) in [
                (vec![1], vec![vec![0]]),
                (vec![60], vec![vec![0, 1, 30, 59]]),
                (vec![2500], vec![(0..50).map(|k| 49 * k).collect()]),
                (vec![12, 35], vec![vec![11, 3], vec![34, 0, 17]]),
                (vec![8, 9, 10], vec![vec![7, 1], vec![0, 4, 8], vec![9, 2]]),
                (
                    vec![2, 3, 2, 2000],
                    vec![vec![1], vec![2, 0], vec![1], vec![1999, 1000]],
                ),
            ] {
                let difference = largest_difference(&shape, &grid, direction);
                assert!(
                    difference < 1e-29,
                    "{shape:?} {direction:?}: {difference:e}"
                );
            }
        }
    }

    #[test]
    fn values_by_index_are_those_of_the_sequence() {
        let sequence = inputs::uniform_complex(100, 77);
        for (index, &value) in sequence.iter().enumerate() {
            assert_eq!(inputs::uniform_complex_at(77, index), value);
        }
    }
}
