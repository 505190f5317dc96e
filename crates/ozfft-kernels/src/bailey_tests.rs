//! Tests of shapes, of their list and of the rule.

use super::*;
use crate::bailey_long::{LongShape, Pass};
use crate::bailey_real::{Half, RealShape};
use crate::bailey_three::ThreeShape;
use std::collections::HashSet;

/// Threads of a warp that leave a loop one by one are not always brought together again (docs/gpu-template.md, "A trap").
#[test]
fn loops_of_the_template_begin_at_the_same_number_for_a_whole_warp() {
    let of_threads = ["in_group()", "thread_number()", "threadIdx", "lane.number"];
    let template = SOURCES.iter().filter(|(name, _)| name.contains("/bailey_"));
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
fn every_line_of_the_list_is_a_shape_of_its_own() {
    let lines = LENGTHS.lines().filter(|line| line.starts_with("BAILEY"));
    let shapes = listed().map(|(shape, _)| shape);
    let shapes: Vec<BlockShape> = shapes.chain(listed_for_warpgroups()).collect();
    assert_eq!(shapes.len(), lines.count());
    let steps = shapes
        .iter()
        .map(|shape| (shape.number, shape.first, shape.last, shape.strided));
    assert_eq!(steps.collect::<HashSet<_>>().len(), shapes.len());
}

#[test]
fn shapes_fit_the_gpus_that_they_are_for() {
    for (shape, _) in listed() {
        for kilobytes in SHARED_KILOBYTES {
            let (first, last, strided) = (shape.first, shape.last, shape.strided);
            let steps = [first, last];
            for number in [Number::Double, Number::DoubleFp8, Number::DoubleF16] {
                let shape = BlockShape::new(number, steps, strided, kilobytes << 10);
                let shape = shape.unwrap_or_else(|| panic!("{steps:?}, {kilobytes} KB"));
                assert!(shape.shared_bytes() <= kilobytes << 10, "{shape:?}");
                // Of more warps than the rule allows, which leaves them fewer registers, some were measured to be faster in int8.
                let most = if number == Number::Double { 768 } else { 512 };
                assert!(shape.threads() <= most, "{shape:?}");
            }
        }
    }
}

/// Warps that multiply together are whole warpgroups, beside their tables in Hopper's shared memory; other GPUs have neither.
#[test]
fn warps_that_multiply_together_are_warpgroups() {
    let number = Number::DoubleWgmma;
    for (shape, _) in listed() {
        let (steps, strided) = ([shape.first, shape.last], shape.strided);
        let shape = BlockShape::new(number, steps, strided, 227 << 10);
        let shape = shape.unwrap_or_else(|| panic!("{steps:?}"));
        assert!(shape.shared_bytes() <= 227 << 10, "{shape:?}");
        assert!(
            shape.threads() <= 768 && shape.threads().is_multiple_of(128),
            "{shape:?}"
        );
        assert!(
            shape.groups > 0 && shape.warps().is_multiple_of(4),
            "{shape:?}"
        );
        assert!(!shape.is_compiled_in_advance(true), "{shape:?}");
    }
    for listed in listed_for_warpgroups() {
        let steps = [listed.first, listed.last];
        assert!(
            is_faster_by_warpgroups(steps) && !listed.strided,
            "{listed:?}"
        );
        assert_eq!(
            BlockShape::new(number, steps, false, 227 << 10),
            Some(listed)
        );
    }
    assert!(is_faster_by_warpgroups([20, 18]) && !is_faster_by_warpgroups([16, 4]));
}

/// What is tried instead of the usual parameters fits, has a name of its own, and says what it is.
#[test]
fn candidates_are_kernels_of_their_own() {
    for (number, steps, strided) in [
        (Number::Double, [32, 32], false),
        (Number::Double, [20, 18], true),
        (Number::Single, [45, 1], false),
        (Number::DoubleFp8, [32, 32], false),
        (Number::DoubleF16, [32, 32], false),
        (Number::Double, [16, 4], true),
    ] {
        for kilobytes in SHARED_KILOBYTES {
            let usual = BlockShape::new(number, steps, strided, kilobytes << 10);
            let usual = usual.expect("a shape");
            let candidates = usual.candidates();
            assert!(
                (3..=MOST_CANDIDATES).contains(&candidates.len()),
                "{usual:?}"
            );
            assert_eq!(candidates[0].choice(), usual.choice());
            let names: HashSet<String> = candidates.iter().map(|c| c.name(true)).collect();
            assert_eq!(names.len(), candidates.len(), "{names:?}");
            let choices: HashSet<String> = candidates.iter().map(|c| c.choice()).collect();
            assert_eq!(choices.len(), candidates.len(), "{choices:?}");
            let few = usual.for_few().expect("a shape");
            assert_eq!(few.purpose(), usual.purpose());
            assert!(few.lines() <= usual.lines(), "{}", few.name(true));
            assert!(few.shared_bytes() <= kilobytes << 10 && few.threads() <= 512);
            for candidate in &candidates[1..] {
                assert_eq!(candidate.purpose(), usual.purpose());
                assert!(
                    !candidate.is_compiled_in_advance(true),
                    "{}",
                    candidate.name(true)
                );
                assert!(candidate.shared_bytes() <= kilobytes << 10);
                assert!(candidate.threads() <= 768);
            }
        }
    }
}

/// The same of real lines, of blocks of three steps and of passes of long transforms, for few lines as well.
#[test]
fn candidates_of_all_shapes_are_kernels_of_their_own() {
    let boxed =
        |shape: Option<LongShape>| Box::new(shape.expect("a shape")) as Box<dyn KernelShape>;
    for kilobytes in SHARED_KILOBYTES {
        let bytes = kilobytes << 10;
        let mut shapes: Vec<Box<dyn KernelShape>> = Vec::new();
        for (number, half, strided) in [
            (Number::Double, Half::Output, false),
            (Number::Double, Half::Input, true),
            (Number::Single, Half::Output, true),
        ] {
            let shape = RealShape::new((number, half), [20, 18], strided, bytes);
            shapes.push(Box::new(shape.expect("a shape")));
        }
        for strided in [false, true] {
            let shape = ThreeShape::new([7, 7, 7], strided, bytes).expect("a shape");
            shapes.push(Box::new(shape));
        }
        for (steps, beside, kind) in [
            ([32, 1, 32], 1024, (Number::Double, Pass::Opening)),
            ([32, 1, 32], 1024, (Number::Double, Pass::Closing)),
            ([25, 1, 4], 100, (Number::Single, Pass::OpeningReal)),
            ([16, 1, 8], 128, (Number::DoubleF16, Pass::Middle)),
            ([14, 1, 10], 28, (Number::Double, Pass::ProductOpening)),
            ([7, 7, 7], 343, (Number::Double, Pass::Opening)),
        ] {
            for few in [false, true] {
                shapes.push(boxed(LongShape::new(steps, beside, kind, bytes, few)));
            }
        }
        for usual in shapes {
            let what = usual.name(true);
            let purpose = usual.purpose().expect("parameters to choose");
            let candidates = usual.candidates();
            assert!((2..=MOST_CANDIDATES).contains(&candidates.len()), "{what}");
            assert_eq!(
                (candidates[0].choice(), candidates[0].name(true)),
                (usual.choice(), what.clone())
            );
            let names: HashSet<String> = candidates.iter().map(|c| c.name(true)).collect();
            assert_eq!(names.len(), candidates.len(), "{names:?}");
            let choices: HashSet<String> = candidates.iter().map(|c| c.choice()).collect();
            assert_eq!(choices.len(), candidates.len(), "{choices:?}");
            for candidate in &candidates {
                assert_eq!(candidate.purpose().as_ref(), Some(&purpose));
                assert_eq!(candidate.parameters(), usual.parameters());
                assert!(
                    candidate.shared_bytes() <= bytes && candidate.threads() <= 512,
                    "{what}"
                );
                assert!(!candidate.is_compiled_in_advance(true), "{what}");
            }
        }
    }
    // Lines that leave panels half empty are a purpose of their own.
    let pass = (Number::Double, Pass::Opening);
    let of = |beside| boxed(LongShape::new([32, 1, 32], beside, pass, 227 << 10, false)).purpose();
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
                    let shape = by_rule(number, [first, last], strided);
                    let shape = shape.unwrap_or_else(|| panic!("{first} x {last}, {number:?}"));
                    assert!(shape.threads() <= 512, "{shape:?}");
                }
            }
        }
    }
}

