//! `ozfft-lab decompositions`: how a transform is cut into steps, and what that does to residues. Section 8 (6) of the paper asks which
//! decomposition has the least reconstruction; 8 (4) asks for phase B by residues again.
//!
//! Every decomposition runs in integers: words of 60 bits under one exponent, products of every step by residues (`residues::complex::FoldedDft`),
//! reconstructed exactly, rotated and rounded to words. So errors are those of words, matrix entries and roots alone, and counts are those of
//! what ran. Steps of two and four points have entries 0, ±1 and ±i: they are additions, and need no residues.

use crate::failure::Failure;
use clap::Args;
use num_complex::Complex;
use ozfft_measure::report::{say, write_text};
use ozfft_testkit::oracle::spectrum::ExactSpectrum;
use ozfft_testkit::oracle::{Direction, DoubleDouble, dft, inputs, roots};
use residues::bytes::Portable;
use residues::complex::FoldedDft;
use residues::products::Unit8;
use residues::reconstruct::{Method, Reconstruction};
use residues::{COLUMNS, I256, Moduli, ResidueError, Residues, Set, U256};
use std::path::PathBuf;
use std::sync::Arc;

/// Bits of a word: parts are below 2^60.
const WORD_BITS: u32 = 60;
/// Bits behind the point of matrix entries.
const ENTRY_BITS: u32 = 54;
/// Bits behind the point of roots between steps.
const ROOT_BITS: u32 = 62;

/// Options of `ozfft-lab decompositions`.
#[derive(Debug, Args)]
pub struct DecompositionsArguments {
    /// The document to write, such as laboratory/docs/decompositions.md
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Where a step reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Geometry {
    /// Stockham's: outputs of a step lie where the next one wants them, and the last in order. With two steps it is what Bailey's four and six
    /// steps compute, which differ in transpositions alone.
    Autosort,
    /// Pease's: every step reads and writes at the same places; outputs are in reversed order of digits.
    Constant,
}

#[derive(Debug, Clone)]
struct Decomposition {
    name: &'static str,
    steps: Vec<usize>,
    geometry: Geometry,
}

/// Those that the paper names, for lengths that have them.
fn decompositions(n: usize) -> Vec<Decomposition> {
    let of = |name, steps: &[usize], geometry| Decomposition {
        name,
        steps: steps.to_vec(),
        geometry,
    };
    use Geometry::{Autosort, Constant};
    match n {
        1024 => vec![
            of("Bailey, four and six steps", &[32, 32], Autosort),
            of("Stockham, radix 16, 8 and 8", &[16, 8, 8], Autosort),
            of("Stockham, radix 8 and 4", &[8, 8, 4, 4], Autosort),
            of("Stockham, radix 4", &[4; 5], Autosort),
            of("Pease, radix 2", &[2; 10], Constant),
        ],
        _ => vec![
            of("Bailey, four and six steps", &[64, 64], Autosort),
            of("Stockham, radix 16", &[16; 3], Autosort),
            of("Stockham, radix 8", &[8; 4], Autosort),
            of("Stockham, radix 4", &[4; 6], Autosort),
            of("Pease, radix 2", &[2; 12], Constant),
        ],
    }
}

/// A line of complex integers times a power of two.
struct Line {
    words: Vec<Complex<i64>>,
    exponent: i32,
}

impl Line {
    fn quantised(line: &[Complex<f64>]) -> Line {
        let largest = line
            .iter()
            .fold(0f64, |most, x| most.max(x.re.abs()).max(x.im.abs()));
        // The largest part is at least 2^59 and below 2^60; doubles of 53 bits fit without rounding unless they are far smaller.
        let exponent = largest.log2().floor() as i32 + 1 - WORD_BITS as i32;
        let word = |x: f64| (x * 2f64.powi(-exponent)).round() as i64;
        Line {
            words: line
                .iter()
                .map(|x| Complex::new(word(x.re), word(x.im)))
                .collect(),
            exponent,
        }
    }

