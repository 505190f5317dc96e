//! A plan as a list of launches, worked out once (`program_builder.rs`), and how it is run.

mod data;
pub(super) mod dimensions;
pub(super) mod largest;
pub(super) mod pass_launches;
pub(super) mod program_builder;
pub(super) mod task;
pub(super) mod tuned_launches;
pub(super) mod tuned_task;

use crate::error::FftError;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::device::machine::{DeviceMemory, Machine, Queue};
use crate::executor::cuda::device::work::{DeviceWork, LaunchedKernel};
use crate::executor::cuda::program::data::{
    Action, FallbackLaunch, PassesTables, ProgramBuilder, Search, TunedTables,
};
use crate::executor::cuda::program::dimensions::{
    BumpAllocator, Flattened, Scaling, Zeros, merged, transform_dimensions,
};
use crate::executor::cuda::program::pass_launches::two_pass_bytes;
use crate::executor::cuda::program::task::*;
use crate::executor::cuda::residues;
use crate::executor::cuda::select::long_passes::{self, PassLaunch};
use crate::executor::cuda::select::tuned::{self, Kernels, TunedLaunch, TunedOn};
use crate::executor::cuda::tables::bailey_tables;
use crate::executor::cuda::tables::tuned_tables;
use crate::executor::cuda::tables::two_pass;
use crate::executor::cuda::tables::{
    Builder, PanelLayout, Piece, first_of_two_pitch, is_for_truncated_kernels, most_tiles,
};
use crate::executor::lines::LineSet;
use crate::executor::schedule::Schedule;
use crate::kind::Kind;
use crate::recipe::{Digits, Recipe};
use crate::sample::Real;
use crate::stages::pass_roots::PassRoots;
use crate::transform::line::Line;
use crate::transform::passes::Passes;
use num_complex::Complex;
use ozfft_kernels::Product;
use ozfft_kernels::template::{self, Ends, Number};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Launches and the tables that they use.
pub(crate) struct Program {
    actions: Vec<Action>,
    workspace_bytes: usize,
    /// Passes on an instruction that not every GPU has (Hopper's, or one in fp8), and all passes.
    tuned_passes: (usize, usize),
    /// What is worth knowing of the kernels: which had to be compiled, which could not be had.
    remarks: Vec<String>,
    /// Launches have its addresses.
    tables: DeviceMemory,
    /// What residue kernels have counted, in the workspace.
    counts: Option<(Address, Counting)>,
}

/// Which kernels may run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    /// Tuned ones, where there are some, that multiply so.
    pub(crate) tuned: Option<Product>,
    /// What numbers of f64 are to the template, which says what it multiplies with; in int8 also where it has no choice.
    pub(crate) template: Number,
    /// Four warps of the template multiply together wherever they can; else where that was measured to be faster, if tuned kernels multiply in int8.
    pub(crate) by_warpgroups: bool,
    /// Conversions between integers and floating point by the instructions for that.
    pub(crate) conversions: bool,
    /// Products by residues: the kernel of this name, or what does the same for shorter lines, for all lines, or an error where there is none.
    pub(crate) residues: Option<&'static str>,
    /// So many of their lines and so many threads in a block instead of as many as suit, to measure what the numbers cost.
    pub(crate) residue_block: Option<(u64, u32)>,
    /// Faults that kernels with redundant moduli are to make.
    pub(crate) residue_faults: Faults,
    /// For adaptive moduli: a line's unit relative to its norm, as the exponent of a power of two.
    pub(crate) residue_unit: Option<i32>,
}

/// Tables of a line, on their way to the device.
enum LineTables {
    Copy,
    Passes(PassesTables),
    Bluestein {
        passes: PassesTables,
        chirp: Piece,
        kernel: Piece,
    },
}

