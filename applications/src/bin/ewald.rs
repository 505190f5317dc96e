//! Madelung constants of ionic crystals: by Ewald's sum, to the last digits of a double, and by smooth particle-mesh Ewald (Essmann et
//! al. 1995), whose error falls with the order of its splines.
//!
//! The constant is M = -E·r / |z·z'|: E is the energy of one formula unit in units of e² over the unit of length, r the shortest
//! distance of opposite ions, z and z' their charges.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "what is not a number is rejected with what is too large"
)]

use clap::{Parser, ValueEnum};
use num_complex::Complex;
use ozfft_applications::digest::sha256;
use ozfft_applications::ewald_sum::{Crystal, Ion, Vector, combine, dot};
use ozfft_applications::options::Computing;
use ozfft_applications::plot::{Chart, Curve, Scales};
use ozfft_applications::report::Run;
use ozfft_applications::splines::{MOST_ORDER, Weights, damping, frequency};
use ozfft_applications::transforms::RealTransform;
use ozfft_measure::failure::Failure;
use ozfft_measure::options::{Shape, parse_shape, shape_text};
use ozfft_measure::report::{aligned, progress, say, say_json};
use ozfft_measure::{arguments, finish, inputs, memory};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Madelung constants by Ewald's sum and by smooth particle-mesh Ewald.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The crystal
    #[arg(long, value_enum, default_value = "nacl")]
    crystal: Named,
    /// Another crystal, from a JSON file: {"lattice": [[…],[…],[…]], "ions": [{"charge": 1, "position": [0, 0, 0]}, …],
    /// "formula_units": 1}, positions in fractions of the lattice vectors
    #[arg(long, value_name = "FILE", conflicts_with = "crystal")]
    lattice: Option<PathBuf>,
    /// Mesh of particle-mesh Ewald, such as 32 or 32x24x32 [default: a series of cubes]
    #[arg(long, value_parser = parse_shape)]
    shape: Option<Shape>,
    /// Orders of the splines, joined by commas
    #[arg(long, value_delimiter = ',', default_value = "4,6,8", value_parser = clap::value_parser!(u8).range(3..=MOST_ORDER as i64))]
    order: Vec<u8>,
    #[command(flatten)]
    computing: Computing,
}

/// Crystals by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Named {
    /// Rock salt
    Nacl,
    /// Caesium chloride
    Cscl,
    /// Zinc sulphide, cubic
    Zincblende,
    /// Zinc sulphide, hexagonal, of ideal proportions
    Wurtzite,
    /// Calcium fluoride
    Fluorite,
    /// Calcium titanate, cubic: charges 2, 4 and -2
    Perovskite,
    /// Rhenium trioxide: charges 6 and -2
    RheniumTrioxide,
}

/// A crystal with what its constant is counted by; also the form of a file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    lattice: [Vector; 3],
    ions: Vec<DescribedIon>,
    #[serde(default = "one")]
    formula_units: f64,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedIon {
    charge: f64,
    position: Vector,
}

