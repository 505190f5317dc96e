//! Every layout of an array, by value: bits compared with one another could all be wrong together.

use crate::common_arrays::{
    ComplexDouble, bits, collect, count, execute, hermitian_extension, plan, positions,
    random_layout, spread, widths,
};
use num_complex::Complex;
use ozfft::{Direction, Engine, FftError, Kind, Layout, Problem};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex, uniform_real};
use ozfft_testkit::oracle::{Scale, compare_scaled, dft_axes, dft_nd};

const FORWARD: oracle::Direction = oracle::Direction::Forward;
const FILLER: f64 = 4321.0;

fn numbers(values: &[ComplexDouble]) -> &[f64] {
    bytemuck::cast_slice(values)
}

/// Runs a forward complex problem of these layouts and holds every array of the batch against the referee.
fn holds(shape: &[usize], axes: &[usize], batch: usize, input: &Layout, output: &Layout) {
    let problem = Problem::complex(shape)
        .axes(axes)
        .batch(batch)
        .engine(Engine::Digits)
        .input_layout(input.clone())
        .output_layout(output.clone());
    let values = uniform_complex(batch * count(shape), 11);
    let read = positions(input, shape, batch);
    let written = positions(output, shape, batch);
    let buffer = spread(numbers(&values), 2, &read, problem.input_len(), FILLER);
    let planned = plan(&problem);
    let mut result = vec![FILLER; 2 * problem.output_len()];
    execute(&planned, &buffer, &mut result).unwrap();
    let found = collect(&result, 2, &written);
    let computed: &[ComplexDouble] = bytemuck::cast_slice(&found);
    for (array, (given, got)) in values
        .chunks_exact(count(shape))
        .zip(computed.chunks_exact(count(shape)))
        .enumerate()
    {
        let error = compare_scaled(got, &dft_axes(given, shape, axes, FORWARD), Scale::One).l2;
        assert!(
            error <= planned.bound(),
            "array {array} of {problem:?}: {error:e}"
        );
    }
    let untouched = spread(&found, 2, &written, problem.output_len(), FILLER);
    assert!(bits(&untouched) == bits(&result), "gaps of {problem:?}");
    if input == output {
        let mut place = buffer;
        planned
            .process(bytemuck::cast_slice_mut(&mut place))
            .unwrap();
        assert!(bits(&collect(&place, 2, &written)) == bits(&found));
        assert!(bits(&spread(&found, 2, &written, problem.output_len(), FILLER)) == bits(&place));
    }
}

#[test]
fn fortran_order_in_and_out() {
    let shape = [12, 35, 6];
    let (contiguous, fortran) = (Layout::contiguous(&shape), Layout::fortran(&shape));
    for (input, output) in [
        (&fortran, &fortran),
        (&fortran, &contiguous),
        (&contiguous, &fortran),
    ] {
        holds(&shape, &[0, 1, 2], 2, input, output);
    }
}

#[test]
fn a_strided_batch_of_two_dimensional_arrays() {
    // Every second row and third column of a larger field, arrays interleaved.
    let layout = Layout::strided(&[120, 3], 1).with_offset(5);
    holds(&[20, 30], &[0, 1], 3, &layout, &layout);
    holds(
        &[20, 30],
        &[0, 1],
        3,
        &layout,
        &Layout::contiguous(&[20, 30]),
    );
}

#[test]
fn odd_strides() {
    let input = Layout::strided(&[7 * 13, 7], 7 * 13 * 9).with_offset(3);
    let output = Layout::strided(&[5, 5 * 9], 5 * 9 * 13 + 2).with_offset(1);
    holds(&[9, 13], &[0, 1], 2, &input, &output);
}

#[test]
fn a_zero_stride_broadcasts_the_input() {
    // One row read eleven times, and one array read by the whole batch.
    let rows = Layout::strided(&[0, 1], 0);
    holds_broadcast(&[11, 20], 3, &rows);
    let columns = Layout::strided(&[1, 0], 0);
    holds_broadcast(&[11, 20], 1, &columns);
}

fn holds_broadcast(shape: &[usize], batch: usize, input: &Layout) {
    let problem = Problem::complex(shape)
        .batch(batch)
        .engine(Engine::Digits)
        .input_layout(input.clone());
    let given = uniform_complex(problem.input_len(), 8);
    let mut output = vec![Complex::new(0.0, 0.0); problem.output_len()];
    plan(&problem)
        .process_outofplace(&given, &mut output)
        .unwrap();
    let read: Vec<ComplexDouble> = positions(input, shape, batch)
        .iter()
        .map(|&place| given[place])
        .collect();
    for (values, result) in read
        .chunks_exact(count(shape))
        .zip(output.chunks_exact(count(shape)))
    {
        let exact = dft_nd(values, shape, FORWARD);
        assert!(compare_scaled(result, &exact, Scale::One).l2 <= plan(&problem).bound());
    }
}

