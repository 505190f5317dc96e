//! `ozfft-mpi selftest`: random problems on all ranks against one process, bit by bit.
//!
//! All ranks draw the same problem from the same seed. Each takes its part of the input; rank 0 collects the results and compares them
//! with the plan of one process.

use super::arrays::{OnDevice, gathered, messages, part};
use super::{Ranks, failure};
use bytemuck::Pod;
use mpi::collective::SystemOperation;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{Device, FftError, Kind, Plan, Planner, Real};
use ozfft_measure::failure::Failure;
use ozfft_measure::options::parse_device;
use ozfft_measure::report::{note, say, say_json};
use ozfft_mpi::{DistributedPlan, DistributedProblem, IndexBox};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{Domain, RandomProblem, Source, make_unusual, numbers, seed_of_case};
use ozfft_testkit::{Bits, same_bits};
use serde::Serialize;

ozfft_testkit::problem_conversion!(ozfft);

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Random problems
    #[arg(long, default_value_t = 500)]
    cases: u64,
    /// Seed of all of them
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Ways to divide every problem
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    divisions: u32,
    /// Where lines are transformed: cpu, cuda, cuda:1, …; on a GPU from arrays of the processor and from arrays in its memory
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// On GPUs: send through page-locked memory also where MPI takes device pointers
    #[arg(long)]
    staged: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What plans call the products of a convolution, which are exchanged between its transforms.
const PRODUCTS: &str = "products of rows";

#[derive(Default, Serialize)]
struct Summary {
    ranks: usize,
    seed: u64,
    problems: u64,
    /// Problems times ways to divide them.
    compared: u64,
    differing: u64,
    /// Of those compared, by their shapes, grids and ends.
    lines: u64,
    /// Of single lines, those that were divided by their passes: all, those that are convolutions, and half-spectra to reals.
    divided_lines: u64,
    convolutions: u64,
    half_spectra: u64,
    slabs: u64,
    pencils: u64,
    boxes: u64,
    permuted: u64,
    in_place: u64,
    /// Some exchange was made in several pieces; words of fewer than 8 digits sent in fewer bytes.
    pieces: u64,
    short: u64,
    /// Pieces were read in memory that ranks share.
    shared: u64,
    /// Bytes that were handed to MPI by rank 0, and those that its plans had predicted.
    bytes_sent: u64,
    bytes_predicted: u64,
    /// On GPUs: how messages were sent, and results in device memory that were compared on rank 0.
    messages: Option<&'static str>,
    in_device_memory: u64,
}

/// Numbers that are made of doubles.
trait Sample: Real + Bits + Pod {
    fn from_double(value: f64) -> Self;
}

impl Sample for f64 {
    fn from_double(value: f64) -> Self {
        value
    }
}

