//! Parameters that were fastest on an H200, by what a kernel is for.

use std::collections::HashMap;
use std::sync::LazyLock;

/// In the words of [`purpose`](crate::bailey::KernelShape::purpose) and [`choice`](crate::bailey::KernelShape::choice), as `ozfft tune` writes them.
const TEXT: &str = include_str!("../measured.tuning");

static CHOICES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| entries().collect());

/// Purposes and choices.
pub(crate) fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit_once(": "))
}

/// The numbers of the choice for a purpose, in the order of its words.
pub(crate) fn measured<const N: usize>(purpose: &str) -> Option<[usize; N]> {
    let choice = CHOICES.get(purpose)?;
    let numbers = choice.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<usize> = numbers.filter_map(|n| n.parse().ok()).collect();
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bailey::{BlockShape, KernelShape, Number, listed};
    use crate::bailey_passes::{Ends, PassesShape};
    use crate::bailey_real::{Half, RealShape};

    const SHARED_BYTES: usize = 227 << 10;

    fn numbers_of(words: &str) -> Vec<usize> {
        let numbers = words.split(|c: char| !c.is_ascii_digit());
        numbers.filter_map(|n| n.parse().ok()).collect()
    }

    /// The kernel that a plan would take for the purpose.
    fn shape_for(purpose: &str) -> Option<Box<dyn KernelShape>> {
        let (what, kind) = purpose.split_once(" points, ")?;
        let strided = kind.contains("strided");
        let number = match kind.split_once(", ")?.0 {
            "f64" => Number::Double,
            "f32" => Number::Single,
            _ => return None,
        };
        let real = kind.contains("real to half-spectrum");
        let half = kind.contains("half-spectrum to real");
        Some(match (what.split_once(" of ")?.0, &numbers_of(what)[..]) {
            ("lines", &[first, last]) if real || half => {
                let half = if real { Half::Output } else { Half::Input };
                let kind = (number, half);
                Box::new(RealShape::new(kind, [first, last], strided, SHARED_BYTES)?)
            }
            ("lines", &[first, last]) => {
                let shape = BlockShape::new(number, [first, last], strided, SHARED_BYTES);
                Box::new(shape?)
            }
            ("passes", &[a1, a2, b1, b2]) => {
                let ends = match kind {
                    _ if real => Ends::RealToHalf(number),
                    _ if half => Ends::HalfToReal(number),
                    _ if kind.contains("convolution") => Ends::Convolution(number),
                    _ => Ends::Complex(number),
                };
                let kind = (ends, strided);
                let shape = PassesShape::new([a1, a2], [b1, b2], kind, SHARED_BYTES);
                Box::new(shape?)
            }
            _ => return None,
        })
    }

    #[test]
    fn every_measured_choice_is_taken_and_is_one_of_the_rules_own() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(entries().count(), lines.count());
        assert_eq!(CHOICES.len(), entries().count(), "a purpose twice");
        for (purpose, choice) in entries() {
            let shape = shape_for(purpose).unwrap_or_else(|| panic!("{purpose}: no kernel"));
            assert_eq!(shape.purpose().as_deref(), Some(purpose));
            assert_eq!(shape.choice(), choice, "{purpose}");
            assert!(shape.shared_bytes() <= SHARED_BYTES, "{purpose}");
            assert!(shape.threads() <= 1024, "{purpose}");
            let warps = shape.threads() / 32;
            assert!(warps <= 24, "{purpose}: {warps} warps");
        }
        // Those compiled in advance have parameters of their own list.
        for (shape, _) in listed() {
            assert!(!CHOICES.contains_key(&*shape.purpose().expect("a purpose")));
        }
    }
}
