//! Plans as C holds them.

use crate::problem::{CProblem, rejected};
use distributed::{
    DistributedError, DistributedPlan, IndexBox, communicator_of_caller, refuse_to_plan,
};
use mpi::ffi::MPI_Comm;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{DevicePointer, FftError, Kind, Planner, Real};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::LazyLock;

const OK: c_int = 0;
const ARGUMENT: c_int = 1;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// A text for C: what follows a zero would be lost, so there is none.
fn text(message: &str) -> CString {
    CString::new(message.replace('\0', " ")).unwrap_or_default()
}

fn fail(code: c_int, message: &str) -> c_int {
    LAST_ERROR.with(|last| *last.borrow_mut() = text(message));
    code
}

/// The header's number of an error.
fn code(error: &DistributedError) -> c_int {
    match error {
        DistributedError::Transform(_) => 2,
        DistributedError::Mismatch { .. } => 3,
        DistributedError::Boxes(_) => 4,
        DistributedError::Grid { .. } => 5,
        DistributedError::Memory { .. } => 6,
        DistributedError::TooManyElements { .. } => 7,
        DistributedError::OnRank { .. } => 8,
        _ => 2,
    }
}

fn told(result: Result<(), DistributedError>) -> c_int {
    match result {
        Ok(()) => OK,
        Err(error) => fail(code(&error), &error.to_string()),
    }
}

/// Planners that all plans of the process share: tables of equal lines are made once.
static DOUBLE: LazyLock<Planner<f64>> = LazyLock::new(Planner::new);
static SINGLE: LazyLock<Planner<f32>> = LazyLock::new(Planner::new);

/// A plan for numbers of one type, with the workspace that calls share.
struct Typed<T: Real> {
    plan: DistributedPlan<T>,
    workspace: Vec<u64>,
}

impl<T: Real> Typed<T> {
    fn refuse(&self, error: FftError) -> DistributedError {
        self.plan.refuse(error)
    }

    /// # Safety
    /// The arrays have as many elements as the plan asks for, and are one, or do not overlap.
    unsafe fn execute(
        &mut self,
        input: *const c_void,
        output: *mut c_void,
    ) -> Result<(), DistributedError> {
        let (inputs, outputs) = (self.plan.input_len(), self.plan.output_len());
        let kind = self.plan.whole().problem().kind();
        if (input.is_null() && inputs > 0) || (output.is_null() && outputs > 0) {
            return Err(self.refuse(rejected("an array is null; give this rank's part")));
        }
        for array in [input, output.cast_const()] {
            if !array.addr().is_multiple_of(align_of::<T>()) {
                return Err(self.refuse(rejected(&format!(
                    "an array begins at {array:?}, and numbers of {} bytes are at multiples of it; copy it to aligned memory",
                    align_of::<T>()
                ))));
            }
        }
        if self.workspace.len() < self.plan.workspace_len() {
            self.workspace = vec![0; self.plan.workspace_len()];
        }
        let (plan, workspace) = (&self.plan, &mut self.workspace[..]);
        let in_place = std::ptr::eq(input, output) && !input.is_null();
        // SAFETY: the caller's promise; a part without elements may be null.
        unsafe {
            match kind {
                Kind::ComplexToComplex if in_place => {
                    if inputs != outputs {
                        return Err(plan.refuse(rejected(
                            "this rank's parts of input and output have different numbers of elements; give two arrays",
                        )));
                    }
                    plan.process_with_workspace(
                        numbers_mut::<Complex<T>>(output, outputs),
                        workspace,
                    )
                }
                _ if in_place => Err(plan.refuse(rejected(
                    "input and output are one array, which complex transforms can have; give two",
                ))),
                Kind::ComplexToComplex => plan.process_outofplace_with_workspace(
                    numbers(input, inputs),
                    numbers_mut(output, outputs),
                    workspace,
                ),
                Kind::RealToComplex => plan.process_real_to_complex_with_workspace(
                    numbers(input, inputs),
                    numbers_mut(output, outputs),
                    workspace,
                ),
                Kind::ComplexToReal => plan.process_complex_to_real_with_workspace(
                    numbers(input, inputs),
                    numbers_mut(output, outputs),
                    workspace,
                ),
            }
        }
    }
}

/// # Safety
/// So many numbers lie there; without any, the pointer does not matter.
unsafe fn numbers<'a, N>(start: *const c_void, len: usize) -> &'a [N] {
    match len {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(start.cast(), len) },
    }
}

/// # Safety
/// As above, and nobody else uses them.
unsafe fn numbers_mut<'a, N>(start: *mut c_void, len: usize) -> &'a mut [N] {
    match len {
        0 => &mut [],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts_mut(start.cast(), len) },
    }
}

