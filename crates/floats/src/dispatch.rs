//! Which algorithm a length gets, as tables that can be printed: the posts' and the one that is faster here.

use crate::Mode;
use crate::lines::bluestein::convolution_length;
use crate::lines::recipe::{LineRecipe, Path, Step};
use crate::lines::stockham::LARGEST_PRIME;
use crate::products::matrices::{Cut, LARGEST_BLOCK, blocks};
use std::fmt;

/// A line of a table: the first that applies is taken.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The algorithm.
    pub path: Path,
    /// For which lengths and modes, in words.
    pub condition: &'static str,
    /// Why.
    pub reason: &'static str,
    applies: fn(usize, Mode) -> bool,
}

impl Rule {
    /// Whether a length in a mode is one of these.
    pub fn applies(&self, n: usize, mode: Mode) -> bool {
        (self.applies)(n, mode)
    }
}

/// A table of rules.
///
/// ```
/// use floats::{Mode, Table, Path};
/// assert_eq!(Table::Posted.rule(256, Mode::Fast).path, Path::DftGemm);
/// assert_eq!(Table::Posted.rule(2048, Mode::Fast).path, Path::Mixed);
/// assert_eq!(Table::Measured.rule(256, Mode::Fast).path, Path::Mixed);
/// println!("{}", Table::Posted);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Table {
    /// What is fastest on a CPU.
    #[default]
    Measured,
    /// As trnfft's posts describe it for Trainium.
    Posted,
    /// In two blocks wherever a length has them, as on the tensor cores of GPUs.
    Blocks,
    /// One algorithm for all lengths that have it, to compare it with others; stages of a butterfly are then of two points. Plans of other
    /// lengths are rejected.
    Only(Path),
}

fn power_of(base: usize, n: usize) -> bool {
    n.is_power_of_two() && n.ilog2().is_multiple_of(base.ilog2())
}

fn small_factors(mut n: usize) -> bool {
    for prime in [2, 3, 5, 7, 11, LARGEST_PRIME] {
        while n.is_multiple_of(prime) {
            n /= prime;
        }
    }
    n == 1
}

const RADIX_8: Rule = Rule {
    path: Path::Radix8,
    condition: "n = 8^k",
    reason: "fewest passes over the data",
    applies: |n, _| n > 1 && power_of(8, n),
};
const RADIX_4: Rule = Rule {
    path: Path::Radix4,
    condition: "n = 4^k",
    reason: "no multiplications within a stage",
    applies: |n, _| n > 1 && power_of(4, n),
};
const MIXED: Rule = Rule {
    path: Path::Mixed,
    condition: "n = 2^k, k > 1",
    reason: "as many stages of 8 as leave an even power of two, the rest by 4",
    applies: |n, _| n > 2 && n.is_power_of_two(),
};
const BUTTERFLY: Rule = Rule {
    path: Path::Butterfly,
    condition: "prime factors to 13",
    reason: "a stage for every factor",
    applies: |n, _| small_factors(n),
};
const BLUESTEIN: Rule = Rule {
    path: Path::Bluestein,
    condition: "all others",
    reason: "a prime factor beyond 13: a convolution of a power of two",
    applies: |_, _| true,
};
const BLOCKS: Rule = Rule {
    path: Path::Blocks,
    condition: "matrix modes, n = n1·n2, both to 256",
    reason: "two short products are less work than a long one",
    applies: |n, mode| mode.needs_matrix_unit() && blocks(n).is_some(),
};

static POSTED: [Rule; 7] = [
    Rule {
        path: Path::DftGemm,
        condition: "n <= 256, all modes but kahan",
        reason: "one launch on the tensor engine",
        applies: |n, mode| n <= LARGEST_BLOCK && mode != Mode::Kahan,
    },
    Rule {
        reason: "beyond 256 points the posts leave the matrix modes for f32; here they go on",
        ..BLOCKS
    },
    RADIX_8,
    RADIX_4,
    MIXED,
    BUTTERFLY,
    BLUESTEIN,
];

/// Longest DFT for which one product is faster.
const SHORT: usize = 128;
/// Longest DFT that is one product wherever it is computed.
const SHORTEST: usize = 32;

