//! Predicted time of a call.

use super::constants::MeasuredUnit;

/// A predicted time, and whose constants it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// For one call, without copies between host and device.
    pub seconds: f64,
    /// The unit, the machine that was measured, and the constants.
    pub unit: MeasuredUnit,
}
