//! Reads a recipe as a plan prints it.

use std::fmt;
use std::str::FromStr;

/// Digits of data and matrices, and diagonals kept: `p`, `q` and `D` of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digits {
    /// Digits of a data word, `p`.
    pub data: u32,
    /// Digits of a matrix entry, `q`.
    pub matrix: u32,
    /// Diagonals kept, `D`.
    pub diagonals: u32,
}

/// Whether the two sums of an output are rounded one by one, or together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    /// One by one.
    Truncated,
    /// Together.
    Exact,
}

/// How a step is folded (section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Entries 0 and ±1.
    Unit,
    /// `jk`.
    Plain,
    /// `(j+½)k`.
    TimeShifted,
    /// `j(k+½)`.
    FrequencyShifted,
}

/// One small DFT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its size.
    pub n: usize,
    /// How it is folded.
    pub fold: Fold,
}

/// A 1-D transform: the passes of it, each a block of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// One point.
    Copy,
    /// Blocks in sequence.
    Passes(Vec<Vec<Step>>),
    /// A convolution with the chirp, over passes of a longer line.
    Bluestein {
        /// Length of the transform.
        length: usize,
        /// The passes of the convolution.
        passes: Vec<Vec<Step>>,
    },
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Which one.
    pub axis: usize,
    /// The transform along it.
    pub line: Line,
}

/// What a plan prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Digits and diagonals.
    pub digits: Digits,
    /// How outputs are rounded.
    pub products: Products,
    /// The axes, in the order in which they are transformed.
    pub axes: Vec<Axis>,
}

/// A text that is no recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRecipe {
    /// What was to be read.
    pub what: &'static str,
    /// Where it was looked for.
    pub text: String,
}

impl fmt::Display for UnknownRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, text } = self;
        write!(
            f,
            "no {what} in {text:?}; give a recipe as a plan prints it"
        )
    }
}

impl std::error::Error for UnknownRecipe {}

fn unknown(what: &'static str, text: &str) -> UnknownRecipe {
    UnknownRecipe {
        what,
        text: text.into(),
    }
}

impl Line {
    /// Length of the line.
    pub fn len(&self) -> usize {
        match self {
            Line::Copy => 1,
            Line::Passes(passes) => points(passes),
            Line::Bluestein { length, .. } => *length,
        }
    }

    /// Whether there is nothing to transform.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }
}

/// Points of a line in passes.
pub(super) fn points(passes: &[Vec<Step>]) -> usize {
    passes.iter().flatten().map(|step| step.n).product()
}

fn step(text: &str) -> Result<Step, UnknownRecipe> {
    let text = text.trim();
    let mark = text.chars().last().ok_or_else(|| unknown("step", text))?;
    let fold = match mark {
        'u' => Fold::Unit,
        'p' => Fold::Plain,
        't' => Fold::TimeShifted,
        'f' => Fold::FrequencyShifted,
        _ => return Err(unknown("mark u, p, t or f", text)),
    };
    let n = number("size of a step", &text[..text.len() - 1])?;
    let fits = match fold {
        Fold::Unit => matches!(n, 1 | 2 | 4),
        Fold::Plain => n >= 3 && n % 2 == 1,
        Fold::TimeShifted | Fold::FrequencyShifted => n >= 2 && n % 2 == 0,
    };
    // The sums of section 2 have 33 slots at most, and so the matrices at most 64 points.
    if fits && n <= 64 {
        Ok(Step { n, fold })
    } else {
        Err(unknown("size that fits the mark", text))
    }
}

fn number<T: FromStr>(what: &'static str, text: &str) -> Result<T, UnknownRecipe> {
    text.trim().parse().map_err(|_| unknown(what, text))
}

fn passes(text: &str) -> Result<Vec<Vec<Step>>, UnknownRecipe> {
    let block = |block: &str| block.split('·').map(step).collect();
    text.split('|').map(block).collect()
}

impl FromStr for Line {
    type Err = UnknownRecipe;

    /// `copy`, `32t·32f`, `16t·4u | 61p` or `bluestein 1009 over (32t·8f | 8t)`.
    fn from_str(text: &str) -> Result<Self, UnknownRecipe> {
        let text = text.trim();
        if text == "copy" {
            return Ok(Line::Copy);
        }
        let Some(rest) = text.strip_prefix("bluestein ") else {
            return Ok(Line::Passes(passes(text)?));
        };
        let (length, rest) = rest
            .split_once(" over (")
            .ok_or_else(|| unknown("convolution", text))?;
        let inside = rest
            .strip_suffix(')')
            .ok_or_else(|| unknown("end of the convolution", text))?;
        let (length, passes) = (number("length", length)?, passes(inside)?);
        if length >= 2 && points(&passes) >= 2 * length - 1 {
            Ok(Line::Bluestein { length, passes })
        } else {
            Err(unknown("convolution of 2n-1 points or more", text))
        }
    }
}

