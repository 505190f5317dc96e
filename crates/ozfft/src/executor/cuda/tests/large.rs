//! Launches of more than 2^31 points, looked at and never run: every address that a kernel works out lies within its
//! array, whatever the number of its line.
//!
//! The kernels' own arithmetic is in 64 bits (`line_offset` and `prepare_line` of the portable kernels, `Panel` of the tuned
//! ones); what is checked here is what they are told.

use crate::error::{Buffer, FftError};
use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::findings::Findings;
use crate::executor::cuda::device::launch::{Launch, TemplateKernel};
use crate::executor::cuda::device::machine::{BlockCopy, Machine, Queue};
use crate::executor::cuda::program::task::*;
use crate::executor::cuda::program::tuned_task::{MappedArray, StridedTask, TensorMap, TunedTask};
use crate::executor::cuda::select::long_passes::PassTask;
use crate::executor::cuda::select::tuned::element_bytes;
use crate::kind::Kind;
use crate::problem::{Accuracy, Direction, Problem};
use crate::sample::Real;
use crate::substrate::GpuUnit;
use crate::{DevicePointer, Layout, Plan, Planner};
use ozfft_kernels::Elements;
use ozfft_kernels::template::{
    Block, Ends, Family, KernelSpec, Number, Real as RealLines, ThreeSteps, TwoPasses,
};
use std::sync::{Arc, Mutex};

/// Where the arrays would lie.
const INPUT: u64 = 1 << 56;
const OUTPUT: u64 = 2 << 56;
const WORKSPACE: u64 = 3 << 56;

enum Recorded {
    Clear(u64, usize),
    Launch(Box<Launch>),
    Map(MappedArray),
}

/// A GPU of today's size that writes down what it is told, and does nothing.
#[derive(Default)]
struct Recorder {
    memory: Emulator,
    recorded: Mutex<Vec<Recorded>>,
    without_template: bool,
}

impl Recorder {
    fn add(&self, recorded: Recorded) {
        self.recorded.lock().unwrap().push(recorded);
    }
}

impl Machine for Recorder {
    fn name(&self) -> String {
        "recorder".into()
    }
    fn shared_memory(&self) -> usize {
        227 << 10
    }
    fn multiprocessors(&self) -> usize {
        132
    }
    // Kernels for many lines are looked at, with few of them.
    fn few_panels(&self) -> u64 {
        0
    }
    fn most_word_bytes(&self) -> u64 {
        1 << 30
    }
    fn has_tuned_kernels(&self) -> bool {
        true
    }
    fn capability(&self) -> (i32, i32) {
        self.memory.capability()
    }
    fn template_kernel(
        &self,
        spec: &KernelSpec,
        conversions: bool,
    ) -> Result<TemplateKernel, String> {
        if self.without_template {
            return Err("for the portable kernel's sake".into());
        }
        Ok(TemplateKernel {
            name: spec.name(conversions).leak(),
            threads: spec.threads(),
            blocks_each: 2,
            compilation: None,
        })
    }
    fn findings(&self) -> &Findings {
        self.memory.findings()
    }
    fn tensor_map(&self, array: &MappedArray) -> Result<TensorMap, FftError> {
        self.add(Recorded::Map(array.clone()));
        Ok([0; 16])
    }
    fn allocate(&self, bytes: usize) -> Result<u64, FftError> {
        self.memory.allocate(bytes)
    }
    unsafe fn free(&self, address: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.memory.free(address) }
    }
    fn open_queue(&self) -> Result<Queue, FftError> {
        Ok(0)
    }
    fn close_queue(&self, _: Queue) {}
    unsafe fn upload(&self, queue: Queue, to: u64, bytes: &[u8]) -> Result<(), FftError> {
        // SAFETY: the caller's promise; only tables are uploaded.
        unsafe { self.memory.upload(queue, to, bytes) }
    }
    unsafe fn download(&self, _: Queue, _: u64, _: &mut [u8]) -> Result<(), FftError> {
        unreachable!("nothing is computed")
    }
    unsafe fn copy_block(&self, _: Queue, _: &BlockCopy) -> Result<(), FftError> {
        unreachable!("no plan copies blocks")
    }
    unsafe fn clear(&self, _: Queue, address: u64, bytes: usize) -> Result<(), FftError> {
        self.add(Recorded::Clear(address, bytes));
        Ok(())
    }
    unsafe fn launch(&self, _: Queue, launch: &Launch) -> Result<(), FftError> {
        let blocks = launch.blocks;
        assert!(launch.shared_bytes <= self.shared_memory());
        assert!((1..1 << 31).contains(&blocks), "{blocks} blocks");
        self.add(Recorded::Launch(Box::new(*launch)));
        Ok(())
    }
    fn synchronize(&self, _: Queue) -> Result<(), FftError> {
        Ok(())
    }
    fn check_pointer(&self, _: Buffer, _: u64, _: usize) -> Result<(), FftError> {
        Ok(())
    }
}

