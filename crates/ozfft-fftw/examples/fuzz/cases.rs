//! Random plans of the guru and the many interface on both libraries: what FFTW plans must be planned, results must agree within the
//! bounds, and nothing but the described elements of the output may be written. Arrays end or begin at a page that nobody may touch.

use super::common::{self, Api, Dim32, Dim64, ESTIMATE, Plan, Sample};
use ozfft_testkit::oracle::inputs::Generator;
use std::ffi::c_int;

/// Memory between two pages that end the program when they are touched.
pub struct Guarded {
    start: *mut u8,
    bytes: usize,
}

const PAGE: usize = 4096;

impl Guarded {
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes.next_multiple_of(PAGE);
        // SAFETY: a fresh mapping of our own, of which the first and last page are locked.
        unsafe {
            let all = libc::mmap(
                std::ptr::null_mut(),
                bytes + 2 * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(all, libc::MAP_FAILED, "no memory");
            let all: *mut u8 = all.cast();
            assert_eq!(libc::mprotect(all.cast(), PAGE, libc::PROT_NONE), 0);
            let end = all.add(PAGE + bytes);
            assert_eq!(libc::mprotect(end.cast(), PAGE, libc::PROT_NONE), 0);
            Guarded {
                start: all.add(PAGE),
                bytes,
            }
        }
    }

    /// `count` numbers at the end of the memory, or at its beginning.
    fn place<T: Sample>(&self, count: usize, at_end: bool) -> *mut T {
        let bytes = size_of::<T>() * count;
        assert!(bytes <= self.bytes, "{count} numbers do not fit");
        let skip = if at_end { self.bytes - bytes } else { 0 };
        // SAFETY: within the memory, which begins at a page and holds whole numbers.
        unsafe { self.start.add(skip).cast() }
    }
}

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Complex,
    Split,
    RealToComplex,
    ComplexToReal,
    SplitRealToComplex,
    SplitComplexToReal,
    RealToReal,
}

const FLAVOURS: [Flavour; 7] = [
    Flavour::Complex,
    Flavour::Split,
    Flavour::RealToComplex,
    Flavour::ComplexToReal,
    Flavour::SplitRealToComplex,
    Flavour::SplitComplexToReal,
    Flavour::RealToReal,
];

/// Whether numbers are complex, and whether their parts lie apart: of input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Real,
    Complex,
    Apart,
}

impl Flavour {
    fn numbers(self) -> (Numbers, Numbers) {
        use Numbers::*;
        match self {
            Flavour::Complex => (Complex, Complex),
            Flavour::Split => (Apart, Apart),
            Flavour::RealToComplex => (Real, Complex),
            Flavour::ComplexToReal => (Complex, Real),
            Flavour::SplitRealToComplex => (Real, Apart),
            Flavour::SplitComplexToReal => (Apart, Real),
            Flavour::RealToReal => (Real, Real),
        }
    }
}

/// One random plan.
#[derive(Debug, Clone)]
pub struct Case {
    flavour: Flavour,
    dims: Vec<Dim64>,
    loops: Vec<Dim64>,
    kinds: Vec<c_int>,
    sign: c_int,
    in_place: bool,
    wide: bool,
    /// The arrays' places: at the end of their memory or at the beginning.
    at_end: [bool; 2],
    seed: u64,
}

/// Doubles of one array, relative to the address that the library is given.
struct Places {
    /// Real part's and imaginary part's double of every element.
    elements: Vec<(isize, Option<isize>)>,
    low: isize,
    high: isize,
}

impl Places {
    fn are_distinct(&self) -> bool {
        let parts = self.elements.iter().flat_map(|&(re, im)| [Some(re), im]);
        let mut doubles: Vec<isize> = parts.flatten().collect();
        doubles.sort_unstable();
        doubles.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// Nested strides in a random order, with random gaps.
fn strides(random: &mut Generator, lengths: &[isize]) -> Vec<isize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    let mut strides = vec![0; lengths.len()];
    let mut step = if random.below(2) == 0 {
        1
    } else {
        1 + random.below(3) as isize
    };
    for axis in order {
        strides[axis] = step;
        step *= lengths[axis];
        if random.below(3) == 0 {
            step += random.below(4) as isize;
        }
    }
    strides
}

impl Case {
    /// A case whose output has every number in a place of its own; in place, the input too.
    pub fn random(random: &mut Generator) -> Case {
        loop {
            let case = Case::any(random);
            let (from, to) = case.flavour.numbers();
            let input = case.places(from, to, |dim| dim.is);
            let output = case.places(to, from, |dim| dim.os);
            if output.are_distinct() && (!case.in_place || input.are_distinct()) {
                return case;
            }
        }
    }

