//! Tests of all families, of the list and of the rule.

use super::spec::SHARED_KILOBYTES;
use super::steps::{is_matrix, max_warps};
use super::*;
use std::collections::HashSet;

/// The kernel, which is there and fits.
fn fitting(
    family: impl Into<Family>,
    number: Number,
    strided: bool,
    kilobytes: usize,
) -> KernelSpec {
    let family = family.into();
    let spec = KernelSpec::new(family, number, strided, kilobytes << 10);
    let spec = spec.unwrap_or_else(|| panic!("{family:?}, {number:?}, {kilobytes} KB"));
    assert!(spec.shared_bytes() <= kilobytes << 10, "{spec:?}");
    spec
}

/// Threads of a warp that leave a loop one by one are not always brought together again (docs/gpu-template.md, "A trap").
#[test]
fn loops_of_the_template_begin_at_the_same_number_for_a_whole_warp() {
    let of_threads = ["in_group()", "thread_number()", "threadIdx", "lane.number"];
    let template = source::HEADERS
        .iter()
        .filter(|(name, _)| name.contains("/bailey_"));
    let mut loops = 0;
    for (name, text) in template {
        for line in text.lines().filter(|line| line.contains("for (")) {
            loops += 1;
            let start = line.split(';').next().unwrap_or(line);
            let own = of_threads.iter().find(|word| start.contains(*word));
            assert!(own.is_none(), "{name}: {line}: use share_out");
        }
    }
    assert!(loops > 20, "{loops}");
}

#[test]
fn every_line_of_the_list_is_an_entry_of_its_own() {
    let lines = list::LENGTHS.lines();
    let lines = lines.filter(|line| line.starts_with("BAILEY")).count();
    let keys = list::entries().map(|entry| (entry.by_warpgroups, entry.steps, entry.strided));
    let keys: Vec<_> = keys.collect();
    assert_eq!(keys.len(), lines);
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), lines);
}

#[test]
fn listed_lengths_have_kernels_that_fit_the_gpus_that_they_are_for() {
    let real_numbers = [
        (Number::Double, [Ends::RealToHalf, Ends::HalfToReal]),
        (Number::Single, [Ends::RealToHalf, Ends::HalfToReal]),
        (Number::fewer(3), [Ends::RealToHalf; 2]),
        (Number::fewer(7), [Ends::HalfToReal; 2]),
    ];
    for Listed { steps, strided, .. } in listed() {
        for kilobytes in SHARED_KILOBYTES {
            for number in [Number::Double, Number::DoubleFp8, Number::DoubleF16] {
                let spec = fitting(Block { steps }, number, strided, kilobytes);
                // Of more warps than the rule allows, which leaves them fewer registers, some were measured to be faster in int8.
                let most = if number == Number::Double { 768 } else { 512 };
                assert!(spec.threads() <= most, "{spec:?}");
            }
            for (number, ends) in real_numbers {
                for ends in ends {
                    let spec = fitting(Real { steps, ends }, number, strided, kilobytes);
                    assert!(spec.threads() <= 512, "{spec:?}");
                }
            }
        }
    }
}

/// All blocks of three odd steps, or of an even one and two odd ones, of up to 1024 points.
#[test]
fn the_rule_takes_every_block_of_three_products() {
    for steps in [
        [7, 7, 7],
        [11, 7, 7],
        [11, 11, 5],
        [13, 7, 7],
        [14, 7, 7],
        [13, 11, 5],
        [17, 7, 7],
        [13, 13, 5],
        [11, 11, 7],
        [17, 17, 3],
        [19, 7, 7],
        [17, 11, 5],
        [19, 17, 3],
        [13, 11, 7],
    ] {
        for strided in [false, true] {
            for kilobytes in SHARED_KILOBYTES {
                let spec = fitting(ThreeSteps { steps }, Number::Double, strided, kilobytes);
                assert!(spec.threads() <= 512, "{spec:?}");
            }
        }
    }
    let even = ThreeSteps { steps: [22, 11, 4] };
    assert_eq!(
        KernelSpec::new(even, Number::Double, false, 227 << 10),
        None
    );
}

