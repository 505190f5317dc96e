//! A number-theoretic transform by Bailey steps on the units that multiply bytes, to be measured beside the vectors of `exact-convolution`, which win
//! (docs/convolution.md has the counts and times). Not for use: the crate's transforms return the same residues in less time.
//!
//! Rows of 16 coefficients and the tree of remainders are those of [`ozfft::convolution::device`]: a step of R points splits a node modulo `y^h - s` into R
//! nodes at once. With `ρ^R = s` and the R-th roots of unity `ζ_i` the remainder of rows `a_q, a_(q + h/R), …` is `Σ_j ζ_i^j·(ρ^j·a_j)`: one matrix for all nodes, and one
//! factor for each row, which the step before multiplies by.
//!
//! **Products.** A residue is a signed word of four digits `d_t`, balanced bytes, and a word is what the unit wants to find in a lane. The matrix has the digits of
//! `ζ_i^j·2^(8t) mod p` for data digit t, so that four sums, and not seven diagonals, make a result: `S_0 + 2^8·S_1 + 2^16·S_2 + 2^24·S_3`. A sum is at most
//! `4R·2^14`, 2^22 for 64 points; two of them make a word of 31 bits, and those two words times `ρ^j` and `2^16·ρ^j` are added in 64 bits and reduced once (Montgomery).

use ozfft::convolution::device::{
    LANES, MOST_LEVELS, PRIMES_OF_PRODUCTS, PrimeConstants, constants,
};
use ozfft::{FftError, Substrate};
use ozfft_core::matrix_unit::{Task, Unit};
use residues::bytes::{ByteMatrix, ByteProducts, Group, Sums};
use std::sync::Arc;

/// A row of residues as words; signed, and congruent to them.
type Row = [i32; LANES];

/// Most levels in a step: sums of two digits fit 32 bits up to 64 points.
pub const MOST_STEP_LEVELS: u32 = 6;

/// A transform modulo one prime.
#[derive(Debug)]
pub struct MatrixTransform {
    unit: Unit,
    products: Arc<dyn ByteProducts>,
    prime: i32,
    /// Of the prime, modulo 2^32.
    inverse: i32,
    rows: usize,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    points: usize,
    matrix: ByteMatrix,
    /// What results are multiplied by: a pair for every output and place among the rows that the next step takes together, by node.
    factors: Vec<[i32; 2]>,
    /// Places of an output that share a factor.
    run: usize,
}

impl MatrixTransform {
    /// Of `1 << levels` rows modulo a prime, by its number, in steps of at most so many levels.
    ///
    /// # Errors
    ///
    /// Where the machine lacks the unit, or numbers are out of range.
    pub fn new(
        substrate: Substrate,
        prime: usize,
        levels: u32,
        step_levels: u32,
    ) -> Result<MatrixTransform, FftError> {
        let fits = (1..=MOST_STEP_LEVELS).contains(&step_levels);
        if !fits || levels > MOST_LEVELS || prime >= PRIMES_OF_PRODUCTS {
            return Err(FftError::Unsupported(format!(
                "a transform of {levels} levels in steps of {step_levels} modulo prime {prime} is not there; take at most {MOST_LEVELS} levels, steps of 1 to {MOST_STEP_LEVELS}, and a prime below {PRIMES_OF_PRODUCTS}"
            )));
        }
        let unit = Unit::new(substrate)?;
        let prime = constants(levels)[prime];
        // As even as can be.
        let count = levels.div_ceil(step_levels);
        let sizes: Vec<u32> = (0..count)
            .map(|k| levels / count + u32::from(k < levels % count))
            .collect();
        let arithmetic = Arithmetic::new(&prime, levels);
        let mut steps = Vec::new();
        let (mut before, mut rows) = (0, 1usize << levels);
        for (k, &size) in sizes.iter().enumerate() {
            let points = 1 << size;
            before += size;
            rows /= points;
            let next = sizes.get(k + 1).map_or(1, |&next| 1 << next);
            steps.push(Step {
                points,
                matrix: arithmetic.matrix(points),
                factors: arithmetic.factors(1 << before, next),
                run: rows / next,
            });
        }
        Ok(MatrixTransform {
            unit,
            products: unit.byte_products(),
            prime: prime.value as i32,
            inverse: prime.inverse as i32,
            rows: 1 << levels,
            steps,
        })
    }

