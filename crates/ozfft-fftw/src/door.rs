//! The boundary to C: every reason for which there is no plan, and nothing that unwinds into the caller.

use crate::options;
use crate::plan::FftwPlan;
use float_environment::DefaultEnvironment;
use ozfft::FftError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// A pointer to a plan, as C has it: null where there is none.
pub type PlanPointer = *mut FftwPlan;

/// Why there is no plan, or why nothing was computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{what} is {given}; it must be at least {least}")]
    TooSmall {
        what: &'static str,
        given: i64,
        least: i64,
    },
    #[error("{0} is a null pointer")]
    Null(&'static str),
    #[error("the sign is {0}; it must be -1 (FFTW_FORWARD) or 1 (FFTW_BACKWARD)")]
    Sign(i32),
    #[error("the kind of real transform is {0}; kinds are numbered from 0 (R2HC) to 10 (RODFT11)")]
    Kind(i32),
    #[error("lengths and strides describe more memory than can be addressed")]
    NotAddressable,
    #[error("{needed} bytes of memory are needed and the machine has {available}")]
    Memory { needed: u64, available: u64 },
    #[error("no wisdom about this transform, and FFTW_WISDOM_ONLY asks for it")]
    NoWisdom,
    #[error(
        "the plan is for a {planned} transform, and the call for another; call the function that belongs to the plan"
    )]
    OtherKind { planned: &'static str },
    /// A value of the environment that cannot be read: told without being asked.
    #[error("{0}")]
    Environment(String),
    #[error(transparent)]
    Transform(#[from] FftError),
    #[error("this is a bug: {0}")]
    Panic(String),
}

static PLANS: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// Makes a plan for C.
pub(crate) fn plan_door(
    name: &str,
    make: impl FnOnce() -> Result<FftwPlan, Refusal>,
) -> PlanPointer {
    let verbose = options::verbose();
    if verbose {
        report_at_exit();
    }
    match caught(make) {
        Ok(plan) => {
            PLANS.fetch_add(1, Ordering::Relaxed);
            if verbose {
                say(&format!("{name}: {}", plan.summary()));
            }
            Box::into_raw(Box::new(plan))
        }
        Err(refusal) => {
            REFUSED.fetch_add(1, Ordering::Relaxed);
            if verbose || matches!(refusal, Refusal::Environment(_)) {
                say(&format!("{name}: no plan: {refusal}"));
            }
            std::ptr::null_mut()
        }
    }
}

/// Runs what returns nothing in C. There is no other way to tell a failure, so it is always said.
pub(crate) fn execute_door(name: &str, run: impl FnOnce() -> Result<(), Refusal>) {
    EXECUTIONS.fetch_add(1, Ordering::Relaxed);
    if let Err(refusal) = caught(run) {
        say(&format!("{name}: not computed: {refusal}"));
    }
}

/// Runs anything else; `otherwise` is returned where it panics.
pub(crate) fn quiet_door<T>(name: &str, otherwise: T, run: impl FnOnce() -> T) -> T {
    caught(|| Ok(run())).unwrap_or_else(|refusal| {
        say(&format!("{name}: {refusal}"));
        otherwise
    })
}

/// A panic must not unwind into C, and the caller's floating-point environment must not come in.
pub(crate) fn caught<T>(run: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    let _environment = DefaultEnvironment::enter();
    // Whatever a panic leaves half done is either dropped with it or behind a lock that takes any state.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(Refusal::Panic(text(&*panic))))
}

fn text(panic: &(dyn Any + Send)) -> String {
    let known = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    known
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".into())
}

/// One line on standard error.
pub(crate) fn say(text: &str) {
    eprintln!("ozfft-fftw: {text}");
}

/// Tells at the end of the program what was asked of this library, so that nobody has to guess whether it ran.
fn report_at_exit() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    extern "C" fn report() {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        say(&format!(
            "{} plans, {} refused, {} executions",
            count(&PLANS),
            count(&REFUSED),
            count(&EXECUTIONS)
        ));
    }
    ONCE.call_once(|| {
        // SAFETY: the function takes and returns nothing and uses statics that live as long as the library.
        unsafe { libc::atexit(report) };
    });
}

/// A pointer as a reference, or the refusal that names it.
///
/// # Safety
/// A pointer that is not null points to a plan that nobody destroys meanwhile.
pub(crate) unsafe fn plan_at<'a>(plan: *const FftwPlan) -> Result<&'a FftwPlan, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { plan.as_ref() }.ok_or(Refusal::Null("the plan"))
}

/// `count` values that C passes by their address.
///
/// # Safety
/// A pointer that is not null points to so many values that nobody writes meanwhile.
pub(crate) unsafe fn values_at<'a, T>(
    what: &'static str,
    start: *const T,
    count: i32,
) -> Result<&'a [T], Refusal> {
    let Ok(length) = usize::try_from(count) else {
        return Err(Refusal::TooSmall {
            what: "the rank",
            given: i64::from(count),
            least: 0,
        });
    };
    if length == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(Refusal::Null(what));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(start, length) })
}
