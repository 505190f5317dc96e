//! The paper's claims, judged by what is measured and counted here.
//!
//! The comparison is computed: *agrees* is a factor of two or less. Why something differs is written by hand, and shown only where it
//! does.

use super::experiment::{Bands, Measurement, PrototypeError};
use super::paper::{self, COST_R, printed_slices};
use super::substrate::Substrate;
use super::words::Words;
use residues::fp8::E4m3;
use serde::Serialize;

/// Figures that agree are off by no more than this.
const FACTOR: f64 = 2.0;

/// How the paper stands beside the figures here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Agrees,
    Differs,
    ContradictsItself,
    NotMeasured,
}

impl Verdict {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "differs",
            Verdict::ContradictsItself => "the paper contradicts itself",
            Verdict::NotMeasured => "not measured",
        }
    }
}

/// One claim of the paper, judged.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    pub place: String,
    pub what: String,
    pub printed: String,
    /// What is found here.
    pub here: String,
    /// What is found over what is printed.
    pub ratio: Option<f64>,
    pub verdict: Verdict,
    /// Why it differs, or what is to be known.
    pub comment: String,
}

/// All figures that claims are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub measurements: &'a [Measurement],
    pub prototype: &'a [PrototypeError],
    pub words: &'a [Words],
    pub bands: &'a [Bands],
}

impl<'a> Evidence<'a> {
    /// One method.
    pub fn of(self, substrate: Substrate, r: usize, method: &str) -> Option<&'a Measurement> {
        self.measurements
            .iter()
            .find(|m| m.substrate == substrate && m.r == r && m.method == method)
    }

    /// A column of Table 4, as the paper's prototype has it.
    pub fn prototype(self, r: usize, column: &str) -> Option<&'a PrototypeError> {
        self.prototype
            .iter()
            .find(|error| error.r == r && error.column == column)
    }

    /// With the paper's moduli of 7 bits, at the `r` that costs are printed for.
    fn cost(self, method: &str) -> Option<&'a Measurement> {
        self.of(Substrate::Seven, COST_R, method)
    }
}

/// A figure with as many digits as make sense.
pub fn figure(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if !(0.01..1e6).contains(&size) => format!("{x:.1e}"),
        size if size < 10.0 => format!("{x:.2}"),
        size if size < 1000.0 && x.fract() != 0.0 => format!("{x:.1}"),
        _ => format!("{x:.0}"),
    }
}

fn compare(
    (place, what): (impl Into<String>, impl Into<String>),
    printed: f64,
    here: Option<f64>,
    because: &str,
) -> Claim {
    let ratio = here.map(|here| here / printed);
    let verdict = match ratio {
        None => Verdict::NotMeasured,
        Some(ratio) if (1.0 / FACTOR..=FACTOR).contains(&ratio) => Verdict::Agrees,
        Some(_) => Verdict::Differs,
    };
    Claim {
        place: place.into(),
        what: what.into(),
        printed: figure(printed),
        here: here.map_or("-".into(), figure),
        ratio,
        verdict,
        comment: match verdict {
            Verdict::Differs => because.into(),
            Verdict::NotMeasured => "give the r, the substrate seven and all methods".into(),
            _ => String::new(),
        },
    }
}

fn contradiction(place: &str, what: &str, printed: &str, here: String, comment: &str) -> Claim {
    Claim {
        place: place.into(),
        what: what.into(),
        printed: printed.into(),
        here,
        ratio: None,
        verdict: Verdict::ContradictsItself,
        comment: comment.into(),
    }
}

/// The best of what a word of so many bits does, relative to 32 bits.
fn throughput(evidence: Evidence, word: u32) -> Option<f64> {
    let of_word =
        |row: &&Words| (row.substrate, row.r, row.word) == (Substrate::Seven, COST_R, word);
    let rows = evidence.words.iter().filter(of_word);
    rows.map(|row| row.throughput).max_by(f64::total_cmp)
}

impl Claim {
    /// Verdict and comment in a sentence.
    pub fn conclusion(&self) -> String {
        let factor = self.ratio.map(|ratio| ratio.max(1.0 / ratio));
        let verdict = match (self.verdict, factor) {
            (Verdict::Agrees, Some(factor)) => format!("agrees within a factor of {factor:.2}"),
            (Verdict::Differs, Some(factor)) if factor.is_finite() => {
                format!("differs by a factor of {}", figure(factor))
            }
            (verdict, _) => verdict.text().into(),
        };
        if self.comment.is_empty() {
            verdict
        } else {
            format!("{verdict}: {}", self.comment)
        }
    }
}

