//! Every matrix unit against the definition of a product: digits made here, diagonals summed here, in wide integers.
//!
//! Nothing is compared with another unit. Besides the matrices of all steps there are random ones, whose digits are
//! larger on the whole, and of shapes that leave every unit with a rest.

use super::*;
use crate::recipe::BlockRecipe;
use crate::simd::Row;
use crate::transform::tables::Tables;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::{Requirement, available};

const SEED: u64 = 0x7a5c_91d3_0b2e_46f8;

/// Real and imaginary words of one slot.
type Slot<const L: usize> = [Row<L>; 2];

/// `count` balanced digits of a number, the most significant first, by division with the remainder nearest to zero.
fn balanced(number: i64, count: u32) -> Vec<i64> {
    let mut rest = i128::from(number);
    let mut digits: Vec<i64> = (0..count)
        .map(|_| {
            let digit = (rest + 128).rem_euclid(256) - 128;
            rest = (rest - digit) / 256;
            digit as i64
        })
        .collect();
    assert_eq!(rest, 0, "{number} does not fit {count} digits");
    digits.reverse();
    digits
}

/// The kept diagonals of a row times a column of words as one integer, in units of the last pair's end.
fn expected(matrix: &DigitMatrix, digits: Digits, row: usize, column: &[Vec<i64>]) -> i128 {
    let planes = matrix.row(row, digits);
    let mut diagonals = vec![0i64; digits.diagonals as usize];
    for (slot, data) in column.iter().enumerate() {
        for i in 0..digits.matrix as usize {
            let plane = digits.matrix as usize - 1 - i;
            let entry = i64::from(planes[plane * matrix.slots + slot]);
            // Diagonal t + i, where it is kept.
            for (sum, digit) in diagonals.iter_mut().skip(i).zip(data) {
                *sum += entry * digit;
            }
        }
    }
    let sum = diagonals
        .iter()
        .fold(0i128, |sum, &diagonal| 256 * sum + i128::from(diagonal));
    // Pairs begin a whole number of 16 bits below the unit of the words.
    let odd = (digits.diagonals - digits.data) % 2 == 1;
    if odd { 256 * sum } else { sum }
}

/// One product, in the instruction set of the unit.
struct Product<'a, const L: usize, U> {
    unit: U,
    matrix: &'a PackedMatrix,
    digits: Digits,
    columns: &'a [Vec<Slot<L>>],
}

#[inline(always)]
fn stored<const L: usize, U: MatrixUnit<L>>(halves: VectorHalves<L, U>) -> HalfRow<L> {
    let mut row = [[0; 2]; L];
    U::Vectors::store_halves(halves, &mut row);
    row
}

impl<const L: usize, U: MatrixUnit<L>> Product<'_, L, U> {
    /// `pairs` and `pair` form the same sums.
    #[inline(always)]
    fn together<const P: usize>(&self, sums: &[HalfRow<L>], row: usize, pairs: &[HalfRow<L>]) {
        let all = U::pairs::<P>(self.matrix, self.digits, sums, row);
        for (number, halves) in all.into_iter().enumerate() {
            let found = stored::<L, U>(halves);
            assert_eq!(found, pairs[number], "pair {number}, {:?}", self.digits);
        }
    }
}

impl<const L: usize, U: MatrixUnit<L>> Product<'_, L, U> {
    /// A row alone has the same sums, of digits that are spread.
    #[inline(always)]
    fn row_by_row(
        &self,
        rows: &RegisterRows,
        row: usize,
        column: &[Slot<L>],
        pairs: &[HalfRow<L>],
    ) {
        let mut spread = vec![[[[0x5ba3_91e7; 2]; L]; MOST_PAIRS]; column.len()];
        rows.spread::<L, U>(
            #[inline(always)]
            |slot| {
                let [re, im] = &column[slot];
                U::encode(self.digits, (U::Vectors::load(re), U::Vectors::load(im)))
            },
            &mut spread,
        );
        let all = match (rows.has_partners(), self.matrix.rows - 1 - row) {
            (false, _) => rows.row::<L, U>(row, &spread),
            (true, partner) if partner < row => rows.partners::<L, U>(partner, &spread).1,
            (true, _) => rows.partners::<L, U>(row, &spread).0,
        };
        let found = all.map(stored::<L, U>);
        let found = &found[..pairs.len()];
        // Digits of 16 bits may be divided among pairs otherwise than bytes are; what they add up to is the same.
        let sum = |pairs: &[HalfRow<L>], lane: usize, part: usize| {
            let places = pairs.iter().rev().map(|pair| i128::from(pair[lane][part]));
            places.fold(0, |sum, pair| (sum << 16) + pair)
        };
        for (lane, part) in (0..L).flat_map(|lane| [(lane, 0), (lane, 1)]) {
            let (found, right) = (sum(found, lane, part), sum(pairs, lane, part));
            assert_eq!(found, right, "a row alone, lane {lane}, {:?}", self.digits);
        }
    }
}