#[test]
fn passes_of_long_transforms_fit_the_gpus_that_they_are_for() {
    let kinds = [
        (Number::Double, Pass::Opening),
        (Number::Double, Pass::Middle),
        (Number::Double, Pass::Closing),
        (Number::DoubleFp8, Pass::Opening),
        (Number::DoubleFp8, Pass::Middle),
        (Number::DoubleFp8, Pass::Closing),
        (Number::DoubleF16, Pass::Opening),
        (Number::DoubleF16, Pass::Middle),
        (Number::DoubleF16, Pass::Closing),
        (Number::Single, Pass::OpeningReal),
        (Number::Single, Pass::OpeningHalf),
        (Number::Single, Pass::ClosingReal),
        (Number::fewer(3), Pass::Opening),
        (Number::fewer(7), Pass::ClosingReal),
    ];
    for steps in [
        [16, 1, 8],
        [16, 1, 16],
        [25, 1, 4],
        [20, 1, 20],
        [25, 1, 10],
        [32, 1, 16],
        [32, 1, 32],
        [40, 1, 25],
        [28, 1, 36],
        [32, 1, 1],
        [45, 1, 1],
        [7, 7, 7],
        [14, 7, 7],
        [13, 11, 5],
        [17, 17, 3],
    ] {
        for kilobytes in SHARED_KILOBYTES {
            for (number, pass) in kinds {
                let family = LongPass::new(steps, 1000, pass);
                let of_three = steps[1] > 1 && number != Number::Double;
                // Two lines of 36 columns are nine warps, and digits in fp8 leave registers for eight.
                if of_three || (steps, number) == ([28, 1, 36], Number::DoubleFp8) {
                    let spec = KernelSpec::new(family, number, false, kilobytes << 10);
                    assert_eq!(spec, None);
                    continue;
                }
                let spec = fitting(family, number, false, kilobytes);
                assert!(spec.threads() <= 512, "{spec:?}");
                let few = spec.for_few().unwrap_or_else(|| panic!("{spec:?}"));
                assert!(few.units[0] <= spec.units[0], "{few:?}");
                assert!(few.shared_bytes() <= kilobytes << 10, "{few:?}");
                assert!(few.threads() <= 512, "{few:?}");
            }
        }
    }
}

#[test]
fn two_passes_in_one_launch_fit_the_gpus_that_they_are_for() {
    for steps in [
        [[16, 4], [32, 1]],
        [[16, 4], [16, 4]],
        [[32, 1], [12, 4]],
        [[40, 1], [40, 1]],
        [[15, 4], [10, 5]],
        [[45, 1], [9, 9]],
        [[7, 7], [28, 1]],
        [[10, 5], [10, 5]],
    ] {
        for kilobytes in SHARED_KILOBYTES {
            for (ends, number, strided) in [
                (Ends::Complex, Number::Double, false),
                (Ends::Complex, Number::Double, true),
                (Ends::Complex, Number::Single, false),
                (Ends::Complex, Number::Single, true),
                (Ends::RealToHalf, Number::Double, false),
                (Ends::RealToHalf, Number::Single, false),
                (Ends::HalfToReal, Number::Double, false),
                (Ends::HalfToReal, Number::Single, false),
                (Ends::Complex, Number::fewer(5), false),
                (Ends::RealToHalf, Number::fewer(5), false),
                (Ends::HalfToReal, Number::fewer(6), false),
                (Ends::Complex, Number::fewer(7), true),
                (Ends::Complex, Number::DoubleFp8, false),
                (Ends::Complex, Number::DoubleFp8, true),
                (Ends::Complex, Number::DoubleF16, false),
                (Ends::Complex, Number::DoubleF16, true),
                (Ends::Convolution, Number::Double, false),
                (Ends::Convolution, Number::Single, false),
            ] {
                let family = TwoPasses { steps, ends };
                // Of convolutions both ways may have no room there.
                let may_be_none = ends == Ends::Convolution && kilobytes < SHARED_KILOBYTES[0];
                let spec = KernelSpec::new(family, number, strided, kilobytes << 10);
                if may_be_none && spec.is_none() {
                    continue;
                }
                let spec = fitting(family, number, strided, kilobytes);
                assert!(spec.threads() <= 768, "{spec:?}");
            }
            for ends in [Ends::RealToHalf, Ends::HalfToReal] {
                let family = TwoPasses { steps, ends };
                let spec = KernelSpec::new(family, Number::Double, true, kilobytes << 10);
                assert_eq!(spec, None, "real lines are contiguous");
            }
        }
    }
}