    fn any(random: &mut Generator) -> Case {
        let flavour = FLAVOURS[random.below(FLAVOURS.len())];
        let rank = random.below(4);
        let loop_rank = random.below(3);
        let mut budget = 600;
        let mut length = |random: &mut Generator, least: usize| {
            let most = budget.clamp(1, 40);
            let n = (least + random.below(most)).min(if random.below(3) == 0 { 40 } else { 9 });
            budget /= n.max(1);
            n as isize
        };
        let lengths: Vec<isize> = (0..rank).map(|_| length(random, 1)).collect();
        let loop_lengths: Vec<isize> = (0..loop_rank).map(|_| length(random, 1)).collect();
        let kinds: Vec<c_int> = lengths
            .iter()
            .map(|&n| {
                let kind = random.below(11) as c_int;
                if n == 1 && kind == 3 { 4 } else { kind }
            })
            .collect();
        let half = |halved: bool| {
            let mut all = lengths.clone();
            if halved && let Some(last) = all.last_mut() {
                *last = *last / 2 + 1;
            }
            all.extend(&loop_lengths);
            all
        };
        let (from, to) = flavour.numbers();
        let is_half =
            |side: Numbers, other: Numbers| side != Numbers::Real && other == Numbers::Real;
        let mut output = strides(random, &half(is_half(to, from)));
        let mut input = strides(random, &half(is_half(from, to)));
        for axis in 0..input.len() {
            match random.below(16) {
                0 => (input[axis], output[axis]) = (-input[axis], -output[axis]),
                1 => input[axis] = -input[axis],
                _ => {}
            }
        }
        let in_place = random.below(3) == 0;
        if in_place {
            match (from, to) {
                (Numbers::Complex, Numbers::Complex)
                | (Numbers::Apart, Numbers::Apart)
                | (Numbers::Real, Numbers::Real) => {
                    input = output.clone();
                    // Equal lengths may change places: a transposition on the way.
                    if rank + loop_rank > 1 && random.below(4) == 0 {
                        let (a, b) = (random.below(input.len()), random.below(input.len()));
                        let all = half(false);
                        if all[a] == all[b] {
                            input.swap(a, b);
                        }
                    }
                }
                // Reals lie in the place of their half-spectrum.
                _ => {
                    let (half, real) = if from == Numbers::Real {
                        (&output, &mut input)
                    } else {
                        (&input, &mut output)
                    };
                    let interleaved = from != Numbers::Apart && to != Numbers::Apart;
                    let scale = if interleaved { 2 } else { 1 };
                    for (axis, stride) in real.iter_mut().enumerate() {
                        *stride = if axis + 1 == rank {
                            half[axis]
                        } else {
                            scale * half[axis]
                        };
                    }
                }
            }
        } else if loop_rank > 0 && to != Numbers::Real && random.below(8) == 0 {
            // The same input for all of a loop; on the way to real numbers FFTW would destroy it the first time.
            input[rank] = 0;
        }
        let dim = |axis: usize, n: isize| Dim64 {
            n,
            is: input[axis],
            os: output[axis],
        };
        Case {
            flavour,
            dims: lengths
                .iter()
                .enumerate()
                .map(|(axis, &n)| dim(axis, n))
                .collect(),
            loops: loop_lengths
                .iter()
                .enumerate()
                .map(|(axis, &n)| dim(rank + axis, n))
                .collect(),
            kinds,
            sign: if random.below(2) == 0 { -1 } else { 1 },
            in_place,
            wide: random.below(2) == 0,
            at_end: [random.below(2) == 0, random.below(2) == 0],
            seed: random.next_u64(),
        }
    }

