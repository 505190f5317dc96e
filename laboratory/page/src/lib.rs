//! What the report's page shows for a machine, a mode and a size: sentences, tables and the roofline.
//!
//! The program draws the page's first picture with it, and the page moves it while numbers are typed: `./generate` compiles this crate to
//! WebAssembly (`model.wasm`), which the page carries. So every formula is written once, in the crate `roofline`.
//!
//! ```text
//! answer.rs            from a question to everything that is shown
//! roofline_figure.rs   the roofline
//! charts.rs, svg.rs    bars, planes, labels; shapes
//! exports.rs           how the page calls it
//! ```

pub mod answer;
pub mod charts;
#[cfg(target_arch = "wasm32")]
mod exports;
pub mod roofline_figure;
pub mod svg;

pub use answer::{Answer, Form, Question, answer};

/// The model as WebAssembly, made by `./generate`.
#[cfg(not(target_arch = "wasm32"))]
pub const WASM: &[u8] = include_bytes!("../model.wasm");

/// The width of a figure on paper and on wide screens.
pub const WIDE: f64 = 720.0;
/// The same on phones.
pub const NARROW: f64 = 340.0;

/// A figure.
pub struct Figure {
    pub title: String,
    /// What one sees, for those who do not.
    pub description: String,
    /// Below it.
    pub caption: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub svg: svg::Svg,
}

/// Powers for people; terminals have plain letters.
pub fn pretty(text: &str) -> String {
    text.replace("10^12", "10¹²")
}
