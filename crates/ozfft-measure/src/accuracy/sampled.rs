//! `ozfft accuracy --sampled`: errors of transforms too large for the whole exact one, at a grid of outputs.

use super::AccuracyArguments;
use crate::arrays::ravel;
use crate::comparison::{problem_of, scale_of};
use crate::failure::Failure;
use crate::gpu::{CuFft, DeviceArrays, DeviceFailure, DeviceWork, Gpu, Precision};
use crate::memory;
use crate::options::{accuracy_text, shape_text};
use crate::report::{aligned, bound_text, error_text, note, say, say_json, seconds_text};
use num_complex::Complex;
use ozfft::{Device, Direction, Kind, Plan, Planner};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex_at};
use ozfft_testkit::oracle::{ErrorNorms, Scale, compare_scaled, dft_grid, rounded_once};
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// Outputs along the last of several axes: the exact sums over all points are made once for each of them.
const LAST_AXIS_OUTPUTS: usize = 4;
/// Values that are made and copied at a time.
const PART: usize = 1 << 22;

#[derive(Debug, Serialize)]
struct Row {
    shape: String,
    direction: &'static str,
    device: String,
    substrate: &'static str,
    integers_only: bool,
    recipe_steps: Option<String>,
    accuracy: String,
    seed: u64,
    /// Outputs that were compared, and how many along every axis.
    outputs: usize,
    grid: String,
    l2: f64,
    linf: f64,
    bound: f64,
    expected: f64,
    within_bound: bool,
    cufft_l2: Option<f64>,
    cufft_linf: Option<f64>,
    /// Of the exact outputs rounded once.
    floor_l2: f64,
    oracle_seconds: f64,
    transform_seconds: f64,
    cufft_seconds: Option<f64>,
}

/// Runs the command.
pub fn run(arguments: &AccuracyArguments, outputs: usize) -> Result<(), Failure> {
    if outputs == 0 {
        return Err(Failure::Usage("--sampled needs one output or more".into()));
    }
    let mut rows = Vec::new();
    for shape in &arguments.shapes {
        let row = measure(arguments, &shape.0, outputs)?;
        if arguments.json {
            say_json(&row)?;
        }
        rows.push(row);
    }
    if !arguments.json {
        tell(&rows)?;
    }
    match rows.iter().find(|row| !row.within_bound) {
        None => Ok(()),
        Some(row) => Err(Failure::Check(format!(
            "an error is above its bound: {} with seed {}: {:e} is above {:e}",
            row.shape, row.seed, row.l2, row.bound
        ))),
    }
}

fn measure(arguments: &AccuracyArguments, shape: &[usize], outputs: usize) -> Result<Row, Failure> {
    let seed = arguments.seed;
    let (direction, sign) = if arguments.inverse {
        (Direction::Inverse, oracle::Direction::Inverse)
    } else {
        (Direction::Forward, oracle::Direction::Forward)
    };
    let problem = problem_of(Kind::ComplexToComplex, shape, direction);
    let problem = arguments.computing.apply(problem);
    let problem = problem.engine(arguments.engine);
    problem.validate()?;
    if arguments.computing.device == Device::Cpu {
        memory::expect_points(&format!("the array of {}", shape_text(shape)), shape, 16)?;
    }
    let plan = Planner::<f64>::new().plan(&problem)?;
    let grid = grid(shape, outputs, seed);
    let places = places(shape, &grid);
    // The transforms first: what they reject should not take minutes.
    let (found, cufft) = match plan.device() {
        Device::Cuda(ordinal) => on_device(ordinal, &plan, direction, (seed, &places))?,
        _ => (on_processor(&plan, seed, &places)?, None),
    };
    let start = Instant::now();
    let exact = dft_grid(|first, block| fill(seed, first, block), shape, &grid, sign);
    let oracle_seconds = start.elapsed().as_secs_f64();
    let points = shape.iter().product();
    let scale = scale_of(arguments.computing.norm(), direction, points);
    let compare = |values: &[Complex<f64>], scale: Scale| compare_scaled(values, &exact, scale);
    let errors = compare(&found.values, scale);
    let cufft_errors: Option<ErrorNorms> = cufft
        .as_ref()
        .map(|cufft| compare(&cufft.values, Scale::One));
    let counts: Vec<usize> = grid.iter().map(Vec::len).collect();
    Ok(Row {
        shape: shape_text(shape),
        direction: if arguments.inverse {
            "inverse"
        } else {
            "forward"
        },
        device: plan.device().to_string(),
        substrate: plan.substrate(),
        integers_only: plan.integers_only(),
        recipe_steps: plan.recipe().map(ToString::to_string),
        accuracy: accuracy_text(arguments.computing.accuracy),
        seed,
        outputs: places.len(),
        grid: shape_text(&counts),
        l2: errors.l2,
        linf: errors.linf,
        bound: plan.bound(),
        expected: plan.expected(),
        within_bound: errors.l2 <= plan.bound(),
        cufft_l2: cufft_errors.map(|errors| errors.l2),
        cufft_linf: cufft_errors.map(|errors| errors.linf),
        floor_l2: compare(&rounded_once(&exact.scaled(scale.factor())), scale).l2,
        oracle_seconds,
        transform_seconds: found.seconds,
        cufft_seconds: cufft.map(|cufft| cufft.seconds),
    })
}