/// All claims.
pub fn all(evidence: Evidence) -> Vec<Claim> {
    let mut claims = table_4(evidence);
    claims.extend(precision(evidence));
    claims.extend(costs(evidence));
    claims.extend(narrow_words(evidence));
    claims.extend(bands(evidence));
    claims
}

fn table_4(evidence: Evidence) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (r, errors) in paper::TABLE_4 {
        for ((column, _), printed) in paper::COLUMNS_OF_TABLE_4.into_iter().zip(errors) {
            let place = format!("Table 4, r = {r}");
            let here = evidence.prototype(r, column);
            claims.push(compare(
                (place, format!("{column}, as described")),
                printed,
                here.map(|error| error.result_error_to_typical),
                "the largest of 256 errors, of matrices that are not given",
            ));
        }
    }
    let loss = (paper::TABLE_4[1].1[1] / paper::TABLE_4[1].1[0]).log2();
    claims.push(contradiction(
        "Table 4, caption and C.2",
        "r of the row that loses 9 bits",
        "12 in the text, 16 in the row",
        format!("the row r = 16 loses {loss:.1} bits"),
        "2.5r² = 640, S = 14, M = 2^112 and s < 16, all printed for r = 12, are the values of r = 16 as well",
    ));
    let (_, errors) = paper::TABLE_4[1];
    let bits = |error: f64| -error.log2();
    claims.push(contradiction(
        "Appendix B",
        "bits of Bernstein's method in doubles",
        "43; recursive 47; \"exactly\" 9 less",
        format!("Table 4 has {:.1} and {:.1}", bits(errors[3]), bits(errors[0])),
        "the sum s of residues below m times fractions below 1 is not below r but below r·m, which costs 6 to 7 bits more",
    ));
    claims.push(contradiction(
        "Appendix B, Figure 2, C.2",
        "bits of floats with Kahan's correction",
        "14, 18, and errors of 1.3e-3 to 3.4e-3",
        format!(
            "these errors are {:.1} to {:.1} bits",
            bits(3.4e-3),
            bits(1.3e-3)
        ),
        "neither 14 nor 18 bits are in Table 4",
    ));
    claims.push(contradiction(
        "Figure 2, C.1 and C.2",
        "slices with a sum in doubles",
        "\"full fp64\", and 9 bits lost",
        format!("Table 4 has {:.1} bits", bits(errors[1])),
        "both can be had: 9 bits and more are lost if the multiple of M is taken off in floating point, none if in integers first",
    ));
    claims
}

/// Bits of precision: an error agrees if it is off by a factor of two, which is one bit.
fn compare_bits(
    place: &str,
    what: &str,
    printed: f64,
    method: Option<&Measurement>,
    because: &str,
) -> Claim {
    let claim = |method: &Measurement| match method.bits {
        Some(bits) => Claim {
            printed: format!("{printed:.0} bits"),
            here: format!("{bits:.1} bits"),
            ..compare((place, what), 1.0, Some((printed - bits).exp2()), because)
        },
        None => Claim {
            place: place.into(),
            what: what.into(),
            printed: format!("{printed:.0} bits"),
            here: "all bits".into(),
            ratio: None,
            verdict: Verdict::Agrees,
            comment: "every integer is exact".into(),
        },
    };
    method.map_or_else(|| compare((place, what), printed, None, because), claim)
}

fn precision(evidence: Evidence) -> Vec<Claim> {
    let place = "Figure 2, C.1";
    let because_kahan = "with the multiple of M taken off in integers first, floats lose only what is below their 24 bits";
    vec![
        compare_bits(place, "recursive Garner", 53.0, evidence.cost("garner"), ""),
        compare_bits(place, "slices, fp64 sum", 53.0, evidence.cost("double"), ""),
        compare_bits(place, "slices, Sum2", 53.0, evidence.cost("sum2"), ""),
        compare_bits(
            place,
            "slices, Kulisch",
            53.0,
            evidence.cost("kulisch32"),
            "",
        ),
        compare_bits(
            place,
            "slices, DD on fp32",
            48.0,
            evidence.cost("double-single"),
            "two floats have 24 bits each, and the sign of the second is one more",
        ),
        compare_bits(
            "C.2",
            "slices, QD on fp32",
            72.0,
            evidence.of(Substrate::Seven, 16, "quad-single"),
            "four floats have 96 bits and more; 72 are three",
        ),
        compare_bits(
            place,
            "slices, fp32+Kahan",
            18.0,
            evidence.cost("single-kahan"),
            because_kahan,
        ),
        compare_bits(
            place,
            "Bernstein, fp64 sum",
            53.0,
            evidence.cost("bernstein-double"),
            "the sum is some hundred times the fraction that is wanted, and results stay 32 times below M: both cost bits. Table 4 has \
             37.6 bits for the same",
        ),
    ]
}

