//! One 1-D transform of any length: all lines along an axis.

use super::block::{Block, Tables};
use super::bluestein::Bluestein;
use super::budget::{self, ErrorBudget};
use super::double_double::two_sum;
use super::hardware::Hardware;
use super::outputs::{Convert, OutputLine};
use super::passes::{Passes, WordArray, in_parallel, rotate};
use super::quantise::{Line, Quantise, lane_of, power_of_two};
use super::rotate::Root;
use super::words::{LANES, Point};
use crate::recipe::LineRecipe;
use crate::roots::Fixed;
use crate::simd::inlined;
use crate::stages::quantise::LineProperties;
use crate::workspace::SharedArray;
use std::sync::Mutex;

/// A planned line.
#[derive(Debug)]
pub(super) struct WideLine {
    n: usize,
    form: Form,
    /// The power of two of the norm's factor, where it is not in a table.
    scale_exponent: i32,
    pub(super) recipe: LineRecipe,
    pub(super) budget: ErrorBudget,
}

#[derive(Debug)]
enum Form {
    Copy,
    Block(Block),
    Passes(Passes),
    Bluestein(Bluestein),
}

/// Lines that are transformed in one call.
pub(super) struct Lines<'a, I, O, B> {
    pub(super) hardware: &'a Hardware,
    pub(super) threads: usize,
    pub(super) count: usize,
    /// Outputs that are wanted of each.
    pub(super) outputs: usize,
    /// Results of each are multiplied by 2 to this power.
    pub(super) bias: B,
    pub(super) input: I,
    pub(super) output: O,
}

impl WideLine {
    /// Tables for a recipe; outputs are scaled by `scale · 2^scale_exponent`.
    pub(super) fn new(
        recipe: LineRecipe,
        (scale, scale_exponent): (&Fixed, i32),
        tables: &Tables,
        hardware: &Hardware,
        threads: usize,
    ) -> WideLine {
        let n = recipe.len();
        let form = match &recipe {
            LineRecipe::Copy => Form::Copy,
            LineRecipe::Passes(blocks) if blocks.len() == 1 => {
                Form::Block(Block::new(&blocks[0], scale, tables))
            }
            LineRecipe::Passes(blocks) => Form::Passes(Passes::new(blocks, scale, tables)),
            LineRecipe::Bluestein { n, convolution } => Form::Bluestein(Bluestein::new(
                *n,
                convolution,
                (scale, scale_exponent),
                tables,
                hardware,
                threads,
            )),
        };
        let largest = match &form {
            Form::Bluestein(bluestein) => bluestein.largest,
            _ => 0.0,
        };
        WideLine {
            n,
            scale_exponent: match form {
                Form::Bluestein(_) => 0,
                _ => scale_exponent,
            },
            form,
            budget: budget::line(&recipe, scale.to_f64(), largest),
            recipe,
        }
    }

