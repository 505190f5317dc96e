//! The one planner behind all doors, and which transforms there is wisdom about.

use crate::door::Refusal;
use crate::options::Options;
use crate::threads;
use ozfft::{FftError, Plan, Planner, Problem};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The planner keeps what it has planned, so that a plan that is made again costs nothing. Programs that make ever new ones
/// must not fill the memory with them: after so many it forgets all that nobody holds.
const MOST_REMEMBERED: usize = 1000;

struct State {
    planner: Arc<Planner<f64>>,
    /// Problems planned since the planner last forgot.
    planned: HashSet<u64>,
    /// Problems that `FFTW_WISDOM_ONLY` finds: imported or planned.
    known: HashSet<u64>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::new()));

impl State {
    fn new() -> Self {
        State {
            planner: Arc::new(Planner::new()),
            planned: HashSet::new(),
            known: HashSet::new(),
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a problem is recognised by: everything but the number of threads. A hash is enough to say that something was seen.
fn key(problem: &Problem) -> u64 {
    let text = serde_json::to_string(&problem.clone().threads(1))
        .unwrap_or_else(|error| unreachable!("plain data is always JSON: {error}"));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Plans a problem that has its options already.
pub(crate) fn plan(problem: &Problem, options: &Options) -> Result<Arc<Plan<f64>>, Refusal> {
    let key = key(problem);
    let planner = {
        let state = state();
        if options.wisdom_only && !state.known.contains(&key) {
            return Err(Refusal::NoWisdom);
        }
        Arc::clone(&state.planner)
    };
    // Tables of some lengths are worked out by several threads; the lock is not held meanwhile.
    let plan = threads::in_pool(options.threads, || planner.plan(problem))?;
    let mut state = state();
    state.known.insert(key);
    state.planned.insert(key);
    if state.planned.len() > MOST_REMEMBERED {
        state.planner.clear();
        state.planned.clear();
    }
    Ok(plan)
}

/// Forgets plans and tables that nobody holds, and all wisdom.
pub(crate) fn forget() {
    *state() = State::new();
}

/// The decisions of all plans, as `ozfft` saves them.
pub(crate) fn export() -> String {
    let planner = Arc::clone(&state().planner);
    planner.save_wisdom()
}

/// Takes over what [`export`], or `ozfft` itself, has saved.
pub(crate) fn import(text: &str) -> Result<(), FftError> {
    let mut state = state();
    state.planner.load_wisdom(text)?;
    let saved: serde_json::Value =
        serde_json::from_str(text).map_err(|error| FftError::Wisdom(error.to_string()))?;
    let plans = saved.get("plans").and_then(|plans| plans.as_array());
    for plan in plans.into_iter().flatten() {
        let problem = plan
            .get("problem")
            .and_then(|problem| serde_json::from_value::<Problem>(problem.clone()).ok());
        if let Some(problem) = problem {
            state.known.insert(key(&problem));
        }
    }
    Ok(())
}
