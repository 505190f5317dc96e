//! Which parameters a kernel has: those of the list or of measurements, or those with the least expected cost.

use super::KernelSpec;
use super::measured::measured;

impl KernelSpec {
    /// With the parameters that are taken unless others were measured to be faster on this GPU.
    pub(crate) fn usual(&self) -> Option<Self> {
        if let Some(spec) = measured(&self.purpose()).and_then(|choice| self.with_choice(&choice)) {
            return Some(spec);
        }
        let rules = self.rules();
        let by_cost = || ranked(&rules.ranked_as(self)).find(KernelSpec::has_registers);
        let spec = rules.listed(self).or_else(by_cost)?;
        rules.ranked_for(self, spec)
    }

    /// All parameters that fit, the most promising first; among them some with more warps than have registers for all that they work on.
    pub(crate) fn ranked(&self) -> impl Iterator<Item = Self> {
        let ranked = ranked(&self.rules().ranked_as(self));
        ranked.filter_map(|spec| self.rules().ranked_for(self, spec))
    }

    /// Whether all warps have registers for what they work on. Others spill, and the compiler waits for every product of theirs.
    pub(crate) fn has_registers(&self) -> bool {
        let max_warps = self.rules().max_warps(self);
        max_warps.is_some_and(|max_warps| self.groups.max(1) * self.warps <= max_warps)
    }

    /// A kernel for the same purpose that is done with few lines sooner, as its warps have as little to do as can be; none where there
    /// is no other.
    pub fn for_few(&self) -> Option<Self> {
        self.rules().for_few(self)
    }

    /// Kernels for the same purpose that are worth measuring: this one, then the most promising ones.
    pub fn candidates(&self) -> Vec<Self> {
        let mut others: Vec<Self> = self.ranked().collect();
        self.rules().arrange(self, &mut others);
        let mut found = vec![*self];
        for spec in others {
            if found.len() == self.traits().max_candidates {
                break;
            }
            if !found.contains(&spec) {
                found.push(spec);
            }
        }
        found
    }
}

/// All parameters that fit the problem, the cheapest first.
fn ranked(problem: &KernelSpec) -> impl Iterator<Item = KernelSpec> + use<> {
    let (rules, traits) = (problem.rules(), problem.traits());
    let mut found: Vec<(f64, KernelSpec)> = Vec::new();
    for &units in traits.units {
        let Some(max_warps) = rules.max_warps(&KernelSpec { units, ..*problem }) else {
            continue;
        };
        let limits = rules.warp_limits(problem.number, max_warps);
        for &lines in traits.line_counts {
            let spec = problem.with(lines, units);
            let needed = [spec.warps];
            let warps = match traits.warps {
                [] => &needed,
                chosen => chosen,
            };
            for &warps in warps {
                let spec = KernelSpec { warps, ..spec };
                if !rules.divides(&spec) {
                    continue;
                }
                for &limit in &limits {
                    let fitting = spec.with_groups(limit);
                    // A higher limit does not always make room for another group.
                    let is_new =
                        |spec: &KernelSpec| found.last().is_none_or(|(_, last)| last != spec);
                    if let Some(spec) = fitting.filter(is_new) {
                        found.push((rules.cost(&spec, limit), spec));
                    }
                }
            }
        }
    }
    let chooses_warps = !traits.warps.is_empty();
    let size = |spec: &KernelSpec| chooses_warps.then_some((spec.lines, spec.warps));
    found.sort_by(|(one, a), (other, b)| one.total_cmp(other).then(size(a).cmp(&size(b))));
    found.into_iter().map(|(_, spec)| spec)
}