static MEASURED: [Rule; 7] = [
    Rule {
        path: Path::DftGemm,
        condition: "matrix modes, n <= 128; two levels, n <= 32",
        reason: "a product of few tiles",
        applies: |n, mode| match mode {
            // Its bits are those of other machines, which cut a length in two.
            Mode::OzakiTwoLevel => n <= SHORT && (n <= SHORTEST || blocks(n).is_none()),
            mode => mode.needs_matrix_unit() && n <= SHORT,
        },
    },
    BLOCKS,
    Rule {
        path: Path::DftGemm,
        condition: "matrix modes, n <= 256",
        reason: "a prime length",
        applies: |n, mode| mode.needs_matrix_unit() && n <= LARGEST_BLOCK,
    },
    RADIX_8,
    MIXED,
    BUTTERFLY,
    BLUESTEIN,
];

static IN_BLOCKS: [Rule; 6] = [
    BLOCKS,
    Rule {
        path: Path::DftGemm,
        condition: "matrix modes, n <= 256",
        reason: "a prime length",
        applies: |n, mode| mode.needs_matrix_unit() && n <= LARGEST_BLOCK,
    },
    RADIX_8,
    MIXED,
    BUTTERFLY,
    BLUESTEIN,
];

/// Longest transform that is one product where that is asked for: its matrix has 8 MB.
const LONGEST_PRODUCT: usize = 1024;

/// Every algorithm by itself.
static EACH: [Rule; 7] = [
    Rule {
        path: Path::DftGemm,
        condition: "n <= 1024, all modes but kahan",
        reason: "",
        applies: |n, mode| match mode.needs_matrix_unit() {
            true => n <= LARGEST_BLOCK,
            false => n <= LONGEST_PRODUCT && mode != Mode::Kahan,
        },
    },
    BLOCKS,
    RADIX_8,
    RADIX_4,
    MIXED,
    BUTTERFLY,
    BLUESTEIN,
];