/// Warps that multiply together are whole warpgroups, beside their tables in Hopper's shared memory; other GPUs have neither.
#[test]
fn warps_that_multiply_together_are_warpgroups() {
    let number = Number::DoubleWgmma;
    for Listed { steps, strided, .. } in listed() {
        let spec = fitting(Block { steps }, number, strided, 227);
        let threads = spec.threads();
        assert!(threads <= 768 && threads.is_multiple_of(128), "{spec:?}");
        assert!(spec.groups > 0 && spec.warps.is_multiple_of(4), "{spec:?}");
        assert!(!spec.is_compiled_in_advance(true), "{spec:?}");
    }
    for entry in list::entries().filter(|entry| entry.by_warpgroups) {
        assert!(
            is_faster_by_warpgroups(entry.steps) && !entry.strided,
            "{entry:?}"
        );
        let spec = fitting(Block { steps: entry.steps }, number, false, 227);
        let [first, last, _] = spec.units;
        assert_eq!(
            (spec.lines, [first, last], spec.groups),
            (entry.lines, entry.units, entry.groups)
        );
    }
    assert!(is_faster_by_warpgroups([20, 18]) && !is_faster_by_warpgroups([16, 4]));
}

/// What is tried instead of the usual parameters fits, has a name of its own, and says what it is.
fn check_candidates(usual: &KernelSpec, kilobytes: usize, least: usize, max_threads: u32) {
    let candidates = usual.candidates();
    let what = usual.name(true);
    assert!((least..=10).contains(&candidates.len()), "{what}");
    assert_eq!(candidates[0], *usual);
    let names: HashSet<String> = candidates.iter().map(|c| c.name(true)).collect();
    assert_eq!(names.len(), candidates.len(), "{names:?}");
    let choices: HashSet<String> = candidates.iter().map(|c| c.choice()).collect();
    assert_eq!(choices.len(), candidates.len(), "{choices:?}");
    for candidate in &candidates {
        assert_eq!(candidate.purpose(), usual.purpose());
        assert_eq!(candidate.parameters(), usual.parameters());
        assert!(candidate.shared_bytes() <= kilobytes << 10, "{what}");
        assert!(candidate.threads() <= max_threads, "{what}");
    }
    for other in &candidates[1..] {
        assert!(!other.is_compiled_in_advance(true), "{}", other.name(true));
    }
}

#[test]
fn candidates_of_blocks_are_kernels_of_their_own() {
    for (number, steps, strided) in [
        (Number::Double, [32, 32], false),
        (Number::Double, [20, 18], true),
        (Number::Single, [45, 1], false),
        (Number::DoubleFp8, [32, 32], false),
        (Number::DoubleF16, [32, 32], false),
        (Number::Double, [16, 4], true),
    ] {
        for kilobytes in SHARED_KILOBYTES {
            let usual = fitting(Block { steps }, number, strided, kilobytes);
            check_candidates(&usual, kilobytes, 3, 768);
            let few = usual.for_few().expect("a kernel");
            assert_eq!(few.purpose(), usual.purpose());
            assert!(few.lines <= usual.lines, "{}", few.name(true));
            assert!(few.shared_bytes() <= kilobytes << 10 && few.threads() <= 512);
        }
    }
}