impl Named {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_string())
    }

    /// Published constants in the convention above, and where they are from.
    fn published(self) -> Option<f64> {
        match self {
            Named::Nacl => Some(1.747_564_594_633_182),
            Named::Cscl => Some(1.762_674_773_070_988),
            Named::Zincblende => Some(1.638_055_053_388_789),
            Named::Wurtzite => Some(1.641_321_627_37),
            Named::Fluorite => Some(2.519_392_439_9),
            Named::Perovskite | Named::RheniumTrioxide => None,
        }
    }

    fn description(self) -> Description {
        let cubic = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let face_centred = [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]];
        let (lattice, formula_units, ions): (_, f64, Vec<(f64, Vector)>) = match self {
            Named::Nacl => (face_centred, 1.0, vec![(1.0, [0.0; 3]), (-1.0, [0.5; 3])]),
            Named::Cscl => (cubic, 1.0, vec![(1.0, [0.0; 3]), (-1.0, [0.5; 3])]),
            Named::Zincblende => (face_centred, 1.0, vec![(1.0, [0.0; 3]), (-1.0, [0.25; 3])]),
            Named::Fluorite => {
                let ions = vec![(2.0, [0.0; 3]), (-1.0, [0.25; 3]), (-1.0, [0.75; 3])];
                (face_centred, 1.0, ions)
            }
            Named::Perovskite => {
                let oxygen = -2.0;
                let ions = vec![
                    (2.0, [0.5; 3]),
                    (4.0, [0.0; 3]),
                    (oxygen, [0.5, 0.0, 0.0]),
                    (oxygen, [0.0, 0.5, 0.0]),
                    (oxygen, [0.0, 0.0, 0.5]),
                ];
                (cubic, 1.0, ions)
            }
            Named::RheniumTrioxide => {
                let oxygen = -2.0;
                let ions = vec![
                    (6.0, [0.0; 3]),
                    (oxygen, [0.5, 0.0, 0.0]),
                    (oxygen, [0.0, 0.5, 0.0]),
                    (oxygen, [0.0, 0.0, 0.5]),
                ];
                (cubic, 1.0, ions)
            }
            Named::Wurtzite => {
                // c/a = √(8/3) and u = 3/8 make all four neighbours equally distant.
                let lattice = [
                    [1.0, 0.0, 0.0],
                    [-0.5, libm::sqrt(0.75), 0.0],
                    [0.0, 0.0, libm::sqrt(8.0 / 3.0)],
                ];
                let (third, two_thirds) = (1.0 / 3.0, 2.0 / 3.0);
                let ions = vec![
                    (1.0, [third, two_thirds, 0.0]),
                    (1.0, [two_thirds, third, 0.5]),
                    (-1.0, [third, two_thirds, 0.375]),
                    (-1.0, [two_thirds, third, 0.875]),
                ];
                (lattice, 2.0, ions)
            }
        };
        let ions = ions.into_iter();
        let ions = ions.map(|(charge, position)| DescribedIon { charge, position });
        Description {
            lattice,
            ions: ions.collect(),
            formula_units,
        }
    }
}

/// Most ions of a file: the direct sum takes the square of their number.
const MOST_IONS: usize = 1000;

impl Description {
    fn read(path: &Path) -> Result<Description, Failure> {
        inputs::read_json(path, "a crystal (`--help` shows the form)")
    }

    /// The crystal, if an energy can be computed.
    fn crystal(&self) -> Result<Crystal, Failure> {
        let unusable = |reason: String| Err(Failure::Usage(format!("the crystal {reason}")));
        let crystal = Crystal {
            lattice: self.lattice,
            ions: self
                .ions
                .iter()
                .map(|&DescribedIon { charge, position }| Ion { charge, position })
                .collect(),
        };
        let numbers = self.lattice.iter().flatten();
        let ions = crystal.ions.iter();
        let of_ions = ions
            .clone()
            .flat_map(|ion| ion.position.into_iter().chain([ion.charge]));
        if numbers.copied().chain(of_ions).any(|x| !(x.abs() < 1e6)) {
            return unusable("has a number that is not below a million; take other units".into());
        }
        if crystal.ions.len() > MOST_IONS {
            let count = crystal.ions.len();
            return unusable(format!("has {count} ions; {MOST_IONS} is the most"));
        }
        let longest = self
            .lattice
            .map(|a| dot(a, a))
            .into_iter()
            .fold(0.0, f64::max);
        let cube = longest * libm::sqrt(longest);
        if !(crystal.volume() > 1e-3 * cube) {
            return unusable(
                "has lattice vectors that are nearly in a plane; take shorter or less oblique ones"
                    .into(),
            );
        }
        let charges: Vec<f64> = ions.clone().map(|ion| ion.charge).collect();
        let total = kulisch::sum(&charges);
        let largest = charges.iter().fold(0.0_f64, |most, q| most.max(q.abs()));
        if total.abs() > 1e-9 * largest || largest == 0.0 {
            return unusable(format!(
                "has the charge {total} a cell, and a Madelung constant is that of a neutral one; balance the charges"
            ));
        }
        for (index, a) in crystal.ions.iter().enumerate() {
            for b in &crystal.ions[..index] {
                let apart = [0, 1, 2].map(|axis| a.position[axis] - b.position[axis]);
                if apart.iter().all(|x| (x - libm::rint(*x)).abs() < 1e-9) {
                    return unusable(format!("has two ions at {:?}", b.position));
                }
            }
        }
        if !(self.formula_units > 0.0 && self.formula_units.is_finite()) {
            let units = self.formula_units;
            return unusable(format!("has {units} formula units; give a positive number"));
        }
        Ok(crystal)
    }
}

