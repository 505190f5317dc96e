//! The rules that verdicts follow from, the same for the paper, for the posts and for what was predicted here.

use serde::Serialize;

/// Measured and expected agree if they are off by no more than this: the paper itself expects kernels at 50 to 80 % of its bounds (4.3).
pub const FACTOR: f64 = 2.0;

/// Shares of a time are near each other if they differ by no more than this, whatever their ratio.
pub const NEAR_SHARES: f64 = 0.05;

/// Rows with several values.
pub const SEVERAL: &str = "Of several values in a row every one is judged. The row has the verdict that all of them have; values that hold beside values that \
                           exceed make it *holds*; every other mixture is *borderline*.";

/// A verdict, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Holds,
    Exceeded,
    Borderline,
    Missed,
    Inconsistent,
    NoMachine,
}

impl Verdict {
    pub const ALL: [Verdict; 6] = [
        Verdict::Holds,
        Verdict::Exceeded,
        Verdict::Borderline,
        Verdict::Missed,
        Verdict::Inconsistent,
        Verdict::NoMachine,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Exceeded => "exceeded",
            Verdict::Borderline => "borderline",
            Verdict::Missed => "missed",
            Verdict::Inconsistent => "inconsistent",
            Verdict::NoMachine => "no machine",
        }
    }

    pub fn definition(self) -> &'static str {
        match self {
            Verdict::Holds => {
                "what was measured lies within what is expected, or within a factor of two of it (one bit where bits of precision are compared; \
                 also 0.05 where shares of a time are); a threshold is met; a statement was tested and is true"
            }
            Verdict::Exceeded => {
                "more than a factor of two (one bit) away from what is expected, on the better side"
            }
            Verdict::Borderline => {
                "values or thresholds lie on both sides; or a gain is claimed and comes out as a loss, by less than a factor of two; or a share of \
                 a time is on the expected side of the limit below which nothing is gained, and not near what is expected"
            }
            Verdict::Missed => {
                "more than a factor of two (one bit) away on the worse side; a threshold is not met; a statement was tested and is not true"
            }
            Verdict::Inconsistent => {
                "numbers or formulas of the text itself contradict each other (shares of a time by more than 0.05); no measurement is needed"
            }
            Verdict::NoMachine => {
                "it takes a machine that is not here, a B300 or a Rubin; what the row says of one is projected, not measured"
            }
        }
    }
}

/// How a claim is judged, as the list writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// `near`, `near less`, `near more`: within a factor of two of the expected range; less or more is better, or neither.
    Near(Option<Better>),
    /// `bits`: within one bit; more are better.
    Bits,
    /// `at least`, `at most`: a threshold, which may be a range.
    Threshold(Better),
    /// `gain`: as `near more`, and above 1.
    Gain,
    /// `equal`: the expected number itself.
    Equal,
    /// `below`: every measured value is below the expected one.
    Below,
    /// `same side X`, for shares of a time: measured and expected are on the same side of X, and within a factor of two or [`NEAR_SHARES`].
    SameSide(f64),
    /// `consistent`, for shares of a time: what the text's own counts give is within [`NEAR_SHARES`] of what it prints.
    Consistent,
    /// `stated WORD`: by a test or a proof that the row names.
    Stated(Verdict),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
}