/// An array of the call: its first byte and its length.
#[derive(Debug, Clone, Copy)]
struct Array(u64, u64);

impl Array {
    /// Bytes from `start` on, so many, which must all be there.
    fn expect(&self, start: i128, bytes: i128, what: &str) {
        let (first, length) = (i128::from(self.0), i128::from(self.1));
        assert!(
            start >= first && start + bytes <= first + length,
            "{what}: {bytes} bytes at {} of {length}",
            start - first
        );
    }
}

/// The arrays of a call, and what the launches have in common.
struct Check {
    arrays: [Array; 3],
    what: String,
    /// Lines read from the input, and written to the output, by launches of portable kernels.
    read: u64,
    written: u64,
    /// The line of its axis that the next launch must begin to read with, and to write with.
    next: [u64; 2],
    /// Launches of tuned kernels.
    tuned: usize,
    /// Passes of long transforms on the template.
    long_passes: usize,
}

impl Check {
    fn workspace(&self, address: Address, bytes: u64, what: &str) {
        let start = i128::from(address.value());
        self.arrays[2].expect(start, i128::from(bytes), &format!("{}: {what}", self.what));
    }

    /// The array that an address lies in.
    fn array(&self, address: Address) -> Array {
        let arrays = self.arrays.iter().rev();
        let mut begun = arrays.filter(|array| array.0 <= address.value());
        *begun.next().expect("an array of the call")
    }

    /// First and last elements of the first and last lines, of the middle and of those around every power of two. Returns
    /// how many lines the axis has.
    fn lines(&self, lines: &FloatLines, line_count: u64) -> u64 {
        let dimensions = lines.dimensions.value() as *const Dimension;
        // SAFETY: tables are in the emulator's memory, and the plan is alive.
        let dimensions =
            unsafe { std::slice::from_raw_parts(dimensions, lines.dimension_count as usize) };
        let numbered: u64 = dimensions.iter().map(|d| d.length).product();
        assert!(line_count <= numbered, "{}", self.what);
        let real = if lines.single != 0 { 4 } else { 8 };
        let element = if lines.elements == ELEMENTS_REAL {
            real
        } else {
            2 * real
        };
        let array = self.array(lines.numbers);
        let powers = (0..63).flat_map(|k| [(1u64 << k) - 1, 1 << k]);
        let some = powers.chain([0, line_count / 2, line_count - 1]);
        for line in some.filter(|&line| line < line_count) {
            let (mut rest, mut offset) = (line, i128::from(lines.offset));
            for dimension in dimensions.iter().rev() {
                let index = i128::from(rest % dimension.length);
                offset += index * i128::from(dimension.stride);
                rest /= dimension.length;
            }
            for index in [0, lines.count - 1] {
                let at = offset + i128::from(index) * i128::from(lines.stride);
                // As the kernels work it out, in complex numbers and in their halves.
                assert!(i64::try_from(2 * at + 1).is_ok());
                let start = i128::from(lines.numbers.value()) + element * at;
                array.expect(start, element, &format!("{}, line {line}", self.what));
            }
        }
        numbered
    }

    /// Launches of an axis follow each other without gaps.
    fn follow(&mut self, side: usize, task: &Task, axis_lines: u64, transforms: u64) {
        assert_eq!(task.first_transform, self.next[side], "{}", self.what);
        self.next[side] = (self.next[side] + transforms) % axis_lines;
    }

