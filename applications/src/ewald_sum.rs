//! Electrostatic energy of periodic point charges, by Ewald's sum: half of it in space, half of it over reciprocal vectors.

use num_complex::Complex;
use std::f64::consts::{PI, TAU};

/// A vector of space.
pub type Vector = [f64; 3];

/// A point charge of a crystal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ion {
    /// In units of the elementary charge.
    pub charge: f64,
    /// In fractions of the lattice vectors.
    pub position: Vector,
}

/// Charges that repeat along three lattice vectors. If they do not add up to zero, a uniform background does.
#[derive(Debug, Clone, PartialEq)]
pub struct Crystal {
    /// The lattice vectors.
    pub lattice: [Vector; 3],
    /// The charges of one cell.
    pub ions: Vec<Ion>,
}

/// The scalar product.
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector product.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Terms beyond this multiple of the width of the Gaussian charges are left out: erfc(7) and exp(-49) are below 5e-22.
const CUTOFF: f64 = 7.0;

impl Crystal {
    /// Volume of a cell.
    pub fn volume(&self) -> f64 {
        let [a, b, c] = self.lattice;
        dot(a, cross(b, c)).abs()
    }

    /// The reciprocal lattice vectors, without the factor 2π: `dot(reciprocal[i], lattice[j])` is 1 for i = j, else 0.
    pub fn reciprocal(&self) -> [Vector; 3] {
        let [a, b, c] = self.lattice;
        let volume = dot(a, cross(b, c));
        [cross(b, c), cross(c, a), cross(a, b)].map(|v| v.map(|x| x / volume))
    }

    /// The point with these fractions of the lattice vectors.
    pub fn place(&self, fractions: Vector) -> Vector {
        combine(fractions, self.lattice)
    }

    /// The splitting parameter (inverse width of the Gaussian charges) with which both halves of the sum have as many terms.
    pub fn balanced_splitting(&self) -> f64 {
        libm::sqrt(PI) / libm::cbrt(self.volume())
    }

    /// Distances between ions that are shorter than a cutoff, once for each ordered pair and image.
    fn for_each_distance(&self, cutoff: f64, mut visit: impl FnMut(&Ion, &Ion, f64)) {
        // Along a lattice vector cells are as far apart as their reciprocal vector is short; differences of fractions are below 1.
        let reach = self
            .reciprocal()
            .map(|g| libm::ceil(cutoff * libm::sqrt(dot(g, g))) as i64 + 1);
        for a in &self.ions {
            for b in &self.ions {
                let between = [0, 1, 2].map(|axis| {
                    let difference = b.position[axis] - a.position[axis];
                    difference - libm::floor(difference)
                });
                for_each_integer_vector(reach, |cell| {
                    let fractions = [0, 1, 2].map(|axis| between[axis] + cell[axis] as f64);
                    let separation = self.place(fractions);
                    let square = dot(separation, separation);
                    if square > 0.0 && square < cutoff * cutoff {
                        visit(a, b, libm::sqrt(square));
                    }
                });
            }
        }
    }

    /// Shortest distance between two ions whose charges have different signs, and the product of those charges.
    pub fn nearest_opposite(&self) -> Option<(f64, f64)> {
        let [a, b, c] = self.lattice;
        // Some pair is not farther apart than the cell is wide.
        let width: f64 = [a, b, c].map(|v| libm::sqrt(dot(v, v))).iter().sum();
        let mut nearest: Option<(f64, f64)> = None;
        self.for_each_distance(width, |a, b, distance| {
            let product = a.charge * b.charge;
            if product < 0.0 && nearest.is_none_or(|(known, _)| distance < known) {
                nearest = Some((distance, product));
            }
        });
        nearest
    }