    /// From integers of a common exponent: rounded to words.
    fn rounded(integers: &[Complex<i128>], exponent: i32) -> Line {
        let parts = integers.iter().flat_map(|x| [x.re, x.im]);
        let bits = parts
            .map(|part| 128 - part.unsigned_abs().leading_zeros())
            .max();
        let off = bits.unwrap_or(0).saturating_sub(WORD_BITS);
        let word = |x: i128| match off {
            0 => x as i64,
            off => ((x + (1 << (off - 1))) >> off) as i64,
        };
        Line {
            words: integers
                .iter()
                .map(|x| Complex::new(word(x.re), word(x.im)))
                .collect(),
            exponent: exponent + off as i32,
        }
    }
}

/// A root of unity, `exp(-2πi · exponent / order)`, in fixed point.
fn root(exponent: usize, order: usize, bits: u32) -> Complex<i128> {
    let exact = roots::root_of_unity(exponent % order, order);
    let fixed = |x: DoubleDouble| {
        let scaled = x.scale_by_power_of_two(bits as i32);
        // The high part is a multiple of a power of two and the low one below half of its last place: both are exact.
        scaled.hi as i128 + scaled.lo.round() as i128
    };
    Complex::new(fixed(exact.re), fixed(exact.im))
}

/// Outputs of steps, as exact integers with this many bits behind the point.
struct Step {
    points: usize,
    /// None where entries are 0, ±1 and ±i.
    residues: Option<(Moduli, FoldedDft, Box<dyn Reconstruction>)>,
}

/// What ran, for one line.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Counts {
    /// Multiply-adds of bytes: products of all moduli, and those that decompose words.
    products: f64,
    /// Integers that were reconstructed.
    outputs: f64,
    /// Multiply-adds of bytes, and integer operations, of their reconstruction.
    phase_a: f64,
    integers: f64,
    /// Rotations by roots, on words.
    rotations: f64,
    /// Additions of words in steps without residues.
    additions: f64,
    most_moduli: usize,
}

impl Step {
    fn new(points: usize) -> Result<Step, ResidueError> {
        if points <= 4 {
            return Ok(Step {
                points,
                residues: None,
            });
        }
        // |Σ c·x + s·y| is at most √2 times the number of points times the largest part and entry.
        let bound =
            U256::from((1.4143 * points as f64 * 1e6).ceil() as u64) << (WORD_BITS + ENTRY_BITS);
        let moduli = Moduli::holding(Set::Int8, bound / U256::from(1_000_000u32))?;
        let table = |part: fn(Complex<i128>) -> i128| -> Vec<i64> {
            // Even and odd to the last bit: only half of the table is worked out.
            (0..points)
                .map(|t| match 2 * t <= points {
                    true => part(root(t, points, ENTRY_BITS)) as i64,
                    false => part(root(points - t, points, ENTRY_BITS).conj()) as i64,
                })
                .collect()
        };
        let (cosines, sines) = (table(|root| root.re), table(|root| -root.im));
        let unit = Unit8::Int8(Arc::new(Portable));
        let transform = FoldedDft::new(&moduli, &cosines, &sines, &unit)?;
        let reconstruction = Method::Kulisch32.build(&moduli, Arc::new(Portable))?;
        Ok(Step {
            points,
            residues: Some((moduli, transform, reconstruction)),
        })
    }

    /// Bits behind the point that outputs have more than inputs.
    fn bits(&self) -> u32 {
        if self.residues.is_some() {
            ENTRY_BITS
        } else {
            0
        }
    }

