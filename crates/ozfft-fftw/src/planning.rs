//! The planners behind all FFI entry points, and the transforms that wisdom covers.

use crate::error::FftwError;
use crate::number::Number;
use crate::options::Options;
use crate::pool;
use crate::process::{Known, Process, lock};
use ozfft::{FftError, Plan, Problem};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, MutexGuard};

/// What a problem is recognised by: all but the number of threads, which is no part of wisdom. A hash is enough to say that
/// something was seen.
fn key(problem: &Problem) -> u64 {
    let text = serde_json::to_string(&problem.clone().threads(1))
        .unwrap_or_else(|error| unreachable!("plain data is always JSON: {error}"));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The planner for these numbers, and what it knows.
fn known<T: Number>(process: &Process) -> MutexGuard<'_, Known<T>> {
    lock(T::known(process))
}

/// Plans a problem that has its options already.
pub(crate) fn plan<T: Number>(
    problem: &Problem,
    options: &Options,
) -> Result<Arc<Plan<T>>, FftwError> {
    let process = Process::current();
    let key = key(problem);
    let planner = {
        let known = known::<T>(process);
        if options.wisdom_only && !known.wise.contains(&key) {
            return Err(FftwError::NoWisdom);
        }
        Arc::clone(&known.planner)
    };
    // A plan for one thread is made here. For more, tables of some lengths are worked out by the threads of our pool, which a forked process has
    // anew. The lock is not held meanwhile.
    let plan = pool::run(options.threads, || planner.plan(problem))?;
    known::<T>(process).wise.insert(key);
    Ok(plan)
}

/// Drops plans and tables that are not in use, and all wisdom.
pub(crate) fn forget<T: Number>() {
    let dropped = std::mem::replace(&mut *known::<T>(Process::current()), Known::nothing());
    drop(dropped);
}

/// The decisions of all plans, as `ozfft` saves them.
pub(crate) fn export<T: Number>() -> String {
    let planner = Arc::clone(&known::<T>(Process::current()).planner);
    planner.save_wisdom()
}

/// Takes over what [`export`], or `ozfft` itself, has saved.
pub(crate) fn import<T: Number>(text: &str) -> Result<(), FftError> {
    let mut known = known::<T>(Process::current());
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