    /// Doubles of an array, in the order of the dimensions.
    fn places(&self, numbers: Numbers, other: Numbers, stride: impl Fn(&Dim64) -> isize) -> Places {
        let unit = if numbers == Numbers::Complex { 2 } else { 1 };
        let mut offsets = vec![0isize];
        let last = self.dims.len();
        for (axis, dim) in self.dims.iter().chain(&self.loops).enumerate() {
            let halved = axis + 1 == last && numbers != Numbers::Real && other == Numbers::Real;
            let n = if halved { dim.n / 2 + 1 } else { dim.n };
            let step = stride(dim) * unit;
            offsets = offsets
                .iter()
                .flat_map(|&o| (0..n).map(move |i| o + i * step))
                .collect();
        }
        let low = *offsets.iter().min().unwrap();
        // Imaginary parts that lie apart follow after everything that either array has.
        let reach = |dim: &Dim64| (dim.n - 1) * dim.is.abs().max(dim.os.abs());
        let span: isize = self.dims.iter().chain(&self.loops).map(reach).sum();
        let apart = 2 * span + 3;
        let imaginary = |o: isize| match numbers {
            Numbers::Real => None,
            Numbers::Complex => Some(o + 1),
            Numbers::Apart => Some(o + apart),
        };
        let elements: Vec<_> = offsets.iter().map(|&o| (o, imaginary(o))).collect();
        let high = elements
            .iter()
            .map(|&(re, im)| im.unwrap_or(re))
            .max()
            .unwrap();
        Places {
            elements,
            low,
            high,
        }
    }

    /// FFTW 3.3.10 calls itself without end, until the stack is full, when it plans some transforms of several dimensions of which one
    /// runs backward.
    fn overflows_fftw(&self) -> bool {
        let dims = self.dims.iter().chain(&self.loops);
        let long = dims.filter(|dim| dim.n > 1);
        long.clone().count() > 1 && long.clone().any(|dim| dim.is < 0 || dim.os < 0)
    }

    /// Input and output are the same memory, and elements change places on the way.
    fn transposes_in_place(&self) -> bool {
        let mut dims = self.dims.iter().chain(&self.loops);
        self.in_place && dims.any(|dim| dim.n > 1 && dim.is != dim.os)
    }

    /// The same transform of arrays without gaps, out of place.
    fn contiguous(&self) -> Case {
        let mut case = self.clone();
        case.in_place = false;
        let (from, to) = self.flavour.numbers();
        let last = self.dims.len().wrapping_sub(1);
        let (mut input, mut output) = (1, 1);
        let all = case.dims.iter_mut().chain(&mut case.loops);
        for (axis, dim) in all.enumerate().collect::<Vec<_>>().into_iter().rev() {
            (dim.is, dim.os) = (input, output);
            let half = if axis == last { dim.n / 2 + 1 } else { dim.n };
            input *= if from != Numbers::Real && to == Numbers::Real {
                half
            } else {
                dim.n
            };
            output *= if to != Numbers::Real && from == Numbers::Real {
                half
            } else {
                dim.n
            };
        }
        case
    }