    pub(super) fn run<'a, I, O, B>(&self, lines: &Lines<'_, I, O, B>)
    where
        I: Fn(usize) -> Line<'a> + Sync,
        O: Fn(usize, LineProperties) -> OutputLine<'a> + Sync,
        B: Fn(usize) -> i32 + Sync,
    {
        match &self.form {
            Form::Copy => self.copy(lines),
            Form::Block(block) => self.run_block(block, lines),
            Form::Passes(passes) => {
                for line in 0..lines.count {
                    let (n, threads) = (self.n, lines.threads);
                    let mut array = WordArray::new(n);
                    let properties = load(
                        lines.hardware,
                        threads,
                        &(lines.input)(line),
                        n,
                        None,
                        &mut array,
                        0,
                    );
                    passes.run(lines.hardware, &mut array, threads);
                    let output = (lines.output)(line, properties);
                    let store = Store {
                        rotation: None,
                        index: &|place| passes.output_index(place),
                        wanted: lines.outputs,
                        exponent: (lines.bias)(line) + self.scale_exponent,
                    };
                    store.run(lines.hardware, threads, &output, (&array, 0, n));
                }
            }
            Form::Bluestein(bluestein) => {
                let m = bluestein.convolution();
                let at_once = if bluestein.is_short() { LANES } else { 1 };
                // Long lines are divided among the threads themselves.
                let (outer, inner) = match at_once {
                    1 => (1, lines.threads),
                    _ => (lines.threads, 1),
                };
                let groups = lines.count.div_ceil(at_once);
                in_parallel(lines.hardware, outer, groups, |part| {
                    for group in part {
                        let first = group * at_once;
                        let count = at_once.min(lines.count - first);
                        let mut array = WordArray::new(count * m);
                        array.words.fill(Bluestein::FILL.0);
                        array.exponents.fill(Bluestein::FILL.1);
                        let chirp = |j: usize| *bluestein.chirp(j);
                        let properties: Vec<LineProperties> = (0..count)
                            .map(|i| {
                                let line = (lines.input)(first + i);
                                load(
                                    lines.hardware,
                                    inner,
                                    &line,
                                    self.n,
                                    Some(&chirp),
                                    &mut array,
                                    i * m,
                                )
                            })
                            .collect();
                        bluestein.run(lines.hardware, &mut array, inner);
                        for (i, properties) in properties.into_iter().enumerate() {
                            let store = Store {
                                rotation: Some(&chirp),
                                index: &|place| place,
                                wanted: lines.outputs,
                                exponent: (lines.bias)(first + i),
                            };
                            let output = (lines.output)(first + i, properties);
                            store.run(
                                lines.hardware,
                                inner,
                                &output,
                                (&array, i * m, lines.outputs),
                            );
                        }
                    }
                });
            }
        }
    }

    fn copy<'a, I, O, B>(&self, lines: &Lines<'_, I, O, B>)
    where
        I: Fn(usize) -> Line<'a> + Sync,
        O: Fn(usize, LineProperties) -> OutputLine<'a> + Sync,
        B: Fn(usize) -> i32 + Sync,
    {
        for line in 0..lines.count {
            let factor = power_of_two((lines.bias)(line));
            let [re_high, re_low, im_high, im_low] = (lines.input)(line).get(0);
            let ((re, re_rest), (im, im_rest)) =
                (two_sum(re_high, re_low), two_sum(im_high, im_low));
            let properties = LineProperties {
                not_finite: !(re.is_finite() && im.is_finite()),
                has_real: re != 0.0,
                has_imaginary: im != 0.0,
            };
            let scaled = [re, re_rest, im, im_rest].map(|x| x * factor + 0.0);
            (lines.output)(line, properties).set(0, scaled);
        }
    }

    /// Eight lines side by side.
    fn run_block<'a, I, O, B>(&self, block: &Block, lines: &Lines<'_, I, O, B>)
    where
        I: Fn(usize) -> Line<'a> + Sync,
        O: Fn(usize, LineProperties) -> OutputLine<'a> + Sync,
        B: Fn(usize) -> i32 + Sync,
    {
        let hardware = lines.hardware;
        let groups = lines.count.div_ceil(LANES);
        in_parallel(hardware, lines.threads, groups, |part| {
            let mut panel = block.panel();
            let mut scratch = block.scratch();
            for group in part {
                let active = LANES.min(lines.count - group * LANES);
                let number = |lane: usize| group * LANES + if lane < active { lane } else { 0 };
                let sources: [Line<'a>; LANES] =
                    std::array::from_fn(|lane| (lines.input)(number(lane)));
                let found = hardware.run(Quantise {
                    count: self.n,
                    place: inlined(
                        #[inline(always)]
                        |i| block.input(i),
                    ),
                    element: inlined(
                        #[inline(always)]
                        |i: usize, lane: usize| sources[lane].get(i),
                    ),
                    panel: &mut panel,
                });
                block.run(hardware, &mut panel, &mut scratch);
                let targets: [OutputLine<'a>; LANES] = std::array::from_fn(|lane| {
                    (lines.output)(number(lane), found.properties[lane])
                });
                let offset = block.growth() + self.scale_exponent;
                hardware.run(Convert {
                    count: lines.outputs,
                    exponents: std::array::from_fn(|lane| {
                        found.exponents[lane] + offset + (lines.bias)(number(lane))
                    }),
                    panel: &panel,
                    place: inlined(
                        #[inline(always)]
                        |k| block.output(k),
                    ),
                    set: inlined(
                        #[inline(always)]
                        |k: usize, lane: usize, value: [f64; 4]| {
                            if lane < active {
                                targets[lane].set(k, value);
                            }
                        },
                    ),
                });
            }
        });
    }
}

