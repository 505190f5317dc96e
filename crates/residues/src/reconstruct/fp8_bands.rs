//! Phase B as a product on the matrix unit for E4M3 numbers: the paper's tall and skinny one.
//!
//! The sums of phase A are too large for E4M3, so a bias that makes it positive is added to each, and it is split into nibbles.
//! A nibble *is* an E4M3 number: the code `u` from 0 to 15 means `u·2^-9`. Nibble `j` of slice `s` counts
//! `2^(slice_bits·s + 4j)`. Neighbouring positions form a band: one sum of nibbles times powers of two, which E4M3 has from 2^-9
//! to 2^8, that the accumulator holds exactly. Every nibble belongs to one band.
//!
//! What is left is to put the bands together: they overlap, so carries run from each to the next, and the bias of
//! slices is subtracted. This, and cutting slices into nibbles, is integer work, and there is more of it than in adding up the
//! slices themselves ([`super::Operations::integer`] counts both): the paper's "no integer pipe" leaves this out.
//!
//! # Exactness
//!
//! A band's sum is at most `15·Σ 2^e` units, which is within the accumulator's limit. Nibbles below 8 have no leading one and
//! are aligned like 8 to 15, at `2^-6`, which the largest weight `2^(e-9)` makes `2^(e-15)`; the unit is `2^-18`. So nothing is cut off
//! where `e - 15 - bits <= -18`, or `e <= bits - 3`, and `15·2^e <= 2^(bits+1)` has `e` within that.

use super::forward::{Layout, PhaseB};
use super::operations::{Counting, Integer, counted};
use super::{MOST_SLICES, Operations, Pipe};
use crate::COLUMNS;
use crate::bytes::Sums;
use crate::error::ResidueError;
use crate::fp8::{E4m3, E4m3Matrix, Fp8Unit};
use ethnum::I256;

/// Bits of a nibble, and the largest one.
const NIBBLE_BITS: u32 = 4;
const LARGEST_NIBBLE: u64 = 15;
/// Bias of a nibble.
const BIAS: i32 = 8;
/// The most nibbles of a slice: sums of phase A have at most 27 bits and a sign.
const MOST_OF_A_SLICE: usize = 7;
/// The most nibbles of all slices, and of bands.
const MOST_NIBBLES: usize = MOST_SLICES * MOST_OF_A_SLICE;
/// Nibbles and weights are multiples of 2^-9, of which weights reach 2^8.
const UNIT: i32 = -9;
const LARGEST_WEIGHT: u32 = 17;

/// Phase B on E4M3 numbers.
#[derive(Debug)]
pub struct Fp8Bands {
    unit: Fp8Unit,
    bands: Vec<Band>,
    /// Where nibble `j` of slice `s` goes: `places[nibbles·s + j]`, in the order of the bands.
    places: Vec<usize>,
    nibbles: usize,
}

/// A sum of nibbles at neighbouring positions.
#[derive(Debug)]
struct Band {
    /// Their powers of two, one row.
    weights: E4m3Matrix,
    /// The first of its nibbles.
    from: usize,
    /// The bit position of its unit.
    position: u32,
    /// Excess of its sum due to the bias of slices.
    bias: i32,
}

impl Fp8Bands {
    /// For slices of this layout, with as many nibbles in a band as the unit holds exactly.
    pub fn new(layout: &Layout, unit: Fp8Unit) -> Result<Fp8Bands, ResidueError> {
        unit.accumulator().demand(1, LARGEST_NIBBLE)?;
        layout.demand_sums("fp8-bands", 7 * ones(MOST_OF_A_SLICE) as u32)?;
        let nibbles = (1..=MOST_OF_A_SLICE)
            .find(|&count| layout.largest_sum as i32 <= 7 * ones(count))
            .expect("the largest sum was checked");
        let mut order: Vec<(u32, usize)> = Vec::new();
        for slice in 0..layout.slices {
            for nibble in 0..nibbles {
                let position = layout.slice_bits * slice as u32 + NIBBLE_BITS * nibble as u32;
                order.push((position, nibbles * slice + nibble));
            }
        }
        order.sort_unstable();
        let mut places = vec![0; order.len()];
        for (place, &(_, nibble)) in order.iter().enumerate() {
            places[nibble] = place;
        }

        let mut bands = Vec::new();
        let mut from = 0;
        while from < order.len() {
            let position = order[from].0;
            let exact = unit.accumulator().exact_to();
            let mut sum = 0;
            let count = order[from..]
                .iter()
                .take_while(|(other, _)| {
                    let exponent = other - position;
                    sum += LARGEST_NIBBLE << exponent.min(32);
                    exponent <= LARGEST_WEIGHT && sum <= exact
                })
                .count();
            let members = &order[from..from + count];
            let exponents = members.iter().map(|(other, _)| other - position);
            let weights: Vec<E4m3> = exponents
                .clone()
                .map(|exponent| E4m3::from_scaled(1, UNIT + exponent as i32))
                .map(|weight| weight.expect("a power of two from 2^-9 to 2^8"))
                .collect();
            bands.push(Band {
                weights: E4m3Matrix::new(1, count, &weights),
                from,
                position,
                bias: exponents.map(|exponent| BIAS << exponent).sum(),
            });
            from += count;
        }
        Ok(Fp8Bands {
            unit,
            bands,
            places,
            nibbles,
        })
    }

