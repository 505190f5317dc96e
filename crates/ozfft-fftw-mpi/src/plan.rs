//! Plans: a distributed transform between FFTW's arrays.

use crate::arrangement::Arrangement;
use crate::blocks::{Blocks, expect_lengths};
use distributed::{
    DistributedError, DistributedPlan, DistributedProblem, IndexBox, communicator_of_caller,
    refuse_to_plan,
};
use mpi::ffi::MPI_Comm;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{Accuracy, Direction, FftError, Kind, Norm, Real};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// The caller's rank, and how many there are.
pub(crate) fn ranks_of(comm: MPI_Comm) -> Result<(usize, usize), DistributedError> {
    // SAFETY: FFTW's manual asks the caller for one, who keeps it.
    let communicator = unsafe { communicator_of_caller(comm) }?;
    Ok((communicator.rank() as usize, communicator.size() as usize))
}

/// Whether reasons are printed: `OZFFT_VERBOSE`, as in libozfft_fftw.
pub(crate) fn is_verbose() -> bool {
    std::env::var_os("OZFFT_VERBOSE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Numbers of FFTW's two precisions.
pub(crate) trait Number: Real {
    /// 0.
    const ZERO: Self;
    /// That of the arrays, unless `OZFFT_ACCURACY` says otherwise.
    const ACCURACY: Accuracy;
    /// The prefix of FFTW's names.
    const PREFIX: &'static str;
}

impl Number for f64 {
    const ZERO: f64 = 0.0;
    const ACCURACY: Accuracy = Accuracy::Double;
    const PREFIX: &'static str = "fftw_";
}

impl Number for f32 {
    const ZERO: f32 = 0.0;
    const ACCURACY: Accuracy = Accuracy::Single;
    const PREFIX: &'static str = "fftwf_";
}

/// What a call of the planner asks for.
pub(crate) struct Request {
    pub(crate) kind: Kind,
    pub(crate) n: Vec<isize>,
    pub(crate) howmany: isize,
    /// Of the dimension that is divided in the input, and in the output.
    pub(crate) blocks: (isize, isize),
    pub(crate) sign: i32,
    pub(crate) flags: u32,
}

const TRANSPOSED_IN: u32 = 1 << 29;
const TRANSPOSED_OUT: u32 = 1 << 30;

/// A plan for numbers of one precision.
pub(crate) struct Typed<T: Number> {
    plan: DistributedPlan<T>,
    /// In numbers of the kind, complex or real.
    input: Arrangement,
    output: Arrangement,
    /// The arrays that it was made for.
    pub(crate) arrays: (*mut c_void, *mut c_void),
    workspace: Vec<u64>,
    /// Parts in C order, where FFTW's arrays are not.
    reals: Vec<T>,
    complexes: [Vec<Complex<T>>; 2],
}

fn unsupported<N>(what: &str) -> Result<N, FftError> {
    Err(FftError::Unsupported(what.into()))
}

/// A variable of the environment, if it says something that can be read.
fn accuracy<T: Number>() -> Result<Accuracy, FftError> {
    let text = std::env::var("OZFFT_ACCURACY").unwrap_or_default();
    let read = match text.as_str() {
        "" => Some(T::ACCURACY),
        "double" => Some(Accuracy::Double),
        "single" => Some(Accuracy::Single),
        _ => match text.strip_prefix("bits:") {
            Some(bits) => bits.parse().ok().map(Accuracy::Bits),
            None => text.parse().ok().map(Accuracy::Target),
        },
    };
    read.map_or_else(
        || {
            unsupported(
                "OZFFT_ACCURACY is double, single, a relative error such as 1e-12, or bits:40",
            )
        },
        Ok,
    )
}

fn threads() -> Result<usize, FftError> {
    match std::env::var("OZFFT_THREADS") {
        Ok(text) if !text.is_empty() => match text.parse() {
            Ok(threads) if threads > 0 => Ok(threads),
            _ => unsupported("OZFFT_THREADS is a number of at least 1"),
        },
        _ => Ok(1),
    }
}

/// A problem, and where this rank's numbers lie.
struct Understood {
    problem: DistributedProblem,
    input: Arrangement,
    output: Arrangement,
}

impl Request {
    fn understood<T: Number>(&self, here: (usize, usize)) -> Result<Understood, FftError> {
        let rnk = self.n.len();
        expect_lengths(&self.n, self.howmany).map_err(FftError::Unsupported)?;
        let mut shape: Vec<usize> = self.n.iter().map(|&n| n as usize).collect();
        let last = rnk - 1;
        let mut half = shape.clone();
        half[last] = half[last] / 2 + 1;
        // Several arrays are interleaved: one more dimension, along which nothing is transformed.
        if self.howmany > 1 {
            shape.push(self.howmany as usize);
            half.push(self.howmany as usize);
        }
        let axes: Vec<usize> = (0..rnk).collect();
        let problem = match self.kind {
            Kind::ComplexToComplex => DistributedProblem::complex(&shape),
            Kind::RealToComplex => DistributedProblem::real_to_complex(&shape),
            Kind::ComplexToReal => DistributedProblem::complex_to_real(&shape),
        };
        let problem = match (self.kind, self.sign) {
            (Kind::ComplexToComplex, -1) => problem.direction(Direction::Forward),
            (Kind::ComplexToComplex, 1) => problem.direction(Direction::Inverse),
            (Kind::ComplexToComplex, _) => return unsupported("the sign is -1 or 1"),
            _ if rnk == 1 => {
                return unsupported("real transforms have two dimensions or more, as in FFTW");
            }
            _ => problem,
        };
        let real_row = shape[last];
        let side = |real: bool, whole: &[usize], block: isize, transposed: u32| {
            let transposed = self.flags & transposed != 0 && rnk > 1;
            if transposed && real && rnk == 2 {
                return unsupported("a transposed array of two dimensions is complex");
            }
            let dimension = usize::from(transposed);
            let asked = block.max(0) as usize;
            let Some(blocks) = Blocks::new(whole[dimension], asked, here.1) else {
                return unsupported(&format!(
                    "blocks of {asked} leave some of {} indices to no rank; 0 is the default",
                    whole[dimension]
                ));
            };
            let (start, count) = blocks.of(here.0);
            let (mut low, mut high) = (vec![0; whole.len()], whole.to_vec());
            low[dimension] = start;
            high[dimension] = start + count;
            let part = IndexBox::new(&low, &high);
            let row = real.then_some((last, 2 * (real_row / 2 + 1)));
            let arrangement = Arrangement::new(&part.shape(), row, transposed);
            Ok((part, arrangement))
        };
        let real = |of: Kind| self.kind == of;
        let (real_in, real_out) = (real(Kind::RealToComplex), real(Kind::ComplexToReal));
        let whole_in = if real_out { &half } else { &shape };
        let whole_out = if real_in { &half } else { &shape };
        let (input_box, input) = side(real_in, whole_in, self.blocks.0, TRANSPOSED_IN)?;
        let (output_box, output) = side(real_out, whole_out, self.blocks.1, TRANSPOSED_OUT)?;
        Ok(Understood {
            problem: problem
                .axes(&axes)
                .norm(Norm::Unscaled)
                .accuracy(accuracy::<T>()?)
                .threads(threads()?)
                .input_box(input_box)
                .output_box(output_box),
            input,
            output,
        })
    }

    /// Plans on the ranks of a communicator.
    pub(crate) fn plan<T: Number>(
        &self,
        comm: MPI_Comm,
        arrays: (*mut c_void, *mut c_void),
    ) -> Result<Typed<T>, DistributedError> {
        // SAFETY: FFTW's manual asks the caller for one, who keeps it.
        let communicator = unsafe { communicator_of_caller(comm) }?;
        let here = (communicator.rank() as usize, communicator.size() as usize);
        let understood = match self.understood::<T>(here) {
            Ok(understood) => understood,
            Err(error) => return Err(refuse_to_plan(&*communicator, error)),
        };
        let plan = DistributedPlan::new(&understood.problem, &*communicator)?;
        Ok(Typed {
            workspace: vec![0; plan.workspace_len()],
            plan,
            input: understood.input,
            output: understood.output,
            arrays,
            reals: Vec::new(),
            complexes: [Vec::new(), Vec::new()],
        })
    }
}

/// Copies a part from FFTW's array to C order.
///
/// # Safety
/// The array has the arrangement's elements.
unsafe fn read<N: Copy>(arrangement: &Arrangement, array: *const N, zero: N, part: &mut Vec<N>) {
    part.resize(arrangement.len(), zero);
    arrangement.for_each_run(|plain, place, run| {
        // SAFETY: the caller's promise.
        let from = unsafe { std::slice::from_raw_parts(array.add(place), run) };
        part[plain..plain + run].copy_from_slice(from);
    });
}

/// Copies a part from C order to FFTW's array.
///
/// # Safety
/// As above, and nobody else uses the array.
unsafe fn write<N: Copy>(arrangement: &Arrangement, part: &[N], array: *mut N) {
    arrangement.for_each_run(|plain, place, run| {
        // SAFETY: the caller's promise.
        let to = unsafe { std::slice::from_raw_parts_mut(array.add(place), run) };
        to.copy_from_slice(&part[plain..plain + run]);
    });
}

/// # Safety
/// So many numbers lie there; without any, the pointer does not matter.
unsafe fn slice<'a, N>(start: *const c_void, len: usize) -> &'a [N] {
    match len {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(start.cast(), len) },
    }
}

/// # Safety
/// As above, and nobody else uses them.
unsafe fn slice_mut<'a, N>(start: *mut c_void, len: usize) -> &'a mut [N] {
    match len {
        0 => &mut [],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts_mut(start.cast(), len) },
    }
}