    fn block(&mut self, task: &Task, blocks: u64) {
        let transforms = task.line_count / task.lines_per_transform;
        assert_eq!(transforms * task.lines_per_transform, task.line_count);
        if task.list == Address::NONE {
            let lines = blocks * task.lines_per_block as u64;
            assert!(
                lines >= task.line_count && lines - task.line_count < task.lines_per_block as u64
            );
        } else {
            self.workspace(task.list, 8 * task.line_count, "list");
            self.workspace(task.list_count, 4, "count");
        }
        self.ends(task, transforms);
    }

    /// Where lines come from and where they go.
    fn ends(&mut self, task: &Task, transforms: u64) {
        let last = task.first_transform + transforms;
        if task.source <= SOURCE_CHIRPED_FLOATS {
            let all = self.lines(&task.input, last);
            self.follow(0, task, all, transforms);
            self.read += transforms;
        } else {
            self.workspace(
                task.words_in,
                16 * transforms * task.words_distance,
                "words",
            );
            let bytes = 4 * transforms * task.exponents_in_distance;
            self.workspace(task.exponents_in, bytes, "exponents");
        }
        if task.sink == SINK_FLOATS || task.sink == SINK_UNCHIRPED_FLOATS {
            let all = self.lines(&task.output, last);
            self.end(task, last);
            self.follow(1, task, all, transforms);
            self.written += transforms;
        } else {
            self.workspace(
                task.words_out,
                16 * transforms * task.words_distance,
                "words",
            );
            let bytes = 4 * transforms * task.exponents_out_distance;
            self.workspace(task.exponents_out, bytes, "exponents");
        }
        if task.nature_use == NATURE_RECORD || task.nature_use == NATURE_RECALL {
            self.workspace(task.properties, 4 * transforms, "properties");
        }
        assert!(task.length <= task.transform_length && task.inner <= task.length);
    }

    /// Both passes of transforms in one launch: numbers in, numbers out, no words in memory.
    fn both_passes(&mut self, [first, second]: &[Task; 2], blocks: u64) {
        let transforms = first.line_count / first.lines_per_transform;
        assert_eq!(first.source, SOURCE_FLOATS);
        if first.list == Address::NONE {
            assert_eq!(blocks, transforms);
        } else {
            self.workspace(first.list, 8 * transforms, "list");
            self.workspace(first.list_count, 4, "count");
        }
        assert_eq!(second.sink, SINK_FLOATS);
        let last = first.first_transform + transforms;
        let all = self.lines(&first.input, last);
        self.follow(0, first, all, transforms);
        self.read += transforms;
        let all = self.lines(&second.output, last);
        self.end(second, last);
        self.follow(1, second, all, transforms);
        self.written += transforms;
    }

    /// The largest numbers of all transforms that lines are said to be of, elements of a line so far apart.
    fn transforms(&self, largest: Address, (dimensions, count): (Address, i32), within_line: u64) {
        if largest == Address::NONE {
            return;
        }
        let dimensions = dimensions.value() as *const Dimension;
        // SAFETY: tables are in the emulator's memory, and the plan is alive.
        let dimensions = unsafe { std::slice::from_raw_parts(dimensions, count as usize) };
        let last = dimensions.iter().map(|d| (d.length - 1) * d.stride as u64);
        let last = last.sum::<u64>() + within_line;
        self.workspace(largest, 8 * (last + 1), "largest");
    }

    /// What a line's results are scaled by, and its mark.
    fn end(&self, task: &Task, lines: u64) {
        let transforms = (task.transforms, task.transform_dimension_count);
        self.transforms(task.largest, transforms, 0);
        if task.marks != Address::NONE {
            self.workspace(task.marks, 4 * lines.div_ceil(32), "marks");
        }
    }

    fn array_task(&self, task: &ArrayTask) {
        self.lines(&task.input, task.line_count);
        let within_line = (task.input.count - 1) * task.transform_stride as u64;
        let transforms = (task.transforms, task.transform_dimension_count);
        self.transforms(task.largest, transforms, within_line);
        self.workspace(task.scaled_down, 8, "whether any is scaled down");
        if task.marks != Address::NONE {
            self.workspace(task.marks, 4 * task.line_count.div_ceil(32), "marks");
        }
    }