    /// # Safety
    /// The arrays are those of the case.
    unsafe fn plan<T: Sample>(
        &self,
        api: &Api<T>,
        input: [*mut T; 2],
        output: [*mut T; 2],
    ) -> Plan {
        let (rank, loop_rank) = (self.dims.len() as c_int, self.loops.len() as c_int);
        let narrow: Vec<Dim32> = self.dims.iter().map(Dim32::from).collect();
        let narrow_loops: Vec<Dim32> = self.loops.iter().map(Dim32::from).collect();
        let (d, l) = (self.dims.as_ptr(), self.loops.as_ptr());
        let (n, m) = (narrow.as_ptr(), narrow_loops.as_ptr());
        let ([ri, ii], [ro, io]) = (input, output);
        let k = self.kinds.as_ptr();
        // SAFETY: the caller's promise.
        unsafe {
            match (self.flavour, self.wide) {
                (Flavour::Complex, true) => {
                    (api.plan_guru64_dft)(rank, d, loop_rank, l, ri, ro, self.sign, ESTIMATE)
                }
                (Flavour::Complex, false) => {
                    (api.plan_guru_dft)(rank, n, loop_rank, m, ri, ro, self.sign, ESTIMATE)
                }
                (Flavour::Split, true) => {
                    (api.plan_guru64_split_dft)(rank, d, loop_rank, l, ri, ii, ro, io, ESTIMATE)
                }
                (Flavour::Split, false) => {
                    (api.plan_guru_split_dft)(rank, n, loop_rank, m, ri, ii, ro, io, ESTIMATE)
                }
                (Flavour::RealToComplex, true) => {
                    (api.plan_guru64_dft_r2c)(rank, d, loop_rank, l, ri, ro, ESTIMATE)
                }
                (Flavour::RealToComplex, false) => {
                    (api.plan_guru_dft_r2c)(rank, n, loop_rank, m, ri, ro, ESTIMATE)
                }
                (Flavour::ComplexToReal, true) => {
                    (api.plan_guru64_dft_c2r)(rank, d, loop_rank, l, ri, ro, ESTIMATE)
                }
                (Flavour::ComplexToReal, false) => {
                    (api.plan_guru_dft_c2r)(rank, n, loop_rank, m, ri, ro, ESTIMATE)
                }
                (Flavour::SplitRealToComplex, true) => {
                    (api.plan_guru64_split_dft_r2c)(rank, d, loop_rank, l, ri, ro, io, ESTIMATE)
                }
                (Flavour::SplitRealToComplex, false) => {
                    (api.plan_guru_split_dft_r2c)(rank, n, loop_rank, m, ri, ro, io, ESTIMATE)
                }
                (Flavour::SplitComplexToReal, true) => {
                    (api.plan_guru64_split_dft_c2r)(rank, d, loop_rank, l, ri, ii, ro, ESTIMATE)
                }
                (Flavour::SplitComplexToReal, false) => {
                    (api.plan_guru_split_dft_c2r)(rank, n, loop_rank, m, ri, ii, ro, ESTIMATE)
                }
                (Flavour::RealToReal, true) => {
                    (api.plan_guru64_r2r)(rank, d, loop_rank, l, ri, ro, k, ESTIMATE)
                }
                (Flavour::RealToReal, false) => {
                    (api.plan_guru_r2r)(rank, n, loop_rank, m, ri, ro, k, ESTIMATE)
                }
            }
        }
    }

    /// Relative L2 error that FFTW's floating point can have: Higham's bound for a tree of butterflies, 8 roundings a level, and of
    /// direct sums for large primes, as many roundings as terms with a loss of the square root of their number.
    fn bound_of_fftw<T: Sample>(&self) -> f64 {
        let axis = |dim: &Dim64, kind: Option<&c_int>| {
            // Cosine and sine transforms are at most transforms of eight times the length.
            let n = dim.n as f64 * if kind.is_some() { 8.0 } else { 1.0 };
            let large = largest_prime(dim.n, kind) as f64;
            8.0 * n.log2() + 2.0 * large * large.sqrt()
        };
        let real = self.flavour == Flavour::RealToReal;
        let kinds = self.kinds.iter().map(|kind| real.then_some(kind));
        let roundings: f64 = self
            .dims
            .iter()
            .zip(kinds)
            .map(|(dim, kind)| axis(dim, kind))
            .sum();
        // Kinds with a condition number pass on twice what they are given.
        let passed_on = if real {
            2f64.powi(self.dims.len() as i32)
        } else {
            1.0
        };
        passed_on * roundings * T::ROUNDING
    }
}

/// The largest prime factor of the lengths that FFTW may use for a line: its own, and its neighbours' for types I.
fn largest_prime(n: isize, kind: Option<&c_int>) -> isize {
    let prime = |mut n: isize| {
        let mut largest = 1;
        let mut p = 2;
        while n > 1 {
            while n % p == 0 {
                largest = p;
                n /= p;
            }
            p += 1;
        }
        largest
    };
    match kind {
        Some(3) => prime(n - 1),
        Some(7) => prime(n + 1),
        _ => prime(n),
    }
}

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Both planned it, and everything held.
    Agreed,
    /// FFTW has no plan for it; ours was compared with FFTW on contiguous arrays.
    OnlyOurs,
    /// FFTW was not asked, because it would end the program; compared as above.
    NotAsked,
    /// FFTW's result in place is not its own result on contiguous arrays, with which ours agrees.
    FftwContradicts,
    /// Neither has a plan.
    Neither,
}

/// Two guarded arrays for each library.
pub struct Memory {
    arrays: [Guarded; 4],
}

impl Memory {
    pub fn new() -> Self {
        Memory {
            arrays: std::array::from_fn(|_| Guarded::new(1 << 21)),
        }
    }
}