    /// The transforms of columns, each of `points` words: exact integers.
    fn run(&self, columns: &[Vec<Complex<i64>>], counts: &mut Counts) -> Vec<Vec<Complex<i128>>> {
        let Some((moduli, transform, reconstruction)) = &self.residues else {
            counts.additions +=
                (columns.len() * self.points) as f64 * (self.points as f64).log2() * 2.0;
            return columns.iter().map(|column| by_additions(column)).collect();
        };
        counts.most_moduli = counts.most_moduli.max(moduli.len());
        let mut results = Vec::with_capacity(columns.len());
        for panel in columns.chunks(COLUMNS) {
            let part = |of: fn(&Complex<i64>) -> i64| -> Vec<[i64; COLUMNS]> {
                (0..self.points)
                    .map(|j| {
                        std::array::from_fn(|column| {
                            panel.get(column).map_or(0, |column| of(&column[j]))
                        })
                    })
                    .collect()
            };
            let (real, imaginary) = (part(|x| x.re), part(|x| x.im));
            let mut sums = [vec![[0; COLUMNS]; self.points * moduli.len()], Vec::new()];
            sums[1] = sums[0].clone();
            let [re, im] = &mut sums;
            transform.transform((&real, &imaginary), (re, im));
            let integers = sums.map(|part| {
                let output = |residues: &[Residues]| {
                    let mut integers = [I256::ZERO; COLUMNS];
                    reconstruction.reconstruct(residues, &mut integers);
                    integers
                };
                part.chunks_exact(moduli.len())
                    .map(output)
                    .collect::<Vec<_>>()
            });
            let of_one = reconstruction.operations(&vec![[1; COLUMNS]; moduli.len()]);
            let columns = panel.len() as f64;
            let outputs = 2.0 * self.points as f64 * columns;
            counts.outputs += outputs;
            counts.phase_a += outputs * of_one.int8_products;
            counts.integers += outputs * (of_one.integer + of_one.reduction);
            // Products of a modulus, and eight bytes times powers of 256 for every word.
            let products = transform.products() as f64 + 8.0 * 2.0 * self.points as f64;
            counts.products += columns * moduli.len() as f64 * products;
            let outputs_of = |column: usize| -> Vec<Complex<i128>> {
                let part = |part: &[[I256; COLUMNS]], k: usize| part[k][column].as_i128();
                let output = |k| Complex::new(part(&integers[0], k), part(&integers[1], k));
                (0..self.points).map(output).collect()
            };
            results.extend((0..panel.len()).map(outputs_of));
        }
        results
    }
}

/// Two or four points: entries are 1, -1, i and -i.
fn by_additions(column: &[Complex<i64>]) -> Vec<Complex<i128>> {
    let x: Vec<Complex<i128>> = column
        .iter()
        .map(|x| Complex::new(x.re.into(), x.im.into()))
        .collect();
    if x.len() == 2 {
        return vec![x[0] + x[1], x[0] - x[1]];
    }
    let (even, odd) = ([x[0] + x[2], x[0] - x[2]], [x[1] + x[3], x[1] - x[3]]);
    // -i times the second difference.
    let turned = Complex::new(odd[1].im, -odd[1].re);
    vec![
        even[0] + odd[0],
        even[1] + turned,
        even[0] - odd[0],
        even[1] - turned,
    ]
}

/// An integer times a root of unity, whose bits behind the point are taken off again with one rounding.
fn rotated(x: Complex<i128>, root: Complex<i128>) -> Complex<i128> {
    let wide = |a: i128| I256::from(a);
    let half = I256::ONE << (ROOT_BITS - 1);
    let (re, im) = (
        wide(x.re) * wide(root.re) - wide(x.im) * wide(root.im),
        wide(x.re) * wide(root.im) + wide(x.im) * wide(root.re),
    );
    Complex::new(
        ((re + half) >> ROOT_BITS).as_i128(),
        ((im + half) >> ROOT_BITS).as_i128(),
    )
}