/// Smooth particle-mesh Ewald: the half of the sum over reciprocal vectors on a mesh.
struct ParticleMesh<'a> {
    crystal: &'a Crystal,
    splitting: f64,
    shape: [usize; 3],
    order: usize,
    /// Potential of a unit charge over its spectrum, and what undoes the damping of the splines.
    influence: Vec<f64>,
    transform: RealTransform,
    spectrum: Vec<Complex<f64>>,
}

impl<'a> ParticleMesh<'a> {
    fn new(
        crystal: &'a Crystal,
        splitting: f64,
        (shape, order): ([usize; 3], usize),
        computing: &Computing,
    ) -> Result<Self, Failure> {
        let transform = RealTransform::new(computing, &shape, (1, 1))?;
        let half = [shape[0], shape[1], shape[2] / 2 + 1];
        let reciprocal = crystal.reciprocal();
        let dampings = [0, 1, 2].map(|axis| {
            let of_index = |index| damping(order, frequency(index, shape[axis]), shape[axis]);
            (0..half[axis]).map(of_index).collect::<Vec<f64>>()
        });
        let points = (shape[0] * shape[1] * shape[2]) as f64;
        let mut influence = Vec::with_capacity(half.iter().product());
        for i in 0..half[0] {
            for j in 0..half[1] {
                for k in 0..half[2] {
                    let index = [i, j, k];
                    let m = [0, 1, 2].map(|axis| frequency(index[axis], shape[axis]));
                    let g = combine(m.map(|x| x as f64), reciprocal);
                    let square = dot(g, g);
                    // At half the mesh's frequency the two signs of m are one entry, and mean different vectors g.
                    let ambiguous = (0..3).any(|axis| 2 * index[axis] == shape[axis]);
                    influence.push(if square == 0.0 || ambiguous {
                        0.0
                    } else {
                        let damped = dampings[0][i] * dampings[1][j] * dampings[2][k];
                        // The inverse transform divides by the number of points, which this sum does not.
                        points * crystal.influence(square, splitting) / damped
                    });
                }
            }
        }
        let spectrum = vec![Complex::new(0.0, 0.0); influence.len()];
        Ok(ParticleMesh {
            crystal,
            splitting,
            shape,
            order,
            influence,
            transform,
            spectrum,
        })
    }

    /// Potentials at the ions, which are all moved by the same fractions first.
    fn potentials(&mut self, shift: Vector) -> Result<Vec<f64>, Failure> {
        let [_, n, l] = self.shape;
        let weights: Vec<[Weights; 3]> = self
            .crystal
            .ions
            .iter()
            .map(|ion| {
                [0, 1, 2].map(|axis| {
                    let fraction = ion.position[axis] + shift[axis];
                    let fraction = fraction - libm::floor(fraction);
                    Weights::new(fraction * self.shape[axis] as f64, self.order)
                })
            })
            .collect();
        let shape = self.shape;
        let visit = |weights: &[Weights; 3], visitor: &mut dyn FnMut(usize, f64)| {
            let wrapped = |axis: usize, j: usize| {
                (weights[axis].first + j as i64).rem_euclid(shape[axis] as i64) as usize
            };
            for (a, x) in weights[0].values().iter().enumerate() {
                for (b, y) in weights[1].values().iter().enumerate() {
                    for (c, z) in weights[2].values().iter().enumerate() {
                        let place = (wrapped(0, a) * n + wrapped(1, b)) * l + wrapped(2, c);
                        visitor(place, x * y * z);
                    }
                }
            }
        };
        let mut mesh = vec![0.0; shape.iter().product()];
        for (ion, weights) in self.crystal.ions.iter().zip(&weights) {
            visit(weights, &mut |place, weight| {
                mesh[place] += ion.charge * weight;
            });
        }
        self.transform.forward(&mesh, &mut self.spectrum)?;
        for (value, factor) in self.spectrum.iter_mut().zip(&self.influence) {
            *value *= *factor;
        }
        self.transform.inverse(&self.spectrum, &mut mesh)?;
        let potential = |weights: &[Weights; 3]| {
            let mut sum = 0.0;
            visit(weights, &mut |place, weight| sum += weight * mesh[place]);
            sum
        };
        Ok(weights.iter().map(potential).collect())
    }

