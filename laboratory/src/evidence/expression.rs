//! Formulas over named quantities, as the list of claims writes them: operands and `+ - * /` separated by blanks, worked out from left to right
//! without precedence. Names contain signs themselves, so blanks are part of the notation.

use super::quantities::Quantities;
use crate::failure::Failure;

/// The value of a formula.
pub fn value(quantities: &Quantities, formula: &str) -> Result<f64, Failure> {
    let wrong = |reason: String| Failure::Check(format!("claims.json, {formula:?}: {reason}"));
    let mut words = formula.split_whitespace();
    let operand = |word: Option<&str>| {
        let word = word.ok_or_else(|| wrong("an operand is missing".into()))?;
        match word.parse() {
            Ok(number) => Ok(number),
            Err(_) => quantities.value(word).map_err(wrong),
        }
    };
    let mut result: f64 = operand(words.next())?;
    while let Some(sign) = words.next() {
        let right = operand(words.next())?;
        match sign {
            "+" => result += right,
            "-" => result -= right,
            "*" => result *= right,
            "/" => result /= right,
            _ => return Err(wrong(format!("{sign:?} is not one of + - * /"))),
        }
    }
    match result.is_finite() {
        true => Ok(result),
        false => Err(wrong(format!("it comes out as {result}"))),
    }
}

/// How many of a formula's operands are quantities rather than numbers.
#[cfg(test)]
pub fn names(formula: &str) -> usize {
    let operands = formula.split_whitespace().step_by(2);
    operands.filter(|word| word.parse::<f64>().is_err()).count()
}

/// A text whose formulas in braces are replaced by their values: `{formula}` with three digits, `{formula|2}` with two, `{formula|2%}` in per cent.
pub fn filled(quantities: &Quantities, text: &str) -> Result<String, Failure> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, behind) = after.split_once('}').ok_or_else(|| {
            Failure::Check(format!("claims.json, {text:?}: a brace is not closed"))
        })?;
        let (formula, form) = inside.split_once('|').unwrap_or((inside, "3"));
        let (digits, percent) = match form.strip_suffix('%') {
            Some(digits) => (digits, true),
            None => (form, false),
        };
        let digits: usize = digits.parse().map_err(|_| {
            Failure::Check(format!(
                "claims.json, {text:?}: {form:?} is no number of digits"
            ))
        })?;
        let number = value(quantities, formula)?;
        result.push_str(before);
        result.push_str(&match percent {
            true => format!("{} %", shown(100.0 * number, digits)),
            false => shown(number, digits),
        });
        rest = behind;
    }
    result.push_str(rest);
    Ok(result)
}

/// A number with so many digits, as powers of ten where it is very small or large; whole numbers up to 9999 with all of theirs.
pub fn shown(number: f64, digits: usize) -> String {
    if number.fract() == 0.0 && number.abs() < 1e4 {
        return format!("{number}");
    }
    match number.abs() {
        size if (0.01..1e5).contains(&size) => roofline::table::significant(number, digits),
        _ => format!("{number:.*e}", digits.min(2) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_worked_out_from_left_to_right() {
        let quantities = Quantities::committed().expect("records");
        let value = |formula| value(&quantities, formula);
        assert_eq!(value("2 + 3 * 4").expect("a value"), 20.0);
        assert_eq!(value("-1.5e3 / 3 - 1").expect("a value"), -501.0);
        for wrong in [
            "",
            "2 +",
            "2 ^ 3",
            "1 / 0",
            "no-such-quantity",
            "paths:x:ms",
        ] {
            assert!(value(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_are_filled_with_as_many_digits_as_they_ask_for() {
        let quantities = Quantities::committed().expect("records");
        let filled = |text| filled(&quantities, text);
        assert_eq!(filled("a {2 / 3} b").expect("a text"), "a 0.667 b");
        assert_eq!(
            filled("{2 / 3|2}, {1 / 7|2%}").expect("a text"),
            "0.67, 14 %"
        );
        assert_eq!(filled("{1e-17 * 5.02}").expect("a text"), "5.0e-17");
        assert_eq!(
            filled("{582.5183 * 1}; {12 * 1}").expect("a text"),
            "583; 12"
        );
        assert!(filled("{2").is_err() && filled("{2|x}").is_err());
    }
}