/// The same of real lines, of blocks of three steps and of passes of long transforms, for few lines as well.
#[test]
fn candidates_of_all_families_are_kernels_of_their_own() {
    let steps = [20, 18];
    let of_real = |ends| Family::from(Real { steps, ends });
    let three = Family::from(ThreeSteps { steps: [7, 7, 7] });
    let passes = [
        ([32, 1, 32], 1024, Number::Double, Pass::Opening),
        ([32, 1, 32], 1024, Number::Double, Pass::Closing),
        ([25, 1, 4], 100, Number::Single, Pass::OpeningReal),
        ([16, 1, 8], 128, Number::DoubleF16, Pass::Middle),
        ([14, 1, 10], 28, Number::Double, Pass::ProductOpening),
        ([7, 7, 7], 343, Number::Double, Pass::Opening),
    ];
    for kilobytes in SHARED_KILOBYTES {
        for (family, number, strided) in [
            (of_real(Ends::RealToHalf), Number::Double, false),
            (of_real(Ends::HalfToReal), Number::Double, true),
            (of_real(Ends::RealToHalf), Number::Single, true),
            (three, Number::Double, false),
            (three, Number::Double, true),
        ] {
            let usual = fitting(family, number, strided, kilobytes);
            check_candidates(&usual, kilobytes, 2, 512);
        }
        for (steps, beside, number, pass) in passes {
            let usual = fitting(LongPass::new(steps, beside, pass), number, false, kilobytes);
            check_candidates(&usual, kilobytes, 2, 512);
            let few = usual.for_few().expect("a kernel");
            check_candidates(&few, kilobytes, 2, 512);
        }
    }
    // Lines that leave panels half empty are a purpose of their own.
    let of = |beside| {
        let pass = LongPass::new([32, 1, 32], beside, Pass::Opening);
        fitting(pass, Number::Double, false, 227).purpose()
    };
    assert_ne!(of(2), of(1024));
    assert_eq!(of(512), of(1024));
}

#[test]
fn the_rule_takes_every_block_of_two_steps() {
    for first in (3..=64).filter(|&n| is_matrix(n)) {
        for last in (1..=first.min(1024 / first)).filter(|&n| n != 2) {
            for strided in [false, true] {
                for number in [
                    Number::Double,
                    Number::fewer(5),
                    Number::DoubleFp8,
                    Number::DoubleF16,
                ] {
                    let usual = fitting(
                        Block {
                            steps: [first, last],
                        },
                        number,
                        strided,
                        227,
                    );
                    let by_rule = usual.ranked().find(KernelSpec::has_registers);
                    let by_rule = by_rule.unwrap_or_else(|| panic!("{usual:?}"));
                    assert!(by_rule.threads() <= 512, "{by_rule:?}");
                }
            }
        }
    }
}

/// Kernels for few lines of steps above 32 points had 16 warps whatever their digits took, and spilled.
#[test]
fn kernels_for_few_lines_have_registers_for_their_digits() {
    for Listed { steps, strided, .. } in listed() {
        for number in [Number::Double, Number::DoubleWgmma, Number::fewer(7)] {
            let usual = fitting(Block { steps }, number, strided, 227);
            let few = usual.for_few().unwrap_or_else(|| panic!("{usual:?}"));
            let most = max_warps(number, steps, [1, 1]).expect("one unit");
            assert!(few.threads() as usize <= 32 * most, "{}", few.name(false));
        }
    }
}

/// Products of warpgroups that spill are serialized, and compute-sanitizer spoils their sums: none has fewer than 80 registers, those of steps above
/// 24 points no fewer than 128.
#[test]
fn kernels_of_warpgroups_have_registers_for_their_products() {
    for Listed { steps, strided, .. } in listed() {
        let usual = fitting(Block { steps }, Number::DoubleWgmma, strided, 227);
        for spec in usual.candidates() {
            let most = if steps[0].max(steps[1]) > 24 { 16 } else { 24 };
            assert!(spec.threads() <= 32 * most, "{}", spec.name(false));
        }
    }
}