impl<T: Number> Typed<T> {
    pub(crate) fn kind(&self) -> Kind {
        self.plan.whole().problem().kind()
    }

    pub(crate) fn describe(&self) -> String {
        self.plan.to_string()
    }

    /// The customary 5 n log2 n of all points, half of it for reals: this library has no floating-point operations to count.
    pub(crate) fn nominal_operations(&self) -> f64 {
        let shape = self.plan.whole().problem().shape();
        let points: f64 = shape.iter().map(|&n| n as f64).product();
        let factor = match self.kind() {
            Kind::ComplexToComplex => 5.0,
            _ => 2.5,
        };
        factor * points * points.log2().max(1.0)
    }

    /// Transforms these arrays.
    ///
    /// # Safety
    /// They have this rank's elements, where the arrangements put them, and nobody else uses them.
    pub(crate) unsafe fn execute(
        &mut self,
        (input, output): (*mut c_void, *mut c_void),
    ) -> Result<(), DistributedError> {
        let missing = |array: *mut c_void, part: &Arrangement| array.is_null() && part.len() > 0;
        if missing(input, &self.input) || missing(output, &self.output) {
            let error = FftError::Unsupported("an array is null; give this rank's part".into());
            return Err(self.plan.refuse(error));
        }
        for array in [input, output] {
            if !array.addr().is_multiple_of(align_of::<T>()) {
                return Err(self.plan.refuse(FftError::Unsupported(format!(
                    "an array begins at {array:?}, and numbers of {} bytes are at multiples of it; take memory of fftw_malloc",
                    align_of::<T>()
                ))));
            }
        }
        let in_place = std::ptr::eq(input, output);
        let zero = Complex::new(T::ZERO, T::ZERO);
        let Typed {
            plan,
            input: from,
            output: to,
            workspace,
            reals,
            complexes: [first, second],
            ..
        } = self;
        // SAFETY: the caller's promise, for all of these.
        unsafe {
            match plan.whole().problem().kind() {
                Kind::ComplexToComplex => {
                    let plain = from.is_plain() && to.is_plain();
                    if plain && in_place && from.len() == to.len() {
                        return plan.process_with_workspace(slice_mut(output, to.len()), workspace);
                    }
                    let source: &[Complex<T>] = match from.is_plain() {
                        true => slice(input, from.len()),
                        false => {
                            read(from, input.cast(), zero, first);
                            first
                        }
                    };
                    // What is read in place may not be written.
                    if to.is_plain() && !(in_place && from.is_plain()) {
                        let target = slice_mut(output, to.len());
                        return plan.process_outofplace_with_workspace(source, target, workspace);
                    }
                    second.resize(to.len(), zero);
                    plan.process_outofplace_with_workspace(source, second, workspace)?;
                    write(to, second, output.cast());
                }
                Kind::RealToComplex => {
                    read(from, input.cast(), T::ZERO, reals);
                    if to.is_plain() {
                        let target = slice_mut(output, to.len());
                        return plan
                            .process_real_to_complex_with_workspace(reals, target, workspace);
                    }
                    second.resize(to.len(), zero);
                    plan.process_real_to_complex_with_workspace(reals, second, workspace)?;
                    write(to, second, output.cast());
                }
                Kind::ComplexToReal => {
                    let source: &[Complex<T>] = match from.is_plain() {
                        true => slice(input, from.len()),
                        false => {
                            read(from, input.cast(), zero, first);
                            first
                        }
                    };
                    reals.resize(to.len(), T::ZERO);
                    plan.process_complex_to_real_with_workspace(source, reals, workspace)?;
                    write(to, reals, output.cast());
                }
            }
        }
        Ok(())
    }
}