    /// Energy of one cell in units of e² over the unit of length (in hartree if that is the bohr).
    ///
    /// It does not depend on `splitting`, which only moves terms from one half of the sum to the other.
    ///
    /// ```
    /// use ozfft_applications::ewald_sum::{Crystal, Ion};
    /// let ion = |charge, x| Ion { charge, position: [x; 3] };
    /// let lattice = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let caesium_chloride = Crystal { lattice, ions: vec![ion(1.0, 0.0), ion(-1.0, 0.5)] };
    /// let energy = caesium_chloride.energy(caesium_chloride.balanced_splitting());
    /// let nearest = 0.75_f64.sqrt();
    /// assert!((energy * nearest + 1.762_674_773_070_988).abs() < 1e-12);
    /// ```
    pub fn energy(&self, splitting: f64) -> f64 {
        let mut terms = Vec::new();
        self.for_each_distance(CUTOFF / splitting, |a, b, distance| {
            let screened = libm::erfc(splitting * distance) / distance;
            terms.push(0.5 * a.charge * b.charge * screened);
        });
        terms.push(self.reciprocal_energy(splitting));
        terms.push(self.self_energy(splitting));
        // Exact before one rounding: the order of the terms does not matter.
        kulisch::sum(&terms)
    }

    /// What the Gaussian charges have with themselves, and with the background of a cell that is not neutral.
    pub fn self_energy(&self, splitting: f64) -> f64 {
        let squares: Vec<f64> = self
            .ions
            .iter()
            .map(|ion| ion.charge * ion.charge)
            .collect();
        let charges: Vec<f64> = self.ions.iter().map(|ion| ion.charge).collect();
        let total = kulisch::sum(&charges);
        let background = PI * total * total / (2.0 * self.volume() * splitting * splitting);
        -splitting / libm::sqrt(PI) * kulisch::sum(&squares) - background
    }

    /// The half of the sum over reciprocal vectors: the energy of Gaussian charges.
    pub fn reciprocal_energy(&self, splitting: f64) -> f64 {
        let reciprocal = self.reciprocal();
        // exp(-G²/4η²) with G = 2π|g|.
        let longest = CUTOFF * splitting / PI;
        let reach = self
            .lattice
            .map(|a| libm::ceil(longest * libm::sqrt(dot(a, a))) as i64);
        let mut terms = Vec::new();
        for_each_integer_vector(reach, |m| {
            let g = combine(m.map(|x| x as f64), reciprocal);
            let square = dot(g, g);
            if square > 0.0 && square < longest * longest {
                terms.push(self.influence(square, splitting) * self.structure_factor(m).norm_sqr());
            }
        });
        0.5 * kulisch::sum(&terms)
    }

    /// Potential of a Gaussian charge at a reciprocal vector (without 2π) of this squared length.
    pub fn influence(&self, square: f64, splitting: f64) -> f64 {
        libm::exp(-PI * PI * square / (splitting * splitting)) / (PI * self.volume() * square)
    }

    fn structure_factor(&self, m: [i64; 3]) -> Complex<f64> {
        let mut sum = Complex::new(0.0, 0.0);
        for ion in &self.ions {
            let turns = dot(m.map(|x| x as f64), ion.position);
            let angle = TAU * (turns - libm::rint(turns));
            sum += ion.charge * Complex::new(libm::cos(angle), libm::sin(angle));
        }
        sum
    }
}

/// The sum of vectors with these factors.
pub fn combine(factors: Vector, vectors: [Vector; 3]) -> Vector {
    [0, 1, 2].map(|axis| {
        factors[0] * vectors[0][axis]
            + factors[1] * vectors[1][axis]
            + factors[2] * vectors[2][axis]
    })
}