#[test]
fn negative_strides_run_backwards() {
    let layout = Layout::strided(&[-24, 1], -24 * 10).with_offset(24 * 10 * 3 - 24);
    holds(&[10, 24], &[0, 1], 3, &layout, &layout);
    let both = Layout::strided(&[-24, -1], 240).with_offset(239);
    holds(&[10, 24], &[1], 2, &both, &both);
}

#[test]
fn selected_axes_in_any_order() {
    let shape = [6, 10, 21];
    for axes in [&[0][..], &[1], &[2], &[2, 0], &[0, 1], &[1, 2, 0]] {
        holds(
            &shape,
            axes,
            2,
            &Layout::contiguous(&shape),
            &Layout::fortran(&shape),
        );
    }
}

#[test]
fn bluestein_and_several_passes_through_strides() {
    for n in [131, 1030] {
        let layout = Layout::strided(&[3, 3 * n as isize + 1], 1).with_offset(2);
        holds(&[n, 2], &[0], 2, &layout, &layout);
    }
}

#[test]
fn a_buffer_that_begins_at_any_element_of_an_allocation() {
    // Vector instructions like addresses that are multiples of 32 or 64; a slice need not begin there.
    let problem = Problem::complex(&[1000]).engine(Engine::Digits);
    let line = uniform_complex(1000, 2);
    let mut expected = line.clone();
    plan(&problem).process(&mut expected).unwrap();
    for start in 1..8 {
        let mut memory = vec![Complex::new(FILLER, FILLER); start + 1000];
        memory[start..].copy_from_slice(&line);
        plan(&problem).process(&mut memory[start..]).unwrap();
        assert!(bits(&memory[start..]) == bits(&expected), "start {start}");
        assert!(memory[..start].iter().all(|z| z.re == FILLER));
    }
}

#[test]
fn a_buffer_that_is_longer_than_the_plan_is_rejected_unless_a_layout_was_given() {
    let problem = Problem::complex(&[16]);
    let mut buffer = uniform_complex(20, 2);
    let before = buffer.clone();
    for length in [15, 17, 20] {
        let rejected = plan(&problem).process(&mut buffer[..length]);
        assert_eq!(
            rejected,
            Err(FftError::BufferLength {
                buffer: ozfft::Buffer::Output,
                expected: 16,
                given: length
            })
        );
    }
    assert!(bits(&buffer) == bits(&before));
    // A layout says that the array lies within longer memory; the rest is left alone.
    let layout = Layout::contiguous(&[16]);
    let within = problem.clone().input_layout(layout.clone());
    let within = within.output_layout(layout);
    plan(&within).process(&mut buffer).unwrap();
    assert!(bits(&buffer[16..]) == bits(&before[16..]));
    let exact = oracle::dft(&before[..16], FORWARD);
    assert!(compare_scaled(&buffer[..16], &exact, Scale::One).l2 <= plan(&within).bound());
}

#[test]
fn real_to_complex_through_random_layouts_and_axes() {
    let mut generator = Generator::new(6);
    for (shape, axes) in [
        (vec![12, 15], vec![0, 1]),
        (vec![12, 15], vec![1, 0]),
        (vec![5, 9, 8], vec![2, 1]),
        (vec![5, 131], vec![1]),
        (vec![16, 3], vec![0]),
    ] {
        let batch = 2;
        let plain = Problem::real_to_complex(&shape).axes(&axes);
        let half_shape = plain.output_shape();
        let input = random_layout(&mut generator, &shape, batch);
        let output = random_layout(&mut generator, &half_shape, batch);
        let problem = plain
            .batch(batch)
            .engine(Engine::Digits)
            .input_layout(input.clone())
            .output_layout(output.clone());
        let values = uniform_real(batch * count(&shape), 3);
        let read = positions(&input, &shape, batch);
        let buffer = spread(&values, 1, &read, problem.input_len(), FILLER);
        let mut result = vec![FILLER; 2 * problem.output_len()];
        execute(&plan(&problem), &buffer, &mut result).unwrap();
        let found = collect(&result, 2, &positions(&output, &half_shape, batch));
        let computed: &[ComplexDouble] = bytemuck::cast_slice(&found);
        let halved = *axes.last().unwrap();
        for (given, got) in values
            .chunks_exact(count(&shape))
            .zip(computed.chunks_exact(count(&half_shape)))
        {
            let complex: Vec<_> = given.iter().map(|&x| Complex::new(x, 0.0)).collect();
            let mut exact = dft_axes(&complex, &shape, &axes, FORWARD);
            let mut element = 0;
            exact.values.retain(|_| {
                let index = crate::common_arrays::unravel(element, &shape);
                element += 1;
                2 * index[halved] <= shape[halved]
            });
            let error = compare_scaled(got, &exact, Scale::One).l2;
            assert!(error <= plan(&problem).bound(), "{problem:?}: {error:e}");
        }
    }
}

