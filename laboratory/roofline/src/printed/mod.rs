//! Every number that the paper prints, and what its own formulas give.
//!
//! "FP8 is All You Need (Part 2)", arXiv:2606.23698v2. An entry has the place, the printed value with as many digits as are printed, how it comes
//! about, and what that gives when it is worked out. Where the paper's own formula does not give the printed number, or two places contradict each
//! other, the entry says so; a test holds that all others reproduce, and that these do not. Numbers that the paper takes from elsewhere, or
//! measured, are *given* and not judged here (`ozfft-lab reconstruct` judges those on reconstruction).

mod appendices;
mod floors_and_times;
mod single_precision;
mod substrates;

use crate::error::RooflineError;
use crate::kernels::Cube;
use crate::mode::Mode;
use crate::table::{Cell, Table, significant};
use serde::Serialize;

/// How a printed number stands to the paper's own formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The formula gives the printed digits.
    Reproduces,
    /// It does not, or another place says something else.
    Contradicts,
    /// An input, or measured by others.
    Given,
}

impl Standing {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Standing::Reproduces => "reproduces",
            Standing::Contradicts => "contradicts itself",
            Standing::Given => "given",
        }
    }
}

/// A printed number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Printed {
    /// Section, equation or table.
    pub place: &'static str,
    /// What it is of.
    pub what: &'static str,
    /// As printed.
    pub value: f64,
    /// Significant digits that are printed.
    pub digits: usize,
    /// Its unit.
    pub unit: &'static str,
    /// How it comes about, in the paper's numbers.
    pub how: &'static str,
    /// What that gives.
    pub computed: Option<f64>,
    /// What is wrong.
    pub contradiction: Option<&'static str>,
}

impl Printed {
    /// Half a unit of the last printed digit.
    pub fn tolerance(&self) -> f64 {
        if self.value == 0.0 {
            return 0.5;
        }
        let power = self.value.abs().log10().floor() as i32;
        0.5 * 10f64.powi(power + 1 - self.digits as i32)
    }

    /// Whether what the formula gives is printed like this, up to the error of working it out in doubles.
    pub fn reproduces(&self) -> bool {
        let slack = 1e-9 * self.value.abs();
        self.computed
            .is_some_and(|computed| (computed - self.value).abs() <= self.tolerance() + slack)
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        match (self.computed, self.contradiction) {
            (_, Some(_)) => Standing::Contradicts,
            (Some(_), None) => Standing::Reproduces,
            (None, None) => Standing::Given,
        }
    }
}

