//! The planners behind all FFI entry points, and the transforms that wisdom covers.

use crate::entry_points::threads;
use crate::ffi::FftwError;
use crate::number::Number;
use crate::options::Options;
use crate::process::{Known, Process};
use ozfft::{FftError, Plan, Problem};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a problem is recognised by: all but the number of threads, which is no part of wisdom. A hash is enough to say that
/// something was seen.
fn key(problem: &Problem) -> u64 {
    let text = serde_json::to_string(&problem.clone().threads(1))
        .unwrap_or_else(|error| unreachable!("plain data is always JSON: {error}"));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Plans a problem that has its options already.
pub(crate) fn plan<T: Number>(
    problem: &Problem,
    options: &Options,
) -> Result<Arc<Plan<T>>, FftwError> {
    let process = Process::current();
    let key = key(problem);
    let planner = {
        let known = process.known::<T>();
        if options.wisdom_only && !known.wise.contains(&key) {
            return Err(FftwError::NoWisdom);
        }
        Arc::clone(&known.planner)
    };
    // A plan for one thread is made here. For more, tables of some lengths are worked out by the threads of our pool, which a forked process has
    // anew. The lock is not held meanwhile.
    let plan = threads::run(options.threads, || planner.plan(problem))?;
    process.known::<T>().wise.insert(key);
    Ok(plan)
}

/// Drops plans and tables that are not in use, and all wisdom.
pub(crate) fn forget<T: Number>() {
    let dropped = std::mem::replace(&mut *Process::current().known::<T>(), Known::nothing());
    drop(dropped);
}

/// The decisions of all plans, as `ozfft` saves them.
pub(crate) fn export<T: Number>() -> String {
    let planner = Arc::clone(&Process::current().known::<T>().planner);
    planner.save_wisdom()
}

/// Takes over what [`export`], or `ozfft` itself, has saved.
pub(crate) fn import<T: Number>(text: &str) -> Result<(), FftError> {
    let mut known = Process::current().known::<T>();
    known.planner.load_wisdom(text)?;
    let saved: serde_json::Value =
        serde_json::from_str(text).map_err(|error| FftError::Wisdom(error.to_string()))?;
    let plans = saved.get("plans").and_then(|plans| plans.as_array());
    for plan in plans.into_iter().flatten() {
        let problem = plan
            .get("problem")
            .and_then(|problem| serde_json::from_value::<Problem>(problem.clone()).ok());
        if let Some(problem) = problem {
            known.wise.insert(key(&problem));
        }
    }
    known.imported.push(text.into());
    Ok(())
}
