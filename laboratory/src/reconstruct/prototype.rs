//! The paper's prototype, as its sections 4.2 and 4.4 and its Appendix B describe it: residues from 0, weights that are not reduced, and the
//! multiple of `M` subtracted at the end, in floating point.
//!
//! The moduli are primes, as section 2 says, from 127 downwards. A sum `Σ v_k u_k` of residues up to `m` and weights up to `M` is about
//! `r·m/4` times `M`, and the result, 1/64 of `M` and less, is what is left of it. So many bits are lost in every column but
//! the first, and this is what Table 4 shows. The methods of the crate `residues` take the multiple of `M` off in integers first.

use residues::{I256, Moduli, U256};

/// A column of the paper's Table 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// In integers.
    Recursive,
    /// Slices, in doubles.
    SliceDouble,
    /// Slices, in floats with Kahan's correction.
    SliceKahan,
    /// Fractions, in doubles.
    BernsteinDouble,
    /// Fractions, in floats with Kahan's correction.
    BernsteinKahan,
    /// Fractions, in floats.
    BernsteinSingle,
}

impl Column {
    /// In the order of the table.
    pub const ALL: [Column; 6] = [
        Column::Recursive,
        Column::SliceDouble,
        Column::SliceKahan,
        Column::BernsteinDouble,
        Column::BernsteinKahan,
        Column::BernsteinSingle,
    ];

    /// As the table heads it.
    pub fn name(self) -> &'static str {
        match self {
            Column::Recursive => "recursive",
            Column::SliceDouble => "slice/fp64",
            Column::SliceKahan => "slice/fp32+K",
            Column::BernsteinDouble => "bern/fp64",
            Column::BernsteinKahan => "bern/fp32+K",
            Column::BernsteinSingle => "bern/fp32",
        }
    }
}

/// The tables of the prototype.
#[derive(Debug)]
pub struct Prototype {
    values: Vec<u16>,
    product: U256,
    /// `u_k`, from 0 to `M`.
    weights: Vec<U256>,
    slices: usize,
    /// Bits of both scales together.
    scale: u32,
}

impl Prototype {
    /// For products that are scaled by `2^scale`.
    pub fn new(moduli: &Moduli, scale: u32) -> Prototype {
        let product = moduli.product();
        let weight = |&m: &u16| {
            let others = product / U256::from(m);
            let rest = (others % U256::from(m)).as_u32();
            let inverse = (0..u32::from(m)).find(|x| x * rest % u32::from(m) == 1);
            others * U256::from(inverse.unwrap_or(0))
        };
        Prototype {
            values: moduli.values().to_vec(),
            product,
            weights: moduli.values().iter().map(weight).collect(),
            slices: (256 - product.leading_zeros() as usize).div_ceil(8),
            scale,
        }
    }

    /// The output that an integer's residues give.
    pub fn result(&self, column: Column, integer: I256) -> f64 {
        let from_zero = |&m: &u16| integer.rem_euclid(I256::from(m)).as_i32();
        let residues: Vec<i32> = self.values.iter().map(from_zero).collect();
        let range = self.product.as_f64() * (-f64::from(self.scale)).exp2();
        match column {
            Column::Recursive => self.exact(&residues),
            Column::SliceDouble => centred(self.slice_terms(&residues).sum(), range),
            Column::SliceKahan => {
                let sum = kahan(self.slice_terms(&residues).map(|term| term as f32));
                centred_single(sum, range as f32).into()
            }
            Column::BernsteinDouble => {
                let sum: f64 = self.fractions(&residues).map(|(v, w)| v * w).sum();
                centred(sum, 1.0) * range
            }
            Column::BernsteinKahan => {
                let terms = self.fractions(&residues).map(|(v, w)| v as f32 * w as f32);
                (centred_single(kahan(terms), 1.0) * range as f32).into()
            }
            Column::BernsteinSingle => {
                let terms = self.fractions(&residues).map(|(v, w)| v as f32 * w as f32);
                (centred_single(terms.sum(), 1.0) * range as f32).into()
            }
        }
    }

    fn exact(&self, residues: &[i32]) -> f64 {
        let terms = residues.iter().zip(&self.weights);
        let sum: U256 = terms.map(|(&v, &u)| U256::from(v as u32) * u).sum();
        let rest = (sum % self.product).as_i256();
        let product = self.product.as_i256();
        let integer = if rest << 1u32 > product {
            rest - product
        } else {
            rest
        };
        super::matrices::rounded(integer, -(self.scale as i32))
    }

    /// `P_s · 256^s / (s_A s_B)`.
    fn slice_terms(&self, residues: &[i32]) -> impl Iterator<Item = f64> {
        (0..self.slices).map(move |slice| {
            let byte = |weight: &U256| ((*weight >> (8 * slice)).as_u32() & 255) as i32;
            let terms = residues.iter().zip(&self.weights);
            let sum: i32 = terms.map(|(v, weight)| v * byte(weight)).sum();
            f64::from(sum) * (8.0 * slice as f64 - f64::from(self.scale)).exp2()
        })
    }

    /// Residues, and `w_k = u_k/M`.
    fn fractions(&self, residues: &[i32]) -> impl Iterator<Item = (f64, f64)> {
        let pairs = residues.iter().zip(self.weights.iter().zip(&self.values));
        pairs.map(move |(&v, (&weight, &m))| {
            // The weight is M/m times a number below m.
            let inverse = (weight / (self.product / U256::from(m))).as_f64();
            (f64::from(v), inverse / f64::from(m))
        })
    }
}

/// The representative of the smallest magnitude modulo `range`.
fn centred(x: f64, range: f64) -> f64 {
    x - (x / range).round() * range
}

fn centred_single(x: f32, range: f32) -> f32 {
    x - (x / range).round() * range
}

fn kahan(terms: impl Iterator<Item = f32>) -> f32 {
    let (mut sum, mut lost) = (0.0f32, 0.0f32);
    for term in terms {
        let term = term - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    sum
}