/// Visits all vectors of integers whose components do not exceed these.
pub fn for_each_integer_vector(most: [i64; 3], mut visit: impl FnMut([i64; 3])) {
    for x in -most[0]..=most[0] {
        for y in -most[1]..=most[1] {
            for z in -most[2]..=most[2] {
                visit([x, y, z]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Face-centred cubic lattice vectors of a cubic cell of this length.
    fn face_centred(a: f64) -> [Vector; 3] {
        let h = a / 2.0;
        [[0.0, h, h], [h, 0.0, h], [h, h, 0.0]]
    }

    fn crystal(lattice: [Vector; 3], ions: &[(f64, Vector)]) -> Crystal {
        let ions = ions
            .iter()
            .map(|&(charge, position)| Ion { charge, position });
        Crystal {
            lattice,
            ions: ions.collect(),
        }
    }

    /// Radius of the sphere that has a cell's volume.
    fn sphere_radius(crystal: &Crystal) -> f64 {
        (3.0 * crystal.volume() / (4.0 * PI)).cbrt()
    }

    #[test]
    fn one_component_plasmas_have_the_published_energies_of_their_lattices() {
        // Coldwell-Horsfall and Maradudin (1960): per ion, in units of e² over the radius of the ion sphere.
        let body_centred = [[-0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, -0.5]];
        let simple = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (lattice, published) in [
            (simple, -0.880_059_442),
            (body_centred, -0.895_929_256),
            (face_centred(1.0), -0.895_873_616),
        ] {
            let ions = crystal(lattice, &[(1.0, [0.0; 3])]);
            let energy = ions.energy(ions.balanced_splitting()) * sphere_radius(&ions);
            // Nine decimals are printed.
            assert!((energy - published).abs() < 1e-9, "{energy} {published}");
        }
    }

    #[test]
    fn the_energy_does_not_depend_on_splitting_cell_or_origin() {
        let ions = [
            (2.0, [0.1, 0.2, 0.35]),
            (-1.0, [0.7, 0.15, 0.5]),
            (0.5, [0.4, 0.9, 0.05]),
        ];
        let skew = [[1.0, 0.1, 0.0], [-0.3, 1.2, 0.2], [0.4, 0.0, 0.9]];
        let original = crystal(skew, &ions);
        let splitting = original.balanced_splitting();
        let energy = original.energy(splitting);
        // A few thousand terms of order 1, each good to about 4 ulp of its own.
        let tolerance = 1e-13 * energy.abs();
        for factor in [0.6, 1.7] {
            let moved = original.energy(splitting * factor);
            assert!((moved - energy).abs() < tolerance, "{moved} {energy}");
        }
        // The same lattice by other vectors: c + a instead of c, and fractions to match.
        let [a, b, c] = skew;
        let sheared = [a, b, combine([1.0, 0.0, 1.0], skew)];
        assert_ne!(sheared[2], c);
        let ions = ions.map(|(q, [x, y, z])| (q, [x - z, y, z]));
        let energy_sheared = crystal(sheared, &ions).energy(splitting);
        assert!((energy_sheared - energy).abs() < tolerance);
        let shifted = ions.map(|(q, [x, y, z])| (q, [x + 0.377, y - 5.2, z + 0.01]));
        let energy_shifted = crystal(sheared, &shifted).energy(splitting);
        assert!((energy_shifted - energy).abs() < tolerance);
    }

    #[test]
    fn neutral_cells_agree_with_a_sum_over_cubes_in_space() {
        // Evjen (1932): cubes whose surface charges count by the fraction that is inside converge for rock salt, as n^-4 or better.
        let side = 40_i64;
        let mut terms = Vec::new();
        for_each_integer_vector([side; 3], |cell| {
            let square = cell.iter().map(|x| x * x).sum::<i64>();
            if square > 0 {
                let sign = if cell.iter().sum::<i64>() % 2 == 0 {
                    1.0
                } else {
                    -1.0
                };
                let surfaces = cell.iter().filter(|x| x.abs() == side).count();
                terms.push(sign * 0.5_f64.powi(surfaces as i32) / (square as f64).sqrt());
            }
        });
        let evjen = -kulisch::sum(&terms);
        let salt = crystal(face_centred(2.0), &[(1.0, [0.0; 3]), (-1.0, [0.5; 3])]);
        let ewald = -salt.energy(salt.balanced_splitting());
        let error = (side as f64).powi(-4);
        assert!((evjen - ewald).abs() < error, "{evjen} {ewald}");
    }
}