    /// A pass of long transforms. Of opening and closing ones a portable kernel is told right behind, for what is left: what they read
    /// and write is checked there.
    fn pass(&mut self, PassTask { task, tuned }: &PassTask, kernel: &str) {
        let bytes = bytemuck::bytes_of(tuned);
        let int = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let fast_count = u64::from_le_bytes(bytes[72..80].try_into().unwrap());
        let (panels, panels_a_group) = (u64::from(int(80)), u64::from(int(84)));
        assert!(task.transform_length < 1 << 31 && panels < 1 << 30);
        assert_eq!(panels % panels_a_group, 0);
        assert_eq!(panels / panels_a_group * fast_count, task.line_count);
        // Between two and sixteen lines at a time; of whole convolutions one may be enough.
        let fewest = if kernel.contains("_convolution_") {
            1
        } else {
            2
        };
        let range = fast_count.div_ceil(16)..=fast_count.div_ceil(fewest);
        assert!(range.contains(&panels_a_group), "{kernel}");
        self.long_passes += 1;
        let transforms = task.line_count / task.lines_per_transform;
        if tuned.left == Address::NONE {
            // Convolutions leave no lines.
            self.ends(task, transforms);
            return;
        }
        self.workspace(tuned.left, 8 * task.line_count, "list");
        self.workspace(tuned.left_count, 4, "count");
        if kernel.contains("_middle_") {
            let words = 16 * transforms * task.words_distance;
            self.workspace(task.words_in, words, "words");
            self.workspace(task.words_out, words, "words");
            let exponents = 4 * transforms;
            let read = exponents * task.exponents_in_distance;
            self.workspace(task.exponents_in, read, "exponents");
            let written = exponents * task.exponents_out_distance;
            self.workspace(task.exponents_out, written, "exponents");
        }
    }