    /// Error of the energy at these positions of the crystal, as root mean square, and the potentials.
    fn error(&mut self, shifts: &[Vector]) -> Result<(f64, Vec<f64>), Failure> {
        let exact = self.crystal.reciprocal_energy(self.splitting);
        let mut squares = 0.0;
        let mut all = Vec::new();
        for &shift in shifts {
            let potentials = self.potentials(shift)?;
            let ions = self.crystal.ions.iter().zip(&potentials);
            let terms: Vec<f64> = ions.map(|(ion, phi)| 0.5 * ion.charge * phi).collect();
            let error = kulisch::sum(&terms) - exact;
            squares += error * error;
            all.extend(potentials);
        }
        Ok((libm::sqrt(squares / shifts.len() as f64), all))
    }
}

/// Positions of the crystal on the mesh over which errors are averaged: where ions are on mesh points or between them, errors differ.
/// Roberts' sequence of evenly spread points, from the root of x⁴ = x + 1.
fn shifts(count: usize) -> Vec<Vector> {
    let step = 1.0 / 1.220_744_084_605_759_5;
    let of_index = |index: usize| {
        [1, 2, 3].map(|power| {
            let x = 0.5 + index as f64 * libm::pow(step, f64::from(power));
            x - libm::floor(x)
        })
    };
    (1..=count).map(of_index).collect()
}

const SHIFTS: usize = 16;
const MESHES: [usize; 6] = [8, 12, 16, 24, 32, 48];

