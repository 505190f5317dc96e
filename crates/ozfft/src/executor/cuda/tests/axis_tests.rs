//! Parts of arrays in device memory, axis by axis: the bits of `AxisPlan`, whatever the powers between axes.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::device::queue::{DeviceBlock, DeviceQueue};
use crate::executor::cuda::tests::{Style, numbers};
use crate::problem::{Direction, Norm, Problem};
use crate::sample::Real;
use crate::substrate::Substrate;
use crate::{AxisPlan, DeviceAxisPlan, DevicePointer, Kind, Planner};
use num_complex::Complex;
use std::sync::Arc;

fn queue(tuned: bool) -> DeviceQueue {
    let machine: Arc<dyn Machine> = match tuned {
        true => Arc::new(Emulator::with_tuned_kernels()),
        false => Arc::new(Emulator::default()),
    };
    DeviceQueue::on(machine, 0).unwrap()
}

/// The exponents and the result of a part on the processor.
fn on_processor<T: Real>(plan: &AxisPlan<T>, input: &[T], output: &mut [T]) -> [Vec<i32>; 2] {
    use bytemuck::{cast_slice, cast_slice_mut};
    let mut exponents = vec![0; plan.transforms()];
    let mut workspace = vec![0; plan.workspace_len()];
    match plan.kind() {
        Kind::RealToComplex => plan.largest_exponents_of_reals(input, &mut exponents),
        _ => plan.largest_exponents(cast_slice(input), &mut exponents),
    }
    .unwrap();
    // Other powers in every third transform, as numbers near the ends of the range have them.
    let powers: Vec<i32> = (0..plan.transforms() as i32)
        .map(|i| match (i + exponents[0]) % 3 {
            0 => 7 - i,
            _ => 0,
        })
        .collect();
    match plan.kind() {
        Kind::ComplexToComplex => plan.process_outofplace(
            cast_slice(input),
            cast_slice_mut(output),
            &powers,
            &mut workspace,
        ),
        Kind::RealToComplex => {
            plan.process_real_to_complex(input, cast_slice_mut(output), &powers, &mut workspace)
        }
        Kind::ComplexToReal => {
            plan.process_complex_to_real(cast_slice(input), output, &powers, &mut workspace)
        }
    }
    .unwrap();
    [exponents, powers]
}

fn compare<T: Real>(problem: &Problem, cuts: &[usize], tuned: bool, styles: &[Style]) {
    let (planner, queue) = (Planner::<T>::new(), queue(tuned));
    let whole = planner.plan(problem).unwrap();
    for (number, axis) in whole.axis_order().into_iter().enumerate() {
        let mut shape = problem.shape().to_vec();
        for (other, (n, cut)) in shape.iter_mut().zip(cuts).enumerate() {
            if other != axis {
                *n = (*n - cut).max(1);
            }
        }
        let host = planner.plan_axis(&whole, number, &shape).unwrap();
        let plan: DeviceAxisPlan<T> = planner
            .plan_axis_on_device(&whole, number, &shape, &queue, Substrate::Auto)
            .unwrap();
        for (seed, &style) in styles.iter().enumerate() {
            let reals = plan.input_bytes() / size_of::<T>();
            let drawn = numbers::<T>(reals, style, 5 + seed as u64);
            let input: Vec<T> = drawn.iter().map(|z: &Complex<T>| z.re).collect();
            let mut expected = vec![T::narrow(0.0); plan.output_bytes() / size_of::<T>()];
            let [exponents, powers] = on_processor(&host, &input, &mut expected);
            let arrays = [
                plan.input_bytes(),
                plan.output_bytes(),
                plan.workspace_bytes(),
            ]
            .map(|bytes| queue.allocate(bytes).unwrap());
            let [from, to, workspace] = [0, 1, 2].map(|i| arrays[i].pointer());
            let mut found = vec![T::narrow(1.0); expected.len()];
            let mut found_exponents = vec![0; plan.transforms()];
            // SAFETY: memory of these lengths, ours; the emulator has done everything when it returns.
            unsafe {
                queue.upload(from, bytemuck::cast_slice(&input)).unwrap();
                plan.largest_exponents(&queue, from, &mut found_exponents)
                    .unwrap();
                plan.process(&queue, (from, to), &powers, workspace)
                    .unwrap();
                queue
                    .download(to, bytemuck::cast_slice_mut(&mut found))
                    .unwrap();
            }
            let what =
                format!("{problem:?}, axis {axis} of {shape:?}, {style:?}, powers {powers:?}");
            assert_eq!(exponents, found_exponents, "{what}");
            assert!(
                bytemuck::cast_slice::<T, u8>(&expected) == bytemuck::cast_slice::<T, u8>(&found),
                "{what}"
            );
        }
    }
}

#[test]
fn parts_on_the_device_have_the_bits_of_the_processor() {
    let styles = [Style::Uniform, Style::Tiny, Style::Huge, Style::NotFinite];
    let some = &styles[..2];
    compare::<f64>(&Problem::complex(&[6, 10, 8]), &[2, 3, 0], false, &styles);
    compare::<f64>(
        &Problem::complex(&[5, 16, 7]).axes(&[0, 1]).batch(2),
        &[1, 0, 3],
        false,
        &styles,
    );
    compare::<f64>(&Problem::real_to_complex(&[9, 12]), &[4, 0], false, some);
    compare::<f64>(
        &Problem::complex_to_real(&[9, 15]).norm(Norm::Ortho),
        &[4, 2],
        false,
        some,
    );
    compare::<f64>(
        &Problem::complex(&[67, 4]).direction(Direction::Inverse),
        &[0, 1],
        false,
        some,
    );
    compare::<f64>(&Problem::complex(&[3, 256]), &[1, 128], true, some);
    compare::<f32>(&Problem::complex(&[6, 10]), &[2, 3], false, &styles);
    compare::<f32>(&Problem::real_to_complex(&[4, 10]), &[1, 0], false, some);
}

#[test]
fn blocks_are_copied_and_nothing_beside_them() {
    let queue = queue(false);
    let array = queue.allocate(4 * 5 * 6).unwrap();
    let other = queue.allocate(60).unwrap();
    let numbered: Vec<u8> = (0..120).collect();
    let mut found = [0; 60];
    // Rows 1 to 3 of slices 1 to 3, without their first and last two bytes.
    let start = array.pointer().0 + 30 + 6 + 2;
    let block = DeviceBlock {
        from: DevicePointer(start),
        to: other.pointer(),
        bytes: 3,
        rows: 2,
        slices: 3,
        row_distances: [6, 4],
        slice_distances: [30, 20],
    };
    // SAFETY: within memory that was allocated; the emulator has done everything when it returns.
    unsafe {
        queue.upload(array.pointer(), &numbered).unwrap();
        queue.upload(other.pointer(), &[255; 60]).unwrap();
        queue.copy(&block).unwrap();
        queue.download(other.pointer(), &mut found).unwrap();
    }
    assert!(queue.is_done() && array.len() == 120 && queue.ordinal() == 0);
    let mut expected = [255; 60];
    for (slice, row, byte) in
        (0..3).flat_map(|s| (0..2).flat_map(move |r| (0..3).map(move |b| (s, r, b))))
    {
        expected[20 * slice + 4 * row + byte] = (38 + 30 * slice + 6 * row + byte) as u8;
    }
    assert_eq!(found, expected);
}