/// Runs a decomposition: the spectrum in words, in order, and what it took.
fn transformed(
    line: &[Complex<f64>],
    decomposition: &Decomposition,
) -> Result<(Line, Counts), ResidueError> {
    let n = line.len();
    let mut counts = Counts::default();
    let mut current = Line::quantised(line);
    let (mut length, mut stride) = (n, 1);
    for (number, &radix) in decomposition.steps.iter().enumerate() {
        let step = Step::new(radix)?;
        let groups = n / radix;
        // Column number g reads `radix` words, and output k of it is rotated by a root and written.
        let parts = length / radix;
        let read = |group: usize, j: usize| match decomposition.geometry {
            Geometry::Autosort => group % stride + stride * (group / stride + parts * j),
            Geometry::Constant => group + groups * j,
        };
        let write = |group: usize, k: usize| match decomposition.geometry {
            Geometry::Autosort => group % stride + stride * (radix * (group / stride) + k),
            Geometry::Constant => radix * group + k,
        };
        let turn = |group: usize, k: usize| match decomposition.geometry {
            Geometry::Autosort => stride * (group / stride) * k,
            Geometry::Constant => group / radix.pow(number as u32) * radix.pow(number as u32) * k,
        };
        let columns: Vec<Vec<Complex<i64>>> = (0..groups)
            .map(|group| (0..radix).map(|j| current.words[read(group, j)]).collect())
            .collect();
        let outputs = step.run(&columns, &mut counts);
        let mut integers = vec![Complex::new(0, 0); n];
        for (group, column) in outputs.iter().enumerate() {
            for (k, &output) in column.iter().enumerate() {
                let exponent = turn(group, k) % n;
                let value = match exponent {
                    0 => output,
                    exponent => {
                        counts.rotations += 1.0;
                        rotated(output, root(exponent, n, ROOT_BITS))
                    }
                };
                integers[write(group, k)] = value;
            }
        }
        current = Line::rounded(&integers, current.exponent - step.bits() as i32);
        length = parts;
        stride *= radix;
    }
    if decomposition.geometry == Geometry::Constant {
        current.words = reversed(&current.words, &decomposition.steps);
    }
    Ok((current, counts))
}

/// Words by the reversed digits of their places.
fn reversed(words: &[Complex<i64>], steps: &[usize]) -> Vec<Complex<i64>> {
    let place = |mut index: usize| {
        steps.iter().fold(0, |place, &radix| {
            let digit = index % radix;
            index /= radix;
            place * radix + digit
        })
    };
    (0..words.len()).map(|index| words[place(index)]).collect()
}

/// Relative L2 errors against the exact spectrum: of the words, and of them rounded to doubles.
fn errors(line: &Line, exact: &ExactSpectrum) -> (f64, f64) {
    let (mut words, mut doubles, mut norm) = (0f64, 0f64, 0f64);
    let exponent = line.exponent - exact.exponent;
    for (word, exact) in line.words.iter().zip(&exact.values) {
        for (word, exact) in [(word.re, exact.re), (word.im, exact.im)] {
            // Both parts are exact: 53 bits, and the rest.
            let high = word as f64;
            let low = (word - high as i64) as f64;
            let value = DoubleDouble::from_sum(high, low).scale_by_power_of_two(exponent);
            let rounded = DoubleDouble::from_sum(value.to_f64(), 0.0);
            words += (value - exact).to_f64().powi(2);
            doubles += (rounded - exact).to_f64().powi(2);
            norm += exact.to_f64().powi(2);
        }
    }
    ((words / norm).sqrt(), (doubles / norm).sqrt())
}

/// Phase B by residues again (8 (4)): what a second system would have to hold, and what it adds.
struct Recursion {
    moduli: usize,
    slices: usize,
    slice_bits: u32,
    second: usize,
    products: usize,
}

/// Slices of the integers that `moduli` hold, as residues of a second system that holds their sum.
fn recursion(count: usize) -> Result<Recursion, ResidueError> {
    let first = Moduli::first(Set::Int8, count)?;
    let slices = (first.bits() / 8.0).ceil() as usize;
    // r products of a residue and a byte.
    let slice_bits = 16 + (count as f64).log2().ceil() as u32;
    let bound = first.largest();
    let second = Moduli::holding(Set::Int8, bound)?;
    Ok(Recursion {
        moduli: count,
        slices,
        slice_bits,
        second: second.len(),
        // A slice's sum has so many bytes, each of which is multiplied modulo every modulus.
        products: second.len() * slices * slice_bits.div_ceil(8) as usize,
    })
}