#[derive(Debug, Serialize)]
struct MeshResult {
    mesh: String,
    order: usize,
    /// Of the Madelung constant.
    rms_error: f64,
    /// Exponent by which it fell since the mesh before.
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_order: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Report {
    crystal: String,
    madelung: f64,
    /// Another constant that somebody printed, where there is one.
    published: Option<f64>,
    /// Of a formula unit, in units of e² over the shortest distance of opposite ions.
    energy: f64,
    nearest_distance: f64,
    charge_product: f64,
    ions: usize,
    splitting: f64,
    particle_mesh: Vec<MeshResult>,
    sha256: String,
    #[serde(flatten)]
    run: Run,
}

fn compute(arguments: &Arguments) -> Result<Report, Failure> {
    let computing = &arguments.computing;
    let (name, published, description) = match &arguments.lattice {
        Some(path) => (path.display().to_string(), None, Description::read(path)?),
        None => {
            let crystal = arguments.crystal;
            (crystal.name(), crystal.published(), crystal.description())
        }
    };
    let crystal = description.crystal()?;
    let Some((nearest, product)) = crystal.nearest_opposite() else {
        return Err(Failure::Usage(
            "the crystal has no ions of opposite charge".into(),
        ));
    };
    let meshes = match &arguments.shape {
        None => MESHES.map(|n| [n; 3]).to_vec(),
        Some(Shape(shape)) => match shape[..] {
            [n] => vec![[n; 3]],
            [a, b, c] => vec![[a, b, c]],
            _ => {
                return Err(Failure::Usage(format!(
                    "the mesh {} has not three lengths; give 32 or 32x24x32",
                    shape_text(shape)
                )));
            }
        },
    };
    let start = Instant::now();
    let splitting = crystal.balanced_splitting();
    // From the energy of a cell to the constant.
    let to_constant = nearest / (description.formula_units * product);
    let energy = crystal.energy(splitting);
    let bar = progress(
        meshes.len() * arguments.order.len(),
        "meshes",
        computing.json,
    );
    let mut results: Vec<MeshResult> = Vec::new();
    let mut potentials = Vec::new();
    let mut run: Option<Run> = None;
    for &order in &arguments.order {
        let order = usize::from(order);
        let mut last: Option<(usize, f64)> = None;
        for &shape in &meshes {
            if shape.iter().any(|&n| n < order) {
                return Err(Failure::Usage(format!(
                    "the mesh {} has fewer points than a spline of order {order} reaches; take a finer mesh or a lower order",
                    shape_text(&shape)
                )));
            }
            // Mesh, half-spectrum, influence and workspace.
            memory::expect_points("the mesh", &shape, 48)?;
            let mut mesh = ParticleMesh::new(&crystal, splitting, (shape, order), computing)?;
            let (error, found) = mesh.error(&shifts(SHIFTS))?;
            let error = error * to_constant.abs();
            let cube = shape.iter().all(|&n| n == shape[0]).then_some(shape[0]);
            let observed_order = match (last, cube) {
                (Some((n, before)), Some(now)) if error > 0.0 => {
                    Some(libm::log(before / error) / libm::log(now as f64 / n as f64))
                }
                _ => None,
            };
            last = cube.map(|n| (n, error));
            results.push(MeshResult {
                mesh: shape_text(&shape),
                order,
                rms_error: error,
                observed_order,
            });
            potentials.extend(found);
            let this = Run::new(computing, &mesh.transform, 0.0);
            run = Some(match run {
                None => this,
                Some(sum) => Run {
                    transforms: sum.transforms + this.transforms,
                    fft_seconds: sum.fft_seconds + this.fft_seconds,
                    bound: sum.bound.max(this.bound),
                    ..this
                },
            });
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let run = run.expect("there is an order, and a mesh");
    let run = Run {
        seconds,
        fft_share: run.fft_seconds / seconds,
        ..run
    };
    Ok(Report {
        crystal: name,
        madelung: energy * to_constant,
        published,
        energy: energy * nearest / description.formula_units,
        nearest_distance: nearest,
        charge_product: product,
        ions: crystal.ions.len(),
        splitting,
        particle_mesh: results,
        sha256: sha256([&potentials[..]]),
        run,
    })
}

fn tell(report: &Report) -> Result<(), Failure> {
    say(&format!(
        "Madelung constant of {}: {:.15}",
        report.crystal, report.madelung
    ))?;
    if let Some(published) = report.published {
        let difference = report.madelung - published;
        say(&format!(
            "published {published}, difference {difference:.1e}"
        ))?;
    }
    let heading = ["mesh", "order", "rms error", "fell as mesh to the power"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    for result in &report.particle_mesh {
        rows.push(vec![
            result.mesh.clone(),
            result.order.to_string(),
            format!("{:.1e}", result.rms_error),
            result
                .observed_order
                .map_or(String::new(), |order| format!("-{order:.1}")),
        ]);
    }
    say(&format!(
        "\nSmooth particle-mesh Ewald:\n{}\n",
        aligned(&rows)
    ))?;
    say(&format!("sha256 of its potentials: {}", report.sha256))?;
    say(&report.run.text())
}

fn draw(report: &Report, path: &Path) -> Result<(), Failure> {
    let mut curves: Vec<Curve> = Vec::new();
    for result in &report.particle_mesh {
        let label = format!("order {}", result.order);
        let points = result.mesh.split('x').next().and_then(|n| n.parse().ok());
        let place = (points.unwrap_or(f64::NAN), result.rms_error);
        match curves.iter_mut().find(|curve| curve.label == label) {
            Some(curve) => curve.points.push(place),
            None => curves.push(Curve::line(label, vec![place])),
        }
    }
    let marks = curves
        .iter()
        .flat_map(|curve| curve.points.clone())
        .collect();
    curves.push(Curve::marks("meshes", marks));
    let chart = Chart {
        title: format!("Smooth particle-mesh Ewald, {}", report.crystal),
        axes: [
            "mesh points along an axis".into(),
            "rms error of the Madelung constant".into(),
        ],
        scales: Scales::LogLog,
        curves,
    };
    chart.write(path)
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let report = arguments.computing.in_pool(|| compute(arguments))?;
    if let Some(path) = &arguments.computing.plot {
        draw(&report, path)?;
    }
    if arguments.computing.json {
        say_json(&report)
    } else {
        tell(&report)
    }
}

fn main() -> ExitCode {
    finish(run(&arguments()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn madelung(named: Named) -> f64 {
        let description = named.description();
        let crystal = description.crystal().expect("a crystal");
        let (nearest, product) = crystal.nearest_opposite().expect("ions");
        let energy = crystal.energy(crystal.balanced_splitting());
        energy * nearest / (description.formula_units * product)
    }

    #[test]
    fn constants_are_the_published_ones_to_twelve_digits() {
        for (named, decimals) in [
            (Named::Nacl, 12),
            (Named::Cscl, 12),
            (Named::Zincblende, 12),
            (Named::Wurtzite, 9),
            (Named::Fluorite, 8),
        ] {
            let (found, published) = (madelung(named), named.published().expect("a number"));
            let tolerance = 0.1_f64.powi(decimals);
            assert!(
                (found - published).abs() < tolerance,
                "{named:?}: {found}, published {published}"
            );
        }
    }

    #[test]
    fn a_perovskite_is_made_of_known_lattices() {
        // Its energy is that of three one-component lattices and their interaction, all of which rock salt, caesium chloride and rhenium
        // trioxide have as well; here the two with corner and face charges, by superposition: E(q) is quadratic in the charges.
        let energy = |central: f64, corner: f64, face: f64| {
            let mut description = Named::Perovskite.description();
            for (ion, charge) in description
                .ions
                .iter_mut()
                .zip([central, corner, face, face, face])
            {
                ion.charge = charge;
            }
            let crystal = Crystal {
                lattice: description.lattice,
                ions: description
                    .ions
                    .iter()
                    .map(|ion| Ion {
                        charge: ion.charge,
                        position: ion.position,
                    })
                    .collect(),
            };
            crystal.energy(crystal.balanced_splitting())
        };
        // The body-centred pair alone is caesium chloride of cell 1.
        let pair = -energy(1.0, -1.0, 0.0) * 0.75_f64.sqrt();
        assert!((pair - 1.762_674_773_070_988).abs() < 1e-12, "{pair}");
        let parallelogram = energy(3.0, 5.0, -2.0) + energy(1.0, 1.0, -1.0);
        let quadratic = 2.0 * (energy(2.0, 3.0, -1.5) + energy(1.0, 2.0, -0.5));
        assert!(
            (parallelogram - quadratic).abs() < 1e-12,
            "{parallelogram} {quadratic}"
        );
    }

    #[test]
    fn particle_mesh_converges_at_the_order_of_its_splines() {
        let crystal = Named::Fluorite.description().crystal().expect("a crystal");
        let splitting = crystal.balanced_splitting();
        for order in [4, 6, 8] {
            let [coarse, fine] = [16, 32].map(|n| {
                let computing = Computing::default();
                let mesh = ParticleMesh::new(&crystal, splitting, ([n; 3], order), &computing);
                mesh.expect("a mesh")
                    .error(&shifts(SHIFTS))
                    .expect("potentials")
                    .0
            });
            let observed = (coarse / fine).log2();
            // The leading term falls with the order; the next one, two orders higher, is a few per cent of it on these meshes.
            let expected = order as f64;
            assert!(
                (observed - expected).abs() < 0.7,
                "order {order}: {observed}"
            );
        }
    }

    #[test]
    fn unusable_crystals_are_rejected_with_the_reason() {
        let salt = Named::Nacl.description();
        let with = |change: fn(&mut Description)| {
            let mut description = salt.clone();
            change(&mut description);
            description.crystal().expect_err("unusable").to_string()
        };
        assert!(with(|d| d.ions[0].charge = 2.0).contains("balance the charges"));
        assert!(with(|d| d.ions[0].position = [0.5; 3]).contains("two ions"));
        assert!(with(|d| d.lattice[2] = d.lattice[1]).contains("in a plane"));
        assert!(with(|d| d.lattice[2][0] = f64::NAN).contains("not below a million"));
        assert!(with(|d| d.formula_units = 0.0).contains("positive number"));
    }
}