/// Tries a case; an error tells what went wrong.
pub fn run<T: Sample>(
    case: &Case,
    ours: &Api<T>,
    real: &Api<T>,
    memory: &Memory,
) -> Result<Outcome, String> {
    let (from, to) = case.flavour.numbers();
    let input = case.places(from, to, |dim| dim.is);
    let output = case.places(to, from, |dim| dim.os);
    let mut random = Generator::new(case.seed);
    let mut number = || T::from_f64(random.uniform() - 0.5);
    let values: Vec<(T, T)> = input
        .elements
        .iter()
        .map(|_| (number(), number()))
        .collect();
    let (ours_at, real_at) = (
        [0, 1].map(|i| &memory.arrays[i]),
        [2, 3].map(|i| &memory.arrays[i]),
    );
    let tested: Prepared<T> = prepare(case, &input, &output, &values, ours_at, case.in_place);
    // With strides of 0 an element has the value that was written last.
    let values = tested.input_values(&input);
    let expected: Prepared<T> = prepare(case, &input, &output, &values, real_at, case.in_place);
    // SAFETY: arrays of the case, prepared.
    let our_plan = unsafe { case.plan(ours, tested.input, tested.output) };
    let mut real_plan = std::ptr::null_mut();
    if !case.overflows_fftw() {
        // SAFETY: as above.
        real_plan = unsafe { case.plan(real, expected.input, expected.output) };
    }
    let outcome = match (our_plan.is_null(), real_plan.is_null()) {
        (true, false) => return Err("FFTW has a plan and ours has not".into()),
        (true, true) => return Ok(Outcome::Neither),
        (false, false) => Outcome::Agreed,
        (false, true) if case.overflows_fftw() => Outcome::NotAsked,
        (false, true) => Outcome::OnlyOurs,
    };
    let description = ours.describe(our_plan);
    // SAFETY: plans and arrays belong together.
    unsafe {
        (ours.execute)(our_plan);
        (ours.destroy_plan)(our_plan);
    }
    tested.check_canaries(&output)?;
    let result = tested.output_values(&output);
    let mut bound = common::bound_of(&description);
    if case.flavour == Flavour::RealToReal {
        // real_lines.rs: twice the bound for an axis, and a further axis doubles what it is given.
        bound *= 2f64.powi(1 + case.dims.len() as i32);
    }
    let check = |wanted: Vec<f64>| {
        let square = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
        let norm = square(&mut wanted.iter().copied()).sqrt();
        let error = square(&mut result.iter().zip(&wanted).map(|(a, b)| a - b)).sqrt();
        let allowed = (bound + case.bound_of_fftw::<T>()) * norm;
        if error <= allowed {
            Ok(())
        } else {
            Err(format!(
                "error {error:e}, allowed are {allowed:e}\n{description}"
            ))
        }
    };
    if !real_plan.is_null() {
        // SAFETY: as above.
        unsafe {
            (real.execute)(real_plan);
            (real.destroy_plan)(real_plan);
        }
        match check(expected.output_values(&output)) {
            Ok(()) => return Ok(outcome),
            // Only there has FFTW been seen to contradict itself.
            Err(_) if case.transposes_in_place() => {}
            Err(reason) => return Err(reason),
        }
    }
    let contiguous = case.contiguous();
    let from_places = contiguous.places(from, to, |dim| dim.is);
    let to_places = contiguous.places(to, from, |dim| dim.os);
    let expected: Prepared<T> = prepare(
        &contiguous,
        &from_places,
        &to_places,
        &values,
        real_at,
        false,
    );
    // SAFETY: as above.
    unsafe {
        let plan = contiguous.plan(real, expected.input, expected.output);
        if plan.is_null() {
            return Err("FFTW has no plan for contiguous arrays either".into());
        }
        (real.execute)(plan);
        (real.destroy_plan)(plan);
    }
    check(expected.output_values(&to_places))?;
    match outcome {
        Outcome::Agreed => Ok(Outcome::FftwContradicts),
        other => Ok(other),
    }
}

/// Arrays with values and canaries.
struct Prepared<T> {
    input: [*mut T; 2],
    output: [*mut T; 2],
    /// Start and length of each piece of memory, and what it held.
    pieces: Vec<(*mut T, Vec<u64>)>,
}