/// Brings the elements of a line into words, an exponent for each, rotated by one root each where there are any.
fn load(
    hardware: &Hardware,
    threads: usize,
    line: &Line<'_>,
    n: usize,
    rotation: Option<&(dyn Fn(usize) -> Root + Sync)>,
    array: &mut WordArray,
    offset: usize,
) -> LineProperties {
    let words = SharedArray::new(&mut array.words);
    let exponents = SharedArray::new(&mut array.exponents);
    let properties = Mutex::new(LineProperties::ZERO);
    in_parallel(hardware, threads, n.div_ceil(LANES), |part| {
        let mut seen = LineProperties::ZERO;
        for group in part {
            let active = LANES.min(n - group * LANES);
            let index = |lane: usize| group * LANES + if lane < active { lane } else { 0 };
            let mut point = [Point::ZERO];
            let found = hardware.run(Quantise {
                count: 1,
                place: |_| 0,
                element: |_, lane| line.get(index(lane)),
                panel: &mut point,
            });
            let point = match rotation {
                None => point[0],
                Some(root) => {
                    let roots = std::array::from_fn(|lane| root(index(lane)));
                    rotate(hardware, &point[0], &roots)
                }
            };
            for lane in 0..active {
                seen = seen.with(found.properties[lane]);
                // SAFETY: every element belongs to one thread.
                unsafe {
                    words.set(offset + index(lane), lane_of(&point, lane));
                    exponents.set(offset + index(lane), found.exponents[lane]);
                }
            }
        }
        let mut properties = crate::sync::lock(&properties);
        *properties = properties.with(seen);
    });
    properties
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Writes words of a line as double-double numbers.
struct Store<'a> {
    rotation: Option<&'a (dyn Fn(usize) -> Root + Sync)>,
    /// The output that lies at a place.
    index: &'a (dyn Fn(usize) -> usize + Sync),
    /// Outputs from this one on are left out.
    wanted: usize,
    exponent: i32,
}

impl Store<'_> {
    /// `count` words from `offset` on.
    fn run(
        &self,
        hardware: &Hardware,
        threads: usize,
        output: &OutputLine<'_>,
        (array, offset, count): (&WordArray, usize, usize),
    ) {
        in_parallel(hardware, threads, count.div_ceil(LANES), |part| {
            for group in part {
                let active = LANES.min(count - group * LANES);
                let place = |lane: usize| group * LANES + if lane < active { lane } else { 0 };
                let mut point = Point::ZERO;
                for lane in 0..LANES {
                    let word = array.words[offset + place(lane)];
                    point.set(lane, word.re);
                    point.set(LANES + lane, word.im);
                }
                if let Some(root) = self.rotation {
                    let roots = std::array::from_fn(|lane| root((self.index)(place(lane))));
                    point = rotate(hardware, &point, &roots);
                }
                hardware.run(Convert {
                    count: 1,
                    exponents: std::array::from_fn(|lane| {
                        array.exponents[offset + place(lane)].saturating_add(self.exponent)
                    }),
                    panel: &[point],
                    place: |_| 0,
                    set: |_, lane: usize, value| {
                        let k = (self.index)(place(lane));
                        if lane < active && k < self.wanted {
                            output.set(k, value);
                        }
                    },
                });
            }
        });
    }
}
