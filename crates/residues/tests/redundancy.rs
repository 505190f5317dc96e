//! Faults are put into residues and into the sums that they come from; redundant moduli must find and correct them.
//!
//! The referee is big integers: they say what every integer and every residue should be.

mod faults;

use faults::{
    Generator, Product, SETS, big, bounds, flip_stored, flips, redundant_system, residue, short,
};
use num_bigint::BigInt;
use residues::bytes::{Portable, Sums};
use residues::reconstruct::Method;
use residues::redundant::{Faults, Outcome, Redundant};
use residues::{COLUMNS, Decomposer, I256, Moduli, ResidueError, Residues, Set, U256};
use std::sync::Arc;

/// Integers, and what their residues should be.
struct Panel {
    integers: [I256; COLUMNS],
    residues: Vec<Residues>,
}

impl Panel {
    fn new(integers: &[BigInt], moduli: &Moduli) -> Panel {
        let row = |&m: &u16| std::array::from_fn(|column| residue(&integers[column], m));
        Panel {
            integers: std::array::from_fn(|column| short(&integers[column])),
            residues: moduli.values().iter().map(row).collect(),
        }
    }

    fn random(system: &Redundant, generator: &mut Generator) -> Panel {
        let bound = big(system.bound());
        let integers: Vec<BigInt> = (0..COLUMNS).map(|_| generator.within(&bound)).collect();
        Panel::new(&integers, system.moduli())
    }

    /// The moduli whose residues in a column are not what they should be.
    fn bad(&self, residues: &[Residues], column: usize) -> Vec<usize> {
        let rows = residues.iter().zip(&self.residues);
        let differing = rows.map(|(found, right)| found[column] != right[column]);
        let numbered = differing.enumerate().filter(|&(_, differs)| differs);
        numbered.map(|(place, _)| place).collect()
    }

    /// Checks residues that faults went into, no more of them than are surely found. Columns whose faults are few enough
    /// must come out as the right integers, with the bad moduli named.
    fn expect(&self, system: &Redundant, residues: &[Residues], faults: &mut Faults) {
        let mut integers = [I256::ZERO; COLUMNS];
        let outcomes = system.check(residues, &mut integers, faults);
        for (column, outcome) in outcomes.into_iter().enumerate() {
            let bad = self.bad(residues, column);
            assert!(bad.len() <= system.detects());
            match outcome {
                Outcome::Clean => assert!(bad.is_empty(), "{bad:?} went unnoticed"),
                Outcome::Corrected(places) => {
                    assert_eq!(places.iter().collect::<Vec<_>>(), bad);
                    assert_eq!(places.count(), bad.len());
                }
                Outcome::Uncorrectable => assert!(bad.len() > system.corrects(), "{bad:?}"),
            }
            if outcome != Outcome::Uncorrectable {
                assert_eq!(integers[column], self.integers[column]);
            }
        }
    }
}

/// One in five, unless there is time for everything (`./run-tests --everything`).
fn share(panels: usize) -> usize {
    if ozfft_testkit::everything() {
        panels
    } else {
        panels / 5
    }
}