impl Table {
    /// The rules in their order.
    pub fn rules(self) -> &'static [Rule] {
        match self {
            Table::Posted => &POSTED,
            Table::Measured => &MEASURED,
            Table::Blocks => &IN_BLOCKS,
            Table::Only(path) => {
                let own = EACH.iter().find(|rule| rule.path == path);
                std::slice::from_ref(own.expect("every algorithm has a rule"))
            }
        }
    }

    /// The first rule that applies, if there is one: all tables but [`Table::Only`] have one for every length.
    pub fn find(self, n: usize, mode: Mode) -> Option<&'static Rule> {
        self.rules().iter().find(|rule| rule.applies(n, mode))
    }

    /// The first rule that applies.
    ///
    /// # Panics
    /// If the table is [`Table::Only`] and the length does not have the algorithm.
    pub fn rule(self, n: usize, mode: Mode) -> &'static Rule {
        self.find(n, mode).expect("a rule for this length")
    }

    /// The same without matrix units.
    pub(crate) fn line_recipe(self, n: usize, mode: Mode) -> LineRecipe {
        match self.rule(n, mode.without_unit()).path {
            Path::DftGemm => LineRecipe::Gemm,
            Path::Bluestein => LineRecipe::Bluestein(self.steps(convolution_length(n), false)),
            path => LineRecipe::Stages(self.steps(n, path == Path::Radix4)),
        }
    }

    /// How a length is factored for a matrix unit, if it runs on one.
    pub(crate) fn cut(self, n: usize, mode: Mode) -> Option<Cut> {
        match self.rule(n, mode).path {
            Path::DftGemm => Some(Cut::Whole),
            Path::Blocks => blocks(n),
            _ => None,
        }
    }

    /// The stages of a length without large prime factors.
    pub(crate) fn steps(self, n: usize, only_fours: bool) -> Vec<Step> {
        let twos = n.trailing_zeros() as usize;
        let mut rest = n >> twos;
        // As many steps of radix 8 as leave an even power of two.
        let radix_8_steps = match (only_fours, twos) {
            _ if self == Table::Only(Path::Butterfly) => 0,
            (true, _) | (false, 1) => 0,
            (false, twos) => (0..=twos / 3)
                .rev()
                .find(|radix_8_steps| (twos - 3 * radix_8_steps).is_multiple_of(2))
                .unwrap_or(0),
        };
        let eight = match self {
            Table::Posted => Step::Matrix(8),
            Table::Measured | Table::Blocks | Table::Only(_) => Step::Butterfly(8),
        };
        let mut steps = vec![eight; radix_8_steps];
        let left = twos - 3 * radix_8_steps;
        let fours = match self {
            Table::Only(Path::Butterfly) => 0,
            _ => left / 2,
        };
        steps.extend(vec![Step::Butterfly(4); fours]);
        steps.extend(vec![Step::Butterfly(2); left - 2 * fours]);
        for prime in [3, 5, 7, 11, LARGEST_PRIME] {
            while rest.is_multiple_of(prime) {
                rest /= prime;
                steps.push(Step::Butterfly(prime));
            }
        }
        debug_assert_eq!(rest, 1);
        steps
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in self.rules() {
            writeln!(
                f,
                "{:<38} {:<26} {}",
                rule.condition,
                rule.path.to_string(),
                rule.reason
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_posts_lengths_get_the_posts_paths() {
        let path = |n, mode| Table::Posted.rule(n, mode).path;
        assert_eq!(path(64, Mode::Fast), Path::DftGemm);
        assert_eq!(path(256, Mode::Bf16), Path::DftGemm);
        assert_eq!(path(256, Mode::Kahan), Path::Radix4);
        assert_eq!(path(64, Mode::Kahan), Path::Radix8);
        assert_eq!(path(512, Mode::Fast), Path::Radix8);
        assert_eq!(path(4096, Mode::Fast), Path::Radix8);
        assert_eq!(path(1 << 14, Mode::Fast), Path::Radix4);
        assert_eq!(path(2048, Mode::Fast), Path::Mixed);
        assert_eq!(path(1000, Mode::Fast), Path::Butterfly);
        assert_eq!(path(1009, Mode::Fast), Path::Bluestein);
        assert_eq!(path(1024, Mode::Ozaki), Path::Blocks);
    }

    #[test]
    fn radices_of_the_mixed_path_are_those_of_the_post() {
        let points = |n: usize| -> Vec<usize> {
            let steps = Table::Measured.steps(n, false);
            steps.iter().map(|step| step.points()).collect()
        };
        assert_eq!(points(1024), [8, 8, 4, 4]);
        assert_eq!(points(2048), [8, 8, 8, 4]);
        assert_eq!(points(2), [2]);
        assert_eq!(points(16), [4, 4]);
        assert_eq!(points(1000), [8, 5, 5, 5]);
        assert!(points(1).is_empty());
        for n in 1..5000usize {
            if small_factors(n) {
                assert_eq!(points(n).iter().product::<usize>(), n);
            }
        }
    }

    #[test]
    fn one_algorithm_alone_is_had_by_the_lengths_that_have_it() {
        let has = |path, n| Table::Only(path).find(n, Mode::Fast).is_some();
        assert!(has(Path::Radix8, 512) && !has(Path::Radix8, 1024));
        assert!(has(Path::Radix4, 1024) && !has(Path::Radix4, 512));
        assert!(has(Path::DftGemm, 1024) && !has(Path::DftGemm, 1025));
        assert!(has(Path::Bluestein, 64) && !has(Path::Butterfly, 17));
        let points = |path, n| -> Vec<usize> {
            let steps = Table::Only(path).steps(n, path == Path::Radix4);
            steps.iter().map(|step| step.points()).collect()
        };
        assert_eq!(points(Path::Butterfly, 64), [2; 6]);
        assert_eq!(points(Path::Radix4, 64), [4; 3]);
        assert_eq!(points(Path::Radix8, 64), [8; 2]);
        assert_eq!(points(Path::Mixed, 128), [8, 4, 4]);
    }

    #[test]
    fn blocks_are_within_their_limits() {
        for n in 1..70_000 {
            if let Some(Cut::Blocks(first, second)) = blocks(n) {
                assert_eq!(first * second, n);
                assert!(first.max(second) <= LARGEST_BLOCK && first.min(second) > 1);
            }
        }
        assert_eq!(blocks(1024), Some(Cut::Blocks(32, 32)));
        assert_eq!(blocks(257), None);
    }
}
