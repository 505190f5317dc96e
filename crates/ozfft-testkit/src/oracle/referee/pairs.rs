//! Double-double numbers, as `docs/beyond-double.md` has them: what differs from the words of 64 bits.
//!
//! The page gives the errors of a block, of half-spectra and between axes, and so the count below is of lines of one block. For passes and
//! Bluestein it has no sums to count.

use super::budget::{mantissa, then};
use super::interval::Interval;
use super::recipe::{Axis, Fold, Line, Step, UnknownRecipe, axes};
use super::{Factor, Kind};

/// Errors of a component, in units.
const BROUGHT_UNDER_THE_EXPONENT: f64 = 1.0;
const DROPPED: f64 = 15.06;
const SHIFTED: f64 = 0.5;
const ROTATED: f64 = 12.6;
const GRID: f64 = 32.0;

/// The relative L2 error that no input of a plan for double-double numbers exceeds, from what the plan prints (`… axis 0: 32t·32f;`). None where
/// an axis has more than one block.
pub fn bound_of_pairs(
    plan: &str,
    kind: Kind,
    factor: Factor,
) -> Result<Option<Interval>, UnknownRecipe> {
    let printed = plan.lines().find(|line| line.contains(" diagonals; axis "));
    let Some((_, printed)) = printed.and_then(|line| line.split_once(" diagonals; ")) else {
        return Err(UnknownRecipe {
            what: "axes of a plan for pairs",
            text: plan.into(),
        });
    };
    Ok(whole(&axes(printed)?, kind, factor))
}

fn whole(axes: &[Axis], kind: Kind, factor: Factor) -> Option<Interval> {
    let mut whole = Interval::ZERO;
    for (i, axis) in axes.iter().enumerate() {
        if i > 0 {
            whole = then(whole, Interval::power_of_two(-128));
        }
        let steps = match &axis.line {
            Line::Copy => continue,
            Line::Passes(passes) if passes.len() == 1 => &passes[0],
            Line::Passes(_) | Line::Bluestein { .. } => return None,
        };
        let mut line = block(steps, mantissa(factor, axis.line.len()));
        if i == 0 && kind == Kind::RealToComplex {
            line = Interval::whole(2).sqrt() * line;
        }
        whole = then(whole, then(line, Interval::power_of_two(-106)));
    }
    Some(whole)
}

/// One block with the grid of its results, before they are rounded to double-double numbers.
fn block(steps: &[Step], sigma: Interval) -> Interval {
    let n: usize = steps.iter().map(|step| step.n).product();
    let last = steps.len() - 1;
    // √(2N) components, each off by so many units.
    let of = |units: Interval, unit: Interval| Interval::whole(2 * n).sqrt() * units * unit;
    let mut unit = Interval::power_of_two(-124);
    let mut error = of(Interval::exact(BROUGHT_UNDER_THE_EXPONENT), unit);
    for (i, step) in steps.iter().enumerate() {
        let size = Interval::whole(step.n);
        let matrix = step.fold != Fold::Unit;
        let growth = Interval::power_of_two(step.n.next_power_of_two().ilog2() as i32);
        unit = unit * growth / size.sqrt();
        if matrix {
            error = then(error, size.sqrt() * Interval::power_of_two(-126));
            // Between the double below the number of the text and the one above.
            let dropped = Interval::between(DROPPED.next_down(), DROPPED.next_up());
            error = then(error, of(dropped * size / growth, unit));
        }
        error = then(error, of(Interval::exact(SHIFTED), unit));
        let rotated = if last > 0 {
            i < last
        } else {
            step.fold == Fold::TimeShifted || sigma != Interval::ONE
        };
        if rotated {
            let modulus = if i == 0 { sigma } else { Interval::ONE };
            unit = unit / modulus;
            let units = Interval::between(ROTATED.next_down(), ROTATED.next_up());
            // An entry of 127 bits is off by √½·2^-127; over a modulus above 1/2 that is less than the 2^-126 of the text.
            let entry = Interval::power_of_two(-126);
            error = then(error, of(units, unit) + entry);
        }
    }
    then(error, of(Interval::exact(GRID), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_page_is_met() -> Result<(), UnknownRecipe> {
        let bound = |axes: &str| {
            let plan = format!(
                "complex\nengine digits on portable, 16 data digits × 16 matrix digits, 16 diagonals; {axes};\nbound"
            );
            bound_of_pairs(&plan, Kind::Complex, Factor::One)
        };
        let Some(thousand) = bound("axis 0: 32t·32f")? else {
            panic!("one block has a bound");
        };
        assert!(
            (thousand.high / 1.59e-32 - 1.0).abs() < 0.01,
            "{thousand:?}"
        );
        assert_eq!(bound("axis 0: 64t | 64t")?, None);
        assert!(bound("no axis at all").is_err());
        Ok(())
    }
}