    /// The unit that multiplies.
    pub fn unit(&self) -> &'static str {
        self.unit.name()
    }

    /// Points of every step.
    pub fn steps(&self) -> Vec<usize> {
        self.steps.iter().map(|step| step.points).collect()
    }

    /// Transforms residues below the prime in their place; results are below it.
    ///
    /// # Panics
    ///
    /// If there are not as many residues as the transform has.
    pub fn process(&self, residues: &mut [u32]) {
        self.run(residues, true);
    }

    /// The products of bytes of a transform and nothing else, on whatever the numbers are: what the units take of its time.
    pub fn products_alone(&self, residues: &mut [u32]) {
        self.run(residues, false);
    }

    fn run(&self, residues: &mut [u32], everything: bool) {
        assert_eq!(
            residues.len(),
            self.rows * LANES,
            "a residue for every coefficient"
        );
        let rows: &mut [Row] = bytemuck::cast_slice_mut(residues);
        let most = self.steps.iter().map(|step| step.points).max().unwrap_or(1);
        let mut scratch = Scratch {
            data: vec![[[0; 4]; LANES]; most],
            sums: vec![[0; LANES]; 4 * most],
        };
        self.products.kept_ready(&mut || {
            if everything {
                self.unit.enter(Encode(rows));
            }
            let mut height = self.rows;
            for step in &self.steps {
                for (node, rows) in rows.chunks_exact_mut(height).enumerate() {
                    self.unit.enter(Node {
                        transform: self,
                        step,
                        node,
                        rows,
                        scratch: &mut scratch,
                        everything,
                    });
                }
                height /= step.points;
            }
            if everything {
                self.unit.enter(Decode(self.prime, rows));
            }
        });
    }
}

/// Digits of one column of words, and their sums.
struct Scratch {
    data: Vec<Group>,
    sums: Vec<Sums>,
}

/// Bytes of a word become its balanced digits; the same again takes them back, but for a carry.
const BIAS: i32 = 0x8080_8080_u32 as i32;

#[inline(always)]
fn digits(word: i32) -> i32 {
    word.wrapping_add(BIAS) ^ BIAS
}

struct Encode<'a>(&'a mut [Row]);

impl Task for Encode<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for row in self.0 {
            for word in row {
                *word = digits(*word);
            }
        }
    }
}

/// Residues below the prime, of digits of words between -2^30 and 2^30.
struct Decode<'a>(i32, &'a mut [Row]);

impl Task for Decode<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Decode(prime, rows) = self;
        for row in rows {
            for digits in row {
                let word = (*digits ^ BIAS).wrapping_sub(BIAS);
                let word = word + (prime & (word >> 31));
                let less = word - prime;
                *digits = less + (prime & (less >> 31));
            }
        }
    }
}

/// One step of one node.
struct Node<'a> {
    transform: &'a MatrixTransform,
    step: &'a Step,
    node: usize,
    rows: &'a mut [Row],
    scratch: &'a mut Scratch,
    everything: bool,
}

impl Task for Node<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let MatrixTransform {
            products,
            prime,
            inverse,
            ..
        } = self.transform;
        let Step {
            points,
            matrix,
            factors,
            run,
        } = self.step;
        let (points, run) = (*points, *run);
        let (prime, inverse) = (i64::from(*prime), *inverse);
        let apart = self.rows.len() / points;
        let runs = apart / run;
        let sums = &mut self.scratch.sums[..4 * points];
        for place in 0..apart {
            if apart == 1 {
                products.multiply(matrix, bytemuck::cast_slice(self.rows), sums);
            } else {
                let data = &mut self.scratch.data[..points];
                for (group, row) in data
                    .iter_mut()
                    .zip(self.rows.iter().skip(place).step_by(apart))
                {
                    *group = bytemuck::cast(*row);
                }
                products.multiply(matrix, data, sums);
            }
            if !self.everything {
                continue;
            }
            for output in 0..points {
                let factor = ((self.node * points + output) * runs) + place / run;
                let [low, high] = factors[factor].map(i64::from);
                let plane = |k: usize| &sums[k * points + output];
                let (first, second, third, fourth) = (plane(0), plane(1), plane(2), plane(3));
                let row = &mut self.rows[output * apart + place];
                for lane in 0..LANES {
                    let lower = first[lane] + (second[lane] << 8);
                    let upper = third[lane] + (fourth[lane] << 8);
                    // Words below 2^30 + 2^22, factors below 2^29: sums below 2^60 + 2^52, multiples at most 2^61, so results are below 2^30.
                    let sum = i64::from(lower) * low + i64::from(upper) * high;
                    let multiple = i64::from((sum as i32).wrapping_mul(inverse)) * prime;
                    row[lane] = digits(((sum - multiple) >> 32) as i32);
                }
            }
        }
    }
}

/// What tables are made with.
struct Arithmetic {
    prime: u64,
    /// Entry k of the table of roots, as in `ozfft::convolution::device`, not scaled.
    roots: Vec<u64>,
}

impl Arithmetic {
    fn new(prime: &PrimeConstants, levels: u32) -> Arithmetic {
        let p = u64::from(prime.value);
        // Factors of the crate are scaled by 2^32.
        let down = power((1 << 32) % p, p - 2, p);
        let mut roots = vec![1];
        for step in &prime.steps[..levels.saturating_sub(1) as usize] {
            let step = u64::from(step[0]) * down % p;
            let turned: Vec<u64> = roots.iter().map(|root| root * step % p).collect();
            roots.extend(turned);
        }
        Arithmetic { prime: p, roots }
    }

    /// The number whose R-th power node `node` is modulo, R being `points`; for one point the node itself.
    fn root(&self, node: usize, points: usize) -> u64 {
        let leaf = node * points;
        let root = self.roots[leaf / 2];
        match leaf % 2 {
            0 => root,
            _ => self.prime - root,
        }
    }

