//! `ozfft accuracy --attack`: the worst error over bound that inputs aimed at the bound reach.

use super::AccuracyArguments;
use crate::arrays::{from_half, half_shape, make_hermitian, unravel};
use crate::comparison::{compute, problem_of, scale_of};
use crate::failure::Failure;
use crate::memory;
use crate::options::{accuracy_text, shape_text};
use crate::report::{aligned, bound_text, error_text, progress, say, say_json};
use num_complex::Complex;
use ozfft::{BlockRecipe, Direction, Engine, Kind, LineRecipe, Plan, Planner};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::attack::{Aim, Found, Measured, Numbers, campaign};
use ozfft_testkit::oracle::{ExactSpectrum, Scale, compare_scaled, dft_nd, differences};
use serde::Serialize;

/// The worst that was found for one shape.
#[derive(Debug, Serialize)]
struct Row {
    shape: String,
    kind: String,
    direction: &'static str,
    norm: String,
    accuracy: String,
    recipe_steps: Option<String>,
    /// Which attack found it.
    attack: String,
    seed: u64,
    /// Steps of hill climbing.
    iterations: usize,
    /// Transforms that were measured in all.
    transforms: usize,
    /// Relative L2 error of the result as it is stored.
    error: f64,
    bound: f64,
    expected: f64,
    ratio: f64,
    within_bound: bool,
    /// With `--show-input`, real and imaginary parts in C order; of real arrays the imaginary parts are zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Vec<[f64; 2]>>,
}

/// Runs the command.
pub fn run(arguments: &AccuracyArguments, iterations: usize) -> Result<(), Failure> {
    if arguments.engine != Engine::Digits {
        return Err(Failure::Usage(
            "--attack aims at the proven bound of digits; leave --engine out".into(),
        ));
    }
    let mut rows = Vec::new();
    for shape in &arguments.shapes {
        let row = attack(arguments, &shape.0, iterations)?;
        if arguments.json {
            say_json(&row)?;
        }
        rows.push(row);
    }
    if !arguments.json {
        tell(&rows)?;
    }
    let above: Vec<String> = rows
        .iter()
        .filter(|row| !row.within_bound)
        .map(|row| {
            format!(
                "{} by {}, seed {}: {:e} is above {:e}",
                row.shape, row.attack, row.seed, row.error, row.bound
            )
        })
        .collect();
    if above.is_empty() {
        Ok(())
    } else {
        Err(Failure::Check(format!(
            "an error is above its bound: {}",
            above.join("; ")
        )))
    }
}

/// What is beside the line that is aimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    Itself,
}

/// A plan under attack, and how lines become arrays.
struct Field<'a> {
    plan: &'a Plan<f64>,
    kind: Kind,
    shape: &'a [usize],
    /// The axis that is transformed first.
    axis: usize,
    scale: Scale,
    sign: oracle::Direction,
}

impl Field<'_> {
    /// The array that a transform of this kind reads, as complex numbers.
    fn array(&self, line: &[Complex<f64>], beside: Beside) -> Vec<Complex<f64>> {
        let stored = match self.kind {
            Kind::ComplexToReal => half_shape(self.shape),
            _ => self.shape.to_vec(),
        };
        let last = stored.len() - 1;
        // Off the planes of a half-spectrum that are their own mirror images.
        let alone: Vec<usize> = (0..stored.len())
            .map(|axis| {
                let halved = self.kind == Kind::ComplexToReal && axis == last;
                usize::from(halved && self.shape[last] > 2)
            })
            .collect();
        let value = |flat: usize| {
            let indices = unravel(flat, &stored);
            let others = (0..stored.len()).filter(|&axis| axis != self.axis);
            let here = beside == Beside::Itself
                || others.into_iter().all(|axis| indices[axis] == alone[axis]);
            if here {
                line[indices[self.axis]]
            } else {
                Complex::new(0.0, 0.0)
            }
        };
        let mut array: Vec<Complex<f64>> = (0..stored.iter().product()).map(value).collect();
        match self.kind {
            Kind::ComplexToComplex => {}
            Kind::RealToComplex => array.iter_mut().for_each(|value| value.im = 0.0),
            Kind::ComplexToReal => make_hermitian(&mut array, self.shape),
        }
        array
    }

    /// Error over bound of an array.
    fn measure(&self, array: &[Complex<f64>]) -> Result<Measured, Failure> {
        let points: usize = self.shape.iter().product();
        let values = compute(self.plan, array)?.values;
        let exact = match self.kind {
            Kind::ComplexToReal => {
                let whole = |flat| from_half(array, self.shape, flat);
                let whole: Vec<_> = (0..points).map(whole).collect();
                dft_nd(&whole, self.shape, self.sign)
            }
            _ => dft_nd(array, self.shape, self.sign),
        };
        let exact = match self.kind {
            Kind::RealToComplex => stored_half(&exact, self.shape),
            _ => exact,
        };
        // Lines of an array share their errors' places with others.
        let errors = if self.shape.len() == 1 {
            differences(&values, &exact, self.scale)
        } else {
            Vec::new()
        };
        Ok(Measured {
            ratio: compare_scaled(&values, &exact, self.scale).l2 / self.plan.bound(),
            errors,
        })
    }
}

/// What is stored of a real array's spectrum.
fn stored_half(exact: &ExactSpectrum, shape: &[usize]) -> ExactSpectrum {
    let last = shape[shape.len() - 1];
    let rows = exact.values.chunks(last);
    ExactSpectrum {
        values: rows
            .flat_map(|row| row[..last / 2 + 1].iter().copied())
            .collect(),
        exponent: exact.exponent,
    }
}