    fn tuned(&mut self, task: &TunedTask, strided: bool, kernel: &str) {
        // Fields are the kernels' alone; their places are those of `TunedArguments`.
        let bytes = bytemuck::bytes_of(task);
        let long = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let int = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (lines, fast_count) = (long(64), long(72));
        let (panels, panels_a_group) = (u64::from(int(80)), u64::from(int(84)));
        let shapes = ozfft_kernels::TUNED.iter();
        let mut one_pass = shapes
            .filter(|shape| shape.kernels.contains(&kernel))
            .map(|shape| {
                let bytes = element_bytes(shape.elements, shape.single);
                (
                    shape.first * shape.last,
                    shape.lines as u64,
                    shape.elements,
                    bytes,
                )
            });
        let shapes = ozfft_kernels::TUNED_PASSES.iter();
        let mut two_passes = shapes
            .filter(|shape| shape.kernels.contains(&kernel))
            .map(|shape| {
                (
                    shape.passes.iter().product(),
                    1,
                    Elements::Complex,
                    [16, 16],
                )
            });
        let named = one_pass.next().or_else(|| two_passes.next());
        self.tuned += usize::from(named.is_some());
        let named = named.or_else(|| {
            let name = kernel.strip_prefix("bailey_")?;
            let (number, name) = match (name.strip_prefix("single_"), name.strip_prefix("digits")) {
                (Some(name), _) => (Number::Single, name),
                (None, Some(rest)) => {
                    let (digits, name) = rest.split_once('_')?;
                    let digits: u32 = digits.parse().ok()?;
                    let (digits, diagonals) = (digits / 10, digits % 10);
                    (Number::DoubleFewer { digits, diagonals }, name)
                }
                (None, None) => (Number::Double, name),
            };
            let (elements, ends, rest) = match name.split_once('_')? {
                ("r2c", rest) => (Elements::RealToComplex, Ends::RealToHalf, rest),
                ("c2r", rest) => (Elements::ComplexToReal, Ends::HalfToReal, rest),
                _ => (Elements::Complex, Ends::Complex, name),
            };
            let steps = rest.split('_').map_while(|word| {
                let points = word.split('x').map(|number| number.parse().ok());
                points.collect::<Option<Vec<usize>>>()
            });
            let steps: Vec<Vec<usize>> = steps.filter(|steps| steps.len() > 1).collect();
            let points = steps.iter().flatten().product();
            let steps: Vec<&[usize]> = steps.iter().map(Vec::as_slice).collect();
            let family: Family = match steps[..] {
                [&[first, last]] => {
                    let steps = [first, last];
                    match ends {
                        Ends::Complex => Block { steps }.into(),
                        ends => RealLines { steps, ends }.into(),
                    }
                }
                [&[first, middle, last]] => {
                    let steps = [first, middle, last];
                    ThreeSteps { steps }.into()
                }
                [&[first, last], &[second, closing]] => {
                    let steps = [[first, last], [second, closing]];
                    TwoPasses { steps, ends }.into()
                }
                _ => return None,
            };
            let lines = KernelSpec::new(family, number, strided, 227 << 10)?.lines;
            Some((
                points,
                lines as u64,
                elements,
                element_bytes(elements, number == Number::Single),
            ))
        });
        let (points, lines_a_panel, elements, bytes) = named.expect("its shape");
        let points = points as i128;
        let [in_bytes, out_bytes] = bytes.map(i128::from);
        let half = points / 2 + 1;
        let (in_points, out_points) = match elements {
            Elements::Complex => (points, points),
            Elements::RealToComplex => (points, half),
            Elements::ComplexToReal => (half, points),
        };
        let held = panels * lines_a_panel;
        assert!(held >= lines as u64, "{}: {panels} panels", self.what);
        // The kernels number panels in 32 bits, and look one round ahead.
        assert!(panels + 132 < 1 << 31);
        for (at, places, points, bytes) in
            [(0, 16, in_points, in_bytes), (8, 40, out_points, out_bytes)]
        {
            let [element, fast, slow] = [0, 8, 16].map(|field| i128::from(long(places + field)));
            let address = Address::known(long(at) as u64);
            let array = self.array(address);
            for line in [0, fast_count - 1, lines / 2, lines - 1] {
                let (group, first) = if strided {
                    (line / fast_count, line % fast_count)
                } else {
                    (line, 0)
                };
                let start = i128::from(group) * slow + i128::from(first) * fast;
                for index in [0, points - 1] {
                    let byte = i128::from(address.value()) + bytes * (start + index * element);
                    array.expect(byte, bytes, &format!("{}, line {line}", self.what));
                }
            }
        }
        if strided {
            assert_eq!(panels % panels_a_group, 0);
            assert!(2 * panels_a_group * lines_a_panel < 1 << 31);
        }
        self.workspace(task.left, 8 * lines as u64, "left");
        self.workspace(task.left_count, 4, "left");
    }

    fn launch(&mut self, launch: &Launch) {
        let (name, blocks, arguments) = (launch.kernel, launch.blocks, &launch.arguments);
        if let Some(task) = arguments.get::<Task>() {
            self.block(task, blocks);
        } else if let Some(Tasks(tasks)) = arguments.get() {
            match tasks[1].step_count {
                0 => self.block(&tasks[0], blocks),
                _ => self.both_passes(tasks, blocks),
            }
        } else if let Some(WatchedTask { task, .. }) = arguments.get() {
            self.block(task, blocks);
        } else if let Some(task) = arguments.get::<ArrayTask>() {
            if name != "copy_points" {
                return self.array_task(task);
            }
            self.lines(&task.input, task.line_count);
            self.lines(&task.output, task.line_count);
            assert!(blocks * u64::from(ozfft_kernels::GENERAL_THREADS) >= task.line_count);
        } else if let Some(StridedTask { common, .. }) = arguments.get() {
            self.tuned(common, true, name);
        } else if let Some(task) = arguments.get::<PassTask>() {
            self.pass(task, name);
        } else if let Some(task) = arguments.get::<TunedTask>() {
            self.tuned(task, name.contains("_strided_"), name);
        } else {
            panic!("nobody asked for {name}");
        }
    }

