//! In place of the residues engine, in builds without it: there never is one.

use crate::error::FftError;
use crate::recipe::{Digits, Recipe, StepRecipe};
use crate::stages::step_matrices::MatrixTables;

#[derive(Debug, Clone)]
pub enum ResidueEngine {}

impl ResidueEngine {
    pub fn unit_of_lines(&self) -> Option<f64> {
        match *self {}
    }

    pub fn relative_unit(&self) -> Option<LineUnit> {
        match *self {}
    }

    pub fn check(&self, _: &Recipe, _: &MatrixTables) -> Result<String, FftError> {
        match *self {}
    }

    pub(crate) fn error_bound(&self, _: &StepRecipe, _: bool, _: Digits) -> Result<f64, FftError> {
        match *self {}
    }
}

/// A line's unit relative to its norm.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(dead_code, reason = "only residues have one")]
pub enum LineUnit {
    Exactly(f64),
    AtBest(f64),
}

#[derive(Debug)]
pub enum Counters {}
