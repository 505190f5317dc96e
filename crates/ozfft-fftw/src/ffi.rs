//! The C boundary: the errors, how they are reported, and the guards of the entry points, which keep panics from unwinding into C.

use crate::next;
use crate::number::Number;
use crate::options::{self, OnError};
use crate::plan::TypedPlan;
use crate::registry::{self, FftwPlan, Found};
use crate::stack::with_stack;
use fallible_memory::OutOfMemory;
use float_environment::DefaultEnvironment;
use ozfft::FftError;
use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A pointer to a plan, as C has it: null where there is none.
pub type PlanPointer = *mut FftwPlan;

/// Why there is no plan, or why nothing was computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum FftwError {
    #[error("{what} is {given}; it must be at least {least}")]
    TooSmall {
        what: &'static str,
        given: i64,
        least: i64,
    },
    #[error("the rank is {given}; at most {MOST_DIMENSIONS} dimensions are taken")]
    TooManyDimensions { given: i64 },
    #[error("{0} is a null pointer")]
    Null(&'static str),
    #[error("the plan is NULL{}", after(.last))]
    NullPlan {
        /// What the last call that made none has said.
        last: Option<String>,
    },
    #[error("the plan has been destroyed")]
    Destroyed,
    #[error("the sign is {0}; it must be -1 (FFTW_FORWARD) or 1 (FFTW_BACKWARD)")]
    Sign(i32),
    #[error("the kind of real transform is {0}; kinds are numbered from 0 (R2HC) to 10 (RODFT11)")]
    Kind(i32),
    #[error("lengths and strides describe more memory than can be addressed")]
    NotAddressable,
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("no wisdom about this transform, and FFTW_WISDOM_ONLY asks for it")]
    NoWisdom,
    #[error(
        "the plan is for a {planned} transform, and the call for another; call the function that belongs to the plan"
    )]
    OtherKind { planned: &'static str },
    #[error(
        "the plan is for {planned} precision, and the call for another; fftw_ functions take plans of fftw_, fftwf_ functions those of fftwf_"
    )]
    OtherPrecision { planned: &'static str },
    /// A value of the environment that cannot be read.
    #[error("{0}")]
    Environment(String),
    #[error(transparent)]
    Transform(#[from] FftError),
    #[error("this is a bug: {0}")]
    Panic(String),
}

fn after(last: &Option<String>) -> String {
    last.as_ref().map_or(String::new(), |last| {
        format!("; the last call that returned NULL said: {last}")
    })
}

impl FftwError {
    /// Whether it is the environment that cannot be followed: no plan of this program will ever be what was asked for.
    fn is_the_environment(&self) -> bool {
        use FftError::*;
        match self {
            FftwError::Environment(_) => true,
            FftwError::Transform(error) => matches!(
                error,
                NoDriver { .. }
                    | NoSuchDevice { .. }
                    | DeviceTooOld { .. }
                    | NoFp8 { .. }
                    | InvalidAccuracy { .. }
                    | UnknownUnit { .. }
                    | Unsupported(_)
            ),
            _ => false,
        }
    }

    /// Whether it is unexpected: logged even without `OZFFT_VERBOSE`.
    fn is_unexpected(&self) -> bool {
        matches!(
            self,
            FftwError::Transform(_) | FftwError::Memory(_) | FftwError::Panic(_)
        )
    }
}

static PLANS: AtomicU64 = AtomicU64::new(0);
static FAILED_PLANS: AtomicU64 = AtomicU64::new(0);
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
/// Text of the last error, for reports of executions without a plan.
static LAST_ERROR: Mutex<Option<String>> = Mutex::new(None);

/// Body of an entry point that makes a plan.
pub(crate) fn guard_plan<T: Number>(
    name: &str,
    make: impl FnOnce() -> Result<TypedPlan<T>, FftwError>,
) -> PlanPointer {
    match caught(make) {
        Ok(plan) => {
            PLANS.fetch_add(1, Ordering::Relaxed);
            if options::verbose() {
                report_at_exit();
                log(&format!("{name}: {}", plan.summary()));
            }
            registry::enter(T::into_any(plan))
        }
        Err(error) => {
            FAILED_PLANS.fetch_add(1, Ordering::Relaxed);
            let text = format!("{name}: no plan: {error}");
            if error.is_the_environment() {
                fail(&text);
            } else if options::verbose() || error.is_unexpected() {
                log(&text);
            }
            // Never waited for: in a forked process it might never be released.
            if let Ok(mut last) = LAST_ERROR.try_lock() {
                *last = Some(text);
            }
            std::ptr::null_mut()
        }
    }
}

/// Body of an entry point that executes one: it returns nothing in C.
pub(crate) fn guard_execute(name: &str, run: impl FnOnce() -> Result<(), FftwError>) {
    EXECUTIONS.fetch_add(1, Ordering::Relaxed);
    if let Err(error) = caught(run) {
        fail(&format!("{name}: not computed: {error}"));
    }
}

/// Body of any other entry point; `otherwise` is returned where it panics.
pub(crate) fn guard_call<T>(name: &str, otherwise: T, run: impl FnOnce() -> T) -> T {
    caught(|| Ok(run())).unwrap_or_else(|error| {
        log(&format!("{name}: {error}"));
        otherwise
    })
}

/// A panic must not unwind into C, and the caller's floating-point environment must not come in.
pub(crate) fn caught<T>(run: impl FnOnce() -> Result<T, FftwError>) -> Result<T, FftwError> {
    let _environment = DefaultEnvironment::enter();
    // Whatever a panic leaves half done is either dropped with it or behind a lock that takes any state.
    catch_unwind(AssertUnwindSafe(|| {
        with_stack(|| fallible_memory::catch(run)?)
    }))
    .unwrap_or_else(|panic| Err(FftwError::Panic(text(&*panic))))
}

fn text(panic: &(dyn Any + Send)) -> String {
    let known = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    known
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".into())
}

/// One line on standard error, in one piece: the ranks of a parallel program may share it. Errors of a closed stream are ignored.
pub(crate) fn log(text: &str) {
    let line = format!("ozfft-fftw: {text}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Failures that FFTW's interface cannot return: logged, then the program is aborted, since its results would be wrong;
/// unless `OZFFT_ON_ERROR=null` asks for that.
pub(crate) fn fail(text: &str) {
    match options::on_error() {
        OnError::Null => log(text),
        OnError::Abort => end(&format!(
            "{text}\nozfft-fftw: the program is ended, since its results would be wrong; OZFFT_ON_ERROR=null lets it go on"
        )),
    }
}

/// Says why, and ends the program.
pub(crate) fn end(text: &str) -> ! {
    log(text);
    std::process::abort()
}

/// Logs the calls of this library when the program exits, to show whether it ran.
fn report_at_exit() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    extern "C" fn report() {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let passed_on = match next::passed_on() {
            0 => String::new(),
            calls => format!(", {calls} calls passed on to another library, whose plans they had"),
        };
        log(&format!(
            "{} plans, {} refused, {} executions{passed_on}",
            count(&PLANS),
            count(&FAILED_PLANS),
            count(&EXECUTIONS)
        ));
    }
    if !REGISTERED.swap(true, Ordering::Relaxed) {
        // SAFETY: the function takes and returns nothing and uses statics that live as long as the library.
        unsafe { libc::atexit(report) };
    }
}

/// Run when the library is loaded: the report is wanted most where the library is never called.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        fallible_memory::catches_everywhere();
        if options::verbose() {
            report_at_exit();
        }
    }
    at_load
};

