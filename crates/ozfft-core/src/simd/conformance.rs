//! Every operation of [`Vectors`] against plain arithmetic on one lane at a time.
//!
//! Expected values are written here from the operation's description, in wider integers where that differs from the implementation, and
//! not taken from the portable rows: those are under test themselves. The floating-point ends are in
//! `conformance_floats.rs`.

use super::*;
use crate::matrix_unit::Task;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::{Requirement, available};
use std::marker::PhantomData;

/// Rows of random numbers for every operation.
const ROWS: usize = 10_000;
const SEED: u64 = 0x0f1e_2d3c_4b5a_6978;

/// A random number of a random length, so that small magnitudes and both signs occur.
fn random_integer(generator: &mut Generator) -> i64 {
    (generator.next_u64() as i64) >> generator.below(64)
}

/// Numbers beside powers of two, where carries, signs and halves change.
fn edges() -> Vec<i64> {
    let mut edges = vec![0, i64::MIN, i64::MAX, 0x5555_5555_aaaa_aaaa];
    for bit in [0, 1, 7, 15, 24, 25, 30, 31, 32, 33, 51, 52, 53, 61, 62] {
        for beside in [-1, 0, 1] {
            let number = (1i64 << bit) + beside;
            edges.extend([number, -number]);
        }
    }
    edges
}

/// Operands lane by lane: every edge with every edge, then random ones.
fn operands<const L: usize>(generator: &mut Generator) -> Vec<[Row<L>; 2]> {
    let edges = edges();
    let mut pairs: Vec<[i64; 2]> = edges
        .iter()
        .flat_map(|&a| edges.iter().map(move |&b| [a, b]))
        .collect();
    while pairs.len() < edges.len() * edges.len() + ROWS * L || !pairs.len().is_multiple_of(L) {
        pairs.push([random_integer(generator), random_integer(generator)]);
    }
    pairs
        .chunks_exact(L)
        .map(|pairs| [0, 1].map(|side| std::array::from_fn(|lane| pairs[lane][side])))
        .collect()
}

/// An operation on words.
#[inline(always)]
fn words<const L: usize, V: Vectors<L>>(
    what: &str,
    operands: &[[Row<L>; 2]],
    operation: impl Fn(V::Words, V::Words) -> V::Words,
    expected: impl Fn(i64, i64) -> i64,
) {
    for [a, b] in operands {
        let found = lanes_of::<L, V>(operation(V::load(a), V::load(b)));
        let right: Row<L> = std::array::from_fn(|lane| expected(a[lane], b[lane]));
        assert_eq!(found, right, "{what} of {a:x?} and {b:x?}");
    }
}

/// The lower 32 bits as a real part, the upper ones as an imaginary part.
fn halves_of<const L: usize>(row: &Row<L>) -> HalfRow<L> {
    row.map(|word| [word as i32, (word >> 32) as i32])
}

#[inline(always)]
fn stored<const L: usize, V: Vectors<L>>(halves: V::Halves) -> HalfRow<L> {
    let mut row = [[0; 2]; L];
    V::store_halves(halves, &mut row);
    row
}

/// An operation on halves, part by part.
#[inline(always)]
fn halves<const L: usize, V: Vectors<L>>(
    what: &str,
    operands: &[[Row<L>; 2]],
    operation: impl Fn(V::Halves, V::Halves) -> V::Halves,
    expected: impl Fn(i32, i32) -> i32,
) {
    for operands in operands {
        let [a, b] = operands.map(|row| halves_of(&row));
        let found = stored::<L, V>(operation(V::load_halves(&a), V::load_halves(&b)));
        let right: HalfRow<L> =
            std::array::from_fn(|lane| [0, 1].map(|part| expected(a[lane][part], b[lane][part])));
        assert_eq!(found, right, "{what} of {a:x?} and {b:x?}");
    }
}

