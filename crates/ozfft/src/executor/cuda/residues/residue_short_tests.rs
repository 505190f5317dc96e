//! The kernels with products by residues for lines of 512 and 256 points under the emulator: exact ways against exact digits on the CPU, of which
//! not a bit may differ, the others against their bounds.

use crate::executor::cuda::residues::residue_tests::{check, emulator, transformed, with};
use crate::executor::cuda::tests::{STYLES, Style, everything, numbers};
use crate::problem::{Direction, Norm, Problem};
use crate::{FftError, Planner};
use residues::reconstruct::Method;

const LENGTHS: [usize; 2] = [256, 512];
const EXACT: [Method; 4] = [
    Method::Kulisch32,
    Method::Kulisch16,
    Method::Kulisch8,
    Method::Garner,
];

#[test]
fn lines_have_the_bits_of_exact_digits_in_every_exact_way() {
    for (number, n) in (0..).zip(LENGTHS) {
        // More lines than a block takes, and the last block is not full.
        let contiguous = Problem::complex(&[19, n]).axes(&[1]);
        check(&contiguous, Method::Kulisch32, Style::Edge, 100 + number);
        let few = Problem::complex(&[3, n]).axes(&[1]);
        for (seed, way) in (200 + 10 * number..).zip(EXACT) {
            check(&few, way, Style::Uniform, seed);
        }
        let across = Problem::complex(&[n, 11]).axes(&[0]);
        let inverse = across.direction(Direction::Inverse).norm(Norm::Ortho);
        check(&inverse, Method::Kulisch32, Style::Uniform, 300 + number);
    }
}

#[test]
fn numbers_of_every_kind_give_the_same_bits() {
    for n in LENGTHS {
        let problem = Problem::complex(&[2, n]).axes(&[1]);
        for (seed, style) in (400 + n as u64..).zip(STYLES) {
            check(&problem, Method::Kulisch32, style, seed);
        }
    }
}

#[test]
fn sums_in_doubles_stay_within_their_bound() {
    for n in LENGTHS {
        let problem = Problem::complex(&[2, n]).axes(&[1]);
        let input = numbers::<f64>(problem.input_len(), Style::Uniform, 500);
        let (exact, got, bound) = transformed(&problem, Method::Double, &input);
        let norm = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>().sqrt();
        let off = norm(&mut exact.iter().zip(&got).map(|(a, b)| (a - b).norm_sqr()));
        let error = off / norm(&mut exact.iter().map(|z| z.norm_sqr()));
        println!("{n} points: {error:e}, bound {bound:e}");
        // Both may be off by their own bounds; that of exact digits is smaller.
        assert!(error > 0.0 && error <= 2.0 * bound, "{error:e}, {bound:e}");
    }
}

#[test]
fn every_axis_of_an_array_has_the_kernel_of_its_length() {
    let problem = with(&Problem::complex(&[256, 1024, 512]), Method::Kulisch16);
    let plan = Planner::<f64>::new().plan_on(&problem, &emulator());
    let launched = plan.unwrap().device_grids();
    let mut kernels: Vec<&str> = launched.iter().map(|&(kernel, _)| kernel).collect();
    kernels.retain(|kernel| kernel.starts_with("residues"));
    kernels.sort_unstable();
    // Many lines take several launches.
    kernels.dedup();
    let expected = [
        "residues_256_kulisch16",
        "residues_512_kulisch16",
        "residues_kulisch16",
    ];
    assert_eq!(kernels, expected);
}

#[test]
fn arrays_of_several_axes_have_the_bits_of_exact_digits() {
    let mixed = Problem::complex(&[256, 512]);
    check(&mixed, Method::Kulisch32, Style::Uniform, 600);
    if everything() {
        check(&mixed, Method::Garner, Style::Wild, 601);
        let deep = Problem::complex(&[256, 2, 1024]).axes(&[0, 2]);
        check(&deep, Method::Kulisch32, Style::Uniform, 602);
    }
}

#[test]
fn what_has_no_kernel_for_short_lines_is_refused_by_name() {
    for way in [Method::Sum2, Method::BernsteinDouble] {
        let problem = with(&Problem::complex(&[512]), way);
        match Planner::<f64>::new().plan_on(&problem, &emulator()) {
            Err(FftError::Unsupported(text)) => {
                assert!(
                    text.contains("not of 512") && text.contains("kulisch32"),
                    "{text}"
                );
            }
            other => panic!("{way:?}: {:?}", other.map(|plan| plan.to_string())),
        }
    }
}
