#![doc = include_str!("../README.md")]
// Modules are hidden; whoever reads their documentation reads the sources.
#![allow(rustdoc::private_intra_doc_links)]
// Loops over lanes index several rows at once; written so, the compiler makes vector instructions of them.
#![allow(clippy::needless_range_loop)]
// Lengths of transforms and arrays are asked for, never whether they are empty.
#![allow(clippy::len_without_is_empty)]

// `vec![value; count]` and what is made with its functions return errors where there is no memory: all that grows with a length.
#[macro_use]
extern crate fallible_memory;

#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod kind;
#[doc(hidden)]
pub mod matrix_unit;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod portable;
#[doc(hidden)]
pub mod recipe;
#[doc(hidden)]
pub mod roots;
#[doc(hidden)]
pub mod sample;
#[doc(hidden)]
pub mod simd;
#[doc(hidden)]
pub mod stages;
#[doc(hidden)]
pub mod substrate;
#[doc(hidden)]
pub mod sync;
#[doc(hidden)]
pub mod transform;
#[doc(hidden)]
pub mod workspace;