fn costs(evidence: Evidence) -> Vec<Claim> {
    let r = COST_R as f64;
    let slices = printed_slices(COST_R) as f64;
    let of = |method: &str, count: fn(&Measurement) -> f64| evidence.cost(method).map(count);
    let sum = |method| of(method, |m| m.operations.sum());
    let at_16 = evidence.of(Substrate::Seven, 16, "garner");
    let kulisch = evidence.cost("kulisch32");
    let counted_slices = kulisch.and_then(|m| m.slices);
    let mut claims = vec![
        contradiction(
            "C.1 and 4.2, r = 12",
            "slices S = ⌈7r/8⌉",
            "11 and 14",
            format!(
                "the formula: {slices}; counted with moduli of 7 bits: {}, of int8: {}",
                text(counted_slices),
                text(
                    evidence
                        .of(Substrate::Int8, COST_R, "kulisch32")
                        .and_then(|m| m.slices)
                )
            ),
            "14 is the formula's value for r = 16. What counts is log2(M)/8: moduli of int8 have nearly 8 bits",
        ),
        contradiction(
            "Equation 8 and C.1, r = 12",
            "operations of recursive Garner, 2.5r²",
            "360 and 640",
            format!(
                "the formula: {}; counted: {}, and {} for r = 16",
                2.5 * r * r,
                text(sum("garner")),
                text(at_16.map(|m| m.operations.sum()))
            ),
            "640 is 2.5·16². The count stays below: a digit is reduced once, after products that fit 32 bits were added up",
        ),
        compare(
            ("Equation 8, r = 12", "operations of recursive Garner"),
            2.5 * r * r,
            sum("garner"),
            "",
        ),
        compare(
            ("C.1, r = 12", "phase A, products rS"),
            r * slices,
            of("kulisch32", |m| m.operations.products()),
            "",
        ),
        compare(
            ("C.1, r = 12", "fp64 sum, S multiply-adds"),
            slices,
            sum("double"),
            "integers have to be converted to doubles, which is one operation more for each slice",
        ),
        compare(("C.1, r = 12", "Sum2, 6S"), 6.0 * slices, sum("sum2"), ""),
        compare(
            ("C.1, r = 12", "DD on fp32, 7S"),
            7.0 * slices,
            sum("double-single"),
            "",
        ),
        compare(
            ("C.1, r = 12", "Kulisch, 4S, the sum alone"),
            4.0 * slices,
            sum("kulisch32"),
            "",
        ),
        compare(
            ("C.1, r = 12", "fp32+Kahan, 4S"),
            4.0 * slices,
            sum("single-kahan"),
            "",
        ),
        compare(
            ("C.1, r = 12", "Bernstein, r multiply-adds and 3"),
            r + 3.0,
            sum("bernstein-double"),
            "residues have to be converted, and products round, so that they are not fused with the additions",
        ),
    ];
    claims.push(Claim {
        place: "C.1, r = 12".into(),
        what: "operations to take the multiple of M off".into(),
        printed: "none".into(),
        here: text(of("kulisch32", |m| m.operations.reduction)),
        ratio: None,
        verdict: kulisch.map_or(Verdict::NotMeasured, |_| Verdict::Differs),
        comment: "the sum in equation 12 is only congruent to the integer. Finding the multiple of M and taking it off every slice costs 2S + 6 \
                  operations on integers, nearly as much as Kulisch's sum"
            .into(),
    });
    let floor = 3.0 * 4.0 * 14.0 / 16.0;
    let coefficient = |count: Option<f64>| text(count.map(|count| figure(3.0 * count / 16.0)));
    claims.push(contradiction(
        "Equation 33",
        "3cS/16 with c = 4",
        "3·4·14/16 = 8.25, and 84 TOPS at 8 TB/s",
        format!(
            "3·4·14/16 = {floor}; counted: {} for the sum, {} with the multiple of M",
            coefficient(sum("kulisch32")),
            coefficient(of("kulisch32", |m| m.operations.words()))
        ),
        "8.25 is S = 11, and 84 TOPS are S = 14, by which B300 misses the floor that section 4.6 has it meet",
    ));
    claims.push(contradiction(
        "C.1 and C.2",
        "time of Sum2",
        "60 ms and 830 to 1200 ms",
        "6 times the operations of the sum that is printed as 163 ms".into(),
        "nothing runs faster for six times the work on the same pipe",
    ));
    claims.push(compare(
        ("4.5", "bits of the accumulator"),
        f64::from(paper::ACCUMULATOR_BITS),
        kulisch.and_then(|m| m.accumulator_bits).map(f64::from),
        "",
    ));
    claims
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or("not measured".into(), |value| value.to_string())
}