impl Sample for f32 {
    fn from_double(value: f64) -> Self {
        value as f32
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, ranks: &Ranks) -> Result<(), Failure> {
    let mut summary = Summary {
        ranks: ranks.count,
        seed: arguments.seed,
        ..Summary::default()
    };
    let (double, single) = (Planner::<f64>::new(), Planner::<f32>::new());
    for case in 0..arguments.cases {
        let seed = seed_of_case(arguments.seed, case);
        let mut source = Generator::new(seed);
        match source.once_in(4) {
            true => compare(
                &mut source,
                arguments,
                ranks,
                &single,
                (case, seed),
                &mut summary,
            )?,
            false => compare(
                &mut source,
                arguments,
                ranks,
                &double,
                (case, seed),
                &mut summary,
            )?,
        }
        summary.problems += 1;
    }
    if !ranks.is_first() {
        return Ok(());
    }
    match arguments.json {
        true => say_json(&summary)?,
        false => say(&format!(
            "{} ranks: {} comparisons of {} problems (seed {}; {} of single lines, of which {} were divided, {} of these convolutions and {} half-spectra to reals, {} in slabs, {} in pencils, {} from or to random boxes, {} permuted, {} in place, {} with exchanges in pieces, {} of short numbers, {} in shared memory), {} differ from one process",
            summary.ranks,
            summary.compared,
            summary.problems,
            summary.seed,
            summary.lines,
            summary.divided_lines,
            summary.convolutions,
            summary.half_spectra,
            summary.slabs,
            summary.pencils,
            summary.boxes,
            summary.permuted,
            summary.in_place,
            summary.pieces,
            summary.short,
            summary.shared,
            summary.differing
        ))?,
    }
    if summary.bytes_sent != summary.bytes_predicted {
        return Err(Failure::Check(format!(
            "{} bytes were sent, and plans had predicted {}",
            summary.bytes_sent, summary.bytes_predicted
        )));
    }
    match summary.differing {
        0 => Ok(()),
        differing => Err(Failure::Check(format!(
            "{differing} results differ from one process"
        ))),
    }
}

/// A problem over all axes of an array, or some of them.
fn draw(source: &mut Generator, single: bool) -> RandomProblem {
    let domain = Domain {
        ranks: (1, 4),
        points: 500,
        ..Domain::usual(single)
    };
    let mut drawn = domain.draw(source);
    if source.once_in(6) {
        // A line of several passes, which is divided by them, or of a convolution that has several.
        drawn.shape = vec![match source.once_in(2) {
            true => source.pick(&[1025, 1080, 1152, 2048, 2187, 3000]),
            false => source.pick(&[131, 274, 509, 1139, 2018, 2099]),
        }];
        drawn.axes = None;
    }
    drawn.batch = 1 + source.below(3) / 2;
    drawn
}

/// Boxes that make up an array: cut in two, and each part again, as long as there are ranks for both.
fn random_boxes(source: &mut Generator, shape: &[usize], ranks: usize) -> Vec<IndexBox> {
    let mut parts = vec![(IndexBox::whole(shape), ranks)];
    while let Some(place) = parts.iter().position(|(_, ranks)| *ranks > 1) {
        let (part, ranks) = parts.swap_remove(place);
        let dimension = source.below(shape.len());
        let (low, high) = (part.low()[dimension], part.high()[dimension]);
        let cut = low + source.below(high - low + 1);
        let (mut first, mut second) = (part.high().to_vec(), part.low().to_vec());
        first[dimension] = cut;
        second[dimension] = cut;
        let of_first = 1 + source.below(ranks - 1);
        parts.push((IndexBox::new(part.low(), &first), of_first));
        parts.push((IndexBox::new(&second, part.high()), ranks - of_first));
    }
    let mut boxes: Vec<IndexBox> = parts.into_iter().map(|(part, _)| part).collect();
    source.shuffle(&mut boxes);
    boxes
}

/// A grid with fewer numbers than the array has dimensions.
fn random_grid(source: &mut Generator, dimensions: usize, ranks: usize) -> Vec<usize> {
    let mut grid = Vec::new();
    let mut rest = ranks;
    for _ in 2..dimensions {
        let divisors: Vec<usize> = (1..=rest).filter(|n| rest.is_multiple_of(*n)).collect();
        let parts = source.pick(&divisors);
        grid.push(parts);
        rest /= parts;
    }
    grid.push(rest);
    source.shuffle(&mut grid);
    grid
}

fn distributed(drawn: &RandomProblem) -> DistributedProblem {
    let problem = match kind_of(drawn.kind) {
        Kind::ComplexToComplex => DistributedProblem::complex(&drawn.shape),
        Kind::RealToComplex => DistributedProblem::real_to_complex(&drawn.shape),
        Kind::ComplexToReal => DistributedProblem::complex_to_real(&drawn.shape),
    };
    let problem = match &drawn.axes {
        Some(axes) => problem.axes(axes),
        None => problem,
    };
    problem
        .direction(direction_of(drawn.inverse))
        .norm(norm_of(drawn.norm))
        .accuracy(accuracy_of(drawn.accuracy))
        .products(products_of(drawn.exact))
        .batch(drawn.batch)
}

/// The transform of all arrays in one process. Real numbers have no imaginary part.
fn in_one_process<T: Sample>(
    plan: &Plan<T>,
    input: &[Complex<T>],
) -> Result<Vec<Complex<T>>, Failure> {
    let zero = T::from_double(0.0);
    let mut output = vec![Complex::new(zero, zero); plan.problem().output_len()];
    match plan.problem().kind() {
        Kind::ComplexToComplex => plan.process_outofplace(input, &mut output)?,
        Kind::RealToComplex => {
            let reals: Vec<T> = input.iter().map(|value| value.re).collect();
            plan.process_real_to_complex(&reals, &mut output)?;
        }
        Kind::ComplexToReal => {
            let mut reals = vec![zero; output.len()];
            match plan.process_complex_to_real(input, &mut reals) {
                // The output is complete, and lines are told of along one axis alone.
                Ok(()) | Err(FftError::NotHermitian { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            output = reals.iter().map(|&re| Complex::new(re, zero)).collect();
        }
    }
    Ok(output)
}

/// The result of this rank in the memory of its GPU; none on processors.
fn on_device<T: Sample>(
    plan: &DistributedPlan<T>,
    device: Device,
    input: &[Complex<T>],
    batch: usize,
) -> Result<Option<Vec<Complex<T>>>, Failure> {
    let zero = T::from_double(0.0);
    let problem = plan.whole().problem();
    let held = part(input, plan.input_box(), &problem.input_shape(), batch);
    let mut output = vec![Complex::new(zero, zero); plan.output_len()];
    let mut reals: Vec<T> = held.iter().map(|value| value.re).collect();
    Ok(match problem.kind() {
        Kind::ComplexToReal => {
            reals.resize(output.len(), zero);
            let Some(arrays) = OnDevice::new(device, &held, &reals)? else {
                return Ok(None);
            };
            arrays.transform(plan)?;
            arrays.download(&mut reals)?;
            Some(reals.iter().map(|&re| Complex::new(re, zero)).collect())
        }
        kind => {
            let arrays = match kind {
                Kind::RealToComplex => OnDevice::new(device, &reals, &output)?,
                _ => OnDevice::new(device, &held, &output)?,
            };
            let Some(arrays) = arrays else {
                return Ok(None);
            };
            arrays.transform(plan)?;
            arrays.download(&mut output)?;
            Some(output)
        }
    })
}

/// What ranks have found: all of it on rank 0, and this rank's part.
type Found<T> = (Option<Vec<Complex<T>>>, Vec<Complex<T>>);

/// The same on all ranks.
fn on_ranks<T: Sample>(
    plan: &DistributedPlan<T>,
    input: &[Complex<T>],
    (ranks, batch, in_place): (&Ranks, usize, bool),
) -> Result<Found<T>, Failure> {
    let zero = T::from_double(0.0);
    let problem = plan.whole().problem();
    let mut held = part(input, plan.input_box(), &problem.input_shape(), batch);
    let mut output = vec![Complex::new(zero, zero); plan.output_len()];
    // Workspace may be in any state.
    let mut workspace = vec![0xa5a5_a5a5_a5a5_a5a5; plan.workspace_len()];
    match problem.kind() {
        Kind::ComplexToComplex if in_place => {
            plan.process_with_workspace(&mut held, &mut workspace)
                .map_err(failure)?;
            output = held;
        }
        Kind::ComplexToComplex => plan
            .process_outofplace_with_workspace(&held, &mut output, &mut workspace)
            .map_err(failure)?,
        Kind::RealToComplex => {
            let reals: Vec<T> = held.iter().map(|value| value.re).collect();
            plan.process_real_to_complex_with_workspace(&reals, &mut output, &mut workspace)
                .map_err(failure)?;
        }
        Kind::ComplexToReal => {
            let mut reals = vec![zero; output.len()];
            plan.process_complex_to_real_with_workspace(&held, &mut reals, &mut workspace)
                .map_err(failure)?;
            output = reals.iter().map(|&re| Complex::new(re, zero)).collect();
        }
    }
    let shape = problem.output_shape();
    let whole = gathered(ranks, &output, (&shape, batch), |rank| {
        plan.output_box_of(rank)
    });
    Ok((whole, output))
}

fn compare<T: Sample>(
    source: &mut Generator,
    arguments: &Arguments,
    ranks: &Ranks,
    planner: &Planner<T>,
    (case, seed): (u64, u64),
    summary: &mut Summary,
) -> Result<(), Failure> {
    let drawn = draw(source, size_of::<T>() == 4);
    let problem = distributed(&drawn);
    let whole = planner.plan(&problem.whole())?;
    let (input_shape, output_shape) = (
        whole.problem().input_shape(),
        whole.problem().output_shape(),
    );
    let points: usize = input_shape.iter().product();
    let mut values = numbers(source, drawn.batch * points);
    if source.once_in(3) {
        make_unusual(source, &mut values);
    }
    let mut input: Vec<Complex<T>> = values
        .iter()
        .map(|z| Complex::new(T::from_double(z.re), T::from_double(z.im)))
        .collect();
    if whole.problem().kind() == Kind::RealToComplex {
        input
            .iter_mut()
            .for_each(|value| value.im = T::from_double(0.0));
    }
    let expected = match ranks.is_first() {
        true => Some(in_one_process(&whole, &input)?),
        false => None,
    };
    for _ in 0..arguments.divisions {
        let mut divided = problem
            .clone()
            .threads(1 + source.below(2))
            .device(arguments.device)
            .staged(arguments.staged);
        if source.once_in(2) {
            divided = divided.grid(&random_grid(source, drawn.shape.len(), ranks.count));
        }
        // Arrays are small: the planner would take one.
        if !source.once_in(4) {
            divided = divided.pieces(1 + source.below(6));
        }
        // They are too small for shared memory, too.
        if source.once_in(3) {
            divided = divided.shared_memory(true);
        }
        let (mut boxes, mut permuted) = (false, false);
        for side in 0..2 {
            match source.below(4) {
                0 => {
                    let shape = if side == 0 {
                        &input_shape
                    } else {
                        &output_shape
                    };
                    let own = random_boxes(source, shape, ranks.count)[ranks.rank].clone();
                    divided = match side {
                        0 => divided.input_box(own),
                        _ => divided.output_box(own),
                    };
                    boxes = true;
                }
                1 => {
                    divided = match side {
                        0 => divided.permuted_input(),
                        _ => divided.permuted_output(),
                    };
                    permuted = true;
                }
                _ => {}
            }
        }
        let plan =
            DistributedPlan::with_planner(&divided, &ranks.world, planner).map_err(failure)?;
        let alike = |rank| plan.input_box_of(rank).len() == plan.output_box_of(rank).len();
        let complex = whole.problem().kind() == Kind::ComplexToComplex;
        let in_place = source.once_in(2) && complex && (0..ranks.count).all(alike);
        let (found, own) = on_ranks(&plan, &input, (ranks, drawn.batch, in_place))?;
        let calls = match on_device(&plan, arguments.device, &input, drawn.batch)? {
            None => 1,
            Some(results) => {
                summary.messages = messages(&plan);
                summary.in_device_memory += 1;
                // Every rank compares its part: all ranks go on whatever it finds, and the differences are added up.
                let differs = same_bits(&own, &results, seed).is_err();
                let mut all = 0;
                ranks
                    .world
                    .all_reduce_into(&i32::from(differs), &mut all, SystemOperation::sum());
                if all > 0 {
                    summary.differing += 1;
                    note(&format!(
                        "case {case}, seed {seed:#x}: device memory differs on {all} ranks\n{divided:?}"
                    ));
                }
                2
            }
        };
        summary.compared += 1;
        summary.lines += u64::from(drawn.shape.len() == 1);
        let exchanges = plan.exchanges();
        let divided_line = plan.line_is_divided();
        let convolution = exchanges.iter().any(|exchange| exchange.from == PRODUCTS);
        let to_reals = whole.problem().kind() == Kind::ComplexToReal;
        summary.divided_lines += u64::from(divided_line);
        summary.convolutions += u64::from(divided_line && convolution);
        summary.half_spectra += u64::from(divided_line && to_reals);
        summary.pieces += u64::from(exchanges.iter().any(|exchange| exchange.pieces > 1));
        summary.short += u64::from(
            exchanges
                .iter()
                .any(|exchange| exchange.bytes_of_a_real < size_of::<T>()),
        );
        summary.shared += u64::from(plan.shared_bytes() > 0);
        summary.boxes += u64::from(boxes);
        summary.permuted += u64::from(permuted);
        summary.in_place += u64::from(in_place);
        summary.slabs += u64::from(plan.grid().len() == 1);
        summary.pencils += u64::from(plan.grid().len() > 1);
        summary.bytes_sent += plan.bytes_sent();
        summary.bytes_predicted += calls * plan.bytes_per_call();
        if let (Some(expected), Some(found)) = (&expected, &found)
            && let Err(difference) = same_bits(expected, found, seed)
        {
            summary.differing += 1;
            note(&format!(
                "case {case}, seed {seed:#x}: {difference}\n{divided:?}\n{plan}"
            ));
        }
    }
    Ok(())
}