impl Rule {
    pub fn parse(text: &str) -> Result<Rule, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Ok(match words[..] {
            ["near"] => Rule::Near(None),
            ["near", "less"] => Rule::Near(Some(Better::Less)),
            ["near", "more"] => Rule::Near(Some(Better::More)),
            ["bits"] => Rule::Bits,
            ["at", "least"] => Rule::Threshold(Better::More),
            ["at", "most"] => Rule::Threshold(Better::Less),
            ["gain"] => Rule::Gain,
            ["equal"] => Rule::Equal,
            ["below"] => Rule::Below,
            ["consistent"] => Rule::Consistent,
            ["same", "side", of] => {
                Rule::SameSide(of.parse().map_err(|_| format!("{of} is no number"))?)
            }
            ["stated", ref words @ ..] => {
                let word = words.join(" ");
                let found = Verdict::ALL
                    .into_iter()
                    .find(|verdict| verdict.word() == word);
                Rule::Stated(found.ok_or_else(|| format!("{word:?} is no verdict"))?)
            }
            _ => return Err(format!("there is no rule {text:?}")),
        })
    }

    /// The verdict, and how far the farthest value is off where that is a factor.
    pub fn judge(self, expected: &[f64], found: &[f64]) -> Result<(Verdict, Option<f64>), String> {
        if let Rule::Stated(verdict) = self {
            return Ok((verdict, None));
        }
        let ends = |values: &[f64]| {
            let least = values.iter().copied().min_by(f64::total_cmp);
            least.zip(values.iter().copied().max_by(f64::total_cmp))
        };
        let (low, high) = ends(expected).ok_or("nothing to compare with")?;
        let (least, most) = ends(found).ok_or("nothing measured")?;
        let each =
            |judge: &dyn Fn(f64) -> Verdict| together(found.iter().map(|value| judge(*value)));
        // How many times a value is beyond the nearer end.
        let off = |value: f64| (low / value).max(value / high).max(1.0);
        let farthest = off(least).max(off(most));
        let apart = |value: f64| (value - value.clamp(low, high)).abs();
        Ok(match self {
            Rule::Near(better) => {
                let verdict = |value: f64| {
                    let side = if value < low {
                        Better::Less
                    } else {
                        Better::More
                    };
                    match better {
                        _ if off(value) <= FACTOR => Verdict::Holds,
                        Some(better) if better == side => Verdict::Exceeded,
                        _ => Verdict::Missed,
                    }
                };
                (each(&verdict), Some(farthest))
            }
            Rule::Bits => {
                let verdict = |value: f64| match value {
                    value if value > high + 1.0 => Verdict::Exceeded,
                    value if value < low - 1.0 => Verdict::Missed,
                    _ => Verdict::Holds,
                };
                (each(&verdict), None)
            }
            Rule::Threshold(Better::More) => (threshold(least >= high, most < low), None),
            Rule::Threshold(Better::Less) => (threshold(most <= low, least > high), None),
            Rule::Gain => {
                let verdict = |value: f64| match value {
                    value if value > FACTOR * high => Verdict::Exceeded,
                    value if FACTOR * value < low => Verdict::Missed,
                    value if value < 1.0 => Verdict::Borderline,
                    _ => Verdict::Holds,
                };
                (each(&verdict), Some(farthest))
            }
            Rule::Equal => (
                threshold(least == low && most == high, least > high || most < low),
                None,
            ),
            Rule::Below => (threshold(most < low, least >= high), None),
            Rule::SameSide(of) => {
                let alike = |value: f64| (value < of) == (low < of) && (value < of) == (high < of);
                let near = |value: f64| apart(value) <= NEAR_SHARES || off(value) <= FACTOR;
                let verdict = |value: f64| match (alike(value), near(value)) {
                    (true, true) => Verdict::Holds,
                    (true, false) => Verdict::Borderline,
                    (false, _) => Verdict::Missed,
                };
                (each(&verdict), None)
            }
            Rule::Consistent => {
                let verdict = |value: f64| match apart(value) <= NEAR_SHARES {
                    true => Verdict::Holds,
                    false => Verdict::Inconsistent,
                };
                (each(&verdict), None)
            }
            Rule::Stated(verdict) => (verdict, None),
        })
    }
}

fn threshold(met: bool, failed: bool) -> Verdict {
    match (met, failed) {
        (true, _) => Verdict::Holds,
        (false, true) => Verdict::Missed,
        (false, false) => Verdict::Borderline,
    }
}

