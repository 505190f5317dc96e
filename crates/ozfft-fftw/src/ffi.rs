//! The C boundary: the guards of the entry points, which keep panics from unwinding into C.

use crate::error::FftwError;
use crate::log::{fail, log};
use crate::next;
use crate::number::Number;
use crate::options;
use crate::plan::{AnyPlan, TypedPlan};
use crate::registry::{self, FftwPlan, Found};
use crate::stack::with_stack;
use float_environment::DefaultEnvironment;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A pointer to a plan, as C has it: null where there is none.
pub type PlanPointer = *mut FftwPlan;

static PLANS: AtomicU64 = AtomicU64::new(0);
static FAILED_PLANS: AtomicU64 = AtomicU64::new(0);
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
/// Text of the last error, for reports of executions without a plan.
static LAST_ERROR: Mutex<Option<String>> = Mutex::new(None);

/// Body of an entry point that makes a plan.
pub(crate) fn guard_plan<T: Number>(
    name: &str,
    make: impl FnOnce() -> Result<TypedPlan<T>, FftwError>,
) -> PlanPointer
where
    AnyPlan: From<TypedPlan<T>>,
{
    match caught(make) {
        Ok(plan) => {
            PLANS.fetch_add(1, Ordering::Relaxed);
            if options::verbose() {
                report_at_exit();
                log(&format!("{name}: {}", plan.summary()));
            }
            registry::enter(plan.into())
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
        Found::Plan(plan) => plan.typed().ok_or(FftwError::OtherPrecision {
            planned: plan.precision(),
        }),
        Found::Null => Err(FftwError::NullPlan {
            last: LAST_ERROR.try_lock().ok().and_then(|last| last.clone()),
        }),
        Found::Destroyed => Err(FftwError::Destroyed),
        Found::Foreign => unreachable!("calls with foreign plans are passed on"),
    }
}
