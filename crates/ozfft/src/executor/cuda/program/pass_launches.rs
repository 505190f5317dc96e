//! The passes of 1-D transforms as launches of portable kernels, or of the template where it takes them: what each is told.

use crate::error::FftError;
use crate::executor::cuda::device::launch::Launch;
use crate::executor::cuda::program::data::{
    Axis, FallbackKernel, FallbackLaunch, PassIo, ProgramBuilder,
};
use crate::executor::cuda::program::task::*;
use crate::problem::Products;
use bytemuck::Zeroable;

/// Lines of a thread block: one for every thread at most.
const MOST_LINES: u64 = ozfft_kernels::GENERAL_THREADS as u64;

/// Shared memory of a block: what its lines have in common, their headers, their points.
fn shared_bytes(lines: usize, points: usize, point_bytes: usize) -> usize {
    COMMON_BYTES + (lines * LINE_HEADER_BYTES).next_multiple_of(128) + points * point_bytes
}

/// The same for both passes of a transform.
pub(crate) fn two_pass_bytes(lines: usize, points: usize) -> usize {
    shared_bytes(lines, points, POINT_BYTES + EXTRA_BYTES)
}

impl ProgramBuilder<'_> {
    /// The passes of `count` transforms, one launch each.
    pub(crate) fn line_passes(
        &mut self,
        axis: &Axis,
        io: &PassIo<'_>,
        first: u64,
        count: u64,
    ) -> Result<(), FftError> {
        let passes = io.passes;
        let blocks = passes.blocks();
        let digits = self.recipe.digits;
        let most_earlier = Task::zeroed().earlier_lengths.len();
        if blocks.len() > most_earlier + 1 {
            return Err(FftError::Unsupported(format!(
                "a line of {} passes is more than the GPU's kernels take; plan it on the CPU",
                blocks.len()
            )));
        }
        let (mut groups, mut length) = (1u64, passes.len() as u64);
        if io.together {
            let opening = self.pass_task(axis, io, (first, count), (0, groups, length));
            let block = blocks[0].len() as u64;
            let closing = self.pass_task(axis, io, (first, count), (1, block, length / block));
            self.both_passes(axis, io, opening, closing);
            return Ok(());
        }
        for (number, block) in blocks.iter().enumerate() {
            let mut task = self.pass_task(axis, io, (first, count), (number, groups, length));
            let tables = io.blocks[number];
            // Exponents of words, or what outputs of eight digits have beyond 64 bits.
            let extra = !tables.truncated || digits.data == 8 || task.source != SOURCE_FLOATS;
            let point_bytes = POINT_BYTES + if extra { EXTRA_BYTES } else { 0 };
            let residues = tables.residues;
            let fp8 = residues.and_then(ozfft_kernels::ResidueFp8::of);
            let asked = self.residue_block.filter(|_| residues.is_some());
            let threads = match (asked, residues, fp8) {
                (_, _, Some(scheme)) => scheme.threads(),
                (Some((_, threads)), ..) => threads,
                (None, Some(_), None) => ozfft_kernels::RESIDUE_THREADS,
                (None, None, None) => ozfft_kernels::GENERAL_THREADS,
            };
            let scratch = match (residues, fp8) {
                (_, Some(scheme)) => scheme.scratch_bytes(),
                (Some(_), None) => ozfft_kernels::residue_scratch_bytes(threads),
                (None, None) => 0,
            };
            task.lines_per_block = match (asked, fp8) {
                (Some(block), _) => self.asked_lines(&task, point_bytes, scratch, block)?,
                (None, Some(scheme)) => scheme.lines() as u64,
                (None, None) if residues.is_some() => self.residue_lines_per_block(&task),
                (None, None) => self.lines_per_block(&task, point_bytes, scratch),
            } as i32;
            let lines = task.lines_per_block as usize;
            let points = lines * task.line_pitch as usize;
            let shared = shared_bytes(lines, points, point_bytes) + scratch;
            let mut blocks = task.line_count.div_ceil(lines as u64);
            if fp8.is_some() {
                // No two fit a multiprocessor, and each takes all lines that it comes to.
                blocks = blocks.min(self.machine.multiprocessors() as u64);
            }
            self.tuned_passes.1 += 1;
            let truncated = tables
                .truncated
                .then(|| ozfft_kernels::truncated(digits.data, tables.tiles))
                .flatten();
            let kernel = match truncated {
                Some(name) => FallbackKernel::Truncated(name),
                None => FallbackKernel::General {
                    tiles: tables.tiles,
                },
            };
            let fallback = FallbackLaunch {
                tasks: Tasks::one(task),
                kernel,
                blocks,
                shared_bytes: shared,
            };
            let one_block = passes.is_one_block() && residues.is_none();
            if one_block && self.any_tuned(axis, &fallback) {
                continue;
            }
            if self.template_pass(axis, io, number, &fallback) {
                groups *= block.len() as u64;
                length /= block.len() as u64;
                continue;
            }
            let grid = (blocks, threads);
            self.launch(match (residues.or(truncated), self.watch) {
                (Some(kernel), Some(watch)) => {
                    Launch::new(kernel, grid, shared, WatchedTask { task, watch })
                }
                (Some(kernel), None) => Launch::new(kernel, grid, shared, Tasks::one(task)),
                (None, _) => fallback.with(fallback.tasks, blocks),
            });
            groups *= block.len() as u64;
            length /= block.len() as u64;
        }
        Ok(())
    }

    /// What a launch of pass `number` is told, but for how its lines are shared out.
    pub(crate) fn pass_task(
        &self,
        axis: &Axis,
        io: &PassIo<'_>,
        (first, count): (u64, u64),
        (number, groups, length): (usize, u64, u64),
    ) -> Task {
        let passes = io.passes;
        let blocks = passes.blocks();
        let block = &blocks[number];
        let tables = io.blocks[number];
        let digits = self.recipe.digits;
        let most_exponents = passes.most_exponents() as u64;
        let inner = length / block.len() as u64;
        let (is_first, is_last) = (number == 0, number + 1 == blocks.len());
        let mut task = Task::zeroed();
        task.input = axis.input;
        task.output = axis.output;
        task.steps = tables.steps.at(&self.tables);
        task.places = tables.places.at(&self.tables);
        task.step_count = block.steps().len() as i32;
        task.block_length = block.len() as i32;
        task.line_pitch = tables.line_pitch as i32;
        task.row_pitch = tables.row_pitch as i32;
        task.column_pitch = 1;
        task.data_digits = digits.data as i32;
        task.matrix_digits = digits.matrix as i32;
        task.diagonals = digits.diagonals as i32;
        task.exact = i32::from(self.recipe.products == Products::Exact);
        task.word_bits = digits.word_bits() as i32;
        task.exponent_offset = block.exponent_offset();
        task.transform_length = passes.len() as u64;
        task.lines_per_transform = groups * inner;
        (task.inner, task.length, task.groups) = (inner, length, groups);
        task.line_count = count * groups * inner;
        task.first_transform = first;
        task.visible_length = axis.n;
        task.properties = io.properties;
        // The source.
        if is_first {
            task.source = io.source;
            task.source_table = io.source_table;
            task.words_in = io.from.words;
            task.exponents_in = io.from.exponents;
            task.words_distance = io.from.distance;
            task.exponents_in_distance = io.from.exponents_distance;
            task.previous = io.from.exponents_distance;
            task.load_across = i32::from(match io.source {
                _ if inner > 1 => true,
                SOURCE_LINE_WORDS => false,
                _ => axis.read_across,
            });
        } else {
            task.source = SOURCE_GROUP_WORDS;
            task.words_in = io.between;
            task.exponents_in = io.exponents[(number + 1) % 2];
            task.words_distance = passes.len() as u64;
            task.exponents_in_distance = most_exponents;
            task.previous = blocks[number - 1].len() as u64;
            task.load_across = i32::from(inner > 1);
        }
        task.symmetry = match (task.source, axis.input.elements) {
            (SOURCE_FLOATS, ELEMENTS_REAL) => SYMMETRY_REAL,
            // One block holds the whole line; of a longer one it holds every so many elements.
            (SOURCE_FLOATS, ELEMENTS_HALF) if is_last => SYMMETRY_HERMITIAN,
            _ => SYMMETRY_NONE,
        };
        // The sink.
        if is_last {
            task.sink = io.sink;
            task.sink_table = io.sink_table;
            task.words_out = io.to.words;
            task.exponents_out = io.to.exponents;
            task.exponents_out_distance = io.to.exponents_distance;
            task.exponent_offset += passes.exponent_offset() + io.sink_exponent;
            if io.sink == SINK_KERNEL_PRODUCT {
                debug_assert_eq!(io.to.distance, passes.len() as u64);
                task.words_distance = io.to.distance;
            }
            task.largest = self.largest();
            (task.transforms, task.transform_dimension_count) = axis.transforms;
            task.bias = axis.bias;
            for (place, earlier) in task.earlier_lengths.iter_mut().zip(&blocks[..number]) {
                *place = earlier.len() as u64;
            }
            task.earlier_count = number as i32;
            task.store_across = i32::from(match io.sink {
                _ if groups > 1 => true,
                SINK_KERNEL_PRODUCT => false,
                _ => axis.write_across,
            });
        } else {
            task.sink = SINK_NEXT_PASS;
            task.words_out = io.between;
            task.exponents_out = io.exponents[number % 2];
            task.words_distance = passes.len() as u64;
            task.exponents_out_distance = most_exponents;
            let (low, high) = io.tables.roots[number];
            (task.roots_low, task.roots_high) = (low.at(&self.tables), high.at(&self.tables));
            task.root_low_bits = passes.roots()[number].low_bits() as i32;
            task.store_across = 1;
        }
        let recorded = io.properties != Address::NONE;
        task.nature_use = match (io.source, io.sink) {
            (SOURCE_FLOATS | SOURCE_CHIRPED_FLOATS, _) if is_first && recorded => NATURE_RECORD,
            (_, SINK_FLOATS | SINK_UNCHIRPED_FLOATS) if is_last && recorded => NATURE_RECALL,
            (SOURCE_FLOATS, SINK_FLOATS) if !recorded => NATURE_OWN,
            _ => NATURE_NONE,
        };
        task
    }

    /// Both passes of transforms that fit shared memory, in one launch.
    pub(crate) fn both_passes(
        &mut self,
        axis: &Axis,
        io: &PassIo<'_>,
        mut first: Task,
        mut second: Task,
    ) {
        let [opening, closing] = [0, 1].map(|number| io.blocks[number]);
        let lines = [first, second].map(|task| task.lines_per_transform);
        // Threads share the lines of either pass; there is one set of headers.
        let most = lines[0].max(lines[1]);
        (first.lines_per_block, second.lines_per_block) = (most as i32, most as i32);
        // The second pass finds its elements where the first one has left them.
        second.column_pitch = first.line_pitch;
        second.row_pitch = closing.row_pitch as i32 * first.line_pitch;
        first.roots_low = io.tables.short_roots.at(&self.tables);
        // What is known of real lines spares outputs that the second pass would look for.
        first.symmetry = SYMMETRY_NONE;
        (first.nature_use, second.nature_use) = (NATURE_OWN, NATURE_OWN);
        (first.load_across, second.store_across) = (1, 1);
        let shared = two_pass_bytes(most as usize, lines[0] as usize * opening.line_pitch);
        let blocks = first.line_count / lines[0];
        self.tuned_passes.1 += 1;
        let tiles = opening.tiles.max(closing.tiles);
        let Some(kernel) = ozfft_kernels::two_passes(self.recipe.digits.data, tiles) else {
            unreachable!("tables are together only where there are kernels");
        };
        let tasks = Tasks([first, second]);
        let fallback = FallbackLaunch {
            tasks,
            kernel: FallbackKernel::Truncated(kernel),
            blocks,
            shared_bytes: shared,
        };
        if self.any_tuned(axis, &fallback) {
            return;
        }
        self.launch(fallback.with(tasks, blocks));
    }

    /// Lines that a thread block takes: enough to keep its warps busy and, where neighbouring lines lie side by side,
    /// to use whole segments of 128 bytes; but no more than leave every multiprocessor some.
    pub(crate) fn lines_per_block(&self, task: &Task, point_bytes: usize, scratch: usize) -> u64 {
        const POINTS: u64 = 4096;
        // Two numbers of f64 to a sector of 32 bytes: four sectors, or two where lines are long.
        const SEGMENT: u64 = 8;
        const LONG: u64 = 512;
        let pitch = task.line_pitch as u64;
        let across = task.load_across + task.store_across > 0;
        let least = match across {
            true if pitch > LONG + 32 => SEGMENT / 2,
            true => SEGMENT,
            false => 1,
        };
        let fair = task
            .line_count
            .div_ceil(2 * self.machine.multiprocessors() as u64);
        let wanted = (POINTS / pitch).min(fair).clamp(least, MOST_LINES);
        // Head and padding to whole 128 bytes, then the points.
        let taken = scratch + 128 + COMMON_BYTES;
        let room = (self.machine.shared_memory() - taken) as u64;
        let fitting = room / (LINE_HEADER_BYTES as u64 + pitch * point_bytes as u64);
        // Powers of two: the kernels share lines among their threads so.
        1 << wanted.min(fitting.max(1)).ilog2()
    }

    /// The same for kernels with products by residues.
    fn residue_lines_per_block(&self, task: &Task) -> u64 {
        let wanted = ozfft_kernels::RESIDUE_BLOCK_POINTS as u64 / task.block_length as u64;
        let fair = task
            .line_count
            .div_ceil(4 * self.machine.multiprocessors() as u64);
        1 << wanted.min(fair).max(1).ilog2()
    }

    /// As many lines in a block as is asked for, where they fit.
    pub(crate) fn asked_lines(
        &self,
        task: &Task,
        point_bytes: usize,
        scratch: usize,
        (lines, threads): (u64, u32),
    ) -> Result<u64, FftError> {
        if let Some(scheme) = self.residues.and_then(ozfft_kernels::ResidueFp8::of) {
            return Err(FftError::Unsupported(format!(
                "blocks of the residue kernels in fp8 have {} lines, not {lines}; take the substrate auto",
                scheme.lines()
            )));
        }
        if !lines.is_power_of_two() || lines > MOST_LINES {
            return Err(FftError::Unsupported(format!(
                "{lines} lines cannot share a block; take a power of two up to {MOST_LINES}"
            )));
        }
        let most = ozfft_kernels::GENERAL_THREADS;
        if !threads.is_power_of_two() || !(32..=most).contains(&threads) {
            return Err(FftError::Unsupported(format!(
                "a block of these kernels cannot have {threads} threads; take a power of two from 32 to {most}"
            )));
        }
        let points = lines as usize * task.line_pitch as usize;
        let needed = shared_bytes(lines as usize, points, point_bytes) + scratch;
        let available = self.machine.shared_memory();
        if needed > available {
            return Err(FftError::Unsupported(format!(
                "{lines} lines of a block need {needed} bytes of shared memory, and the device has {available}; take fewer"
            )));
        }
        Ok(lines)
    }
}