    /// What the copy engine is recorded: the driver's limits, and the last number of the last box.
    fn map(&self, map: &MappedArray) {
        assert!(map.dimensions.iter().all(|&n| (1..=1 << 32).contains(&n)));
        assert!(map.distances.iter().all(|&d| d % 16 == 0 && d < 1 << 40));
        let reach = map.dimensions[1..].iter().zip(&map.distances);
        let reach: i128 = reach.map(|(n, d)| i128::from(n - 1) * i128::from(*d)).sum();
        let array = self.array(Address::known(map.address));
        let row = 8 * i128::from(map.dimensions[0]);
        array.expect(i128::from(map.address) + reach, row, &self.what);
    }
}

/// Plans on the recorder, writes the launches down, and checks every one.
fn check<T: Real>(problem: &Problem) -> Check {
    let recorder = Arc::new(Recorder::default());
    let machine: Arc<dyn Machine> = Arc::<Recorder>::clone(&recorder);
    let plan: Plan<T> = Planner::new().plan_on(problem, &machine).unwrap();
    let (input, output, workspace) = (
        DevicePointer(INPUT),
        DevicePointer(OUTPUT),
        DevicePointer(WORKSPACE),
    );
    // SAFETY: the recorder does nothing with the addresses.
    unsafe { plan.process_device(input, output, workspace, 0) }.unwrap();
    let (in_bytes, out_bytes) = problem.element_sizes::<T>();
    let mut check = Check {
        arrays: [
            Array(INPUT, (problem.input_len() * in_bytes) as u64),
            Array(OUTPUT, (problem.output_len() * out_bytes) as u64),
            Array(WORKSPACE, plan.device_workspace_len() as u64),
        ],
        what: format!("{problem:?}"),
        read: 0,
        written: 0,
        next: [0, 0],
        tuned: 0,
        long_passes: 0,
    };
    for recorded in recorder.recorded.lock().unwrap().iter() {
        match recorded {
            Recorded::Clear(address, bytes) => {
                check.workspace(Address::known(*address), *bytes as u64, "cleared");
            }
            Recorded::Map(map) => check.map(map),
            Recorded::Launch(launch) => check.launch(launch),
        }
    }
    assert_eq!(check.next, [0, 0], "all lines of all axes");
    check
}

#[test]
fn batches_of_2_to_the_32_points() {
    for n in [256, 512, 1024] {
        let problem = Problem::complex(&[n]).batch((1 << 32) / n);
        let found = check::<f64>(&problem);
        assert_eq!((found.tuned, found.written), (1, (1 << 32) / n as u64));
        let general = check::<f64>(&problem.substrate(GpuUnit::Int8MmaSync));
        assert_eq!((general.tuned, general.read), (0, (1 << 32) / n as u64));
    }
    for n in [1, 2, 3, 60, 1000, 10_007, 1 << 20] {
        // More than 2^32 lines as well.
        let batch = if n == 2 { 1 << 34 } else { (1usize << 33) / n };
        let problem = Problem::complex(&[n]).batch(batch);
        for problem in [problem.clone(), problem.direction(Direction::Inverse)] {
            let found = check::<f64>(&problem);
            assert!(n == 1 || (found.read, found.written) == (batch as u64, batch as u64));
            // In turns, of which each has two passes, or a convolution's four.
            let several = n == 1 << 20 || n == 10_007;
            assert_eq!(found.long_passes >= 2, several, "{n}");
        }
        for problem in [
            Problem::real_to_complex(&[n]),
            Problem::complex_to_real(&[n]),
        ] {
            let problem = problem.batch(batch).accuracy(Accuracy::Single);
            check::<f32>(&problem);
        }
    }
}

#[test]
fn arrays_of_2_to_the_32_points() {
    for (shape, tuned) in [
        (&[2048, 2048, 1024][..], 1),
        (&[1024, 2048, 2048], 1),
        (&[4096, 1024, 1024], 2),
        (&[2048, 1024, 2048], 1),
        (&[1600, 1600, 1700], 0),
        (&[1 << 16, 1 << 16], 0),
        (&[1 << 32], 0),
    ] {
        for problem in [
            Problem::complex(shape),
            Problem::complex(shape).input_layout(Layout::fortran(shape)),
            Problem::real_to_complex(shape),
            Problem::complex_to_real(shape),
        ] {
            let found = check::<f64>(&problem);
            let plain = problem.kind() == Kind::ComplexToComplex
                && problem.resolved_input() == problem.resolved_output();
            assert!(
                !plain || shape.len() == 1 || found.tuned == tuned,
                "{shape:?}"
            );
        }
    }
}