impl PassesTables {
    fn new(
        builder: &mut Builder,
        passes: &Passes,
        recipe: &Recipe,
        machine: &dyn Machine,
        chirped: bool,
        (residues, number): (Option<&'static str>, Option<Number>),
    ) -> Result<Self, FftError> {
        let residues = match residues {
            Some(kernel) => Some(residues::kernel_for(kernel, passes, recipe, chirped)?),
            None => None,
        };
        let roots = passes.roots().iter();
        let together = !chirped && fit_together(passes, recipe, machine);
        let template = template_tables(builder, passes, recipe, chirped, number)?;
        let in_digits = chirped && residues.is_none();
        let convolution = in_digits
            .then_some(number)
            .flatten()
            .and_then(|number| long_passes::convolution_kernel(machine, passes, recipe, number));
        let convolution = match convolution {
            Some(spec) => Some(builder.add(&bailey_tables::of_passes(
                passes,
                (spec.number, Ends::Convolution),
                recipe.digits,
            )?)),
            None => None,
        };
        let mut blocks = |together: bool| {
            let blocks = passes.blocks().iter();
            blocks
                .enumerate()
                .map(|(number, block)| {
                    let truncated = !chirped && is_for_truncated_kernels(block, recipe);
                    let layout = match (truncated, together, number) {
                        (false, ..) => PanelLayout::General,
                        (true, false, _) => PanelLayout::Truncated,
                        (true, true, 0) => PanelLayout::FirstOfTwo,
                        (true, true, _) => PanelLayout::SecondOfTwo,
                    };
                    builder.block(
                        block,
                        recipe.digits,
                        residues.map_or(layout, PanelLayout::Residues),
                    )
                })
                .collect::<Result<Vec<_>, FftError>>()
        };
        let both = together && template.iter().all(Option::is_some);
        Ok(PassesTables {
            blocks: blocks(together)?,
            one_by_one: if both { blocks(false)? } else { Vec::new() },
            together,
            short_roots: builder.add_angles(
                passes
                    .roots()
                    .first()
                    .filter(|_| together)
                    .into_iter()
                    .flat_map(PassRoots::powers),
            ),
            template,
            convolution,
            roots: roots
                .map(|roots| {
                    let (low, high) = roots.tables();
                    let low = builder.add_angles(low.entries());
                    (low, builder.add_angles(high.entries()))
                })
                .collect(),
        })
    }
}

/// Tables of the template for every pass of a long transform that it takes.
fn template_tables(
    builder: &mut Builder,
    passes: &Passes,
    recipe: &Recipe,
    chirped: bool,
    number: Option<Number>,
) -> Result<Vec<Option<Piece>>, FftError> {
    let several = chirped || !passes.is_one_block();
    let mut pieces = Vec::new();
    for block in passes.blocks() {
        let steps = block.steps();
        let three = tuned::three_steps_of(recipe, block).is_some();
        let tables = match number.filter(|_| several) {
            Some(_) if three => Some(bailey_tables::of_three_steps(steps)),
            Some(number) if tuned::is_for_template(recipe, block) => {
                Some(bailey_tables::of_lines(number, recipe.digits, steps)?)
            }
            _ => None,
        };
        pieces.push(tables.map(|tables| builder.add(&tables)));
    }
    Ok(pieces)
}

/// Whether both passes of a transform can go through one kernel.
fn fit_together(passes: &Passes, recipe: &Recipe, machine: &dyn Machine) -> bool {
    let [first, second] = passes.blocks() else {
        return false;
    };
    let lines = first.len().max(second.len());
    let points = second.len() * first_of_two_pitch(first);
    let tiles = most_tiles(first).max(most_tiles(second));
    ozfft_kernels::two_passes(recipe.digits.data, tiles).is_some()
        && is_for_truncated_kernels(first, recipe)
        && is_for_truncated_kernels(second, recipe)
        && two_pass_bytes(lines, points) <= machine.shared_memory()
}

impl LineTables {
    fn new(
        builder: &mut Builder,
        line: &Line,
        recipe: &Recipe,
        machine: &dyn Machine,
        products: (Option<&'static str>, Option<Number>),
    ) -> Result<Self, FftError> {
        Ok(match line {
            Line::Copy => LineTables::Copy,
            Line::Passes(passes) => LineTables::Passes(PassesTables::new(
                builder, passes, recipe, machine, false, products,
            )?),
            Line::Bluestein(bluestein) => LineTables::Bluestein {
                passes: PassesTables::new(
                    builder,
                    bluestein.passes(),
                    recipe,
                    machine,
                    true,
                    products,
                )?,
                chirp: builder.add_angles(bluestein.chirp().entries()),
                kernel: builder.add_angles(bluestein.kernel().entries()),
            },
        })
    }
}

/// `tuned_on`: where tuned kernels may run, how they multiply, and what.
fn tables_of_tuned(
    builder: &mut Builder,
    line: &Line,
    kind: Kind,
    recipe: &Recipe,
    tuned_on: Option<TunedOn<'_>>,
    choice: &Choice,
    (single, machine): (bool, &dyn Machine),
) -> Result<TunedTables, FftError> {
    let Line::Passes(passes) = line else {
        return Ok(Vec::new());
    };
    let conversions = choice.conversions;
    // Real lines of one block are multiplied in int8.
    let complex = kind == Kind::ComplexToComplex;
    let double = match complex || !passes.is_one_block() {
        true => choice.template,
        false => Number::Double,
    };
    let number = tuned::number_of(single, recipe.digits, double);
    let mut found = Vec::new();
    if let [block] = passes.blocks() {
        let takes = tuned::is_for_template(recipe, block) && choice.residues.is_none();
        let number = number.filter(|_| takes);
        let warpgroups = number.is_some()
            && complex
            && !single
            && recipe.digits == Digits::DOUBLE
            && tuned_on.is_some_and(|on| on.takes_warpgroups());
        let by_warpgroups = match warpgroups {
            true => {
                let number = Number::DoubleWgmma;
                let tables = bailey_tables::of_lines(number, recipe.digits, block.steps())?;
                let kernels = Kernels {
                    // Lines side by side are slower so, and are taken where it was asked for by name.
                    contiguous_alone: !choice.by_warpgroups,
                    ..Kernels::of_template((number, kind), passes.blocks(), conversions)
                };
                Some((kernels, builder.add(&tables)))
            }
            false => None,
        };
        let by_template = match number {
            Some(number) => {
                let (digits, steps) = (recipe.digits, block.steps());
                let tables = match kind {
                    Kind::RealToComplex => bailey_tables::of_real_lines(digits, steps),
                    _ => bailey_tables::of_lines(number, digits, steps)?,
                };
                let kernels = Kernels::of_template((number, kind), passes.blocks(), conversions);
                Some((kernels, builder.add(&tables)))
            }
            None => None,
        };
        // Few lines are done sooner by the template than by kernels that are made for many, unless another unit was asked for.
        let few = |kernels: Kernels| Kernels {
            few_alone: true,
            ..kernels
        };
        let unit_is_open = tuned_on.is_none_or(|on| on.product == Product::Int8);
        if unit_is_open {
            // A single step of four warps has 32 lines: the others have fewer, and so more blocks.
            let warpgroups = by_warpgroups.filter(|_| tuned::steps_of(block)[1] > 1);
            let any = by_template.filter(|_| !choice.by_warpgroups);
            let for_few = warpgroups.into_iter().chain(any);
            found.extend(for_few.map(|(kernels, tables)| (few(kernels), tables)));
        }
        let shape = tuned_on.and_then(|on| tuned::shape_of(&on, kind, recipe, block));
        if let Some(shape) = shape {
            let tables = tuned_tables::tables(shape, block)?;
            found.push((Kernels::of(shape, conversions), builder.add(&tables)));
        }
        let is_faster = template::is_faster_by_warpgroups(tuned::steps_of(block));
        found.extend(by_warpgroups.filter(|_| choice.by_warpgroups || is_faster));
        found.extend(by_template);
        let three = complex && !single && choice.residues.is_none();
        let steps = tuned::three_steps_of(recipe, block).filter(|_| three);
        if let Some(steps) = steps {
            let kernels = Kernels::of_three_steps(steps, conversions);
            let tables = bailey_tables::of_three_steps(block.steps());
            found.push((kernels, builder.add(&tables)));
        }
        return Ok(found);
    }
    let number = number.filter(|_| fit_together(passes, recipe, machine));
    let ends = number.and_then(|number| tuned::ends_of(kind, number));
    let (Some(number), Some(ends)) = (number, ends) else {
        return Ok(found);
    };
    let tuned_on = tuned_on.filter(|_| complex);
    let shape = tuned_on.and_then(|on| two_pass::shape_of(&on, recipe, passes));
    if let Some(shape) = shape {
        let kernels = two_pass::kernels(shape, conversions);
        found.push((kernels, builder.add(&two_pass::tables(passes))));
    }
    let mut blocks = passes.blocks().iter();
    let template = blocks.all(|block| tuned::is_for_template(recipe, block));
    if template && choice.residues.is_none() {
        let kernels = Kernels::of_template((number, kind), passes.blocks(), conversions);
        let tables = bailey_tables::of_passes(passes, (number, ends), recipe.digits)?;
        found.push((kernels, builder.add(&tables)));
    }
    Ok(found)
}

impl Program {
    pub(crate) fn new<T: Real>(
        machine: &Arc<dyn Machine>,
        queue: Queue,
        (schedule, lines_of_passes): (&Schedule, &[Arc<Line>]),
        recipe: &Recipe,
        choice: Choice,
    ) -> Result<Program, FftError> {
        let mut builder = Builder::default();
        let tuned_on = choice.tuned.map(|product| TunedOn {
            machine: &**machine,
            product,
            single: !T::IS_DOUBLE,
        });
        // Axes of the same length share their tables.
        let mut lines: HashMap<*const Line, LineTables> = HashMap::new();
        let mut tuned: HashMap<(*const Line, Kind), TunedTables> = HashMap::new();
        let mut dimensions = Vec::new();
        for (pass, line) in schedule.passes.iter().zip(lines_of_passes) {
            if let Entry::Vacant(place) = lines.entry(Arc::as_ptr(line)) {
                let number = tuned::number_of(!T::IS_DOUBLE, recipe.digits, choice.template);
                let products = (choice.residues, number);
                let tables = LineTables::new(&mut builder, line, recipe, &**machine, products)?;
                place.insert(tables);
            }
            if let Entry::Vacant(place) = tuned.entry((Arc::as_ptr(line), pass.kind)) {
                let tables = tables_of_tuned(
                    &mut builder,
                    line,
                    pass.kind,
                    recipe,
                    tuned_on,
                    &choice,
                    (!T::IS_DOUBLE, &**machine),
                )?;
                place.insert(tables);
            }
            let mut add = |set: &LineSet| {
                let list = merged(set);
                (builder.add(&list), list)
            };
            let numbered = transform_dimensions(&pass.read);
            dimensions.push((
                add(&pass.read),
                add(&pass.write),
                (builder.add(&numbered), numbered),
            ));
        }
        let search = schedule.scaling.as_ref().map(|scan| {
            let flat = Flattened::new(scan);
            let dimensions = builder.add(&flat.outer);
            let transforms = builder.add(&flat.transforms);
            (flat, dimensions, transforms)
        });
        let tables = builder.upload(machine, queue)?;
        let mut allocator = BumpAllocator(0);
        let spare = allocator.take((schedule.spare_len * size_of::<Complex<T>>()) as u64);
        let last = schedule.passes.len() - 1;
        let (scaling, zeros) = match &schedule.scaling {
            Some(scan) => {
                let first_lines = schedule.passes[0].read.count();
                let last_lines = schedule.passes[last].write.count();
                let lines = [first_lines, last_lines];
                let (scaling, zeros) = Scaling::new(scan, lines, &mut allocator);
                (Some(scaling), zeros)
            }
            None => (None, Zeros::new(0, &mut allocator)),
        };
        let mut program = ProgramBuilder {
            machine,
            recipe,
            tables,
            actions: Vec::new(),
            spare,
            scaling,
            zeros,
            lasting: allocator.0,
            most_workspace: allocator.0,
            tuned_passes: (0, 0),
            remarks: Vec::new(),
            search: None,
            residues: choice.residues,
            residue_block: choice.residue_block,
            watch: None,
            template: choice.template,
            conversions: choice.conversions,
        };
        let counting = choice.residues.and_then(Counting::of);
        if let Some(counting) = counting {
            let bytes = counting.len() * size_of::<u64>();
            let Some(counts) = program.zeros.take(bytes as u64) else {
                unreachable!("nobody has taken room for counts before");
            };
            program.watch = Some(match counting {
                Counting::Redundant => Watch::with_faults(counts, choice.residue_faults),
                Counting::Adaptive => Watch::with_unit(counts, choice.residue_unit),
            });
        }
        let passes = schedule.passes.iter().zip(lines_of_passes).zip(&dimensions);
        for (number, ((pass, line), listed)) in passes.enumerate() {
            let tuned = tuned[&(Arc::as_ptr(line), pass.kind)].clone();
            let axis = program.axis::<T>(schedule, number, pass, listed, tuned);
            if let (0, Some((flat, dimensions, transforms))) = (number, &search) {
                program.search =
                    Some(program.search_everywhere(&axis, flat, *dimensions, *transforms));
            }
            match (&**line, &lines[&Arc::as_ptr(line)]) {
                (Line::Passes(passes), LineTables::Passes(tables)) => {
                    program.passes(&axis, passes, tables)?;
                }
                (
                    Line::Bluestein(bluestein),
                    LineTables::Bluestein {
                        passes,
                        chirp,
                        kernel,
                    },
                ) => {
                    let chirp = chirp.at(&program.tables);
                    let kernel = kernel.at(&program.tables);
                    program.bluestein(&axis, bluestein, passes, (chirp, kernel))?;
                }
                _ => program.copy(&axis),
            }
        }
        if let Some((address, bytes)) = program.zeros.taken() {
            program.actions.insert(0, Action::Clear { address, bytes });
        }
        Ok(Program {
            actions: program.actions,
            workspace_bytes: program.most_workspace as usize,
            tuned_passes: program.tuned_passes,
            remarks: program.remarks,
            tables: program.tables,
            counts: program.watch.map(|watch| watch.counts).zip(counting),
        })
    }
}

/// Kernels that look for the largest numbers, everywhere or where a tuned kernel has left lines, and the one that scales.
const FIND: &str = "find_largest";
const FIND_LEFT: &str = "find_largest_left";
const SCALE: &str = "scale_lines";

impl DeviceWork for Program {
    /// Where residue kernels have counted what.
    fn counts(&self, arrays: &Arrays) -> Option<(u64, Counting)> {
        let (counts, counting) = self.counts?;
        Some((counts.resolve(arrays).value(), counting))
    }