impl<const L: usize, U: MatrixUnit<L>> Task for Product<'_, L, U> {
    /// All pairs of every row of every column.
    type Output = Vec<HalfRow<L>>;

    #[inline(always)]
    fn run(self) -> Vec<HalfRow<L>> {
        let (matrix, digits) = (self.matrix, self.digits);
        // Memory is never clean: what a unit does not overwrite must not count.
        let mut data = vec![[[0x5ba3_91e7; 2]; L]; self.columns.len() * matrix.data_rows()];
        let mut sums = vec![[[-0x1234_5678; 2]; L]; self.columns.len() * matrix.sum_rows()];
        for (column, data) in self
            .columns
            .iter()
            .zip(data.chunks_exact_mut(matrix.data_rows()))
        {
            for (slot, [re, im]) in column.iter().enumerate() {
                let words = (U::Vectors::load(re), U::Vectors::load(im));
                let (low, high) = U::encode(digits, words);
                if digits.data > 4 {
                    U::Vectors::store_halves(high, &mut data[slot]);
                    U::Vectors::store_halves(low, &mut data[column.len() + slot]);
                } else {
                    U::Vectors::store_halves(low, &mut data[slot]);
                    let short = U::Vectors::split(words.0, words.1).0;
                    let short = stored::<L, U>(U::encode_short(digits, short));
                    assert_eq!(short, data[slot], "the same digits, of 32-bit words");
                }
            }
        }
        for part in 0..U::parts(matrix) {
            self.unit
                .multiply(matrix, digits, self.columns.len(), part, &data, &mut sums);
        }
        let mut found = Vec::new();
        for (number, sums) in sums.chunks_exact(matrix.sum_rows()).enumerate() {
            for row in 0..matrix.rows {
                let start = found.len();
                for pair in 0..digits.pairs() {
                    let halves = U::pair(matrix, digits, sums, row, pair);
                    found.push(stored::<L, U>(halves));
                }
                let pairs = &found[start..];
                if digits.diagonals == digits.data {
                    match digits.pairs() {
                        1 => self.together::<1>(sums, row, pairs),
                        2 => self.together::<2>(sums, row, pairs),
                        3 => self.together::<3>(sums, row, pairs),
                        _ => self.together::<4>(sums, row, pairs),
                    }
                }
                if let Some(rows) = U::register_rows(matrix) {
                    self.row_by_row(rows, row, &self.columns[number], pairs);
                }
            }
        }
        found
    }
}

/// Words that enter a product are at most 1.05·2^(8p-2): see the head-room in the numerics document.
fn largest_word(digits: Digits) -> i64 {
    ((21i128 << (8 * digits.data - 2)) / 20) as i64
}

/// A word with all digits but the first at one end of their range.
fn full_digits(digits: Digits, first: i64, others: i64) -> i64 {
    (1..digits.data).fold(first, |word, _| 256 * word + others)
}

/// A word for a slot: `turn` says which kind, so that whole columns of one kind occur.
fn word(
    generator: &mut Generator,
    matrix: &DigitMatrix,
    digits: Digits,
    turn: usize,
    slot: usize,
) -> i64 {
    let largest = largest_word(digits);
    let sign = 1 - 2 * generator.below(2) as i64;
    match turn % 10 {
        0 => 0,
        1 => largest,
        2 => -largest,
        3 => sign * largest,
        4 => full_digits(digits, 66, 127),
        5 => full_digits(digits, -66, -128),
        // Of the signs of a row: all products of the leading digits add up.
        6 | 7 => {
            let row = generator.below(matrix.rows);
            let planes = matrix.row(row, digits);
            let leading = planes[(digits.matrix as usize - 1) * matrix.slots + slot];
            if (leading < 0) == (turn % 10 == 6) {
                full_digits(digits, -66, -128)
            } else {
                full_digits(digits, 66, 127)
            }
        }
        8 => (generator.next_u64() as i64 >> generator.below(64)) % (largest + 1),
        _ => generator.next_u64() as i64 % (largest + 1),
    }
}

