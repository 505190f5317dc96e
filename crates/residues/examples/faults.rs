//! Redundant moduli at work, counted: alarms on clean products, faults of every kind, and faults beyond what is promised.
//!
//!     cargo run --release -p ozfft-residues --example faults
//!
//! Ends with an error where anything that is promised does not hold.

#[allow(dead_code)]
#[path = "../tests/faults/mod.rs"]
mod faults;

use faults::{Generator, Product, SETS, flip_stored, flips, redundant_system};
use residues::bytes::Sums;
use residues::redundant::{Faults, Outcome, Redundant};
use residues::{COLUMNS, Decomposer, I256, ResidueError, Residues, Set};

const ROWS: usize = 16;
const DEPTH: usize = 24;

/// One row of a product: the sums for every modulus, their residues, and the integers by 128-bit arithmetic.
struct Row {
    sums: Vec<Sums>,
    residues: Vec<Residues>,
    integers: [I256; COLUMNS],
}

fn reduced(decomposer: &Decomposer, sums: &[Sums]) -> Vec<Residues> {
    let rows = sums.iter().enumerate();
    rows.map(|(number, sums)| decomposer.reduce(number, sums))
        .collect()
}

/// The rows of a random product.
fn rows(system: &Redundant, generator: &mut Generator) -> Result<Vec<Row>, ResidueError> {
    let product = Product::random(ROWS, DEPTH, generator);
    let all = product.sums(system.moduli())?;
    let decomposer = Decomposer::new(system.moduli());
    let row = |row: usize| {
        let entries = &product.entries[row * DEPTH..][..DEPTH];
        let integer = |column: usize| {
            let terms = entries.iter().zip(&product.words);
            let products = terms.map(|(&x, words)| i128::from(x) * i128::from(words[column]));
            I256::from(products.sum::<i128>())
        };
        let sums: Vec<Sums> = all.iter().map(|sums| sums[row]).collect();
        Row {
            residues: reduced(&decomposer, &sums),
            sums,
            integers: std::array::from_fn(integer),
        }
    };
    Ok((0..ROWS).map(row).collect())
}

/// What became of columns with faults.
#[derive(Default)]
struct Count {
    /// Columns whose residues differ from the right ones.
    bad: u64,
    /// Columns whose residues do not, in spite of a fault.
    harmless: u64,
    right: u64,
    wrong: u64,
    unnoticed: u64,
    uncorrectable: u64,
}

impl Count {
    fn add(&mut self, system: &Redundant, row: &Row, residues: &[Residues]) {
        let mut integers = [I256::ZERO; COLUMNS];
        let outcomes = system.check(residues, &mut integers, &mut Faults::default());
        for (column, outcome) in outcomes.into_iter().enumerate() {
            let mut pairs = residues.iter().zip(&row.residues);
            if pairs.all(|(found, right)| found[column] == right[column]) {
                assert_eq!(outcome, Outcome::Clean, "a false alarm");
                self.harmless += 1;
                continue;
            }
            self.bad += 1;
            let right = integers[column] == row.integers[column];
            *match outcome {
                Outcome::Clean => &mut self.unnoticed,
                Outcome::Corrected(_) if right => &mut self.right,
                Outcome::Corrected(_) => &mut self.wrong,
                Outcome::Uncorrectable => &mut self.uncorrectable,
            } += 1;
        }
    }

    fn print(&self, set: Set, redundant: usize, what: &str) {
        let set = set.to_string();
        println!(
            "{set:5} {redundant:2}  {what:32} {:9} {:9} {:9} {:9} {:9} {:9}",
            self.bad, self.harmless, self.right, self.uncorrectable, self.wrong, self.unnoticed
        );
    }
}