    fn table_bytes(&self) -> usize {
        self.tables.bytes()
    }

    fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }

    /// Passes on an instruction that not every GPU has, and all passes.
    fn tuned_passes(&self) -> (usize, usize) {
        self.tuned_passes
    }

    /// What is worth knowing of the kernels.
    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Every kernel that a call may launch, those that take what others leave among them.
    fn kernels(&self) -> Vec<&'static str> {
        let of = |action: &Action| -> Vec<&'static str> {
            match action {
                Action::Clear { .. } => Vec::new(),
                Action::Launch(launch) => vec![launch.kernel],
                Action::Pass { launch, fallback } => {
                    let fallback = fallback.iter().map(|fallback| fallback.kernel.name());
                    [launch.kernel.name].into_iter().chain(fallback).collect()
                }
                Action::Tuned {
                    launch,
                    fallback,
                    search,
                    scaled_back,
                } => {
                    let both = vec![launch.kernel.name(), fallback.kernel.name()];
                    let scales = search.is_some() || scaled_back.is_some();
                    match scales {
                        true => [both, [FIND, FIND_LEFT, SCALE].to_vec()].concat(),
                        false => both,
                    }
                }
            }
        };
        self.actions.iter().flat_map(of).collect()
    }

    fn launches(&self) -> Vec<LaunchedKernel> {
        let main = |action: &Action| {
            let (name, blocks, threads, shared_bytes) = match action {
                Action::Clear { .. } => return None,
                Action::Launch(launch) => {
                    let grid = (launch.blocks, launch.threads);
                    (launch.kernel, grid.0, grid.1, launch.shared_bytes)
                }
                Action::Pass { launch, .. } => {
                    let kernel = &launch.kernel;
                    let (blocks, shared) = (launch.blocks, launch.shared_bytes);
                    (kernel.name, blocks, kernel.threads, shared)
                }
                Action::Tuned { launch, .. } => {
                    let kernel = &launch.kernel;
                    let (blocks, shared) = (launch.blocks, launch.shared_bytes);
                    (kernel.name(), blocks, kernel.threads(), shared)
                }
            };
            Some(LaunchedKernel {
                name,
                blocks,
                threads,
                shared_bytes,
            })
        };
        self.actions.iter().filter_map(main).collect()
    }

    unsafe fn run(
        &self,
        machine: &dyn Machine,
        queue: Queue,
        arrays: &Arrays,
    ) -> Result<(), FftError> {
        for action in &self.actions {
            // SAFETY: the caller's promise; launches stay within their arrays as the CPU's executor does.
            unsafe {
                match action {
                    Action::Clear { address, bytes } => {
                        machine.clear(queue, address.resolve(arrays).value(), *bytes)?;
                    }
                    Action::Launch(launch) => machine.launch(queue, &launch.resolved(arrays))?,
                    Action::Pass { launch, fallback } => {
                        run_pass((machine, queue), arrays, launch, fallback.as_deref())?;
                    }
                    Action::Tuned {
                        launch,
                        fallback,
                        search,
                        scaled_back,
                    } => {
                        let around = (search.as_deref(), scaled_back.as_deref());
                        run_tuned((machine, queue), arrays, (launch, fallback), around)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A pass on the template, and what it leaves.
///
/// # Safety
/// As for [`DeviceWork::run`].
unsafe fn run_pass(
    (machine, queue): (&dyn Machine, Queue),
    arrays: &Arrays,
    launch: &PassLaunch,
    fallback: Option<&FallbackLaunch>,
) -> Result<(), FftError> {
    let task = launch.task.if_aligned(arrays);
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(task) = task {
            if launch.clears_list {
                machine.clear(queue, task.tuned.left_count.value(), 4)?;
            }
            machine.launch(queue, &launch.with(task))?;
            if !launch.leaves_lines {
                return Ok(());
            }
        }
        let Some(fallback) = fallback else {
            unreachable!("convolutions are taken wherever their numbers are");
        };
        let mut tasks = fallback.tasks.resolved(arrays);
        let mut blocks = fallback.blocks;
        if let Some(task) = task {
            tasks.set_list(task.tuned.left, task.tuned.left_count);
            blocks = blocks.min(2 * machine.multiprocessors() as u64);
        }
        machine.launch(queue, &fallback.with(tasks, blocks))
    }
}

/// A kernel that knows its length, what it leaves, and the search for the largest numbers or the scaling of results around it.
///
/// # Safety
/// As for [`DeviceWork::run`].
unsafe fn run_tuned(
    (machine, queue): (&dyn Machine, Queue),
    arrays: &Arrays,
    (launch, fallback): (&TunedLaunch, &FallbackLaunch),
    (search, mut scaled_back): (Option<&Search>, Option<&ArrayTask>),
) -> Result<(), FftError> {
    let mut tasks = fallback.tasks.resolved(arrays);
    let mut blocks = fallback.blocks;
    let some = 2 * machine.multiprocessors() as u64;
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(task) = launch.task.if_aligned(arrays) {
            if launch.clears_list {
                machine.clear(queue, task.left_count.value(), 4)?;
            }
            machine.launch(queue, &launch.with(machine, task)?)?;
            blocks = blocks.min(some);
            if let Some(search) = search {
                let left = search.left.resolved(arrays);
                // A warp has a line at a time; nothing is left nearly always.
                let most = left.line_count.div_ceil(8);
                let (find, scale) = (some.min(most), (4 * some).min(most));
                machine.launch(queue, &Launch::general(FIND_LEFT, find, left))?;
                machine.launch(queue, &Launch::general(SCALE, scale, left))?;
            }
        } else {
            if let Some(search) = search {
                let (task, blocks) = search.everywhere;
                let task = task.resolved(arrays);
                machine.launch(queue, &Launch::general(FIND, blocks, task))?;
            }
            tasks.set_list(Address::NONE, Address::NONE);
            scaled_back = None;
        }
        machine.launch(queue, &fallback.with(tasks, blocks))?;
        if let Some(task) = scaled_back {
            let task = task.resolved(arrays);
            machine.launch(queue, &Launch::general(SCALE, 4 * some, task))?;
        }
    }
    Ok(())
}