/// A plan of either precision.
pub(crate) enum AnyPlan {
    Double(Typed<f64>),
    Single(Typed<f32>),
}

/// The plans that C holds, by the addresses of entries that are never freed: nothing is read at other addresses, and no plan of another library has
/// the address of one that was destroyed.
#[derive(Default)]
struct Plans {
    entries: BTreeMap<usize, &'static AtomicPtr<AnyPlan>>,
    /// Entries without a plan, the oldest first.
    destroyed: VecDeque<&'static AtomicPtr<AnyPlan>>,
}

/// So many plans that were destroyed are remembered as such; then the oldest entry is used again.
const REMEMBERED: usize = 4096;

static PLANS: Mutex<Plans> = Mutex::new(Plans {
    entries: BTreeMap::new(),
    destroyed: VecDeque::new(),
});

fn known() -> std::sync::MutexGuard<'static, Plans> {
    PLANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an address stands for.
pub(crate) enum Found<T> {
    Plan(T),
    Destroyed,
    /// Somebody else's.
    Foreign,
}

/// Enters a plan, and returns the address that stands for it.
pub(crate) fn enter(plan: AnyPlan) -> *mut c_void {
    let mut plans = known();
    let used_again = match plans.destroyed.len() >= REMEMBERED {
        true => plans.destroyed.pop_front(),
        false => None,
    };
    let entry = used_again.unwrap_or_else(|| Box::leak(Box::default()));
    entry.store(Box::into_raw(Box::new(plan)), Ordering::Relaxed);
    let address = std::ptr::from_ref(entry).cast_mut();
    plans.entries.insert(address.addr(), entry);
    address.cast()
}

