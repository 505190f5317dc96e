//! What machines are asked for: bytes, operations and instructions a second.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What can be known of a machine: bytes and operations a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Bytes of main memory, read and written together.
    Bandwidth,
    /// Operations in double precision on vector units; a multiply-add is two.
    Fp64,
    /// The same in single precision.
    Fp32,
    /// Operations on 32-bit integers as vendors and the paper count them.
    Int32,
    /// Instructions on 32-bit integers, a multiply-add being one: what code is counted in.
    IntegerInstructions,
    /// Operations of the matrix unit for FP8, dense; a multiply-add is two.
    Fp8,
    /// The same for 8-bit integers.
    Int8,
}

impl Rate {
    /// All of them.
    pub const ALL: [Rate; 7] = [
        Rate::Bandwidth,
        Rate::Fp64,
        Rate::Fp32,
        Rate::Int32,
        Rate::IntegerInstructions,
        Rate::Fp8,
        Rate::Int8,
    ];

    /// Its key in a file.
    pub fn key(self) -> &'static str {
        match self {
            Rate::Bandwidth => "bandwidth",
            Rate::Fp64 => "fp64",
            Rate::Fp32 => "fp32",
            Rate::Int32 => "int32",
            Rate::IntegerInstructions => "integer_instructions",
            Rate::Fp8 => "fp8",
            Rate::Int8 => "int8",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Rate::Bandwidth => "memory",
            Rate::Fp64 => "FP64 vector units",
            Rate::Fp32 => "FP32 vector units",
            Rate::Int32 => "INT32 vector units",
            Rate::IntegerInstructions => "integer instructions",
            Rate::Fp8 => "FP8 matrix units",
            Rate::Int8 => "INT8 matrix units",
        }
    }

    /// Units that a file may use, with what they are in bytes, operations or instructions a second.
    pub fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Rate::Bandwidth => &[
                ("TB/s", 1e12),
                ("GB/s", 1e9),
                ("GiB/s", (1u64 << 30) as f64),
            ],
            Rate::Fp64 | Rate::Fp32 | Rate::Fp8 => {
                &[("TFLOP/s", 1e12), ("PFLOP/s", 1e15), ("GFLOP/s", 1e9)]
            }
            Rate::Int32 | Rate::Int8 => &[("TOP/s", 1e12), ("POP/s", 1e15), ("GOP/s", 1e9)],
            Rate::IntegerInstructions => &[("T/s", 1e12), ("G/s", 1e9)],
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.key())
    }
}