/// The input from this index on.
fn fill(seed: u64, first: usize, block: &mut [Complex<f64>]) {
    for (place, value) in block.iter_mut().enumerate() {
        *value = uniform_complex_at(seed, first + place);
    }
}

/// Random indices along every axis whose grid has at least so many outputs, or all.
fn grid(shape: &[usize], outputs: usize, seed: u64) -> Vec<Vec<usize>> {
    let last = shape.len() - 1;
    let mut counts = vec![1; shape.len()];
    if last > 0 {
        counts[last] = shape[last].min(LAST_AXIS_OUTPUTS);
    }
    while counts.iter().product::<usize>() < outputs {
        // The shortest list that can grow; that of the last of several axes when all others cannot.
        let growing = (0..shape.len()).filter(|&axis| counts[axis] < shape[axis]);
        let key = |axis: &usize| (last > 0 && *axis == last, counts[*axis]);
        match growing.min_by_key(key) {
            Some(axis) => counts[axis] += 1,
            None => break,
        }
    }
    // Another stream than the input's, so that places and values are independent.
    let mut generator = Generator::new(!seed);
    let draw = |(&extent, &count): (&usize, &usize)| {
        let mut chosen = std::collections::BTreeSet::new();
        // Drawing the few that are left out is quicker when most are chosen.
        let drawn = count.min(extent - count);
        while chosen.len() < drawn {
            chosen.insert(generator.below(extent));
        }
        if drawn == count {
            chosen.into_iter().collect()
        } else {
            (0..extent)
                .filter(|index| !chosen.contains(index))
                .collect()
        }
    };
    shape.iter().zip(&counts).map(draw).collect()
}

/// The C-order positions of a grid's outputs.
fn places(shape: &[usize], grid: &[Vec<usize>]) -> Vec<usize> {
    let mut places = vec![Vec::new()];
    for chosen in grid {
        places = places
            .iter()
            .flat_map(|before| {
                chosen
                    .iter()
                    .map(move |&index| [before.as_slice(), &[index]].concat())
            })
            .collect();
    }
    places.iter().map(|indices| ravel(indices, shape)).collect()
}

/// Outputs at the places, and how long the transform took.
struct Found {
    values: Vec<Complex<f64>>,
    seconds: f64,
}

fn on_processor(plan: &Plan<f64>, seed: u64, places: &[usize]) -> Result<Found, Failure> {
    let mut values = vec![Complex::new(0.0, 0.0); plan.problem().input_len()];
    values
        .par_chunks_mut(PART)
        .enumerate()
        .for_each(|(part, block)| fill(seed, part * PART, block));
    let start = Instant::now();
    plan.process(&mut values)?;
    Ok(Found {
        seconds: start.elapsed().as_secs_f64(),
        values: places.iter().map(|&place| values[place]).collect(),
    })
}