/// A number that is not worked out in the paper.
fn given(
    place: &'static str,
    what: &'static str,
    (value, digits, unit): (f64, usize, &'static str),
) -> Printed {
    Printed {
        place,
        what,
        value,
        digits,
        unit,
        how: "",
        computed: None,
        contradiction: None,
    }
}

/// A number that its formula gives.
fn checked(
    place: &'static str,
    what: &'static str,
    (value, digits, unit): (f64, usize, &'static str),
    how: &'static str,
    computed: f64,
) -> Printed {
    Printed {
        how,
        computed: Some(computed),
        ..given(place, what, (value, digits, unit))
    }
}

/// A number that its formula, or another place, does not give.
fn contradiction(
    place: &'static str,
    what: &'static str,
    printed: (f64, usize, &'static str),
    (how, computed): (&'static str, f64),
    because: &'static str,
) -> Printed {
    Printed {
        contradiction: Some(because),
        ..checked(place, what, printed, how, computed)
    }
}

/// The paper's setting: 1024³, r = 12, S = 11, c = 4.
struct Setting {
    cube: Cube,
    outputs: f64,
    slices: f64,
    products: f64,
    phase_a: f64,
}

impl Setting {
    fn new() -> Result<Setting, RooflineError> {
        let cube = Cube::new(1024)?;
        let outputs = crate::paths::printed::OUTPUTS_PER_POINT * cube.points();
        let moduli = crate::paths::printed::MODULI;
        let slices = crate::paths::printed::slices(moduli);
        Ok(Setting {
            cube,
            outputs,
            slices,
            products: crate::kernels::printed_products(cube, moduli),
            phase_a: outputs * moduli * slices,
        })
    }
}

/// All of them, in the order of the paper's parts.
///
/// ```
/// let numbers = roofline::printed::all().unwrap();
/// assert!(numbers.len() > 100);
/// ```
pub fn all() -> Result<Vec<Printed>, RooflineError> {
    let setting = Setting::new()?;
    let mut numbers = floors_and_times::numbers(&setting);
    numbers.extend(substrates::numbers(&setting));
    numbers.extend(single_precision::numbers());
    numbers.extend(appendices::numbers(&setting));
    Ok(numbers)
}

/// Numbers as a table; all, or only contradictions.
pub fn table(only_contradictions: bool) -> Result<Table, RooflineError> {
    let title = if only_contradictions {
        "Where the paper contradicts itself"
    } else {
        "Every printed number"
    };
    let mut table = Table::new(
        "numbers",
        title,
        Mode::Printed,
        &["place", "what", "printed", "worked out", "from", "standing"],
    );
    for number in all()? {
        if only_contradictions && number.contradiction.is_none() {
            continue;
        }
        let with_unit = |value: f64, digits| {
            let text = format!("{} {}", significant(value, digits), number.unit);
            Cell {
                text: text.trim_end().into(),
                value: Some(value),
            }
        };
        let standing = match number.contradiction {
            Some(because) => format!("{}: {because}", number.standing().text()),
            None => number.standing().text().into(),
        };
        table.rows.push(vec![
            Cell::text(number.place),
            Cell::text(number.what),
            with_unit(number.value, number.digits),
            match number.computed {
                Some(computed) => with_unit(computed, number.digits.max(3)),
                None => Cell::text("-"),
            },
            Cell::text(number.how),
            Cell::text(standing),
        ]);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_reproduces_to_the_printed_digits_or_is_a_contradiction() {
        let mut wrong = Vec::new();
        for number in all().unwrap() {
            let right = match number.standing() {
                Standing::Reproduces => number.reproduces(),
                Standing::Contradicts => !number.reproduces(),
                Standing::Given => number.computed.is_none(),
            };
            if !right {
                wrong.push(format!(
                    "{}, {}: printed {} ± {}, worked out {:?}, {}",
                    number.place,
                    number.what,
                    number.value,
                    number.tolerance(),
                    number.computed,
                    number.standing().text()
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn half_a_unit_of_the_last_digit() {
        let number = |value, digits| given("", "", (value, digits, ""));
        assert_eq!(number(12.9, 3).tolerance(), 0.05);
        assert_eq!(number(260.0, 2).tolerance(), 5.0);
        assert!((number(1.5e13, 2).tolerance() - 5e11).abs() < 1.0);
        assert!((number(0.57, 2).tolerance() - 0.005).abs() < 1e-15);
    }

    #[test]
    fn all_tables_and_all_equations_with_numbers_are_there() {
        let numbers = all().unwrap();
        for place in [
            "Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "eq. 4", "eq. 5", "eq. 8",
            "eq. 9", "eq. 10", "eq. 12", "eq. 13", "eq. 14", "eq. 15", "eq. 16", "eq. 17",
            "eq. 18", "eq. 19", "eq. 20", "eq. 21", "eq. 22", "eq. 23", "eq. 24", "eq. 27",
            "eq. 30", "eq. 31", "eq. 33", "eq. 37", "eq. 38", "eq. 39", "4.1", "C.1", "Figure 1",
            "Figure 5",
        ] {
            let found = |number: &Printed| {
                let rest = number.place.strip_prefix(place);
                rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
            };
            assert!(numbers.iter().any(found), "{place}");
        }
    }
}