#[inline(always)]
fn integers<const L: usize, V: Vectors<L>>(operands: &[[Row<L>; 2]]) {
    words::<L, V>(
        "load",
        operands,
        #[inline(always)]
        |a, _| a,
        |a, _| a,
    );
    words::<L, V>(
        "add",
        operands,
        #[inline(always)]
        |a, b| V::add(a, b),
        |a, b| (i128::from(a) + i128::from(b)) as i64,
    );
    words::<L, V>(
        "subtract",
        operands,
        #[inline(always)]
        |a, b| V::subtract(a, b),
        |a, b| (i128::from(a) - i128::from(b)) as i64,
    );
    words::<L, V>(
        "and",
        operands,
        #[inline(always)]
        |a, b| V::and(a, b),
        |a, b| a & b,
    );
    words::<L, V>(
        "or",
        operands,
        #[inline(always)]
        |a, b| V::or(a, b),
        |a, b| a | b,
    );
    words::<L, V>(
        "xor",
        operands,
        #[inline(always)]
        |a, b| V::xor(a, b),
        |a, b| a ^ b,
    );
    words::<L, V>(
        "maximum",
        operands,
        #[inline(always)]
        |a, b| V::maximum(a, b),
        |a, b| {
            if a > b { a } else { b }
        },
    );
    words::<L, V>(
        "leading maximum",
        operands,
        #[inline(always)]
        |a, b| {
            // The lower half counts where the upper one is zero.
            let magnitude = V::splat(i64::MAX);
            let found = V::leading_maximum(V::and(a, magnitude), V::and(b, magnitude));
            let upper = V::shift_right_each(found, V::splat(32));
            let some = V::shift_right(V::subtract(V::splat(0), upper), 63);
            V::subtract(found, V::and(found, V::and(some, V::splat(0xffff_ffff))))
        },
        |a, b| match (a & i64::MAX).max(b & i64::MAX) {
            largest @ 0..=0xffff_ffff => largest,
            largest => largest >> 32 << 32,
        },
    );
    for [a, b] in operands {
        for row in [
            *a,
            *b,
            a.map(|x| x | i64::MIN),
            b.map(|x| -1 - (x & i64::MAX)),
        ] {
            let right = row.iter().filter(|&&x| x < 0).count() == L;
            assert_eq!(V::all_negative(V::load(&row)), right, "{row:x?}");
        }
    }
    words::<L, V>(
        "leading zeros",
        operands,
        #[inline(always)]
        |a, _| V::leading_zeros(a),
        |a, _| {
            let clear = |bit: &u32| a as u64 >> bit & 1 == 0;
            (0..64).rev().take_while(clear).count() as i64
        },
    );
    words::<L, V>(
        "multiply low",
        operands,
        #[inline(always)]
        |a, b| V::multiply_low(a, b),
        |a, b| {
            let signed = |x: i64| i128::from(x << 32 >> 32);
            (signed(a) * signed(b)) as i64
        },
    );
}

#[inline(always)]
fn shifts<const L: usize, V: Vectors<L>>(operands: &[[Row<L>; 2]], generator: &mut Generator) {
    for (number, [a, _]) in operands.iter().enumerate() {
        let count = (number % 64) as u32;
        let row = std::slice::from_ref(&operands[number]);
        words::<L, V>(
            "shift left",
            row,
            #[inline(always)]
            |a, _| V::shift_left(a, count),
            |a, _| (i128::from(a) << count) as i64,
        );
        words::<L, V>(
            "shift right",
            row,
            #[inline(always)]
            |a, _| V::shift_right(a, count),
            |a, _| i128::from(a).div_euclid(1 << count) as i64,
        );
        // Counts that are no counts: negative, 64 and above, and such as look small in their lower bits.
        let counts: Row<L> = std::array::from_fn(|_| match generator.below(4) {
            0 => [-1, -64, 64, 65, 256, 1 << 32, i64::MIN, i64::MAX, 1 << 63][generator.below(9)],
            1 => [0, 1, 63][generator.below(3)],
            _ => generator.below(64) as i64,
        });
        let operands = [[*a, counts]];
        let within = |count: i64| (0..64).contains(&count);
        words::<L, V>(
            "shift left each",
            &operands,
            #[inline(always)]
            |a, n| V::shift_left_each(a, n),
            |a, n| {
                if within(n) {
                    (i128::from(a) << n) as i64
                } else {
                    0
                }
            },
        );
        words::<L, V>(
            "shift right each",
            &operands,
            #[inline(always)]
            |a, n| V::shift_right_each(a, n),
            |a, n| {
                if within(n) {
                    (u128::from(a as u64) >> n) as i64
                } else {
                    0
                }
            },
        );
    }
}

#[inline(always)]
fn splats<const L: usize, V: Vectors<L>>(operands: &[[Row<L>; 2]]) {
    for [a, _] in operands {
        let (word, half) = (a[0], a[L - 1] as i32);
        assert_eq!(lanes_of::<L, V>(V::splat(word)), [word; L]);
        // What is above the lower half is anything.
        let low = lanes_of::<L, V>(V::splat_low(half)).map(|word| word as i32);
        assert_eq!(low, [half; L]);
        assert_eq!(stored::<L, V>(V::splat_halves(half)), [[half; 2]; L]);
    }
}

