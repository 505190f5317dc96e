//! The hardware that runs the wide engine.

use crate::matrix_unit::{Task, Unit};
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
        self.unit.enter(task)
    }
}