    /// The number in the middle around zero.
    fn centred(&self, number: u64) -> i32 {
        let number = number as i64;
        let prime = self.prime as i64;
        (if 2 * number > prime {
            number - prime
        } else {
            number
        }) as i32
    }

    fn matrix(&self, points: usize) -> ByteMatrix {
        let depth = 4 * points;
        let mut bytes = vec![0; depth * depth];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let (row, column) = (place / depth, place % depth);
            let (plane, output) = (row / points, row % points);
            let (input, digit) = (column / 4, column % 4);
            // Leaves of a tree of as many rows are the roots of unity.
            let entry = power(self.root(output, 1), input as u64, self.prime);
            let entry = digits(self.centred((entry << (8 * digit)) % self.prime));
            *byte = entry.to_le_bytes()[plane] as i8;
        }
        ByteMatrix::new(depth, depth, &bytes)
            .unwrap_or_else(|error| unreachable!("steps are short: {error}"))
    }

    /// Of all nodes of a level and the points of the step that follows: `ρ^j` times 2^32, which the reduction divides by, and times 2^48.
    fn factors(&self, nodes: usize, points: usize) -> Vec<[i32; 2]> {
        let p = self.prime;
        let up = (1u64 << 32) % p;
        let mut factors = Vec::with_capacity(nodes * points);
        for node in 0..nodes {
            let root = if points == 1 {
                1
            } else {
                self.root(node, points)
            };
            let mut factor = 1;
            for _ in 0..points {
                let low = factor * up % p;
                factors.push([low, (low << 16) % p].map(|number| self.centred(number)));
                factor = factor * root % p;
            }
        }
        factors
    }
}

fn power(base: u64, exponent: u64, modulus: u64) -> u64 {
    let (mut result, mut square, mut rest) = (1, base % modulus, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft::CpuUnit;
    use ozfft::convolution::device::forward;
    use ozfft_testkit::oracle::inputs::Generator;

    const SEED: u64 = 20261118;

    fn random(generator: &mut Generator, prime: u32, count: usize) -> Vec<u32> {
        // Extremes among them.
        let mut one = || match generator.below(4) {
            0 => prime - 1,
            1 => 0,
            _ => (generator.next_u64() % u64::from(prime)) as u32,
        };
        (0..count).map(|_| one()).collect()
    }

    #[test]
    fn remainders_are_values_at_distinct_roots_of_unity() {
        println!("seed {SEED}");
        let mut generator = Generator::new(SEED);
        for (number, levels, step) in [(0, 1, 1), (1, 5, 3), (2, 6, 6), (0, 8, 6), (1, 9, 3)] {
            let p = u64::from(constants(levels)[number].value);
            let rows = 1usize << levels;
            for substrate in [Substrate::Auto, CpuUnit::Scalar.into()] {
                let transform = MatrixTransform::new(substrate, number, levels, step).unwrap();
                // The polynomial y has the roots themselves as values.
                let mut roots = vec![0; rows * LANES];
                roots[LANES..2 * LANES].fill(1);
                transform.process(&mut roots);
                let roots: Vec<u64> = roots.chunks(LANES).map(|row| row[0].into()).collect();
                let mut sorted = roots.clone();
                sorted.sort_unstable();
                sorted.dedup();
                assert_eq!(sorted.len(), rows, "the roots are distinct");
                let numbers = random(&mut generator, p as u32, rows * LANES);
                let mut values = numbers.clone();
                transform.process(&mut values);
                for (leaf, &root) in roots.iter().enumerate() {
                    assert_eq!(power(root, rows as u64, p), 1);
                    for lane in [0, 7, 15] {
                        let horner =
                            |sum: u64, row: &[u32]| (sum * root + u64::from(row[lane])) % p;
                        let expected = numbers.chunks(LANES).rev().fold(0, horner);
                        assert_eq!(u64::from(values[leaf * LANES + lane]), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn the_vectors_of_the_crate_have_the_same_residues() {
        let mut generator = Generator::new(SEED);
        for (number, levels, step) in [(0, 6, 6), (1, 11, 6), (2, 13, 5), (0, 14, 4)] {
            let Some(vectors) = forward(ozfft::convolution::Unit::best(), number, levels) else {
                println!("skipped: rows of 16 need AVX-512");
                return;
            };
            let p = constants(levels)[number].value;
            let mut expected = random(&mut generator, p, LANES << levels);
            let mut found = expected.clone();
            vectors.process(&mut expected);
            let transform = MatrixTransform::new(Substrate::Auto, number, levels, step).unwrap();
            transform.process(&mut found);
            let reduced: Vec<u32> = expected.iter().map(|&residue| residue % p).collect();
            assert!(
                found == reduced,
                "{levels} levels in steps of {step}, seed {SEED}"
            );
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let new = |prime, levels, step| MatrixTransform::new(Substrate::Auto, prime, levels, step);
        assert!(
            new(0, 8, 7)
                .unwrap_err()
                .to_string()
                .contains("steps of 1 to 6")
        );
        assert!(new(3, 8, 6).is_err() && new(0, 23, 6).is_err());
    }
}
