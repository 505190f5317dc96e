//! Who computes.

use crate::matrix_unit::{MatrixUnit, Task, Unit};
use residues::bytes::ByteProducts;
use std::sync::Arc;

/// Instructions for what surrounds products, and products.
#[derive(Debug, Clone)]
pub(super) struct Hardware {
    pub(super) unit: Unit,
    pub(super) products: Arc<dyn ByteProducts>,
}

impl Hardware {
    /// Runs a task with the unit's instructions.
    #[inline]
    pub(super) fn run<T: Task>(&self, task: T) -> T::Output {
        match self.unit {
            Unit::Scalar | Unit::WideInteger | Unit::Residues => task.run(),
            #[cfg(vector_unit)]
            Unit::Avx2(unit) => MatrixUnit::<4>::enter(unit, task),
            #[cfg(vector_unit)]
            Unit::Avx512Vnni(unit) => MatrixUnit::<8>::enter(unit, task),
            #[cfg(vector_unit)]
            Unit::Amx(unit) => MatrixUnit::<8>::enter(unit, task),
            #[cfg(neon_unit)]
            Unit::NeonDot(unit) => MatrixUnit::<2>::enter(unit, task),
        }
    }
}
