//! Parameters that were fastest on an H200, by what a kernel is for.

use std::collections::HashMap;
use std::sync::LazyLock;

/// In the words of [`purpose`](super::KernelSpec::purpose) and [`choice`](super::KernelSpec::choice), as `ozfft tune` writes them.
const TEXT: &str = include_str!("../../measured.tuning");

static CHOICES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| entries().collect());

/// Purposes and choices.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit_once(": "))
}

/// The numbers of the choice for a purpose, in the order of its words.
pub(crate) fn measured(purpose: &str) -> Option<Vec<usize>> {
    CHOICES.get(purpose).map(|choice| numbers_of(choice))
}

fn numbers_of(words: &str) -> Vec<usize> {
    let numbers = words.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|n| n.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::{Block, Ends, Family, KernelSpec, Number, Real, TwoPasses, listed};

    const SHARED_BYTES: usize = 227 << 10;

    /// The kernel that a plan would take for the purpose.
    fn spec_for(purpose: &str) -> Option<KernelSpec> {
        let (what, kind) = purpose.split_once(" points, ")?;
        let number = match kind.split_once(", ")?.0 {
            "f64" => Number::Double,
            "f32" => Number::Single,
            _ => return None,
        };
        let ends = match kind {
            _ if kind.contains("real to half-spectrum") => Ends::RealToHalf,
            _ if kind.contains("half-spectrum to real") => Ends::HalfToReal,
            _ if kind.contains("convolution") => Ends::Convolution,
            _ => Ends::Complex,
        };
        let family: Family = match (what.split_once(" of ")?.0, ends, &numbers_of(what)[..]) {
            ("lines", Ends::Complex, &[first, last]) => Block {
                steps: [first, last],
            }
            .into(),
            ("lines", ends, &[first, last]) => Real {
                steps: [first, last],
                ends,
            }
            .into(),
            ("passes", ends, &[a1, a2, b1, b2]) => TwoPasses {
                steps: [[a1, a2], [b1, b2]],
                ends,
            }
            .into(),
            _ => return None,
        };
        KernelSpec::new(family, number, kind.contains("strided"), SHARED_BYTES)
    }

    #[test]
    fn every_measured_choice_is_taken_and_is_one_of_the_rules_own() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(entries().count(), lines.count());
        assert_eq!(CHOICES.len(), entries().count(), "a purpose twice");
        for (purpose, choice) in entries() {
            let spec = spec_for(purpose).unwrap_or_else(|| panic!("{purpose}: no kernel"));
            assert_eq!(spec.purpose(), purpose);
            assert_eq!(spec.choice(), choice, "{purpose}");
            assert!(spec.shared_bytes() <= SHARED_BYTES, "{purpose}");
            assert!(
                spec.threads() <= 32 * 24,
                "{purpose}: {} threads",
                spec.threads()
            );
        }
        // Those compiled in advance have parameters of their own list.
        for entry in listed() {
            let family = Block { steps: entry.steps };
            let spec = KernelSpec::new(family, Number::Double, entry.strided, SHARED_BYTES);
            assert!(!CHOICES.contains_key(&*spec.expect("a kernel").purpose()));
        }
    }
}
