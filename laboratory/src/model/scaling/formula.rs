//! The closed formulas: what an exchange takes, and a transform.
//!
//! In an exchange of a group every rank sends an equal part of its array to every other one, in an order in which no two send to the same rank at a time.
//! Messages of a rank leave one after the other through each of its links: a gap and the bytes over the bandwidth; the last one arrives
//! a latency later. Links to ranks of the node and to others work at the same time.

use super::network::Link;

/// Ranks that exchange with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    pub ranks: usize,
    /// Of them in one node.
    pub near: usize,
}

/// Seconds of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExchangeTime {
    pub total: f64,
    /// Of it latencies and gaps, of the link that is ready last.
    pub waiting: f64,
}

/// An exchange of a group whose ranks hold so many bytes each. `links` are those within nodes, then between them; one link is for all.
pub fn exchange(links: &[Link], group: Group, bytes: f64) -> ExchangeTime {
    let part = bytes / group.ranks as f64;
    let far = links.len() - 1;
    let (near, others) = match links.len() {
        1 => (group.ranks - 1, 0),
        _ => (group.near - 1, group.ranks - group.near),
    };
    let through = |link: &Link, messages: usize| {
        if messages == 0 {
            return ExchangeTime::default();
        }
        let messages = messages as f64;
        let waiting = link.latency + messages * link.gap;
        ExchangeTime {
            total: waiting + messages * part / link.bandwidth,
            waiting,
        }
    };
    let (near, others) = (through(&links[0], near), through(&links[far], others));
    if near.total > others.total {
        near
    } else {
        others
    }
}

/// How arrays are divided: slabs have one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub rows: usize,
    pub columns: usize,
}

impl Grid {
    /// Groups that exchange one after the other when spectra stay divided as the last axis leaves them. Ranks of a row follow each other.
    pub fn groups(self, node: usize) -> Vec<Group> {
        let row = Group {
            ranks: self.columns,
            near: self.columns.min(node),
        };
        let column = Group {
            ranks: self.rows,
            near: (node / self.columns).clamp(1, self.rows),
        };
        let groups = [row, column].into_iter();
        groups.filter(|group| group.ranks > 1).collect()
    }
}

/// A transform of n³ points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// Points of a rank.
    pub points: f64,
    /// Seconds of a rank for a point, along all axes.
    pub local: f64,
    /// Seconds to copy a complex number.
    pub copy: f64,
    /// Bytes of a complex number in memory, and as it is sent.
    pub bytes: (f64, f64),
}

/// Seconds of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Time {
    pub local: f64,
    /// To buffers and from them.
    pub copies: f64,
    pub exchange: ExchangeTime,
}

/// What takes most of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    Local,
    Bandwidth,
    Latency,
}

impl Binding {
    pub fn word(self) -> &'static str {
        match self {
            Binding::Local => "local",
            Binding::Bandwidth => "bandwidth",
            Binding::Latency => "messages",
        }
    }
}

impl Time {
    pub fn total(&self) -> f64 {
        self.local + self.copies + self.exchange.total
    }

    /// If exchanges were hidden behind everything else, or everything else behind them: no plan can be faster.
    pub fn overlapped(&self) -> f64 {
        self.exchange.total.max(self.local + self.copies)
    }

    pub fn binding(&self) -> Binding {
        let bytes = self.exchange.total - self.exchange.waiting;
        if self.local + self.copies >= self.exchange.total {
            Binding::Local
        } else if bytes >= self.exchange.waiting {
            Binding::Bandwidth
        } else {
            Binding::Latency
        }
    }
}

/// A transform over these groups, one exchange each; `times` says how often: once, or twice where the output is in natural order.
pub fn transform(links: &[Link], groups: &[Group], transform: &Transform, times: usize) -> Time {
    let (held, sent) = transform.bytes;
    // Packing reads numbers and writes what is sent; unpacking the other way round.
    let copies = 2.0 * transform.copy * (held + sent) / (2.0 * held) * transform.points;
    let mut found = Time {
        local: transform.local * transform.points,
        ..Time::default()
    };
    for group in groups {
        let once = exchange(links, *group, sent * transform.points);
        found.copies += times as f64 * copies;
        found.exchange.total += times as f64 * once.total;
        found.exchange.waiting += times as f64 * once.waiting;
    }
    found
}