fn clean(generator: &mut Generator) -> Result<(), ResidueError> {
    let mut faults = Faults::default();
    for set in SETS {
        for redundant in 1..=4 {
            let system = redundant_system(set, Product::bound(DEPTH), redundant)?;
            for _ in 0..5_000 {
                for row in rows(&system, generator)? {
                    let mut integers = [I256::ZERO; COLUMNS];
                    system.check(&row.residues, &mut integers, &mut faults);
                    assert_eq!(integers, row.integers);
                }
            }
        }
    }
    println!(
        "{} clean integers, {} alarms",
        faults.columns, faults.detected
    );
    assert_eq!(faults.detected, 0);
    Ok(())
}

/// One fault in every column.
fn single(generator: &mut Generator) -> Result<(), ResidueError> {
    for set in SETS {
        for redundant in 1..=4 {
            let system = redundant_system(set, Product::bound(DEPTH), redundant)?;
            let decomposer = Decomposer::new(system.moduli());
            let promised = |count: &Count| {
                assert_eq!(count.unnoticed + count.wrong, 0);
                assert!(redundant < 2 || count.right == count.bad);
            };
            for &(bits, width) in flips(set) {
                let mut count = Count::default();
                for _ in 0..200 {
                    for row in rows(&system, generator)? {
                        let mut residues = row.residues.clone();
                        flip_stored(&mut residues, (bits, width), 1, generator);
                        count.add(&system, &row, &residues);
                    }
                }
                promised(&count);
                let what = format!("{} of {width} bits of a residue", bits.min(width));
                count.print(set, redundant, &what);
            }
            for bits in [1, 2, 8, 32] {
                let mut count = Count::default();
                for _ in 0..200 {
                    for mut row in rows(&system, generator)? {
                        for column in 0..COLUMNS {
                            let number = generator.below(row.sums.len());
                            row.sums[number][column] ^= generator.mask(bits, 32) as i32;
                        }
                        let residues = reduced(&decomposer, &row.sums);
                        count.add(&system, &row, &residues);
                    }
                }
                promised(&count);
                count.print(set, redundant, &format!("{bits} of 32 bits of a sum"));
            }
        }
    }
    Ok(())
}

/// Several bad residues, as many as are promised to be found and more, with and without correction.
fn several(generator: &mut Generator) -> Result<(), ResidueError> {
    for set in SETS {
        for redundant in 1..=4 {
            for corrects in [0, redundant / 2] {
                let system = redundant_system(set, Product::bound(DEPTH), redundant)?;
                let system = system.correcting(corrects);
                for bad in 2..=redundant + 2 {
                    let mut count = Count::default();
                    for _ in 0..100 {
                        for row in rows(&system, generator)? {
                            let mut residues = row.residues.clone();
                            flip_residues(&system, &mut residues, bad, generator);
                            count.add(&system, &row, &residues);
                        }
                    }
                    if bad <= system.detects() {
                        assert_eq!(count.unnoticed + count.wrong, 0);
                    }
                    if bad <= system.corrects() {
                        assert_eq!(count.right, count.bad);
                    }
                    let what = format!("{bad} residues, {corrects} corrected");
                    count.print(set, redundant, &what);
                }
                if redundant == 1 {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Other residues of the same moduli: nothing that is out of range gives them away.
fn flip_residues(
    system: &Redundant,
    residues: &mut [Residues],
    count: usize,
    generator: &mut Generator,
) {
    for column in 0..COLUMNS {
        for place in generator.places(count, residues.len()) {
            let modulus = i32::from(system.moduli().values()[place]);
            let residue = &mut residues[place][column];
            let other = i32::from(*residue) + 1 + generator.below(modulus as usize - 1) as i32;
            let other = if 2 * other >= modulus {
                other - modulus
            } else {
                other
            };
            *residue = other as i16;
        }
    }
}

fn main() -> Result<(), ResidueError> {
    let mut generator = Generator::new(0xfa_117);
    clean(&mut generator)?;
    println!(
        "\nset    k  {:32} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "fault", "bad", "harmless", "corrected", "found", "wrongly", "unnoticed"
    );
    single(&mut generator)?;
    println!();
    several(&mut generator)
}
