//! The cache of a planner: plans up to a memory limit, the least recently used evicted first; and the
//! decisions of all of them, which are small.

use crate::plan::Plan;
use crate::plan::decision::Decision;
use crate::problem::Problem;
use crate::sample::Real;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Bytes of tables that a planner keeps by default.
pub(crate) const DEFAULT_LIMIT: usize = 256 << 20;

pub(crate) struct PlanCache<T: Real> {
    plans: HashMap<Problem, CachedPlan<T>>,
    decisions: HashMap<Problem, Decision>,
    /// Plans that are being built: other callers wait for them.
    building: HashMap<Problem, InFlight<T>>,
    limit: usize,
    bytes: usize,
    /// Counts questions, to tell which plan was not asked for longest.
    now: u64,
}

/// Held while a plan is built; then it has the plan, for waiting callers.
pub(crate) type InFlight<T> = Arc<Mutex<Option<Arc<Plan<T>>>>>;

thread_local! {
    /// Whether this thread is building a plan. A worker of a pool may be given another call to plan while it waits for threads that
    /// build; waiting for its own plan it would wait for ever.
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread builds, as long as it lives.
pub(crate) struct Building(());

impl Building {
    /// Nothing where this thread is building already.
    pub(crate) fn enter() -> Option<Building> {
        // Made only then: dropping it would say that the thread builds no longer.
        (!BUILDING.replace(true)).then(|| Building(()))
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        BUILDING.set(false);
    }
}

struct CachedPlan<T: Real> {
    plan: Arc<Plan<T>>,
    bytes: usize,
    last_asked: u64,
}

impl<T: Real> PlanCache<T> {
    pub(crate) fn new() -> Self {
        PlanCache {
            plans: HashMap::new(),
            decisions: HashMap::new(),
            building: HashMap::new(),
            limit: DEFAULT_LIMIT,
            bytes: 0,
            now: 0,
        }
    }

    pub(crate) fn get(&mut self, key: &Problem) -> Option<Arc<Plan<T>>> {
        self.now += 1;
        let found = self.plans.get_mut(key)?;
        found.last_asked = self.now;
        Some(Arc::clone(&found.plan))
    }

    /// Signals callers that wait for this plan to be built.
    pub(crate) fn in_flight(&mut self, key: &Problem) -> InFlight<T> {
        Arc::clone(self.building.entry(key.clone()).or_default())
    }

    /// The plan is built: later callers find it, or build it again.
    pub(crate) fn end_in_flight(&mut self, key: &Problem) {
        self.building.remove(key);
    }

    /// Caches a plan, unless it is larger than the limit by itself: it would evict all others.
    pub(crate) fn insert(&mut self, key: Problem, plan: &Arc<Plan<T>>) {
        self.now += 1;
        self.decisions.insert(key.clone(), Decision::from(&**plan));
        let bytes = plan.table_bytes();
        if bytes > self.limit {
            return;
        }
        let cached = CachedPlan {
            plan: Arc::clone(plan),
            bytes,
            last_asked: self.now,
        };
        self.bytes += cached.bytes;
        if let Some(replaced) = self.plans.insert(key, cached) {
            self.bytes -= replaced.bytes;
        }
        self.shrink();
    }

    pub(crate) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
        self.shrink();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(feature = "serde")]
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        self.decisions.values().cloned().collect()
    }

    pub(crate) fn clear(&mut self) {
        self.plans.clear();
        self.plans.shrink_to_fit();
        self.decisions.clear();
        self.decisions.shrink_to_fit();
        self.bytes = 0;
    }

    fn shrink(&mut self) {
        if self.bytes <= self.limit {
            return;
        }
        // An eighth more than needed goes at once, so that a full cache is not looked through for every plan.
        let mut by_age: Vec<(u64, Problem)> = (self.plans.iter())
            .map(|(key, cached)| (cached.last_asked, key.clone()))
            .collect();
        by_age.sort_unstable_by_key(|&(age, _)| age);
        for (_, key) in by_age {
            if self.bytes <= self.limit - self.limit / 8 {
                break;
            }
            if let Some(evicted) = self.plans.remove(&key) {
                self.bytes -= evicted.bytes;
            }
        }
    }
}
