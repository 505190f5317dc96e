//! Fewer lines than a unit has lanes: one by one, with something else in the lanes.

use crate::matrix_unit::MatrixUnit;
use crate::stages::numbers::{Input, Output};
use crate::transform::lane_tables::LaneTables;
use crate::transform::passes::Passes;

impl Passes {
    fn lane_tables(&self) -> Option<&LaneTables> {
        match self.blocks() {
            [block] => block.lane_tables(),
            _ => None,
        }
    }

    /// Whether lines can be transformed one by one.
    pub(crate) fn goes_one_by_one(&self) -> bool {
        self.lane_tables().is_some()
    }

    /// Whether so many lines, at most as many as there are lanes, are transformed one by one: up to half as many as there are
    /// lanes that takes less time than all of them side by side.
    pub(crate) fn is_one_by_one<const L: usize>(&self, lines: usize) -> bool {
        2 * lines <= L && self.lane_tables().is_some()
    }

    /// 64-bit words of workspace for lines one by one.
    pub(crate) fn one_by_one_workspace_len<const L: usize, U: MatrixUnit<L>>(&self) -> usize {
        match self.lane_tables() {
            None => 0,
            Some(LaneTables::Columns(_)) => self.columns_workspace_len::<L, U>(),
            Some(LaneTables::Outputs(outputs)) => outputs.workspace_len::<L>(),
        }
    }

    /// Transforms `active` lines of one block, one by one.
    pub(crate) fn run_one_by_one<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        input: &Input<'_, L>,
        output: &Output<'_, L>,
        active: usize,
        workspace: &mut [u64],
    ) {
        let block = &self.blocks()[0];
        match self.lane_tables() {
            None => unreachable!("the caller has asked"),
            Some(LaneTables::Columns(_)) => {
                self.run_columns(unit, input, output, active, workspace);
            }
            Some(LaneTables::Outputs(outputs)) => {
                for lane in 0..active {
                    let offset = self.exponent_offset() + output.bias[lane];
                    outputs.run(unit, block, (input, output), lane, offset, workspace);
                }
            }
        }
    }
}