enum Numbers {
    Double(Typed<f64>),
    Single(Typed<f32>),
}

/// `ozfft_mpi_plan` of the header.
pub struct CPlan {
    numbers: Numbers,
    ranks: usize,
    described: CString,
}

/// Calls the same method of either type of plan.
macro_rules! of_plan {
    ($plan:expr, $name:ident => $call:expr) => {
        match &$plan.numbers {
            Numbers::Double($name) => $call,
            Numbers::Single($name) => $call,
        }
    };
}

fn planned<T: Real>(
    problem: Result<distributed::DistributedProblem, FftError>,
    communicator: &SimpleCommunicator,
    planner: &Planner<T>,
) -> Result<Typed<T>, DistributedError> {
    match problem {
        Ok(problem) => Ok(Typed {
            plan: DistributedPlan::with_planner(&problem, communicator, planner)?,
            workspace: Vec::new(),
        }),
        Err(error) => Err(refuse_to_plan(communicator, error)),
    }
}

/// Plans on the ranks of a communicator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_create(
    problem: *const CProblem,
    communicator: MPI_Comm,
    plan: *mut *mut CPlan,
) -> c_int {
    // SAFETY: the header's promise.
    unsafe { ozfft_mpi_create_at(problem, &communicator, plan) }
}

/// Plans on the ranks of the communicator at this address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_create_at(
    problem: *const CProblem,
    communicator: *const MPI_Comm,
    plan: *mut *mut CPlan,
) -> c_int {
    if !plan.is_null() {
        // Null on every failure, those found at once among them.
        // SAFETY: a place for a pointer.
        unsafe { plan.write(std::ptr::null_mut()) };
    }
    if communicator.is_null() {
        return fail(
            ARGUMENT,
            "the communicator's address is null; give that of one",
        );
    }
    if !mpi::environment::is_initialized() || mpi::environment::is_finalized() {
        return fail(
            ARGUMENT,
            "MPI is not running; call MPI_Init before, and MPI_Finalize after",
        );
    }
    // SAFETY: the header asks for a communicator.
    let raw = unsafe { *communicator };
    // SAFETY: the caller keeps it.
    let communicator = match unsafe { communicator_of_caller(raw) } {
        Ok(communicator) => communicator,
        Err(error) => return fail(ARGUMENT, &error.to_string()),
    };
    // SAFETY: the header asks for a struct that begins with its size.
    let problem = unsafe { CProblem::read(problem) };
    let given = match &problem {
        // Where the plan goes is this rank's own affair, and still an error of all ranks.
        Some(_) if plan.is_null() => Err(rejected("the place for the plan is null; give one")),
        // SAFETY: the header asks for lists as long as it says.
        Some(problem) => unsafe { problem.problem() },
        None => Err(rejected("the problem is null; give one")),
    };
    let double = problem.as_ref().is_none_or(CProblem::is_double);
    let made = match double {
        true => planned(given, &communicator, &DOUBLE).map(Numbers::Double),
        false => planned(given, &communicator, &SINGLE).map(Numbers::Single),
    };
    let (code, made) = match made {
        Ok(numbers) => (
            OK,
            Box::into_raw(Box::new(CPlan {
                numbers,
                ranks: communicator.size() as usize,
                described: CString::default(),
            })),
        ),
        Err(error) => (fail(code(&error), &error.to_string()), std::ptr::null_mut()),
    };
    if !plan.is_null() {
        // SAFETY: a place for a pointer.
        unsafe { plan.write(made) };
    }
    code
}

/// Transforms this rank's part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_execute(
    plan: *mut CPlan,
    input: *const c_void,
    output: *mut c_void,
) -> c_int {
    // SAFETY: the header asks for a plan.
    let Some(plan) = (unsafe { plan.as_mut() }) else {
        return fail(ARGUMENT, "the plan is null; give one that was created");
    };
    // SAFETY: the header asks for arrays of the plan's lengths.
    told(unsafe {
        match &mut plan.numbers {
            Numbers::Double(typed) => typed.execute(input, output),
            Numbers::Single(typed) => typed.execute(input, output),
        }
    })
}

/// Transforms this rank's part in the memory of its GPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_execute_device(
    plan: *mut CPlan,
    input: *const c_void,
    output: *mut c_void,
) -> c_int {
    // SAFETY: the header asks for a plan.
    let Some(plan) = (unsafe { plan.as_ref() }) else {
        return fail(ARGUMENT, "the plan is null; give one that was created");
    };
    let (input, output) = (
        DevicePointer(input as usize as u64),
        DevicePointer(output as usize as u64),
    );
    // SAFETY: the header asks that nothing else uses the arrays; what they are is checked.
    told(of_plan!(plan, typed => unsafe { typed.plan.process_device(input, output) }))
}