/// The plan of an entry, if it is one for these numbers.
pub(crate) fn expect_plan<T: Number>(found: Found<'_>) -> Result<&TypedPlan<T>, FftwError> {
    match found {
        Found::Plan(plan) => T::plan_in(plan).ok_or(FftwError::OtherPrecision {
            planned: plan.precision(),
        }),
        Found::Null => Err(FftwError::NullPlan {
            last: LAST_ERROR.try_lock().ok().and_then(|last| last.clone()),
        }),
        Found::Destroyed => Err(FftwError::Destroyed),
        Found::Foreign => unreachable!("calls with foreign plans are passed on"),
    }
}

/// More dimensions than any array has: with lengths of 2 or more there are at most 63, and a caller who passes more than this has
/// lost the number.
pub(crate) const MOST_DIMENSIONS: i32 = 1 << 16;

/// `count` values that C passes by their address.
///
/// # Safety
/// A pointer that is not null points to so many values that are not written meanwhile.
pub(crate) unsafe fn values_at<'a, T>(
    what: &'static str,
    start: *const T,
    count: i32,
) -> Result<&'a [T], FftwError> {
    let Ok(length) = usize::try_from(count) else {
        return Err(FftwError::TooSmall {
            what: "the rank",
            given: i64::from(count),
            least: 0,
        });
    };
    if count > MOST_DIMENSIONS {
        return Err(FftwError::TooManyDimensions {
            given: i64::from(count),
        });
    }
    if length == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(FftwError::Null(what));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(start, length) })
}
