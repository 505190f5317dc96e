//! Lines that are longer than a block: passes over words in memory, an exponent for every line of a pass.
//!
//! The array has `outer · n · inner` elements in every pass, and the lines of the pass are the columns of `n` elements that
//! lie `inner` apart; each is transformed in place. Several arrays of equal length may lie one after the other.

use super::block::{Block, Tables, output_index};
use super::hardware::Hardware;
use super::quantise::{align, lane_of};
use super::rotate::{Root, Roots, rotate_lanes};
use super::words::{ComplexWord, LANES, Point};
use crate::matrix_unit::Task;
use crate::parallel;
use crate::recipe::BlockRecipe;
use crate::roots::Fixed;
use crate::workspace::SharedArray;
use float_environment::DefaultEnvironment;

/// One pass.
#[derive(Debug)]
struct Pass {
    block: Block,
    inner: usize,
    /// Rotations after it; none after the last.
    roots: Option<Roots>,
}

/// A planned long line.
#[derive(Debug)]
pub(super) struct Passes {
    passes: Vec<Pass>,
    sizes: Vec<usize>,
    n: usize,
}

/// Words of one or several lines with exponents of their own.
#[derive(Debug, Clone)]
pub(super) struct WordArray {
    pub(super) words: Vec<ComplexWord>,
    pub(super) exponents: Vec<i32>,
}

impl WordArray {
    pub(super) fn new(len: usize) -> WordArray {
        WordArray {
            words: vec![
                ComplexWord {
                    re: [0; 4],
                    im: [0; 4]
                };
                len
            ],
            exponents: vec![0; len],
        }
    }
}

/// Rotates a point and returns it.
struct Rotate<'a> {
    point: &'a Point,
    roots: &'a [Root; LANES],
}

impl Task for Rotate<'_> {
    type Output = Point;
    #[inline(always)]
    fn run(self) -> Point {
        rotate_lanes(self.point, self.roots)
    }
}

/// Turns every lane by a root of its own, with the unit's instructions.
pub(super) fn rotate(hardware: &Hardware, point: &Point, roots: &[Root; LANES]) -> Point {
    hardware.run(Rotate { point, roots })
}

/// Cuts `count` pieces of work into as many parts as there are threads, and runs these with the unit ready.
pub(super) fn in_parallel(
    hardware: &Hardware,
    threads: usize,
    count: usize,
    work: impl Fn(std::ops::Range<usize>) + Sync,
) {
    let workers = threads.min(count);
    if workers <= 1 {
        hardware.products.kept_ready(&mut || work(0..count));
        return;
    }
    parallel::for_each(workers, |worker| {
        // Threads inherit the environment of the thread that started them.
        let _environment = DefaultEnvironment::enter();
        let part = count * worker / workers..count * (worker + 1) / workers;
        hardware.products.kept_ready(&mut || work(part.clone()));
    });
}

impl Passes {
    /// Tables for these blocks; outputs are scaled by `scale`.
    pub(super) fn new(recipes: &[BlockRecipe], scale: &Fixed, tables: &Tables) -> Passes {
        let n: usize = recipes.iter().map(BlockRecipe::len).product();
        let mut inner = n;
        let one = Fixed::one();
        let passes = recipes
            .iter()
            .enumerate()
            .map(|(i, recipe)| {
                let order = inner;
                inner /= recipe.len();
                Pass {
                    block: Block::new(recipe, if i == 0 { scale } else { &one }, tables),
                    inner,
                    roots: (i + 1 < recipes.len()).then(|| Roots::new(order)),
                }
            })
            .collect();
        Passes {
            passes,
            sizes: recipes.iter().map(BlockRecipe::len).collect(),
            n,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn is_one_block(&self) -> bool {
        self.passes.len() == 1
    }

    /// The output that lies at a place when all passes are done.
    pub(super) fn output_index(&self, place: usize) -> usize {
        output_index(&self.sizes, place)
    }

    /// Transforms all lines of the array in place.
    pub(super) fn run(&self, hardware: &Hardware, array: &mut WordArray, threads: usize) {
        let len = array.words.len();
        let words = SharedArray::new(&mut array.words);
        let exponents = SharedArray::new(&mut array.exponents);
        for pass in &self.passes {
            let (n, inner) = (pass.block.len(), pass.inner);
            let lines = len / n;
            in_parallel(hardware, threads, lines.div_ceil(LANES), |groups| {
                let mut panel = pass.block.panel();
                let mut scratch = pass.block.scratch();
                for group in groups {
                    // Lanes beyond the last line repeat it.
                    let line = |lane: usize| (group * LANES + lane).min(lines - 1);
                    let first = |lane: usize| line(lane) / inner * n * inner + line(lane) % inner;
                    let place = |i: usize| pass.block.input(i);
                    // SAFETY: a line is read and written by one thread alone.
                    let element = |i: usize, lane: usize| unsafe {
                        let at = first(lane) + i * inner;
                        (words.reader().get(at), exponents.reader().get(at))
                    };
                    let found = align(n, place, element, &mut panel);
                    pass.block.run(hardware, &mut panel, &mut scratch);
                    for k in 0..n {
                        let point = &panel[pass.block.output(k)];
                        let rotated = match &pass.roots {
                            None => *point,
                            Some(roots) => {
                                let power = |lane: usize| roots.power(k * (line(lane) % inner));
                                rotate(hardware, point, &std::array::from_fn(power))
                            }
                        };
                        for lane in 0..LANES.min(lines - group * LANES) {
                            let at = first(lane) + k * inner;
                            // SAFETY: as above.
                            unsafe {
                                words.set(at, lane_of(&rotated, lane));
                                exponents.set(at, found[lane] + pass.block.growth());
                            }
                        }
                    }
                }
            });
        }
    }
}