fn plan_at(address: *mut c_void, take_out: bool) -> Found<*mut AnyPlan> {
    let mut plans = known();
    let Some(&entry) = plans.entries.get(&address.addr()) else {
        return Found::Foreign;
    };
    let plan = entry.load(Ordering::Relaxed);
    if plan.is_null() {
        return Found::Destroyed;
    }
    if take_out {
        entry.store(std::ptr::null_mut(), Ordering::Relaxed);
        plans.destroyed.push_back(entry);
    }
    Found::Plan(plan)
}

/// What an address stands for.
///
/// # Safety
/// The plan is not destroyed or used by others meanwhile: FFTW's manual has one execution of an MPI plan at a time.
pub(crate) unsafe fn find<'a>(address: *mut c_void) -> Found<&'a mut AnyPlan> {
    match plan_at(address, false) {
        // SAFETY: entered above, and not taken out by the caller's promise.
        Found::Plan(plan) => Found::Plan(unsafe { &mut *plan }),
        Found::Destroyed => Found::Destroyed,
        Found::Foreign => Found::Foreign,
    }
}

/// Takes out the plan at an address.
///
/// # Safety
/// It is not in use.
pub(crate) unsafe fn leave(address: *mut c_void) -> Found<Box<AnyPlan>> {
    match plan_at(address, true) {
        // SAFETY: entered above as a box, and taken out once.
        Found::Plan(plan) => Found::Plan(unsafe { Box::from_raw(plan) }),
        Found::Destroyed => Found::Destroyed,
        Found::Foreign => Found::Foreign,
    }
}
