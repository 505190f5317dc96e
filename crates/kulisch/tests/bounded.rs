//! Bounded accumulators of every word width against big integers.

mod common;

use common::Generator;
use kulisch::bounded::{Bounded, BoundedError, Tally, Uncounted, Word};
use num_bigint::BigInt;
use proptest::prelude::*;

/// Random deposits and merges into accumulators of one shape.
fn holds<W: Word, const WORDS: usize, const RADIX: u32>(seed: u64) -> Result<u64, BoundedError> {
    let mut generator = Generator::new(seed);
    let width = WORDS as u32 * RADIX;
    let mut total = Bounded::<W, WORDS, RADIX>::new();
    let mut exact = BigInt::ZERO;
    for step in 0..generator.below(200) {
        let length = 1 + generator.below(31.min(width as usize - 12));
        let value = (generator.bits() >> (64 - length)) as i64
            * if generator.below(2) == 0 { 1 } else { -1 };
        // Room for a thousand of them.
        let position = generator.below(width as usize - length - 10) as u32;
        if step % 5 == 4 {
            let mut other = Bounded::<W, WORDS, RADIX>::new();
            for _ in 0..generator.below(9) {
                other.deposit(value, position)?;
                exact += BigInt::from(value) << position;
            }
            total.merge(&other);
        } else {
            total.deposit(value, position)?;
            exact += BigInt::from(value) << position;
        }
    }
    check(&total, &exact);
    Ok(1)
}

fn check<W: Word, const WORDS: usize, const RADIX: u32, T: Tally>(
    total: &Bounded<W, WORDS, RADIX, T>,
    exact: &BigInt,
) {
    let mut words = [u64::MAX; 16];
    let negative = total.magnitude(&mut words).expect("wide enough");
    let magnitude: BigInt = words
        .iter()
        .rev()
        .fold(BigInt::ZERO, |value, &word| (value << 64) + word);
    assert_eq!(if negative { -magnitude } else { magnitude }, *exact);
    let scaled: BigInt = exact << 2000u32;
    let expected = common::double(&scaled, common::Direction::Nearest);
    assert_eq!(total.round(-148), Ok(expected));
    assert_eq!(
        total.round_f32(-148),
        Ok(common::single(&scaled, common::Direction::Nearest))
    );
}

proptest! {
    #[test]
    fn sums_of_deposits_are_exact_for_every_word(seed in any::<u64>()) {
        prop_assert_eq!(holds::<i32, 7, 26>(seed), Ok(1));
        prop_assert_eq!(holds::<i32, 7, 24>(seed), Ok(1));
        prop_assert_eq!(holds::<i32, 6, 30>(seed), Ok(1));
        prop_assert_eq!(holds::<i16, 15, 12>(seed), Ok(1));
        prop_assert_eq!(holds::<i16, 12, 14>(seed), Ok(1));
        prop_assert_eq!(holds::<i8, 30, 6>(seed), Ok(1));
        prop_assert_eq!(holds::<i8, 40, 4>(seed), Ok(1));
    }
}

#[test]
fn a_residue_system_of_twenty_moduli_is_reconstructed() -> Result<(), BoundedError> {
    // x = Σ digit_i · weight_i for 20 weights of 160 bits and digits of 8: as another engine reconstructs.
    let mut generator = Generator::new(20);
    let mut total = Bounded::<i32, 8, 24, Uncounted>::new();
    let mut exact = BigInt::ZERO;
    for _ in 0..20 {
        let digit = generator.below(256) as i64 - 128;
        for limb in 0..10 {
            let weight = generator.below(1 << 16) as i64;
            total.deposit(digit * weight, 16 * limb)?;
            exact += BigInt::from(digit * weight) << (16 * limb);
        }
    }
    check(&total, &exact);
    Ok(())
}
