//! A line under one exponent: the steps over a panel of eight lines, in place (Bailey's decomposition).

use super::hardware::Hardware;
use super::step::{Columns, Scratch, Step, StepMatrices, TOGETHER};
use super::words::Point;
use crate::recipe::{BlockRecipe, Fold, StepRecipe};
use crate::roots::Fixed;
use crate::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Step matrices that several lines share.
#[derive(Debug, Default)]
pub(super) struct Tables(Mutex<HashMap<(usize, Fold), Arc<StepMatrices>>>);

impl Tables {
    fn matrices(&self, step: &StepRecipe) -> Option<Arc<StepMatrices>> {
        if step.fold == Fold::Trivial {
            return None;
        }
        let mut known = lock(&self.0);
        let matrices = known
            .entry((step.n, step.fold))
            .or_insert_with(|| Arc::new(StepMatrices::new(step)));
        Some(Arc::clone(matrices))
    }
}

/// A planned block.
#[derive(Debug)]
pub(super) struct Block {
    n: usize,
    steps: Vec<Step>,
    /// Elements of a row, and the distance of rows: a gap keeps columns from falling on the same few places of the cache.
    columns: usize,
    pitch: usize,
    /// Where every output lies in the panel.
    outputs: Vec<u32>,
    /// Outputs are words times 2^(line exponent + this).
    growth: i32,
}

impl Block {
    /// Tables for a recipe. Outputs are scaled by `scale`, a factor in (1/2, 1].
    pub(super) fn new(recipe: &BlockRecipe, scale: &Fixed, tables: &Tables) -> Block {
        let n = recipe.len();
        let mut inner = n;
        let steps: Vec<Step> = recipe
            .steps
            .iter()
            .enumerate()
            .map(|(i, &step)| {
                inner /= step.n;
                let next = recipe.steps.get(i + 1);
                Step::new(step, inner, i == 0, next, scale, tables.matrices(&step))
            })
            .collect();
        let columns = steps[0].inner();
        let pitch = columns + usize::from(columns.is_multiple_of(8));
        let sizes: Vec<usize> = recipe.steps.iter().map(|step| step.n).collect();
        let mut outputs = vec![0; n];
        for place in 0..n {
            outputs[output_index(&sizes, place)] =
                (place / columns * pitch + place % columns) as u32;
        }
        Block {
            n,
            growth: steps.iter().map(|step| step.growth() as i32).sum(),
            steps,
            columns,
            pitch,
            outputs,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn growth(&self) -> i32 {
        self.growth
    }

    /// Place of input `i` in the panel.
    #[inline(always)]
    pub(super) fn input(&self, i: usize) -> usize {
        i / self.columns * self.pitch + i % self.columns
    }

    /// Place of output `k` in the panel.
    #[inline(always)]
    pub(super) fn output(&self, k: usize) -> usize {
        self.outputs[k] as usize
    }

    pub(super) fn panel(&self) -> Vec<Point> {
        vec![Point::ZERO; self.n / self.columns * self.pitch]
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch::new(self.steps.iter().map(Step::len).max().unwrap_or(1))
    }

    /// Transforms the words of a panel in place.
    pub(super) fn run(&self, hardware: &Hardware, panel: &mut [Point], scratch: &mut Scratch) {
        for (number, step) in self.steps.iter().enumerate() {
            let (inner, n) = (step.inner(), step.len());
            let stride = if number == 0 { self.pitch } else { inner };
            for group in 0..self.n / (n * inner) {
                for number in (0..inner).step_by(TOGETHER) {
                    let columns = Columns {
                        first: self.input(group * n * inner + number),
                        stride,
                        number,
                        count: TOGETHER.min(inner - number),
                    };
                    step.run(hardware, panel, columns, scratch);
                }
            }
        }
    }
}

/// The output that lies at a place after steps of these sizes, or passes: the first digit of the place is the least
/// significant one of the index.
pub(super) fn output_index(sizes: &[usize], place: usize) -> usize {
    let mut below: usize = sizes.iter().product();
    let (mut rest, mut index, mut weight) = (place, 0, 1);
    for &n in sizes {
        below /= n;
        index += weight * (rest / below);
        rest %= below;
        weight *= n;
    }
    index
}