#[test]
fn batches_of_2_to_the_32_transforms_of_several_axes() {
    for (shape, axes, batch) in [
        (&[1024, 1024][..], &[0, 1][..], 1 << 12),
        (&[3, 2], &[0, 1], 1 << 31),
        (&[1024, 1024, 1 << 12], &[0, 1], 1),
        (&[64, 1 << 12, 1024], &[0, 2], 16),
        (&[8, 1 << 12, 8, 1 << 12], &[0, 2], 4),
    ] {
        for problem in [Problem::complex(shape), Problem::real_to_complex(shape)] {
            check::<f64>(&problem.axes(axes).batch(batch));
        }
    }
}

#[test]
fn strides_above_2_to_the_31() {
    let far = (1isize << 31) + 24;
    let of = |shape: &[usize], batch, strides: &[isize], distance| {
        let layout = Layout::strided(strides, distance);
        let problem = Problem::complex(shape).batch(batch);
        problem.input_layout(layout.clone()).output_layout(layout)
    };
    // Contiguous lines far from each other; groups of lines side by side; lines whose elements are far apart.
    assert_eq!(check::<f64>(&of(&[1024], 6, &[1], far)).tuned, 1);
    let grouped = of(&[512, 3], 5, &[5, 1], far).axes(&[0]);
    assert_eq!(check::<f64>(&grouped).tuned, 1);
    // Too far apart for the copy engine.
    assert_eq!(check::<f64>(&of(&[512], 8, &[far], 1)).tuned, 0);
    for n in [3, 60, 67, 2048, 1 << 14] {
        check::<f64>(&of(&[n], 4, &[far], 1));
        check::<f32>(&of(&[n, 3], 2, &[3 * far, far], 1).axes(&[1, 0]));
    }
    // Backwards, and with an offset of more than 2^35 bytes.
    let reversed = Layout::strided(&[-far, 1], 100 * far).with_offset(90 * far as usize);
    let problem = Problem::complex(&[60, 8]).batch(3).input_layout(reversed);
    check::<f64>(&problem);
}

#[test]
fn lines_lie_where_the_layout_has_them() {
    // The last line along the middle axis of 2048 × 1000 × 2048 begins 999 · 2048 elements before the end of the array.
    let shape = [2048usize, 1000, 2048];
    let recorder = Arc::new(Recorder {
        without_template: true,
        ..Recorder::default()
    });
    let machine: Arc<dyn Machine> = Arc::<Recorder>::clone(&recorder);
    let problem = Problem::complex(&shape)
        .axes(&[1])
        .substrate(GpuUnit::Int8MmaSync);
    let plan: Plan<f64> = Planner::new().plan_on(&problem, &machine).unwrap();
    let pointers = [INPUT, OUTPUT, WORKSPACE].map(DevicePointer);
    // SAFETY: the recorder does nothing with the addresses.
    unsafe { plan.process_device(pointers[0], pointers[1], pointers[2], 0) }.unwrap();
    let told = recorder.recorded.lock().unwrap();
    let [Recorded::Launch(launch)] = told.as_slice() else {
        panic!("one launch");
    };
    let Some(Tasks([task, _])) = launch.arguments.get::<Tasks>() else {
        panic!("of the kernel for truncated products");
    };
    assert_eq!(task.line_count, 2048 * 2048);
    assert_eq!((task.input.stride, task.input.count), (2048, 1000));
    // SAFETY: tables are in the emulator's memory, and the plan is alive.
    let dimensions = unsafe {
        let first = task.input.dimensions.value() as *const Dimension;
        std::slice::from_raw_parts(first, task.input.dimension_count as usize)
    };
    let listed: Vec<_> = dimensions.iter().map(|d| (d.length, d.stride)).collect();
    assert_eq!(listed, [(2048, 1000 * 2048), (2048, 1)]);
}
