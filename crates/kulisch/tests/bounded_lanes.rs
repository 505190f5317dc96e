//! Sums side by side against big integers.

mod common;

use common::{Direction, Generator};
use kulisch::bounded::{Counted, Uncounted};
use kulisch::bounded_lanes::{SpacedError, SpacedSums, round};
use num_bigint::BigInt;
use proptest::prelude::*;

const LANES: usize = 7;

/// Bits of the largest magnitude that so many terms at these positions have.
fn bits(spacing: u32, terms: usize, largest: u32) -> u32 {
    let weights: BigInt = (0..terms)
        .map(|k| BigInt::from(1) << (spacing as usize * k))
        .sum();
    (weights * largest).bits() as u32
}

fn integer<const WORDS: usize>(words: &[[i32; LANES]; WORDS], lane: usize) -> BigInt {
    let (high, lower) = words.split_last().expect("there is one");
    let high = BigInt::from(high[lane]);
    lower
        .iter()
        .rev()
        .fold(high, |value, word| (value << 32) + (word[lane] as u32))
}

fn holds<const WORDS: usize>(spacing: u32, terms: usize, seed: u64) -> Result<(), SpacedError> {
    let mut generator = Generator::new(seed);
    let most = SpacedSums::<WORDS>::largest_term(spacing, terms);
    let largest = if generator.below(2) == 0 {
        most
    } else {
        1 + generator.below(most as usize) as u32
    };
    let bits = bits(spacing, terms, largest);
    if bits >= 32 * WORDS as u32 {
        let width = 32 * WORDS as u32 - 1;
        let rejected = SpacedSums::<WORDS>::new(spacing, terms, largest, bits);
        assert_eq!(
            rejected,
            Err(SpacedError::OutOfWidth {
                needed: bits,
                width
            })
        );
        return Ok(());
    }
    let sums = SpacedSums::<WORDS>::new(spacing, terms, largest, bits)?;
    // As large as they may be with either sign, or anything.
    let value = |generator: &mut Generator, lane: usize| match lane {
        0 => largest as i32,
        1 => -(largest as i32),
        2 => [largest as i32, -(largest as i32)][generator.below(2)],
        _ => ((generator.bits() % (2 * u64::from(largest) + 1)) as i64 - i64::from(largest)) as i32,
    };
    let rows: Vec<[i32; LANES]> = (0..terms)
        .map(|_| std::array::from_fn(|lane| value(&mut generator, lane)))
        .collect();
    let words = sums.sum(&rows, &mut Uncounted);
    assert_eq!(words, sums.sum(&rows, &mut Counted::default()));
    for lane in 0..LANES {
        let exact: BigInt = rows
            .iter()
            .enumerate()
            .map(|(k, row)| BigInt::from(row[lane]) << (spacing as usize * k))
            .sum();
        assert_eq!(integer(&words, lane), exact, "seed {seed}, lane {lane}");
        // The referee counts in units of 2^-2148.
        let expected = common::double(&(exact << 2000u32), Direction::Nearest);
        assert_eq!(
            round(&words, lane, -148),
            expected,
            "seed {seed}, lane {lane}"
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn parallel_sums_are_those_of_big_integers(
        spacing in 1u32..=16,
        terms in 0usize..70,
        seed in any::<u64>(),
    ) {
        prop_assert_eq!(holds::<1>(spacing, terms, seed), Ok(()));
        prop_assert_eq!(holds::<3>(spacing, terms, seed), Ok(()));
        prop_assert_eq!(holds::<8>(spacing, terms, seed), Ok(()));
        prop_assert_eq!(holds::<32>(spacing, terms, seed), Ok(()));
    }
}

/// Every number of terms at every spacing, with all terms at their bounds.
#[test]
fn no_word_overflows_at_the_bound_of_terms() -> Result<(), SpacedError> {
    for spacing in 1..=16 {
        for terms in 0..=900 / spacing as usize {
            holds::<32>(spacing, terms, u64::from(spacing))?;
        }
    }
    Ok(())
}

/// Sums may be known to be smaller than their terms: what is above the integer's words cancels.
#[test]
fn integers_may_be_shorter_than_their_terms_reach() -> Result<(), SpacedError> {
    let mut generator = Generator::new(3);
    let sums = SpacedSums::<2>::new(8, 12, 1 << 22, 40)?;
    for _ in 0..1000 {
        // Σ is an integer of 40 bits: multiples of 2^8 are moved from term to term.
        let mut rows = [[0; LANES]; 12];
        let mut expected = [0i64; LANES];
        for lane in 0..LANES {
            for (k, row) in rows.iter_mut().enumerate().take(3) {
                row[lane] = generator.between(-(1 << 20), 1 << 20);
                expected[lane] += i64::from(row[lane]) << (8 * k);
            }
            for k in 0..11 {
                let moved = generator.between(-(1 << 12), 1 << 12);
                rows[k][lane] -= moved << 8;
                rows[k + 1][lane] += moved;
            }
        }
        let words = sums.sum(&rows, &mut Uncounted);
        for (lane, &expected) in expected.iter().enumerate() {
            assert_eq!(integer(&words, lane), BigInt::from(expected));
        }
    }
    Ok(())
}

#[test]
fn parameters_that_do_not_fit_are_rejected_with_their_value() {
    let rejected = |spacing, terms, largest, bits| {
        let error = SpacedSums::<4>::new(spacing, terms, largest, bits).err();
        error.map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(rejected(17, 3, 1, 10).contains("17"));
    assert!(rejected(0, 3, 1, 10).contains("1 to 16"));
    assert!(rejected(8, 3, 1 << 23, 10).contains("8388608"));
    assert!(rejected(8, 3, 1, 128).contains("127"));
    // A word takes terms at 0 and 8: P·257 and a carry stay below 2^31.
    assert_eq!(
        SpacedSums::<4>::largest_term(8, 3),
        ((1 << 31) - (1 << 16)) / 257
    );
    assert_eq!(SpacedSums::<4>::largest_term(16, 3), (1 << 31) - (1 << 16));
}
