//! The plan cache: plans are kept from call to call up to a memory limit, the least recently used evicted first.
//!
//! [`ozfft::Planner`] caches plans, too, which is disabled here. It cannot take this place: it knows a plan by its problem, written
//! as JSON, which every call would have to make, where a call here compares what Python passed; plans for GPUs, which streams may be at
//! work with, would go with the others; there is one planner for each precision, and one limit for both; and it counts
//! tables alone, so that thousands of short plans, which have next to none, would never go.

use crate::key::Key;
use crate::planned::{Cosine, Planned};
use ozfft::Device;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that plans for the processor may hold. A forked child, which begins without plans, keeps to the same limit.
static LIMIT: AtomicUsize = AtomicUsize::new(256 << 20);

/// Bytes that a plan holds without its tables, with its entry in the cache. Measured.
const BYTES_OF_PLAN: usize = 8 << 10;

/// A plan of any kind.
#[derive(Clone)]
pub(crate) enum Cached {
    Fourier(Planned),
    Cosine(Cosine),
}

impl Cached {
    /// About how many bytes the plan holds on to: what it holds alone, and what it shares. Plans for GPUs stay, and count as nothing:
    /// their tables may be in use by work that has not been waited for.
    fn bytes(&self) -> usize {
        match self {
            Cached::Fourier(planned) if planned.device() != Device::Cpu => 0,
            Cached::Fourier(planned) => BYTES_OF_PLAN + planned.table_bytes(),
            Cached::Cosine(planned) => BYTES_OF_PLAN + planned.table_bytes(),
        }
    }
}

/// A plan, and when it was last asked for.
struct Entry {
    planned: Cached,
    bytes: usize,
    used: u64,
}

/// Plans by everything that they depend on.
pub(crate) struct PlanCache {
    entries: HashMap<Key, Entry>,
    /// Estimated bytes of all plans for the processor.
    bytes: usize,
    clock: u64,
}

impl PlanCache {
    pub(crate) fn new() -> Self {
        PlanCache {
            entries: HashMap::new(),
            bytes: 0,
            clock: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn limit(&self) -> usize {
        LIMIT.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&mut self, key: &Key) -> Option<Cached> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.planned.clone())
    }

    /// Keeps a plan. Returns whether others were evicted.
    #[must_use]
    pub(crate) fn insert(&mut self, key: Key, planned: Cached) -> bool {
        self.clock += 1;
        let bytes = planned.bytes();
        let entry = Entry {
            planned,
            bytes,
            used: self.clock,
        };
        if let Some(before) = self.entries.insert(key, entry) {
            self.bytes -= before.bytes;
        }
        self.bytes += bytes;
        self.keep_to_limit()
    }

    /// Sets the limit. Returns whether plans were evicted.
    #[must_use]
    pub(crate) fn set_limit(&mut self, limit: usize) -> bool {
        LIMIT.store(limit, Ordering::Relaxed);
        self.keep_to_limit()
    }

    /// Evicts plans for the processor beyond the limit: those that were used least recently, until a quarter of
    /// the limit is free, so that it is not every new plan that has to look for old ones.
    fn keep_to_limit(&mut self) -> bool {
        let limit = self.limit();
        if self.bytes <= limit {
            return false;
        }
        let entries = self.entries.values().filter(|entry| entry.bytes > 0);
        let mut ages: Vec<(u64, usize)> = entries.map(|entry| (entry.used, entry.bytes)).collect();
        ages.sort_unstable();
        let goal = limit - limit / 4;
        let mut left = self.bytes;
        let mut oldest_kept = 0;
        for (used, bytes) in ages {
            if left <= goal {
                break;
            }
            left -= bytes;
            oldest_kept = used + 1;
        }
        self.entries
            .retain(|_, entry| entry.bytes == 0 || entry.used >= oldest_kept);
        self.bytes = left;
        true
    }

    /// Evicts all plans for the processor.
    pub(crate) fn clear(&mut self) {
        self.entries.retain(|_, entry| entry.bytes == 0);
        self.bytes = 0;
    }
}