/// Of several values: what all of them say, holds if some hold and others are better, and borderline if some are worse.
fn together(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let mut verdicts: Vec<Verdict> = verdicts.collect();
    verdicts.sort();
    verdicts.dedup();
    match verdicts[..] {
        [one] => one,
        [Verdict::Holds, Verdict::Exceeded] => Verdict::Holds,
        _ => Verdict::Borderline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(rule: &str, expected: &[f64], found: &[f64]) -> &'static str {
        let rule = Rule::parse(rule).expect("a rule");
        rule.judge(expected, found).expect("a verdict").0.word()
    }

    #[test]
    fn a_factor_of_two_decides() {
        assert_eq!(judge("near less", &[100.0], &[200.0]), "holds");
        assert_eq!(judge("near less", &[100.0], &[201.0]), "missed");
        assert_eq!(judge("near less", &[100.0], &[49.0]), "exceeded");
        assert_eq!(judge("near more", &[100.0], &[49.0]), "missed");
        assert_eq!(judge("near", &[100.0], &[49.0]), "missed");
        assert_eq!(judge("near less", &[25.0, 47.0], &[90.0, 13.0]), "holds");
        assert_eq!(
            judge("near less", &[25.0, 47.0], &[90.0, 95.0]),
            "borderline"
        );
        assert_eq!(judge("near less", &[25.0, 47.0], &[20.0, 5.0]), "holds");
    }

    #[test]
    fn one_bit_decides_where_bits_are_compared() {
        assert_eq!(judge("bits", &[53.0], &[52.0]), "holds");
        assert_eq!(judge("bits", &[53.0], &[41.4]), "missed");
        assert_eq!(judge("bits", &[48.0], &[49.3]), "exceeded");
    }

    #[test]
    fn thresholds_may_be_ranges() {
        assert_eq!(judge("at least", &[0.023, 0.046], &[0.05]), "holds");
        assert_eq!(judge("at least", &[0.023, 0.046], &[0.03]), "borderline");
        assert_eq!(judge("at least", &[0.023, 0.046], &[0.01]), "missed");
        assert_eq!(judge("at most", &[0.0], &[0.0, 0.4]), "borderline");
        assert_eq!(judge("at most", &[0.0], &[0.0]), "holds");
        assert_eq!(judge("equal", &[0.0], &[0.0, 0.0]), "holds");
        assert_eq!(judge("equal", &[0.0], &[1.0]), "missed");
        assert_eq!(judge("below", &[6.9e-17], &[5.0e-17]), "holds");
        assert_eq!(judge("below", &[5.0e-17], &[5.0e-17]), "missed");
    }

    #[test]
    fn a_gain_that_is_a_loss_does_not_hold() {
        assert_eq!(judge("gain", &[1.2], &[1.1]), "holds");
        assert_eq!(judge("gain", &[1.2], &[0.98]), "borderline");
        assert_eq!(judge("gain", &[1.2], &[0.43]), "missed");
        assert_eq!(judge("gain", &[1.2], &[2.5]), "exceeded");
    }

    #[test]
    fn sides_of_a_limit_are_compared_where_numbers_are_near_zero() {
        assert_eq!(judge("same side 0.5", &[0.02], &[0.0]), "holds");
        assert_eq!(judge("same side 0.5", &[0.7, 0.9], &[0.0]), "missed");
        assert_eq!(judge("same side 0.5", &[0.05, 0.15], &[0.24]), "holds");
    }

    #[test]
    fn a_share_on_the_right_side_that_is_far_from_the_expected_one_does_not_hold() {
        assert_eq!(judge("same side 0.5", &[0.0024], &[0.115]), "borderline");
        assert_eq!(judge("same side 0.5", &[0.0024], &[0.052]), "holds");
        assert_eq!(judge("same side 0.5", &[0.02], &[0.0, 0.2]), "borderline");
    }

    #[test]
    fn worked_out_numbers_far_from_printed_ones_are_inconsistent() {
        assert_eq!(judge("consistent", &[0.7, 0.9], &[0.16]), "inconsistent");
        assert_eq!(judge("consistent", &[0.5, 0.9], &[0.28]), "inconsistent");
        assert_eq!(judge("consistent", &[0.95, 0.98], &[0.93]), "holds");
    }

    #[test]
    fn values_that_hold_beside_values_that_exceed_hold() {
        assert_eq!(judge("near less", &[100.0], &[40.0, 100.0]), "holds");
        assert_eq!(judge("near less", &[100.0], &[40.0, 300.0]), "borderline");
        assert!(SEVERAL.contains("make it *holds*"));
    }

    #[test]
    fn rules_that_do_not_exist_or_lack_numbers_are_rejected() {
        for wrong in ["", "near far", "stated perhaps", "same side x"] {
            assert!(Rule::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Rule::Bits.judge(&[], &[1.0]).is_err());
        assert!(Rule::Bits.judge(&[1.0], &[]).is_err());
    }
}