    /// How many bands.
    pub fn bands(&self) -> usize {
        self.bands.len()
    }

    /// Nibbles of a slice.
    pub fn nibbles_of_a_slice(&self) -> usize {
        self.nibbles
    }

    /// Products on the matrix unit for one output: one for every nibble, if every band is a product of its own, and as
    /// many times that as there are bands if all are one matrix, as the paper has it.
    pub fn products(&self, one_matrix: bool) -> usize {
        self.places.len() * if one_matrix { self.bands.len() } else { 1 }
    }

    /// Slices become nibbles.
    #[inline(always)]
    fn split<N: Integer>(&self, slices: &[[N; COLUMNS]], to: &mut [[N; COLUMNS]]) {
        let bias = N::constant(BIAS * ones(self.nibbles));
        for (slice, places) in slices.iter().zip(self.places.chunks_exact(self.nibbles)) {
            let mut rest = slice.map(|sum| sum + bias);
            let (&highest, lower) = places.split_last().expect("one nibble at least");
            for &place in lower {
                to[place] = rest.map(|rest| rest.low(NIBBLE_BITS));
                rest = rest.map(|rest| rest.down(NIBBLE_BITS));
            }
            to[highest] = rest;
        }
    }

    /// The sums of all bands.
    fn multiply(&self, nibbles: &[[i32; COLUMNS]; MOST_NIBBLES], to: &mut [Sums]) {
        let number = |nibble: i32| E4m3::from_code(nibble as u8).expect("0 to 15");
        let mut data = [[E4m3::ZERO; COLUMNS]; MOST_NIBBLES];
        for (data, nibbles) in data.iter_mut().zip(nibbles).take(self.places.len()) {
            *data = nibbles.map(number);
        }
        for (band, to) in self.bands.iter().zip(to) {
            let mut sums = [[0.0; COLUMNS]];
            self.unit
                .multiply(&band.weights, &data[band.from..], &mut sums);
            let units = (1 << (-2 * UNIT)) as f32;
            *to = sums[0].map(|sum| (sum * units) as i32);
        }
    }

    /// Bands become digits without overlap, of as many bits as lie between neighbouring bands; the highest takes the sign.
    #[inline(always)]
    fn stitch<N: Integer>(&self, sums: &mut [[N; COLUMNS]]) {
        let mut carries: Option<[N; COLUMNS]> = None;
        for (number, (band, sums)) in self.bands.iter().zip(sums).enumerate() {
            let next = self
                .bands
                .get(number + 1)
                .map(|next| next.position - band.position);
            let bias = N::constant(band.bias);
            let mut above = [N::default(); COLUMNS];
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum = *sum - bias;
                if let Some(carries) = &carries {
                    *sum = *sum + carries[column];
                }
                if let Some(bits) = next {
                    above[column] = sum.down(bits);
                    *sum = sum.low(bits);
                }
            }
            carries = Some(above);
        }
    }
}

/// `1 + 16 + …`, of so many terms.
fn ones(count: usize) -> i32 {
    (0..count)
        .map(|nibble| 1 << (NIBBLE_BITS * nibble as u32))
        .sum()
}

impl PhaseB for Fp8Bands {
    fn name(&self) -> &'static str {
        "fp8-bands"
    }

    fn pipe(&self) -> Pipe {
        Pipe::Fp8Matrix
    }

    fn error_bound(&self) -> f64 {
        0.0
    }

    fn sum(&self, slices: &[Sums], to: &mut [I256; COLUMNS]) {
        let mut nibbles = [[0; COLUMNS]; MOST_NIBBLES];
        let mut sums = [[0; COLUMNS]; MOST_NIBBLES];
        self.split(slices, &mut nibbles);
        self.multiply(&nibbles, &mut sums);
        self.stitch(&mut sums[..self.bands.len()]);
        for (column, to) in to.iter_mut().enumerate() {
            let bands = self.bands.iter().zip(&sums);
            *to = bands
                .map(|(band, sums)| I256::from(sums[column]) << band.position)
                .sum();
        }
    }

    fn operations(&self, slices: &[Sums]) -> Operations {
        let counting = |rows: &[Sums]| -> Vec<[Counting<i32>; COLUMNS]> {
            rows.iter().map(|row| row.map(Integer::constant)).collect()
        };
        let mut nibbles = [[0; COLUMNS]; MOST_NIBBLES];
        let mut sums = [[0; COLUMNS]; MOST_NIBBLES];
        self.split(slices, &mut nibbles);
        self.multiply(&nibbles, &mut sums);
        let (slices, mut nibbles) = (counting(slices), counting(&nibbles));
        let mut sums = counting(&sums[..self.bands.len()]);
        let integer = counted(|| {
            self.split(&slices, &mut nibbles);
            self.stitch(&mut sums);
        });
        Operations {
            fp8_products: self.products(false) as f64,
            integer: integer / COLUMNS as f64,
            ..Operations::default()
        }
    }
}