fn prepare<T: Sample>(
    case: &Case,
    input: &Places,
    output: &Places,
    values: &[(T, T)],
    memory: [&Guarded; 2],
    in_place: bool,
) -> Prepared<T> {
    let spread = |places: &[&Places]| {
        let low = places.iter().map(|p| p.low).min().unwrap();
        let high = places.iter().map(|p| p.high).max().unwrap();
        (low, (high - low + 1) as usize)
    };
    let ranges = if in_place {
        vec![spread(&[input, output])]
    } else {
        vec![spread(&[input]), spread(&[output])]
    };
    let mut starts = Vec::new();
    for (number, &(low, count)) in ranges.iter().enumerate() {
        let start: *mut T = memory[number].place(count, case.at_end[number]);
        for i in 0..count {
            // SAFETY: within the memory.
            unsafe { start.add(i).write(T::canary(i)) };
        }
        starts.push((start, low, count));
    }
    let first = |number: usize| starts[number].0.wrapping_offset(-starts[number].1);
    let (from, to) = (first(0), first(starts.len() - 1));
    for (&(re, im), &value) in input.elements.iter().zip(values) {
        // SAFETY: an element of the array.
        unsafe {
            from.offset(re).write(value.0);
            if let Some(im) = im {
                from.offset(im).write(value.1);
            }
        }
    }
    let ends = |start: *mut T, places: &Places| {
        let (re, im) = places.elements[0];
        [
            start.wrapping_offset(re),
            start.wrapping_offset(im.unwrap_or(re)),
        ]
    };
    let pieces = starts.iter().map(|&(start, _, count)| {
        // SAFETY: written above.
        (
            start,
            (0..count)
                .map(|i| unsafe { start.add(i).read() }.bits())
                .collect(),
        )
    });
    Prepared {
        input: ends(from, input),
        output: ends(to, output),
        pieces: pieces.collect(),
    }
}

impl<T: Sample> Prepared<T> {
    /// Everything but the output's elements must be as it was, the input too.
    fn check_canaries(&self, output: &Places) -> Result<(), String> {
        let mut described: Vec<*mut T> = Vec::new();
        for &(re, im) in &output.elements {
            described.push(self.output[0].wrapping_offset(re));
            if im.is_some() {
                described.push(self.output[1].wrapping_offset(re));
            }
        }
        described.sort_unstable();
        for (start, before) in &self.pieces {
            for (i, &bits) in before.iter().enumerate() {
                let place = start.wrapping_add(i);
                // SAFETY: within the memory.
                let now = unsafe { place.read() }.bits();
                if now != bits && described.binary_search(&place).is_err() {
                    return Err(format!("number {i} was written and is not described"));
                }
            }
        }
        Ok(())
    }

    fn input_values(&self, input: &Places) -> Vec<(T, T)> {
        let value = |&(re, im): &(isize, Option<isize>)| {
            // SAFETY: an element of the array.
            unsafe {
                let re_value = self.input[0].offset(re).read();
                (
                    re_value,
                    im.map_or(T::default(), |_| self.input[1].offset(re).read()),
                )
            }
        };
        input.elements.iter().map(value).collect()
    }

    fn output_values(&self, output: &Places) -> Vec<f64> {
        let mut values = Vec::new();
        for &(re, im) in &output.elements {
            // SAFETY: an element of the array.
            unsafe {
                values.push(self.output[0].offset(re).read().to_f64());
                if im.is_some() {
                    values.push(self.output[1].offset(re).read().to_f64());
                }
            }
        }
        values
    }
}

/// Tries `cases` plans; returns how many had each outcome. Panics at the first that fails, with all that is needed to see it again.
pub fn fuzz<T: Sample>(cases: usize, seed: u64, ours: &Api<T>, real: &Api<T>) -> [usize; 5] {
    println!("seed {seed}");
    let memory = Memory::new();
    let mut random = Generator::new(seed);
    let mut counts = [0; 5];
    for number in 0..cases {
        let case = Case::random(&mut random);
        match run(&case, ours, real, &memory) {
            Ok(outcome) => counts[outcome as usize] += 1,
            Err(reason) => panic!("case {number} of seed {seed}: {reason}\n{case:?}"),
        }
    }
    counts
}
