//! A discrete-event simulation of exchanges: what the closed formulas are checked by. Parts may be unequal, ranks may begin at different times, and
//! a rank that many send to at once takes their bytes one after the other.

use super::network::Link;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// In which order a rank sends to the others of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Node after node, beginning with its own, and in each with the one after its own place: no two ranks send to the same one at a time.
    Rotated {
        /// Members of the group in a node.
        node: usize,
    },
    /// The first rank first, on every rank.
    #[cfg(test)]
    Ascending,
}

/// A message on its way.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arriving {
    time: f64,
    to: usize,
    /// Seconds that its bytes need.
    bytes: f64,
    level: usize,
}

impl Eq for Arriving {}

impl Ord for Arriving {
    fn cmp(&self, other: &Self) -> Ordering {
        let times = self.time.total_cmp(&other.time);
        times.then(self.to.cmp(&other.to))
    }
}

impl PartialOrd for Arriving {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// When ranks have what others send them; nodes have equal numbers of members.
/// `ready` is when each may begin to send, `bytes(from, to)` what it sends, `level(from, to)` by which link.
pub fn simulate(
    links: &[Link],
    ready: &[f64],
    order: Order,
    bytes: impl Fn(usize, usize) -> f64,
    level: impl Fn(usize, usize) -> usize,
) -> Vec<f64> {
    let ranks = ready.len();
    let mut events = BinaryHeap::new();
    for (from, &begin) in ready.iter().enumerate() {
        let mut free = vec![begin; links.len()];
        for step in 0..ranks {
            let to = match order {
                Order::Rotated { node } => {
                    let first = from - from % node;
                    let next = (first + step - step % node) % ranks;
                    next + (from + step) % node
                }
                #[cfg(test)]
                Order::Ascending => step,
            };
            let size = bytes(from, to);
            if to == from || size == 0.0 {
                continue;
            }
            let level = level(from, to);
            let link = links[level];
            let seconds = size / link.bandwidth;
            let begin = free[level] + link.gap;
            free[level] = begin + seconds;
            events.push(Reverse(Arriving {
                time: begin + link.latency,
                to,
                bytes: seconds,
                level,
            }));
        }
    }
    let mut done = ready.to_vec();
    let mut free = vec![vec![0.0f64; links.len()]; ranks];
    while let Some(Reverse(Arriving {
        time,
        to,
        bytes,
        level,
    })) = events.pop()
    {
        let end = time.max(free[to][level]) + bytes;
        free[to][level] = end;
        done[to] = done[to].max(end);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::super::formula::{Grid, Group, exchange};
    use super::*;

    const LINKS: [Link; 2] = [
        Link {
            bandwidth: 450e9,
            latency: 1.5e-6,
            gap: 0.4e-6,
        },
        Link {
            bandwidth: 50e9,
            latency: 3e-6,
            gap: 1.2e-6,
        },
    ];

    fn last(times: &[f64]) -> f64 {
        times.iter().copied().fold(0.0, f64::max)
    }

    /// Ranks of a group by their place, in nodes of so many members of it.
    fn simulated(group: Group, bytes: f64, order: Order) -> f64 {
        let part = bytes / group.ranks as f64;
        let level = |a: usize, b: usize| usize::from(a / group.near != b / group.near);
        let ready = vec![0.0; group.ranks];
        last(&simulate(&LINKS, &ready, order, |_, _| part, level))
    }

    #[test]
    fn formulas_are_those_of_the_simulation() {
        for (ranks, near) in [(2, 1), (8, 8), (16, 8), (64, 8), (64, 2), (96, 1), (256, 8)] {
            for bytes in [1e3, 1e6, 1e9] {
                let group = Group { ranks, near };
                let closed = exchange(&LINKS, group, bytes).total;
                let found = simulated(group, bytes, Order::Rotated { node: near });
                let ratio = found / closed;
                assert!((ratio - 1.0).abs() < 1e-9, "{group:?} {bytes}: {ratio}");
                // Without regard to nodes all members of one send to the first of the next at a time.
                let found = simulated(group, bytes, Order::Rotated { node: 1 });
                let ratio = found / closed;
                assert!(
                    (1.0 - 1e-9..2.0).contains(&ratio),
                    "{group:?} {bytes}: {ratio}"
                );
            }
        }
    }

    #[test]
    fn all_sending_to_one_rank_first_takes_up_to_twice_as_long() {
        let group = Group { ranks: 64, near: 1 };
        let closed = exchange(&LINKS, group, 1e9).total;
        let ratio = simulated(group, 1e9, Order::Ascending) / closed;
        assert!((1.0..=2.05).contains(&ratio), "{ratio}");
    }

    #[test]
    fn unequal_parts_take_as_long_as_the_largest() {
        // Ten planes on four ranks: three, three, two, two.
        let planes = [3.0, 3.0, 2.0, 2.0];
        let bytes = |from: usize, to: usize| 1e6 * planes[from] * planes[to];
        let found = last(&simulate(
            &LINKS[1..],
            &[0.0; 4],
            Order::Rotated { node: 1 },
            bytes,
            |_, _| 0,
        ));
        let busiest = 1e6 * 3.0 * 7.0 / 50e9 + 3.0 * 1.2e-6 + 3e-6;
        assert!(
            found >= busiest * (1.0 - 1e-9) && found < 1.15 * busiest,
            "{found} {busiest}"
        );
    }

    #[test]
    fn a_rank_that_is_late_delays_those_that_wait_for_it() {
        let ready = [0.0, 0.0, 5e-3, 0.0];
        let order = Order::Rotated { node: 1 };
        let done = simulate(&LINKS[1..], &ready, order, |_, _| 1e6, |_, _| 0);
        assert_eq!(done[2], 5e-3);
        let others = [done[0], done[1], done[3]];
        assert!(others.iter().all(|&time| time > 5e-3), "{done:?}");
    }

    #[test]
    fn groups_of_a_grid_know_their_nodes() {
        let grid = |rows, columns| Grid { rows, columns }.groups(8);
        let group = |ranks, near| Group { ranks, near };
        assert_eq!(grid(1, 64), [group(64, 8)]);
        assert_eq!(grid(16, 4), [group(4, 4), group(16, 2)]);
        assert_eq!(grid(8, 32), [group(32, 8), group(8, 1)]);
        assert_eq!(grid(1, 1), []);
    }
}