/// A count of one of the decompositions of 1024 points, by its steps: for one point of a line.
pub fn count(steps: &str, field: &str) -> Result<f64, String> {
    let wanted = |of: &Decomposition| {
        let own: Vec<String> = of.steps.iter().map(usize::to_string).collect();
        own.join(".") == steps
    };
    let found = decompositions(1024).into_iter().find(wanted);
    let found = found.ok_or_else(|| format!("no decomposition has the steps {steps}"))?;
    let line = inputs::uniform_complex(1024, 1);
    let (_, counts) = transformed(&line, &found).map_err(|error| error.to_string())?;
    match field {
        "outputs" => Ok(counts.outputs / 1024.0),
        "products" => Ok(counts.products / 1024.0),
        _ => Err(format!("a decomposition has no {field}")),
    }
}

/// Moduli of the second system, or the products that it adds, where the first has so many.
pub fn recursion_count(moduli: &str, field: &str) -> Result<f64, String> {
    let count = moduli
        .parse()
        .map_err(|_| format!("{moduli} is no number of moduli"))?;
    let found = recursion(count).map_err(|error| error.to_string())?;
    match field {
        "moduli" => Ok(found.second as f64),
        "products" => Ok(found.products as f64),
        _ => Err(format!("phase B by residues has no {field}")),
    }
}

/// The document, which is the same on every machine.
fn document() -> Result<String, Failure> {
    let failed = |error: ResidueError| Failure::Check(error.to_string());
    let mut parts = vec![INTRODUCTION.trim().to_string()];
    for n in [1024, 4096] {
        let line = inputs::uniform_complex(n, 1);
        let exact = dft(&line, Direction::Forward);
        let mut rows = vec![
            "| decomposition | steps | moduli | products of bytes | integers reconstructed | phase A | integer operations | rotations | additions | error, words | error, doubles |"
                .to_string(),
            format!("|{}", "---|".repeat(11)),
        ];
        for decomposition in decompositions(n) {
            let (found, counts) = transformed(&line, &decomposition).map_err(failed)?;
            let (words, doubles) = errors(&found, &exact);
            let a_point = |count: f64| match count / n as f64 {
                0.0 => "0".to_string(),
                value => roofline::table::significant(value, 3),
            };
            let moduli = match counts.most_moduli {
                0 => "none".to_string(),
                count => count.to_string(),
            };
            let steps: Vec<String> = decomposition.steps.iter().map(usize::to_string).collect();
            rows.push(format!(
                "| {} | {} | {moduli} | {} | {} | {} | {} | {} | {} | {words:.1e} | {doubles:.1e} |",
                decomposition.name,
                steps.join("·"),
                a_point(counts.products),
                a_point(counts.outputs),
                a_point(counts.phase_a),
                a_point(counts.integers),
                a_point(counts.rotations),
                a_point(counts.additions),
            ));
        }
        parts.push(format!("## {n} points\n\n{}", rows.join("\n")));
    }
    parts.push(CONCLUSIONS.trim().to_string());
    let mut rows = vec![
        "| moduli | slices | bits of a slice's sum | moduli of the second system | products of bytes that it adds |".to_string(),
        format!("|{}", "---|".repeat(5)),
    ];
    for count in [12, 15, 16] {
        let Recursion {
            moduli,
            slices,
            slice_bits,
            second,
            products,
        } = recursion(count).map_err(failed)?;
        rows.push(format!(
            "| {moduli} | {slices} | {slice_bits} | {second} | {products} |"
        ));
    }
    parts.push(format!("{}\n\n{}", RECURSION.trim(), rows.join("\n")));
    Ok(parts.join("\n\n") + "\n")
}

const INTRODUCTION: &str = "
# Decompositions under residues

Which way of cutting a transform into steps has the least reconstruction (section 8 (6) of the paper)? Made by `ozfft-lab decompositions --out
laboratory/docs/decompositions.md`; a test holds this page to it, and the numbers are the same on every machine.

Every decomposition runs in integers: words of 60 bits under one exponent a line, 55-bit matrix entries, products by residues of 8 bits, exact reconstruction (`kulisch32`),
rotations by 62-bit roots, one rounding to words a step. Steps of two and four points have entries 0, ±1 and ±i: they are additions. Counts are for one point of a
line; products of bytes have those that decompose words (eight a word and modulus); integer operations are those of the reconstruction, the multiple of M
included; errors are relative L2 errors of random complex input, of the words and of doubles that they are rounded to (an exact result rounded once has 4.7e-17).
";