/// Columns of words through the unit, compared lane by lane.
fn compare<const L: usize, U: MatrixUnit<L>>(
    (unit, name): (U, Unit),
    matrix: &Arc<DigitMatrix>,
    digits: Digits,
    generator: &mut Generator,
) {
    if digits.diagonals == digits.data {
        compare_outputs::<L, U>((unit, name), matrix, digits, generator);
    }
    let packed = PackedMatrix::new(name, matrix, digits);
    for columns in 1..=U::COLUMNS {
        let shift = generator.below(10);
        let words: Vec<Vec<Slot<L>>> = (0..columns)
            .map(|column| {
                (0..matrix.slots)
                    .map(|slot| {
                        [0, 1].map(|part| {
                            std::array::from_fn(|lane| {
                                let turn = shift + 5 * column + 3 * part + lane;
                                word(generator, matrix, digits, turn, slot)
                            })
                        })
                    })
                    .collect()
            })
            .collect();
        let _session = unit.session();
        let found = unit.enter(Product {
            unit,
            matrix: &packed,
            digits,
            columns: &words,
        });
        let mut rows = found.chunks_exact(digits.pairs());
        for (column, words) in words.iter().enumerate() {
            // The digits of all lanes once, not once a row.
            let data: Vec<Vec<Vec<i64>>> = (0..2 * L)
                .map(|place| {
                    let (part, lane) = (place % 2, place / 2);
                    let of = |slot: &Slot<L>| balanced(slot[part][lane], digits.data);
                    words.iter().map(of).collect()
                })
                .collect();
            for row in 0..matrix.rows {
                let pairs = rows.next().expect("all rows of all columns");
                for (place, data) in data.iter().enumerate() {
                    let (part, lane) = (place % 2, place / 2);
                    let sum = pairs.iter().rev().fold(0i128, |sum, pair| {
                        (sum << 16) + i128::from(pair[lane][part])
                    });
                    assert_eq!(
                        sum,
                        expected(matrix, digits, row, data),
                        "{}: {} rows, {} slots, {digits:?}: row {row}, part {part}, lane {lane}, column {column} of {columns}",
                        name.name(),
                        matrix.rows,
                        matrix.slots,
                    );
                }
            }
        }
    }
}

/// Rows of a matrix in the lanes times a column of words, in the instruction set of the unit.
struct OutputProduct<'a, const L: usize, U> {
    unit: U,
    digits: Digits,
    matrix: &'a PackedOutputs,
    group: usize,
    words: &'a [[i64; 2]],
}

impl<const L: usize, U: MatrixUnit<L>> Task for OutputProduct<'_, L, U> {
    /// The pairs of every group of rows.
    type Output = Vec<HalfRow<L>>;

    #[inline(always)]
    fn run(self) -> Vec<HalfRow<L>> {
        let (digits, words) = (self.digits, self.words);
        let mut data = vec![[0x5ba3_91e7; 2]; 8 * words.len().div_ceil(2)];
        U::encode_outputs(self.matrix, digits, words, &mut data);
        let mut sums = vec![[[-0x1234_5678; 2]; L]; digits.pairs()];
        self.unit
            .multiply_outputs(self.matrix, digits, self.group, &data, &mut sums);
        sums
    }
}

/// The product with rows in the lanes, where the unit has it: rows in reverse order, and lanes without a row.
fn compare_outputs<const L: usize, U: MatrixUnit<L>>(
    (unit, name): (U, Unit),
    matrix: &Arc<DigitMatrix>,
    digits: Digits,
    generator: &mut Generator,
) {
    let lanes = (matrix.rows + 1).next_multiple_of(L);
    let row = |lane: usize| {
        matrix
            .rows
            .checked_sub(lane)
            .filter(|&row| row < matrix.rows)
    };
    let rows: Vec<Option<usize>> = (0..lanes).map(row).collect();
    let Some(packed) = name.pack_outputs(matrix, digits, &rows) else {
        return;
    };
    let turn = generator.below(10);
    let words: Vec<[i64; 2]> = (0..matrix.slots)
        .map(|slot| [0, 3].map(|part| word(generator, matrix, digits, turn + part, slot)))
        .collect();
    let data = [0, 1].map(|part| -> Vec<Vec<i64>> {
        let digits_of = |word: &[i64; 2]| balanced(word[part], digits.data);
        words.iter().map(digits_of).collect()
    });
    for (group, rows) in rows.chunks(L).enumerate() {
        let found = unit.enter(OutputProduct {
            unit,
            digits,
            matrix: &packed,
            group,
            words: &words,
        });
        for (lane, row) in rows.iter().enumerate() {
            for (part, data) in data.iter().enumerate() {
                let sum = found.iter().rev().fold(0i128, |sum, pair| {
                    (sum << 16) + i128::from(pair[lane][part])
                });
                let right = row.map_or(0, |row| expected(matrix, digits, row, data));
                assert_eq!(
                    sum,
                    right,
                    "{}: {} rows, {} slots, {digits:?}: row {row:?} in lane {lane}, part {part}",
                    name.name(),
                    matrix.rows,
                    matrix.slots,
                );
            }
        }
    }
}