/// The line to aim at: the first axis that is transformed.
fn aim_of(plan: &Plan<f64>, direction: Direction) -> Result<(usize, Aim), Failure> {
    let Some(recipe) = plan.recipe() else {
        return Err(Failure::Usage("this plan has no digits to attack".into()));
    };
    let Some(axis) = recipe.axes.iter().find(|axis| axis.line.len() > 1) else {
        return Err(Failure::Usage(
            "an array of one point is copied: there is nothing to attack".into(),
        ));
    };
    let points = |blocks: &[BlockRecipe]| blocks.iter().map(BlockRecipe::len).product();
    let (blocks, convolution) = match &axis.line {
        LineRecipe::Copy => unreachable!("it has more than one point"),
        LineRecipe::Passes(blocks) => (blocks, None),
        LineRecipe::Bluestein { convolution, .. } => (convolution, Some(points(convolution))),
    };
    let is_last = axis.axis + 1 == plan.problem().shape().len();
    let aim = Aim {
        length: axis.line.len(),
        block: blocks[0].len(),
        first: blocks[0].steps[0].n,
        convolution,
        data_digits: recipe.digits.data,
        matrix_digits: recipe.digits.matrix,
        diagonals: recipe.digits.diagonals,
        numbers: match plan.problem().kind() {
            Kind::RealToComplex if is_last => Numbers::Real,
            Kind::ComplexToReal if is_last => Numbers::Hermitian,
            _ => Numbers::Complex,
        },
        conjugated: direction == Direction::Inverse,
    };
    Ok((axis.axis, aim))
}

fn attack(
    arguments: &AccuracyArguments,
    shape: &[usize],
    iterations: usize,
) -> Result<Row, Failure> {
    let (kind, direction) = arguments.kind_and_direction();
    let problem = arguments
        .computing
        .apply(problem_of(kind, shape, direction));
    let problem = problem.engine(Engine::Digits);
    problem.validate()?;
    memory::expect_points(&format!("an attack on {}", shape_text(shape)), shape, 64)?;
    let plan = Planner::<f64>::new().plan(&problem)?;
    let (axis, aim) = aim_of(&plan, direction)?;
    let field = Field {
        plan: &plan,
        kind,
        shape,
        axis,
        scale: scale_of(
            arguments.computing.norm(),
            direction,
            shape.iter().product(),
        ),
        sign: match direction {
            Direction::Forward => oracle::Direction::Forward,
            Direction::Inverse => oracle::Direction::Inverse,
        },
    };
    let rounds: &[Beside] = if shape.len() == 1 {
        &[Beside::Nothing]
    } else {
        &[Beside::Nothing, Beside::Itself]
    };
    let bar = progress(
        0,
        &format!("attacking {}", shape_text(shape)),
        arguments.json,
    );
    let mut transforms = 0;
    let mut failure = None;
    let mut worst: Option<(Found, Beside)> = None;
    for &beside in rounds {
        let mut measure = |line: &[Complex<f64>]| {
            transforms += 1;
            bar.inc(1);
            field
                .measure(&field.array(line, beside))
                .unwrap_or_else(|error| {
                    failure.get_or_insert(error);
                    Measured::default()
                })
        };
        let mut tell = |found: &Found| {
            bar.set_message(format!("{:.3} by {}", found.ratio, found.attack));
        };
        let found = campaign(&aim, arguments.seed, iterations, &mut measure, &mut tell);
        let last = found.into_iter().next_back();
        worst = match (worst, last) {
            (Some(worst), Some(last)) if last.ratio > worst.0.ratio => Some((last, beside)),
            (None, Some(last)) => Some((last, beside)),
            (worst, _) => worst,
        };
    }
    bar.finish_and_clear();
    if let Some(failure) = failure {
        return Err(failure);
    }
    let Some((found, beside)) = worst else {
        unreachable!("every campaign finds something");
    };
    let input = arguments.show_input.then(|| {
        let array = field.array(&found.line, beside);
        array.iter().map(|value| [value.re, value.im]).collect()
    });
    Ok(Row {
        shape: shape_text(shape),
        kind: kind.to_string(),
        direction: if arguments.inverse {
            "inverse"
        } else {
            "forward"
        },
        norm: arguments.computing.norm.text(),
        accuracy: accuracy_text(arguments.computing.accuracy),
        recipe_steps: plan.recipe().map(ToString::to_string),
        attack: match beside {
            Beside::Nothing => found.attack,
            Beside::Itself => format!("{}, in every line", found.attack),
        },
        seed: arguments.seed,
        iterations,
        transforms,
        error: found.ratio * plan.bound(),
        bound: plan.bound(),
        expected: plan.expected(),
        ratio: found.ratio,
        within_bound: found.ratio <= 1.0,
        input,
    })
}

fn tell(rows: &[Row]) -> Result<(), Failure> {
    let heading = [
        "shape",
        "accuracy",
        "error/bound",
        "error",
        "bound",
        "expected",
        "seed",
        "attack",
    ];
    let mut table = vec![heading.map(String::from).to_vec()];
    for row in rows {
        table.push(vec![
            row.shape.clone(),
            row.accuracy.clone(),
            format!("{:.3}", row.ratio),
            error_text(row.error),
            bound_text(row.bound),
            error_text(row.expected),
            row.seed.to_string(),
            row.attack.clone(),
        ]);
    }
    say(&aligned(&table))?;
    for row in rows {
        for [re, im] in row.input.iter().flatten() {
            say(&format!("{re:?} {im:?}"))?;
        }
    }
    Ok(())
}
