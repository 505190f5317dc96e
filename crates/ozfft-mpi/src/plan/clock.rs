//! Where the time of calls goes.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Where the time of a plan's calls went on this rank, in seconds, all calls together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct CallTimes {
    /// Lines of this rank, and the search for its largest numbers.
    pub transforms: f64,
    /// Copies from arrays to messages, back, and of what stays on the rank.
    pub packing: f64,
    /// Inside MPI: starting transfers, moving them on, waiting for them and for what ranks agree on.
    pub exchange: f64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Transforms,
    Packing,
    Exchange,
}

/// Adds up times.
#[derive(Default)]
pub(super) struct Clock([Cell<Duration>; 3]);

impl Clock {
    pub(super) fn time<R>(&self, doing: Doing, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        let all = &self.0[doing as usize];
        all.set(all.get() + start.elapsed());
        result
    }

    pub(super) fn times(&self) -> CallTimes {
        let [transforms, packing, exchange] = [0, 1, 2].map(|i| self.0[i].get().as_secs_f64());
        CallTimes {
            transforms,
            packing,
            exchange,
        }
    }
}