#[inline(always)]
fn half_rows<const L: usize, V: Vectors<L>>(operands: &[[Row<L>; 2]]) {
    halves::<L, V>(
        "load halves",
        operands,
        #[inline(always)]
        |a, _| a,
        |a, _| a,
    );
    halves::<L, V>(
        "add halves",
        operands,
        #[inline(always)]
        |a, b| V::add_halves(a, b),
        |a, b| (i64::from(a) + i64::from(b)) as i32,
    );
    halves::<L, V>(
        "subtract halves",
        operands,
        #[inline(always)]
        |a, b| V::subtract_halves(a, b),
        |a, b| (i64::from(a) - i64::from(b)) as i32,
    );
    halves::<L, V>(
        "or halves",
        operands,
        #[inline(always)]
        |a, b| V::or_halves(a, b),
        |a, b| a | b,
    );
    halves::<L, V>(
        "join places",
        operands,
        #[inline(always)]
        |a, b| V::join_places(a, b),
        |a, b| a << 16 | (b & 0xffff),
    );
    for (number, row) in operands.iter().enumerate() {
        let count = (number % 33) as u32;
        let row = std::slice::from_ref(row);
        halves::<L, V>(
            "shift halves left",
            row,
            #[inline(always)]
            |a, _| V::shift_halves_left(a, count),
            |a, _| (i64::from(a) << count) as i32,
        );
        halves::<L, V>(
            "shift halves right, zeros",
            row,
            #[inline(always)]
            |a, _| V::shift_halves_right_zero(a, count),
            |a, _| (u64::from(a as u32) >> count) as i32,
        );
        let count = count.min(31);
        halves::<L, V>(
            "shift halves right",
            row,
            #[inline(always)]
            |a, _| V::shift_halves_right(a, count),
            |a, _| i64::from(a).div_euclid(1 << count) as i32,
        );
    }
}

/// Operations that move halves between places.
#[inline(always)]
fn exchanges<const L: usize, V: Vectors<L>>(operands: &[[Row<L>; 2]]) {
    for [a, b] in operands {
        let halves = halves_of(a);
        let swapped = stored::<L, V>(V::swap_halves(V::load_halves(&halves)));
        assert_eq!(
            swapped,
            halves.map(|[re, im]| [im, re]),
            "swap of {halves:x?}"
        );

        let (low, high) = V::split(V::load(a), V::load(b));
        let (low, high) = (stored::<L, V>(low), stored::<L, V>(high));
        for lane in 0..L {
            let half = |word: i64, bits: u32| (word as u64 >> bits) as u32 as i32;
            assert_eq!(
                low[lane],
                [half(a[lane], 0), half(b[lane], 0)],
                "{a:x?} {b:x?}"
            );
            assert_eq!(
                high[lane],
                [half(a[lane], 32), half(b[lane], 32)],
                "{a:x?} {b:x?}"
            );
        }
        let (re, im) = V::join(V::load_halves(&low), V::load_halves(&high));
        let joined = [lanes_of::<L, V>(re), lanes_of::<L, V>(im)];
        assert_eq!(joined, [*a, *b], "split and joined");

        // Halves that no split has made, joined by their definition.
        let (low, high) = (halves_of(a), halves_of(b));
        let (re, im) = V::join(V::load_halves(&low), V::load_halves(&high));
        let joined = [lanes_of::<L, V>(re), lanes_of::<L, V>(im)];
        let right = [0, 1].map(|part| {
            std::array::from_fn(|lane| {
                let (low, high) = (low[lane][part] as u32, high[lane][part]);
                (i128::from(high) * (1 << 32) + i128::from(low)) as i64
            })
        });
        assert_eq!(joined, right, "join of {low:x?} and {high:x?}");
    }
}

