//! The planners behind all doors, and which transforms there is wisdom about.

use crate::door::Refusal;
use crate::number::Number;
use crate::options::Options;
use crate::process::{Known, Process};
use crate::threads;
use ozfft::{FftError, Plan, Problem};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A planner keeps what it has planned, so that a plan that is made again costs nothing. Programs that make ever new ones
/// must not fill the memory with them: before it would be so many, or so many bytes, it forgets all that nobody holds.
const MOST_REMEMBERED: usize = 1000;
const MOST_BYTES: u64 = 256 << 20;

/// What a problem is recognised by. A hash is enough to say that something was seen.
fn key(problem: &Problem) -> u64 {
    let text = serde_json::to_string(problem)
        .unwrap_or_else(|error| unreachable!("plain data is always JSON: {error}"));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The same for all numbers of threads: they are no part of wisdom.
fn wise_key(problem: &Problem) -> u64 {
    key(&problem.clone().threads(1))
}

/// Bytes that the tables of a problem may take, roughly.
fn estimated_bytes(problem: &Problem) -> u64 {
    let points: usize = problem.shape().iter().sum();
    4096 + 64 * points as u64
}

/// Plans a problem that has its options already.
pub(crate) fn plan<T: Number>(
    problem: &Problem,
    options: &Options,
) -> Result<Arc<Plan<T>>, Refusal> {
    let process = Process::current();
    let (exact, wise) = (key(problem), wise_key(problem));
    let (planner, remembered) = {
        let mut known = process.known::<T>();
        if options.wisdom_only && !known.wise.contains(&wise) {
            return Err(Refusal::NoWisdom);
        }
        let remembered = known.remembered.contains(&exact);
        let bytes = known.bytes + estimated_bytes(problem);
        if !remembered && (known.remembered.len() >= MOST_REMEMBERED || bytes > MOST_BYTES) {
            known.planner.clear();
            known.remembered.clear();
            known.bytes = 0;
        }
        (Arc::clone(&known.planner), remembered)
    };
    if remembered {
        return Ok(planner.plan(problem)?);
    }
    // Tables of some lengths are worked out by several threads: by those of our pool, which a forked process has anew. The lock
    // is not held meanwhile.
    let plan = threads::in_pool(options.threads, || planner.plan(problem))?;
    let mut known = process.known::<T>();
    known.wise.insert(wise);
    if known.remembered.insert(exact) {
        known.bytes += estimated_bytes(problem);
    }
    Ok(plan)
}

/// Forgets plans and tables that nobody holds, and all wisdom.
pub(crate) fn forget<T: Number>() {
    let forgotten = std::mem::replace(&mut *Process::current().known::<T>(), Known::nothing());
    drop(forgotten);
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
            known.wise.insert(wise_key(&problem));
        }
    }
    known.imported.push(text.into());
    Ok(())
}