/// Kernels for few lines of steps above 32 points had 16 warps whatever their digits took, and spilled.
#[test]
fn kernels_for_few_lines_have_registers_for_their_digits() {
    for (listed, _) in listed() {
        for number in [Number::Double, Number::DoubleWgmma, Number::fewer(7)] {
            let steps = [listed.first, listed.last];
            let usual = BlockShape::new(number, steps, listed.strided, 227 << 10);
            let few = usual.and_then(|shape| shape.for_few());
            let few = few.unwrap_or_else(|| panic!("{steps:?} {number:?}: no kernel"));
            let most = most_warps_for(number, steps, [1, 1]).expect("one unit");
            assert!(few.threads() as usize <= 32 * most, "{}", few.name(false));
        }
    }
}

/// Products of warpgroups that spill are serialized, and compute-sanitizer spoils their sums: none has fewer than 80 registers, those of steps above
/// 24 points no fewer than 128.
#[test]
fn kernels_of_warpgroups_have_registers_for_their_products() {
    for (listed, _) in listed() {
        let steps = [listed.first, listed.last];
        let shape = BlockShape::new(Number::DoubleWgmma, steps, listed.strided, 227 << 10);
        for shape in shape.expect("a shape").candidates() {
            let most = if listed.first.max(listed.last) > 24 {
                16
            } else {
                24
            };
            assert!(shape.threads() <= 32 * most, "{}", shape.name(false));
        }
    }
}