/// Takes part in a call that this rank cannot make.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_refuse(plan: *mut CPlan, reason: *const c_char) -> c_int {
    // SAFETY: the header asks for a plan.
    let Some(plan) = (unsafe { plan.as_mut() }) else {
        return fail(ARGUMENT, "the plan is null; give one that was created");
    };
    let reason = match reason.is_null() {
        true => "no reason was given".into(),
        // SAFETY: the header asks for a text.
        false => unsafe { std::ffi::CStr::from_ptr(reason) }.to_string_lossy(),
    };
    told(Err(
        of_plan!(plan, typed => typed.refuse(rejected(&reason))),
    ))
}

/// Gives a plan back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_destroy(plan: *mut CPlan) {
    if !plan.is_null() {
        // SAFETY: made by `ozfft_mpi_create`, and not used again.
        drop(unsafe { Box::from_raw(plan) });
    }
}

/// Functions that read one number of a plan: name, type, and what they return for null.
macro_rules! numbers_of_plans {
    ($($(#[$about:meta])* $function:ident: $type:ty = $none:expr, $name:ident => $call:expr;)*) => {$(
        $(#[$about])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(plan: *const CPlan) -> $type {
            // SAFETY: the header asks for a plan.
            match unsafe { plan.as_ref() } {
                None => $none,
                Some(plan) => of_plan!(plan, $name => $call),
            }
        }
    )*};
}
numbers_of_plans! {
    /// Elements of this rank's input.
    ozfft_mpi_input_len: usize = 0, typed => typed.plan.input_len();
    /// Elements of this rank's output.
    ozfft_mpi_output_len: usize = 0, typed => typed.plan.output_len();
    /// Relative L2 error that no finite input exceeds.
    ozfft_mpi_bound: f64 = f64::NAN, typed => typed.plan.bound();
    /// Bytes that this rank sends to others in one call.
    ozfft_mpi_bytes_per_call: u64 = 0, typed => typed.plan.bytes_per_call();
    /// Bytes that it has sent so far.
    ozfft_mpi_bytes_sent: u64 = 0, typed => typed.plan.bytes_sent();
    /// Bytes of workspace.
    ozfft_mpi_workspace_bytes: u64 = 0, typed =>
        (8 * typed.plan.workspace_len() + typed.plan.device_workspace_bytes()) as u64;
    /// How messages go.
    ozfft_mpi_messages: c_int = 0, typed => match typed.plan.sends_from_device() {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    };
}

/// # Safety
/// Both places have room for the box.
unsafe fn write_box(part: &IndexBox, low: *mut usize, high: *mut usize) {
    for (from, to) in [(part.low(), low), (part.high(), high)] {
        // SAFETY: the caller's promise.
        unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    }
}

macro_rules! boxes_of_plans {
    ($($(#[$about:meta])* $function:ident, $box_of:ident;)*) => {$(
        $(#[$about])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            plan: *const CPlan,
            rank: c_int,
            low: *mut usize,
            high: *mut usize,
        ) -> c_int {
            // SAFETY: the header asks for a plan.
            let (Some(plan), false, false) = (unsafe { plan.as_ref() }, low.is_null(), high.is_null())
            else {
                return fail(ARGUMENT, "the plan or a place for indices is null");
            };
            match usize::try_from(rank) {
                Ok(rank) if rank < plan.ranks => {
                    let part = of_plan!(plan, typed => typed.plan.$box_of(rank));
                    // SAFETY: the header asks for room.
                    unsafe { write_box(&part, low, high) };
                    OK
                }
                _ => fail(ARGUMENT, &format!("rank {rank} of {}; ranks begin at 0", plan.ranks)),
            }
        }
    )*};
}
boxes_of_plans! {
    /// The part of the input that a rank holds.
    ozfft_mpi_input_box, input_box_of;
    /// The part of the output that a rank gets.
    ozfft_mpi_output_box, output_box_of;
}

/// The plan in words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_describe(plan: *mut CPlan) -> *const c_char {
    // SAFETY: the header asks for a plan.
    match unsafe { plan.as_mut() } {
        None => c"".as_ptr(),
        Some(plan) => {
            plan.described = of_plan!(plan, typed => text(&typed.plan.to_string()));
            plan.described.as_ptr()
        }
    }
}

/// Why the last call of this thread failed.
#[unsafe(no_mangle)]
pub extern "C" fn ozfft_mpi_last_error() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}