fn narrow_words(evidence: Evidence) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (word, printed, (fewest, most)) in paper::TABLE_2 {
        let counted = throughput(evidence, word);
        let because = "cutting a slice's sum into words takes a mask and a shift for every word, and every carry takes three \
                       operations; the formula counts one for each word";
        let what = format!("throughput of {word}-bit words, counted");
        let mut claim = compare(("Table 2", what), printed, counted, because);
        // Within the factor, and yet not what is claimed.
        if let Some(counted) = counted
            && printed > 1.0
            && counted < 1.05
        {
            let found = if counted < 0.95 {
                "a loss"
            } else {
                "break-even"
            };
            claim.verdict = Verdict::Differs;
            claim.comment = format!("printed as a gain, it is {found}: {because}");
        }
        claims.push(claim);
        let (fewest_wide, most_wide) = paper::TABLE_2[0].2;
        let of = |wide, words| {
            let wide = paper::equation_19(32, paper::radix_of(wide));
            wide / paper::equation_19(word, paper::radix_of(words))
        };
        let both = [fewest_wide, most_wide].map(|wide| [of(wide, fewest), of(wide, most)]);
        let least = both
            .as_flattened()
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let largest = both.as_flattened().iter().copied().fold(0.0, f64::max);
        // Printed with one digit behind the point.
        let within = (least - 0.05..=largest + 0.05).contains(&printed);
        claims.push(Claim {
            place: "Table 2 and equation 19".into(),
            what: format!("throughput of {word}-bit words by the formula"),
            printed: figure(printed),
            here: format!("{least:.2} to {largest:.2}, by the words of the table"),
            ratio: None,
            verdict: if within {
                Verdict::Agrees
            } else {
                Verdict::ContradictsItself
            },
            comment: if within {
                String::new()
            } else {
                "the formula with the paper's own S, payload and widths gives less".into()
            },
        });
    }
    claims
}

fn bands(evidence: Evidence) -> Vec<Claim> {
    let of = |accumulator: &str| {
        evidence.bands.iter().find(|bands| {
            bands.substrate == Substrate::Seven
                && bands.r == COST_R
                && bands.accumulator == accumulator
        })
    };
    let not_held = (1..).find(|&integer| !E4m3::holds(integer)).unwrap_or(0);
    let blackwell = of("blackwell");
    let mut claims = vec![
        compare(
            ("5.3", "bands, with an accumulator of 24 bits (Blackwell)"),
            paper::BANDS,
            blackwell.map(|bands| bands.bands as f64),
            "",
        ),
        compare(
            ("5.3", "bands, with Hopper's accumulator"),
            paper::BANDS,
            of("hopper").map(|bands| bands.bands as f64),
            "",
        ),
        compare(
            ("5.3", "share of phase A's products, every band by itself"),
            paper::SHARE,
            blackwell.map(|bands| bands.fp8_products / bands.phase_a_products),
            "",
        ),
        compare(
            (
                "5.3",
                "share of phase A's products, all bands in one matrix",
            ),
            paper::SHARE,
            blackwell.map(|bands| bands.fp8_products_of_one_matrix / bands.phase_a_products),
            "a sum of 16 bits and more is five nibbles, not one E4M3 number; so the product is five times as deep",
        ),
    ];
    claims.push(Claim {
        place: "5.3".into(),
        what: "operations on integers that are left".into(),
        printed: "none".into(),
        here: text(blackwell.map(|bands| bands.integer_operations)),
        ratio: None,
        verdict: blackwell.map_or(Verdict::NotMeasured, |_| Verdict::Differs),
        comment: "slices have to be cut into nibbles, and bands overlap: more than the sum in 32-bit words takes".into(),
    });
    claims.push(Claim {
        place: "5.3".into(),
        what: "integers that E4M3 holds".into(),
        printed: format!("all up to {}", paper::E4M3_EXACT_TO),
        here: format!("all up to {}", not_held - 1),
        ratio: None,
        verdict: if not_held > paper::E4M3_EXACT_TO { Verdict::Agrees } else { Verdict::Differs },
        comment: "a significand has four bits: above 16 every second integer is held, above 32 every fourth, and so on".into(),
    });
    claims
}
