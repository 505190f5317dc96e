//! Tables for lines that are transformed one by one: what the lanes of a vector hold then, and the rotations by lane.

use crate::matrix_unit::{PackedOutputs, Unit};
use crate::recipe::{Digits, Fold, Products, StepRecipe};
use crate::stages::step_matrices::StepMatrices;
use crate::stages::twiddle::TwiddleTable;
use crate::transform::step::Step;
use crate::transform::tables::Setting;

/// What fills the lanes when a block transforms one line.
#[derive(Debug)]
pub(crate) enum LaneTables {
    /// Columns of the first step, then rows: blocks of several steps.
    Columns(ColumnLanes),
    /// Outputs: blocks of one step.
    Outputs(OutputLanes),
}

impl LaneTables {
    pub(crate) fn table_bytes(&self) -> usize {
        match self {
            LaneTables::Columns(columns) => columns.table_bytes(),
            LaneTables::Outputs(outputs) => outputs.table_bytes(),
        }
    }
}

/// Tables of a block of several steps for lanes that are columns.
#[derive(Debug)]
pub(crate) struct ColumnLanes {
    pub(crate) lanes: usize,
    /// Rotations after the first step: for every row up to the middle those of all columns, filled up to whole groups of lanes.
    pub(crate) rotations: TwiddleTable,
    /// For every group of columns, and of rows, -1 in the lanes that are mirrored.
    pub(crate) mirrored_columns: Vec<i64>,
    pub(crate) mirrored_rows: Vec<i64>,
}

/// All ones in the lanes of indices beyond the middle, in whole groups.
fn mirrored(count: usize, lanes: usize) -> Vec<i64> {
    let indices = 0..count.next_multiple_of(lanes);
    indices
        .map(|i| -i64::from(i < count && 2 * i > count))
        .collect()
}

impl ColumnLanes {
    /// Tables for a block whose first step is `first`.
    pub(crate) fn new(first: &Step, lanes: usize) -> ColumnLanes {
        let (rows, columns) = (first.recipe.n, first.inner);
        let rotations = (0..rows / 2 + 1).flat_map(|k| {
            (0..columns.next_multiple_of(lanes)).map(move |column| {
                let source = column.min(columns.saturating_sub(column));
                first.rotations[k * first.rotation_stride + source].components()
            })
        });
        ColumnLanes {
            lanes,
            rotations: rotations.collect(),
            mirrored_columns: mirrored(columns, lanes),
            mirrored_rows: mirrored(rows, lanes),
        }
    }

    pub(crate) fn table_bytes(&self) -> usize {
        let masks = self.mirrored_columns.len() + self.mirrored_rows.len();
        self.rotations.table_bytes() + size_of::<i64>() * masks
    }
}

/// Tables of a block of one step for lanes that are outputs.
#[derive(Debug)]
pub(crate) struct OutputLanes {
    pub(crate) recipe: StepRecipe,
    /// Lanes that hold outputs, and groups of them.
    pub(crate) used: usize,
    pub(crate) groups: usize,
    /// The cosine and the sine matrix as the unit wants them.
    pub(crate) cosine: PackedOutputs,
    pub(crate) sine: PackedOutputs,
    /// Rotations of outputs `k`, and of those that share their sums.
    pub(crate) rotations: TwiddleTable,
    pub(crate) partner_rotations: TwiddleTable,
}

impl OutputLanes {
    /// Tables for a block of this step alone; none where the unit has no such products, and for recipes that are not usual.
    pub(crate) fn new(
        step: &Step,
        matrices: &StepMatrices,
        (digits, products): (Digits, Products),
        unit: Unit,
    ) -> Option<OutputLanes> {
        let (recipe, lanes) = (step.recipe, unit.lanes());
        let n = recipe.n;
        let shifted = match recipe.fold {
            Fold::TimeShifted => true,
            Fold::Plain if n % 2 == 1 => false,
            _ => return None,
        };
        if products != Products::Truncated || digits.low_pairs() > 0 || step.shift > 0 {
            return None;
        }
        let used = if shifted { n / 2 } else { n / 2 + 1 };
        let groups = used.div_ceil(lanes);
        let rows = |row: &dyn Fn(usize) -> Option<usize>| -> Vec<Option<usize>> {
            let lanes = 0..groups * lanes;
            lanes.map(|k| row(k).filter(|_| k < used)).collect()
        };
        let cosine = unit.pack_outputs(&matrices.cosine, digits, &rows(&|k| Some(k)))?;
        let sine = match shifted {
            true => rows(&|k| Some(k)),
            false => rows(&|k| k.checked_sub(1)),
        };
        let sine = unit.pack_outputs(&matrices.sine, digits, &sine)?;
        let rotation = |k: usize| step.rotations[k.min(n / 2)].components();
        let partner = |k: usize| if k == 0 { n / 2 } else { k };
        Some(OutputLanes {
            recipe,
            used,
            groups,
            cosine,
            sine,
            rotations: (0..groups * lanes).map(rotation).collect(),
            partner_rotations: (0..groups * lanes).map(partner).map(rotation).collect(),
        })
    }

    pub(crate) fn table_bytes(&self) -> usize {
        let entries = self.cosine.table_bytes() + self.sine.table_bytes();
        entries + self.rotations.table_bytes() + self.partner_rotations.table_bytes()
    }

    /// Whether the sums of lane 0 belong to different outputs.
    pub(crate) fn shares_first_lane(&self) -> bool {
        self.recipe.fold == Fold::TimeShifted
    }
}

/// Tables for lines one by one, where the unit has several lanes.
pub(crate) fn lane_tables(steps: &[Step], setting: Setting<'_>) -> Option<LaneTables> {
    let (lanes, first) = (setting.unit.lanes(), &steps[0]);
    if lanes == 1 {
        return None;
    }
    if steps.len() > 1 {
        return Some(LaneTables::Columns(ColumnLanes::new(first, lanes)));
    }
    let matrices = setting.tables.matrices(&first.recipe, setting.digits)?;
    let products = (setting.digits, setting.products);
    let outputs = OutputLanes::new(first, &matrices, products, setting.unit);
    outputs.map(LaneTables::Outputs)
}