/// All digits that the planner considers.
fn all_digits() -> Vec<Digits> {
    let mut all = Vec::new();
    for data in 2..=8u32 {
        for matrix in 1..=7.min(data) {
            for diagonals in data..data + matrix {
                all.push(Digits {
                    data,
                    matrix,
                    diagonals,
                });
            }
        }
    }
    all
}

/// The matrices of every step with the recipes of the accuracies, and with one truncated, one exact and one recipe in
/// between that change from step to step; with all recipes for some steps.
fn steps<const L: usize, U: MatrixUnit<L>>(unit: (U, Unit), generator: &mut Generator) {
    let (tables, all) = (Tables::default(), all_digits());
    for n in 2..=64usize {
        let mut recipes = vec![Digits::DOUBLE, Digits::SINGLE, Digits::DOUBLE.exact()];
        if [3, 8, 17, 36, 64].contains(&n) {
            recipes.extend(&all);
        } else {
            let data = 2 + (n % 7) as u32;
            let matrix = (data - (n / 7 % 2) as u32).min(7);
            let truncated = Digits {
                data,
                matrix,
                diagonals: data,
            };
            recipes.extend([
                truncated,
                truncated.exact(),
                all[generator.below(all.len())],
            ]);
        }
        // Alone, as the first and as the last of several steps.
        let mut kinds = [vec![n], vec![n, 3], vec![3, n]]
            .map(|sizes| BlockRecipe::from_sizes(&sizes).steps)
            .concat();
        kinds.retain(|step| step.n == n);
        kinds.dedup_by_key(|step| step.fold);
        for step in &kinds {
            for &digits in &recipes {
                // None for the unit steps, of which nothing is multiplied.
                let Some(matrices) = tables.matrices(step, digits) else {
                    continue;
                };
                compare::<L, U>(unit, &matrices.cosine, digits, generator);
                compare::<L, U>(unit, &matrices.sine, digits, generator);
            }
        }
    }
}

/// Random matrices of random shapes, with all recipes.
fn random_matrices<const L: usize, U: MatrixUnit<L>>(unit: (U, Unit), generator: &mut Generator) {
    for (number, digits) in all_digits().into_iter().enumerate() {
        let (rows, slots) = (1 + generator.below(33), 1 + generator.below(33));
        let one = digits.matrix_one() as i64;
        // The largest entries of full digits, of either sign, besides random ones.
        let full = |first: i64, others: i64| {
            (1..digits.matrix).fold(first, |entry, _| 256 * entry + others)
        };
        let entries: Vec<i64> = (0..rows * slots)
            .map(|place| match (number + place) % 5 {
                0 => [0, one, -one, one / 2, -one / 2][generator.below(5)],
                1 => full(126, 127),
                2 => full(-126, -128),
                _ => generator.next_u64() as i64 % (one + 1),
            })
            .collect();
        let matrix = Arc::new(DigitMatrix::new(rows, slots, &entries, digits));
        compare::<L, U>(unit, &matrix, digits, generator);
    }
}

fn suite<const L: usize, U: MatrixUnit<L>>(unit: U, name: Unit) {
    println!("{}, {L} lanes: seed {SEED:#x}", name.name());
    let mut generator = Generator::new(SEED);
    steps::<L, U>((unit, name), &mut generator);
    random_matrices::<L, U>((unit, name), &mut generator);
}

/// The unit, where this machine has it; one that `OZFFT_REQUIRE` names must be there.
pub(super) fn offered<U: ListedUnit>(name: &str, needs: &str) -> Option<U> {
    let unit = U::detect().ok_or_else(|| format!("this machine has no {needs}"));
    let mut requirements = Requirement::ALL.into_iter();
    match requirements.find(|requirement| name.contains(requirement.word())) {
        Some(requirement) => available(requirement, unit),
        None => Some(unit.expect("only units of an instruction set may be missing")),
    }
}

/// The suite for every unit of the list, as a test of its name.
macro_rules! suites {
    ($($(#[doc = $doc:literal])* $name:ident, $lanes:literal, $text:literal, $compiled:meta, $needs:literal;)*) => {
        /// One test for each unit.
        #[allow(non_snake_case)]
        mod unit_conforms {
            use super::*;
            $(
                #[cfg($compiled)]
                #[test]
                fn $name() {
                    if let Some(unit) = offered::<super::$name>($text, $needs) {
                        suite::<$lanes, _>(unit, Unit::$name(unit));
                    }
                }
            )*
        }
    };
}
for_each_unit!(suites);