/// ozfft and, where it is installed, cuFFT on a GPU.
fn on_device(
    ordinal: usize,
    plan: &Plan<f64>,
    direction: Direction,
    (seed, places): (u64, &[usize]),
) -> Result<(Found, Option<Found>), Failure> {
    let gpu = Gpu::open(ordinal)?;
    let problem = plan.problem();
    let cufft = match CuFft::plan(&gpu, problem, (direction, 1), Precision::Double) {
        Ok(cufft) => Some(cufft),
        Err(failure @ DeviceFailure::NoCuFft) => {
            note(&format!("note: {failure}"));
            None
        }
        Err(failure) => return Err(failure.into()),
    };
    let mut works: Vec<&dyn DeviceWork> = vec![plan];
    works.extend(cufft.iter().map(|cufft| cufft as &dyn DeviceWork));
    let mut arrays = gpu.arrays_for(&works)?;
    let points = problem.input_len();
    let mut part = vec![Complex::new(0.0, 0.0); PART.min(points)];
    for first in (0..points).step_by(PART) {
        let count = PART.min(points - first);
        part[..count]
            .par_chunks_mut(1 << 14)
            .enumerate()
            .for_each(|(number, block)| fill(seed, first + (number << 14), block));
        arrays
            .input
            .upload(first * size_of::<Complex<f64>>(), &part[..count])?;
    }
    let one = |work: &dyn DeviceWork, arrays: &mut DeviceArrays| -> Result<Found, Failure> {
        let seconds = gpu.run(work, arrays, 1)?;
        let values = gather(arrays, places, points)?;
        Ok(Found { values, seconds })
    };
    let found = one(plan, &mut arrays)?;
    let baseline = match &cufft {
        Some(cufft) => Some(one(cufft, &mut arrays)?),
        None => None,
    };
    Ok((found, baseline))
}

/// Outputs at ascending places, those close to each other in one copy.
fn gather(
    arrays: &DeviceArrays,
    places: &[usize],
    points: usize,
) -> Result<Vec<Complex<f64>>, Failure> {
    const WINDOW: usize = 4096;
    let mut window = vec![Complex::new(0.0, 0.0); WINDOW.min(points)];
    let mut covered = 0..0;
    let mut values = Vec::with_capacity(places.len());
    for &place in places {
        if !covered.contains(&place) {
            let count = window.len().min(points - place);
            let offset = place * size_of::<Complex<f64>>();
            arrays.output.download(offset, &mut window[..count])?;
            covered = place..place + count;
        }
        values.push(window[place - covered.start]);
    }
    Ok(values)
}

fn tell(rows: &[Row]) -> Result<(), Failure> {
    let heading = [
        "shape",
        "device",
        "substrate",
        "L2",
        "Linf",
        "bound",
        "expected",
        "cuFFT L2",
        "cuFFT Linf",
        "floor L2",
        "outputs",
        "exact in",
    ];
    let mut table = vec![heading.map(String::from).to_vec()];
    let optional = |error: Option<f64>| error.map_or("-".into(), error_text);
    for row in rows {
        table.push(vec![
            row.shape.clone(),
            row.device.clone(),
            row.substrate.into(),
            error_text(row.l2),
            error_text(row.linf),
            bound_text(row.bound),
            error_text(row.expected),
            optional(row.cufft_l2),
            optional(row.cufft_linf),
            error_text(row.floor_l2),
            format!("{} ({})", row.outputs, row.grid),
            seconds_text(row.oracle_seconds),
        ]);
    }
    say(&aligned(&table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_large_enough_and_within_the_shape() {
        for (shape, outputs) in [
            (vec![1000], 10),
            (vec![8], 100),
            (vec![1024, 1024, 1024], 10_000),
            (vec![2, 3, 5], 29),
            (vec![300, 2], 500),
        ] {
            let grid = grid(&shape, outputs, 5);
            let count: usize = grid.iter().map(Vec::len).product();
            let points: usize = shape.iter().product();
            assert!(count >= outputs.min(points), "{shape:?}: {count}");
            let places = places(&shape, &grid);
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{shape:?}");
            assert!(places.last().is_some_and(|&place| place < points));
        }
        let grid = grid(&[1024, 1024, 1024], 10_000, 1);
        assert_eq!(grid.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50, 4]);
    }

    #[test]
    fn a_part_of_the_input_equals_that_of_the_whole() {
        let whole = oracle::inputs::uniform_complex(100, 4);
        let mut part = vec![Complex::new(0.0, 0.0); 30];
        fill(4, 60, &mut part);
        assert_eq!(part, whole[60..90]);
    }
}
