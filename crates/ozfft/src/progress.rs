//! Progress reports of a running call.

use std::fmt;

/// The stage of a running call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Copying host arrays to the GPU.
    Upload,
    /// Transforming.
    Transform,
    /// Copying the result back.
    Download,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Stage::Upload => "upload",
            Stage::Transform => "transform",
            Stage::Download => "download",
        })
    }
}

/// How far a stage of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Progress {
    /// The current stage.
    pub stage: Stage,
    /// Bytes that are done; they never become fewer within a stage.
    pub done: usize,
    /// Bytes of the whole stage: what is copied or, while transforming, the length of the output.
    pub total: usize,
}