const CONCLUSIONS: &str = "
## What comes out

- **Reconstructions go with the number of steps that have products**, two integers a point each. Bailey's two steps have the fewest of all that use a matrix unit for everything; steps of 8 and 16
  points alone save products and pay for it with reconstructions. 8·8·4·4 has Bailey's reconstructions and half of its products, because steps of four points are additions. Four and six steps are the
  same arithmetic; Stockham's and Pease's orders differ in places, not in numbers.
- **The number of moduli does not depend on the radix here**: a sum of R products has log2 R bits more, and 60 + 54 are there already.
- **Radix 4 needs no reconstruction at all**: its steps are additions and rotations, and its error is smaller, because no matrix entry is rounded. It leaves the matrix unit idle; its work is rotations on
  vector units, three to four times as many as Bailey's. Digits make a part of that trade with one step of two or four points a block.
- Rounded to doubles all of them are alike: the words are far finer than a double.
";

const RECURSION: &str = "
## Phase B by residues again

Section 8 (4) asks whether phase B, the sum of slices, could be a smaller Ozaki-II product itself. Its result is the same integer, so a second system must hold as many
bits as the first: it has as many moduli, its residues have to be reconstructed in the same way, and the products come on top. (Fewer moduli would do if fewer bits of the integer were wanted; but
the integer is only known to be below M, and which of its bits are the leading ones is what a reconstruction finds out.)
";

/// Runs the command.
pub fn run(arguments: &DecompositionsArguments) -> Result<(), Failure> {
    let made = document()?;
    match &arguments.out {
        Some(path) => write_text(path, &made)?,
        None => say(&made)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decomposition_computes_the_transform() {
        for n in [1024, 4096] {
            let line = inputs::uniform_complex(n, 7);
            let exact = dft(&line, Direction::Forward);
            for decomposition in decompositions(n) {
                assert_eq!(decomposition.steps.iter().product::<usize>(), n);
                let (found, _) = transformed(&line, &decomposition).expect("residues");
                let (words, doubles) = errors(&found, &exact);
                // Entries are off by 2^-55 at most, words by 2^-60 of the largest: some units of 1e-17 after all steps.
                assert!(
                    words < 6e-17 && doubles < 8e-17,
                    "{n}, {}: {words:e} {doubles:e}",
                    decomposition.name
                );
            }
        }
    }

    #[test]
    fn steps_by_residues_return_the_integers_of_the_definition() {
        let step = Step::new(8).expect("residues");
        let mut generator = inputs::Generator::new(3);
        let mut word = || (generator.next_u64() >> 4) as i64 - (1 << 59);
        let columns: Vec<Vec<Complex<i64>>> = (0..5)
            .map(|_| (0..8).map(|_| Complex::new(word(), word())).collect())
            .collect();
        let found = step.run(&columns, &mut Counts::default());
        for (column, found) in columns.iter().zip(found) {
            for (k, found) in found.iter().enumerate() {
                let mut expected = Complex::new(0i128, 0);
                for (j, x) in column.iter().enumerate() {
                    let t = j * k % 8;
                    // Entries as the step rounds them: even and odd.
                    let entry = match 2 * t <= 8 {
                        true => root(t, 8, ENTRY_BITS),
                        false => root(8 - t, 8, ENTRY_BITS).conj(),
                    };
                    expected += Complex::new(i128::from(x.re), i128::from(x.im)) * entry;
                }
                assert_eq!(*found, expected, "output {k}");
            }
        }
    }

    #[test]
    fn the_document_is_what_the_command_writes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/decompositions.md");
        let written = std::fs::read_to_string(path).expect("the document");
        assert!(
            written == document().expect("a document"),
            "laboratory/docs/decompositions.md is out of date; make it again with `ozfft-lab decompositions --out laboratory/docs/decompositions.md`"
        );
    }
}