/// The axes of `axis 1: …; axis 0: …;`.
pub(super) fn axes(text: &str) -> Result<Vec<Axis>, UnknownRecipe> {
    text.split(';')
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            let (axis, line) = part
                .trim()
                .strip_prefix("axis ")
                .and_then(|part| part.split_once(':'))
                .ok_or_else(|| unknown("axis", part))?;
            Ok(Axis {
                axis: number("axis", axis)?,
                line: line.parse()?,
            })
        })
        .collect()
}

/// The digits of `8 data digits × 7 matrix digits, 8 diagonals`.
pub(super) fn digits(text: &str) -> Result<Digits, UnknownRecipe> {
    let (data, rest) = text
        .split_once(" data digits × ")
        .ok_or_else(|| unknown("data digits", text))?;
    let (matrix, rest) = rest
        .split_once(" matrix digits, ")
        .ok_or_else(|| unknown("matrix digits", text))?;
    let diagonals = rest
        .strip_suffix(" diagonals")
        .ok_or_else(|| unknown("diagonals", text))?;
    Ok(Digits {
        data: number("data digits", data)?,
        matrix: number("matrix digits", matrix)?,
        diagonals: number("diagonals", diagonals)?,
    })
}

impl FromStr for Recipe {
    type Err = UnknownRecipe;

    fn from_str(text: &str) -> Result<Self, UnknownRecipe> {
        let (products, rest) = text
            .split_once(": ")
            .ok_or_else(|| unknown("products", text))?;
        let products = match products.trim() {
            "truncated" => Products::Truncated,
            "exact" => Products::Exact,
            _ => return Err(unknown("products", text)),
        };
        let (head, rest) = rest.split_once(';').ok_or_else(|| unknown("axes", text))?;
        let digits = digits(head)?;
        let Digits {
            data: p,
            matrix: q,
            diagonals: d,
        } = digits;
        // Words have at most 64 bits; the digits of matrices are computed with a hundred.
        let in_range = (1..=8).contains(&p) && (1..=8).contains(&q) && (p..p + q).contains(&d);
        if !in_range || (products == Products::Exact && d != p + q - 1) {
            return Err(unknown("numbers of digits and diagonals that fit", head));
        }
        Ok(Recipe {
            digits,
            products,
            axes: axes(rest)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_recipes_are_parsed() -> Result<(), UnknownRecipe> {
        let recipe: Recipe = "exact: 5 data digits × 4 matrix digits, 8 diagonals; axis 2: copy; axis 1: 16t·4u | 61p; axis 0: bluestein 67 over (9p·16f);".parse()?;
        assert_eq!(recipe.products, Products::Exact);
        assert_eq!(
            (
                recipe.digits.data,
                recipe.digits.matrix,
                recipe.digits.diagonals
            ),
            (5, 4, 8)
        );
        let lengths: Vec<usize> = recipe.axes.iter().map(|axis| axis.line.len()).collect();
        assert_eq!(lengths, [1, 3904, 67]);
        assert_eq!(recipe.axes[0].axis, 2);
        let step = |n, fold| Step { n, fold };
        assert_eq!(
            recipe.axes[1].line,
            Line::Passes(vec![
                vec![step(16, Fold::TimeShifted), step(4, Fold::Unit)],
                vec![step(61, Fold::Plain)]
            ])
        );
        assert!(
            matches!(&recipe.axes[2].line, Line::Bluestein { length: 67, passes } if points(passes) == 144)
        );
        Ok(())
    }

    #[test]
    fn recipes_that_no_plan_prints_are_rejected() {
        for text in [
            "",
            "rounded: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: 8t;",
            "truncated: 8 data digits × 7 matrix digits, 7 diagonals; axis 0: 8t;",
            "exact: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: 8t;",
            "truncated: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: 8x;",
            "truncated: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: 9t;",
            "truncated: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: 8u;",
            "truncated: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: 128t;",
            "truncated: 8 data digits × 7 matrix digits, 8 diagonals; axis 0: bluestein 67 over (64t);",
            "truncated: 8 data digits × 7 matrix digits, 8 diagonals; 8t;",
        ] {
            assert!(text.parse::<Recipe>().is_err(), "{text:?} was read");
        }
    }
}