/// Panels for every set, bound and number of redundant moduli.
fn every_case(
    panels: usize,
    redundant: &[usize],
    generator: &mut Generator,
    mut with: impl FnMut(&Redundant, &Panel, &mut Generator),
) -> Result<(), ResidueError> {
    for set in SETS {
        for bound in bounds() {
            for &k in redundant {
                let system = redundant_system(set, bound, k)?;
                for _ in 0..panels {
                    let panel = Panel::random(&system, generator);
                    with(&system, &panel, generator);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn one_bad_residue_is_found_and_with_two_redundant_moduli_corrected() -> Result<(), ResidueError> {
    let mut generator = Generator::new(0x0ddb_a110);
    let mut faults = Faults::default();
    let (mut expected, mut corrected) = (0, 0);
    every_case(
        share(200),
        &[1, 2, 3, 4],
        &mut generator,
        |system, panel, generator| {
            for &flip in flips(system.moduli().set()) {
                for _ in 0..4 {
                    let mut residues = panel.residues.clone();
                    flip_stored(&mut residues, flip, 1, generator);
                    let before = faults.corrected;
                    panel.expect(system, &residues, &mut faults);
                    if system.corrects() > 0 {
                        expected += COLUMNS as u64;
                        corrected += faults.corrected - before;
                    }
                }
            }
        },
    )?;
    println!("{faults:?}");
    assert_eq!(faults.detected, faults.columns);
    assert_eq!(faults.corrected + faults.uncorrectable, faults.detected);
    assert_eq!(corrected, expected);
    Ok(())
}

#[test]
fn two_bad_residues_are_found_with_two_redundant_moduli_and_corrected_with_four()
-> Result<(), ResidueError> {
    let mut generator = Generator::new(0xbad_beef);
    let mut faults = Faults::default();
    for set in SETS {
        for bound in bounds() {
            let finding = redundant_system(set, bound, 2)?.correcting(0);
            assert_eq!((finding.corrects(), finding.detects()), (0, 2));
            let both = redundant_system(set, bound, 3)?;
            assert_eq!((both.corrects(), both.detects()), (1, 2));
            let correcting = redundant_system(set, bound, 4)?;
            assert_eq!((correcting.corrects(), correcting.detects()), (2, 2));
            for system in [finding, both, correcting] {
                let before = faults;
                for _ in 0..share(50) {
                    let panel = Panel::random(&system, &mut generator);
                    for &flip in flips(set) {
                        let mut residues = panel.residues.clone();
                        flip_stored(&mut residues, flip, 2, &mut generator);
                        panel.expect(&system, &residues, &mut faults);
                    }
                }
                let columns = faults.columns - before.columns;
                assert_eq!(faults.detected - before.detected, columns);
                if system.corrects() == 2 {
                    assert_eq!(faults.corrected - before.corrected, columns);
                }
            }
        }
    }
    println!("{faults:?}");
    Ok(())
}

#[test]
fn bad_sums_of_the_matrix_unit_are_found_and_corrected() -> Result<(), ResidueError> {
    let mut generator = Generator::new(0x5ca1_ab1e);
    let mut faults = Faults::default();
    // Flips that leave the sum the same modulo its modulus, which is all that anything later sees of it.
    let mut harmless = 0;
    let (rows, depth) = (16, 24);
    for set in SETS {
        for k in 1..=4 {
            let system = redundant_system(set, Product::bound(depth), k)?;
            let decomposer = Decomposer::new(system.moduli());
            for _ in 0..6 {
                let product = Product::random(rows, depth, &mut generator);
                let sums = product.sums(system.moduli())?;
                for row in 0..rows {
                    let panel = Panel::new(&product.integers(row), system.moduli());
                    let mut exact: Vec<Sums> = sums.iter().map(|sums| sums[row]).collect();
                    for bits in [0, 1, 2, 8, 32] {
                        for _ in 0..10 {
                            let sums = exact.clone();
                            for column in 0..if bits == 0 { 0 } else { COLUMNS } {
                                let number = generator.below(exact.len());
                                exact[number][column] ^= generator.mask(bits, 32) as i32;
                            }
                            let reduced: Vec<Residues> = (exact.iter().enumerate())
                                .map(|(number, sums)| decomposer.reduce(number, sums))
                                .collect();
                            let before = faults;
                            panel.expect(&system, &reduced, &mut faults);
                            let columns = 0..COLUMNS;
                            let bad = columns.filter(|&c| !panel.bad(&reduced, c).is_empty());
                            let bad = bad.count() as u64;
                            assert_eq!(faults.detected - before.detected, bad);
                            if k >= 2 {
                                assert_eq!(faults.corrected - before.corrected, bad);
                            }
                            if bits > 0 {
                                harmless += COLUMNS as u64 - bad;
                            }
                            exact = sums;
                        }
                    }
                }
            }
        }
    }
    println!("{faults:?}, and {harmless} flips left the residue the same");
    assert!(faults.detected > 400_000);
    Ok(())
}

#[test]
fn clean_residues_are_not_reported_as_faulty() -> Result<(), ResidueError> {
    let mut generator = Generator::new(0xca11_ab1e);
    let mut faults = Faults::default();
    every_case(
        share(4_000),
        &[0, 1, 2, 3, 4],
        &mut generator,
        |system, panel, _| {
            panel.expect(system, &panel.residues, &mut faults);
        },
    )?;
    println!("{faults:?}");
    assert!(faults.columns >= share(1_000_000) as u64);
    assert_eq!(faults.detected, 0);
    Ok(())
}

/// Two integers within the bound that differ in as few residues as the moduli allow, `k + 1`.
fn neighbours(system: &Redundant, redundant: usize) -> (Panel, Panel) {
    let mut values = system.moduli().values().to_vec();
    values.sort_unstable();
    let common = &values[..values.len() - redundant - 1];
    let distance: BigInt = common.iter().map(|&m| BigInt::from(m)).product();
    let low: BigInt = &distance / -2i32;
    let high = &low + &distance;
    assert!(high <= big(system.bound()));
    let panel = |x: &BigInt| Panel::new(&vec![x.clone(); COLUMNS], system.moduli());
    (panel(&low), panel(&high))
}

#[test]
fn one_bad_residue_more_than_redundant_moduli_may_go_unnoticed() -> Result<(), ResidueError> {
    for set in SETS {
        for bound in bounds() {
            for k in 1..=4 {
                let system = redundant_system(set, bound, k)?;
                let (from, to) = neighbours(&system, k);
                let bad = from.bad(&to.residues, 0);
                assert_eq!(bad.len(), k + 1);
                let mut integers = [I256::ZERO; COLUMNS];
                let mut faults = Faults::default();
                let outcomes = system.check(&to.residues, &mut integers, &mut faults);
                assert_eq!(outcomes, [Outcome::Clean; COLUMNS]);
                assert_ne!(integers, from.integers);
                // One fewer is found, whichever is the one that stays right.
                let finding = system.correcting(0);
                for &spared in &bad {
                    let mut residues = to.residues.clone();
                    residues[spared] = from.residues[spared];
                    let outcomes = finding.check(&residues, &mut integers, &mut faults);
                    assert_eq!(outcomes, [Outcome::Uncorrectable; COLUMNS]);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn one_bad_residue_more_than_can_be_corrected_may_be_corrected_wrongly() -> Result<(), ResidueError>
{
    for set in SETS {
        for bound in bounds() {
            let system = redundant_system(set, bound, 2)?;
            let (from, to) = neighbours(&system, 2);
            let bad = from.bad(&to.residues, 0);
            let mut residues = to.residues.clone();
            residues[bad[0]] = from.residues[bad[0]];
            let mut integers = [I256::ZERO; COLUMNS];
            let mut faults = Faults::default();
            let [outcome, ..] = system.check(&residues, &mut integers, &mut faults);
            let Outcome::Corrected(places) = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(places.iter().collect::<Vec<_>>(), [bad[0]]);
            assert_eq!(integers, to.integers);
            // Who corrects nothing is not misled.
            let system = system.correcting(0);
            let [outcome, ..] = system.check(&residues, &mut integers, &mut faults);
            assert_eq!(outcome, Outcome::Uncorrectable);
        }
    }
    Ok(())
}

#[test]
fn any_of_the_moduli_hold_the_bound_and_fewer_would_not() -> Result<(), ResidueError> {
    for set in SETS {
        for bits in [1, 20, 61, 100, 116, 125] {
            for k in 0..=4 {
                let bound = U256::ONE << bits;
                let system = redundant_system(set, bound, k)?;
                let mut values = system.moduli().values().to_vec();
                values.sort_unstable();
                let needed = values.len() - k;
                let product = |values: &[u16]| -> BigInt {
                    values.iter().map(|&m| BigInt::from(m)).product()
                };
                assert!(product(&values[..needed]) > 2 * big(bound));
                if needed > 1 {
                    let fewer = Moduli::first(set, values.len() - 1)?;
                    let mut values = fewer.values().to_vec();
                    values.sort_unstable();
                    let fewer = Moduli::new(set, &values[..needed - 1])?;
                    assert!(!fewer.hold(bound));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn unsupported_redundancy_is_reported() {
    let text = |result: Result<Redundant, ResidueError>| result.err().map(|e| e.to_string());
    let said = |text: Option<String>, part: &str| {
        assert!(text.as_ref().is_some_and(|t| t.contains(part)), "{text:?}");
    };
    said(
        text(redundant_system(Set::Int8, U256::ONE << 150, 5)),
        "integers of 150.0 bits and a sign leave no 5 of the 24 moduli of int8 redundant",
    );
    said(
        text(redundant_system(Set::Fp8, U256::ONE, 24)),
        "no 24 of the 24",
    );
    said(
        text(redundant_system(Set::Fp8, U256::ONE, usize::MAX)),
        "redundant",
    );
    for method in [Method::Double, Method::BernsteinDouble] {
        let rounding = Redundant::new(Set::Int8, U256::ONE << 100, 1, method, Arc::new(Portable));
        said(text(rounding), &format!("{method} rounds"));
    }
}

/// Reconstruction methods are exact for all integers but those next to half the product of the moduli, either sign; faults
/// make those, too. They may come out as other integers, but never as small ones.
#[test]
fn integers_at_the_ends_of_the_range_are_never_reconstructed_small() -> Result<(), ResidueError> {
    let mut generator = Generator::new(0xed6e_ca5e);
    for set in SETS {
        for count in 2..=Moduli::MOST {
            let moduli = Moduli::first(set, count)?;
            let (half, largest) = (big(moduli.product()) / 2, big(moduli.largest()));
            let integers: Vec<BigInt> = (0..COLUMNS)
                .map(|column| {
                    let inwards = match column / 2 {
                        0 => BigInt::ZERO,
                        1 => BigInt::from(1),
                        2 => &half - &largest,
                        _ => (generator.within(&(&half - &largest)))
                            .magnitude()
                            .clone()
                            .into(),
                    };
                    let sign = 1 - 2 * (column as i32 % 2);
                    (&half - inwards) * sign
                })
                .collect();
            let panel = Panel::new(&integers, &moduli);
            for method in Method::ALL {
                let Ok(reconstruction) = method.build(&moduli, Arc::new(Portable)) else {
                    continue;
                };
                if !reconstruction.is_exact() {
                    continue;
                }
                let mut found = [I256::ZERO; COLUMNS];
                reconstruction.reconstruct(&panel.residues, &mut found);
                for (found, integer) in found.iter().zip(&integers) {
                    let small = big(found.unsigned_abs()) < &half / 2;
                    assert!(
                        !small,
                        "{method}, {count} of {set}: {integer} became {found}"
                    );
                }
            }
        }
    }
    Ok(())
}