#[test]
fn complex_to_real_through_random_layouts_and_axes() {
    let mut generator = Generator::new(7);
    for (shape, axes) in [
        (vec![12, 15], vec![0, 1]),
        (vec![12, 16], vec![1, 0]),
        (vec![5, 9, 8], vec![2, 1]),
        (vec![5, 131], vec![1]),
        (vec![16, 3], vec![0]),
    ] {
        let batch = 2;
        let plain = Problem::complex_to_real(&shape).axes(&axes);
        assert_eq!(widths(Kind::ComplexToReal), (2, 1));
        let half_shape = plain.input_shape();
        let input = random_layout(&mut generator, &half_shape, batch);
        let output = random_layout(&mut generator, &shape, batch);
        let problem = plain
            .batch(batch)
            .engine(Engine::Digits)
            .input_layout(input.clone())
            .output_layout(output.clone());
        let values = uniform_complex(batch * count(&half_shape), 3);
        let read = positions(&input, &half_shape, batch);
        let buffer = spread(numbers(&values), 2, &read, problem.input_len(), FILLER);
        let mut result = vec![FILLER; problem.output_len()];
        crate::common_arrays::execute_any(&plan(&problem), &buffer, &mut result).unwrap();
        let found = collect(&result, 1, &positions(&output, &shape, batch));
        let points = problem.points();
        for (given, got) in values
            .chunks_exact(count(&half_shape))
            .zip(found.chunks_exact(count(&shape)))
        {
            let whole = hermitian_extension(given, &shape, &axes);
            let mut exact = dft_axes(&whole, &shape, &axes, oracle::Direction::Inverse);
            // A random half-spectrum of several axes is not quite Hermitian: its real part is what is asked for.
            for value in &mut exact.values {
                value.im = oracle::DoubleDouble::default();
            }
            let complex: Vec<_> = got.iter().map(|&x| Complex::new(x, 0.0)).collect();
            let error = compare_scaled(&complex, &exact, Scale::OneOverLength(points)).l2;
            assert!(error <= plan(&problem).bound(), "{problem:?}: {error:e}");
        }
    }
}

#[test]
fn real_to_complex_in_the_same_memory_equals_out_of_place() {
    for (shape, batch) in [
        (vec![1], 3),
        (vec![8], 1),
        (vec![9], 2),
        (vec![6, 10], 2),
        (vec![3, 5, 131], 1),
        (vec![1030], 2),
    ] {
        let apart = Problem::real_to_complex(&shape)
            .batch(batch)
            .engine(Engine::Digits);
        let values = uniform_real(apart.input_len(), 12);
        let mut expected = vec![Complex::new(0.0, 0.0); apart.output_len()];
        plan(&apart)
            .process_real_to_complex(&values, &mut expected)
            .unwrap();
        let padded = Layout::padded_real(&shape);
        let together = apart.clone().input_layout(padded.clone());
        let mut reals = spread(
            &values,
            1,
            &positions(&padded, &shape, batch),
            2 * apart.output_len(),
            FILLER,
        );
        plan(&together)
            .process_real_in_place(bytemuck::cast_slice_mut(&mut reals))
            .unwrap();
        assert!(bits(&reals) == bits(&expected), "{shape:?}, batch {batch}");
        // Without the padding the rows would run into each other.
        let rejected = plan(&apart).process_real_in_place(&mut expected);
        let natural = apart.input_len() == together.input_len();
        assert!(natural || rejected == Err(FftError::InPlaceLayout));
    }
}

#[test]
fn in_place_inverse_through_a_layout_returns_what_was_given() {
    let layout = Layout::strided(&[-2, 41], 1).with_offset(38);
    let problem = Problem::complex(&[20, 6])
        .engine(Engine::Digits)
        .input_layout(layout.clone())
        .output_layout(layout);
    let given = uniform_complex(problem.input_len(), 4);
    let mut buffer = given.clone();
    plan(&problem).process(&mut buffer).unwrap();
    let back = problem.direction(Direction::Inverse);
    plan(&back).process(&mut buffer).unwrap();
    let largest = given
        .iter()
        .zip(&buffer)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f64::max);
    assert!(largest < 1e-14, "{largest:e}");
}