/// The operations that the wide integers are built from, combined.
#[inline(always)]
fn wide_integers<const L: usize, V: Vectors<L>>(operands: &[[Row<L>; 2]]) {
    for (number, [a, b]) in operands.iter().enumerate() {
        // A sum of two words needs a 65th bit, which only the wide integer has.
        let [a, b] = [a.map(|x| x >> 1), b.map(|x| x >> 1)];
        let wide = |row: &Row<L>| Wide::from_words::<L, V>(V::load(row));
        let value = |wide: Wide<V::Words>, lane: usize| {
            let (high, low) = (lanes_of::<L, V>(wide.high), lanes_of::<L, V>(wide.low));
            (i128::from(high[lane]) << LOW_BITS) + i128::from(low[lane])
        };
        let sum = wide(&a).plus::<L, V>(wide(&b));
        let difference = wide(&a).minus::<L, V>(wide(&b)).normalised::<L, V>();
        let negated = wide(&a).negated::<L, V>();
        let shift = 1 + (number % LOW_BITS as usize) as u32;
        let shifted = lanes_of::<L, V>(sum.shifted::<L, V>(shift));
        for lane in 0..L {
            let (x, y) = (i128::from(a[lane]), i128::from(b[lane]));
            assert_eq!(value(sum, lane), x + y);
            assert_eq!(value(difference, lane), x - y);
            let low = lanes_of::<L, V>(difference.low)[lane];
            assert!((0..1 << LOW_BITS).contains(&low), "{low} is not normalised");
            assert_eq!(value(negated, lane), -x);
            let right = (x + y + (1 << (shift - 1))).div_euclid(1 << shift);
            assert_eq!(
                i128::from(shifted[lane]),
                right,
                "{x} + {y} shifted by {shift}"
            );
        }
    }
}

/// The words of one row put together, or in another order.
#[inline(always)]
fn whole_rows<const L: usize, V: Vectors<L>>(operands: &[[Row<L>; 2]]) {
    for row in operands.iter().flatten() {
        let words = V::load(row);
        assert_eq!(
            Some(V::largest(words)),
            row.iter().copied().max(),
            "{row:?}"
        );
        let total = row.iter().fold(0i64, |sum, &x| sum.wrapping_add(x));
        assert_eq!(V::total(words), total, "{row:?}");
        let mut opposite = *row;
        opposite.reverse();
        assert_eq!(lanes_of::<L, V>(V::reversed(words)), opposite);
        opposite.rotate_right(1);
        assert_eq!(lanes_of::<L, V>(V::reversed_after_first(words)), opposite);
        if L.is_multiple_of(2) {
            let pairs: Vec<i64> = row.chunks(2).rev().flatten().copied().collect();
            assert_eq!(lanes_of::<L, V>(V::reversed_pairs(words))[..], pairs[..]);
        }
    }
}

/// All of it, in the instruction set of a unit.
pub(super) struct Suite<const L: usize, V>(PhantomData<V>);

impl<const L: usize, V: Vectors<L>> Suite<L, V> {
    fn new(name: &str) -> Self {
        println!("{name}, {L} lanes: seed {SEED:#x}");
        Suite(PhantomData)
    }
}

impl<const L: usize, V: Vectors<L>> Task for Suite<L, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut generator = Generator::new(SEED);
        let operands = operands::<L>(&mut generator);
        splats::<L, V>(&operands);
        integers::<L, V>(&operands);
        shifts::<L, V>(&operands, &mut generator);
        half_rows::<L, V>(&operands);
        exchanges::<L, V>(&operands);
        wide_integers::<L, V>(&operands);
        whole_rows::<L, V>(&operands);
        super::conformance_floats::suite::<L, V>(&mut generator, ROWS);
        super::conformance_memory::suite::<L, V>(&mut generator);
        super::conformance_single::suite::<L, V>(&mut generator, ROWS);
    }
}

#[test]
fn portable_rows_of_one_lane_conform() {
    Suite::<1, Portable>::new("portable").run();
}

#[test]
fn portable_rows_of_four_lanes_conform() {
    Suite::<4, Portable>::new("portable").run();
}

#[cfg(vector_unit)]
#[test]
fn avx2_conforms() {
    use crate::matrix_unit::{self, ListedUnit, MatrixUnit};
    let unit = matrix_unit::Avx2::detect().ok_or("this processor has no AVX2 with FMA");
    if let Some(unit) = available(Requirement::Avx2, unit) {
        unit.enter(Suite::<4, Avx2>::new("AVX2"));
    }
}

#[cfg(vector_unit)]
#[test]
fn avx512_conforms() {
    use crate::matrix_unit::{Avx512Vnni, ListedUnit, MatrixUnit};
    let unit = Avx512Vnni::detect().ok_or("this processor has no AVX-512 VNNI");
    if let Some(unit) = available(Requirement::Vnni, unit) {
        unit.enter(Suite::<8, Avx512>::new("AVX-512"));
    }
}
