//! Numbers: roots of unity, short formats, and what transforms compute with.

pub(crate) mod arithmetic;
pub(crate) mod bf16;
pub(crate) mod format;
pub(crate) mod fp16;
pub(crate) mod kahan;
pub(crate) mod number;
pub(crate) mod roots;
pub(crate) mod sample;
