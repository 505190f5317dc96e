//! Shapes on which well-known libraries were silently wrong, each against the referee.

use crate::common_arrays::{ComplexDouble, collect, plan, positions, unravel};
use num_complex::Complex;
use ozfft::{Engine, FftError, Layout, Problem};
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex};
use ozfft_testkit::oracle::{
    Direction, Scale, compare_sampled, compare_scaled, dft_nd, dft_sampled,
};

fn digits(shape: &[usize]) -> Problem {
    Problem::complex(shape).engine(Engine::Digits)
}

fn points(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Corners and a few random places: an index computed wrongly is wrong almost everywhere.
fn samples(shape: &[usize], random: usize) -> Vec<usize> {
    let total = points(shape);
    let mut generator = Generator::new(total as u64);
    let mut places = vec![0, 1 % total, total / 2, total - 1];
    places.extend((0..random).map(|_| generator.below(total)));
    places
}

fn agrees_at_samples(input: &[ComplexDouble], output: &[ComplexDouble], problem: &Problem) {
    let places = samples(problem.shape(), 4);
    let exact = dft_sampled(input, problem.shape(), &places, Direction::Forward);
    let computed: Vec<_> = places.iter().map(|&place| output[place]).collect();
    let error = compare_sampled(&computed, &exact, input, Scale::One).l2;
    // Sampled, the error is an estimate: twice the bound of the whole leaves it room.
    let bound = 2.0 * plan(problem).bound();
    assert!(error <= bound, "{:?}: {error:e}", problem.shape());
}

fn sampled(shape: &[usize]) {
    let problem = digits(shape);
    let input = uniform_complex(points(shape), 21);
    let mut output = input.clone();
    plan(&problem).process(&mut output).unwrap();
    agrees_at_samples(&input, &output, &problem);
}

fn whole(shape: &[usize]) {
    let problem = digits(shape);
    let input = uniform_complex(points(shape), 22);
    let mut output = input.clone();
    plan(&problem).process(&mut output).unwrap();
    let exact = dft_nd(&input, shape, Direction::Forward);
    let error = compare_scaled(&output, &exact, Scale::One).l2;
    assert!(error <= plan(&problem).bound(), "{shape:?}: {error:e}");
}

#[test]
fn two_thousand_and_forty_eight_squared() {
    sampled(&[2048, 2048]);
}

#[test]
fn two_by_two_by_sixteen_thousand() {
    sampled(&[2, 2, 16_384]);
}

#[test]
fn a_trailing_axis_of_one_in_fortran_order() {
    let shape = [1024, 1024, 1];
    let fortran = Layout::fortran(&shape);
    let problem = digits(&shape).input_layout(fortran.clone());
    let input = uniform_complex(points(&shape), 23);
    let mut output = vec![Complex::new(0.0, 0.0); input.len()];
    plan(&problem)
        .process_outofplace(&input, &mut output)
        .unwrap();
    let logical = collect(&input, 1, &positions(&fortran, &shape, 1));
    agrees_at_samples(&logical, &output, &problem);
}

#[test]
fn nine_times_a_prime() {
    for prime in [2, 5, 7, 11, 13, 19, 23, 31, 61, 127, 131] {
        whole(&[9 * prime, 22]);
    }
    whole(&[22, 171]);
    whole(&[171, 171]);
}

#[test]
fn last_dimensions_of_sixty_five_thousand_and_more() {
    sampled(&[3, 65_536]);
    sampled(&[2, 65_537]);
    sampled(&[2, 65_539]);
    sampled(&[3, 2, 66_000]);
}

#[test]
fn many_short_lines_and_axes_of_one() {
    sampled(&[70_000, 2]);
    whole(&[1, 1, 60, 1]);
    whole(&[2, 2, 2, 2, 2, 2, 2, 2]);
    whole(&[1]);
}

#[test]
fn odd_and_zero_strides_along_every_axis() {
    let shape = [4, 9, 5];
    for strides in [[45, 5, 1], [0, 5, 1], [45, 0, 3], [7, 29, 0], [0, 0, 0]] {
        let layout = Layout::strided(&strides, 0).with_offset(1);
        let problem = digits(&shape).input_layout(layout.clone());
        let buffer = uniform_complex(problem.input_len(), 24);
        let mut output = vec![Complex::new(0.0, 0.0); points(&shape)];
        plan(&problem)
            .process_outofplace(&buffer, &mut output)
            .unwrap();
        let logical = collect(&buffer, 1, &positions(&layout, &shape, 1));
        let exact = dft_nd(&logical, &shape, Direction::Forward);
        let error = compare_scaled(&output, &exact, Scale::One).l2;
        assert!(error <= plan(&problem).bound(), "{strides:?}: {error:e}");
        if strides.contains(&0) {
            let rejected = digits(&shape).output_layout(layout).validate();
            assert!(matches!(rejected, Err(FftError::OverlappingOutput { .. })));
        }
    }
}

// More than 2^31 elements would need 64 GiB and more for one array and its result, which no test machine has. What goes
// wrong there is index arithmetic in 32 bits, and that can be held without the memory: the lengths that a plan asks for,
// and the rejection of buffers that are shorter. A position beyond the buffer's end would panic, never wrap around.

#[test]
fn lengths_beyond_two_to_the_thirty_one_are_counted_exactly() {
    let problem = digits(&[65_536, 65_536]);
    assert_eq!(problem.validate(), Ok(()));
    assert_eq!(problem.input_len(), 1 << 32);
    assert_eq!(problem.points(), 1 << 32);
    let made = plan(&problem);
    let rejected = made.process(&mut [Complex::new(0.0, 0.0)]);
    assert_eq!(
        rejected,
        Err(FftError::BufferLength {
            buffer: ozfft::Buffer::Output,
            expected: 1 << 32,
            given: 1
        })
    );
    let half = Problem::real_to_complex(&[65_536, 65_536]);
    assert_eq!(half.output_len(), 65_536 * 32_769);
    let batch = digits(&[16]).batch(1 << 33);
    assert_eq!(batch.input_len(), 1 << 37);
    assert_eq!(batch.validate(), Ok(()));
}

#[test]
fn strides_beyond_two_to_the_thirty_one_are_counted_exactly() {
    let far = 3_000_000_001isize;
    let layout = Layout::strided(&[far, 1], 4 * far).with_offset(5);
    let problem = digits(&[4, 7]).batch(2).output_layout(layout);
    assert_eq!(problem.validate(), Ok(()));
    assert_eq!(problem.output_len(), 5 + 7 * far as usize + 6 + 1);
    assert!(plan(&problem).workspace_len() < 1 << 20);
    let back = Layout::strided(&[-far, 1], 7).with_offset(3 * far as usize);
    assert_eq!(digits(&[4, 7]).input_layout(back).validate(), Ok(()));
    // Just beyond what can be addressed: rejected rather than wrapped.
    let beyond = Layout::strided(&[isize::MAX / 4, 1], 0);
    let rejected = digits(&[8, 2]).input_layout(beyond).validate();
    assert!(matches!(rejected, Err(FftError::TooLarge { .. })));
}

#[test]
fn a_sparse_view_of_a_large_buffer_reads_the_right_elements() {
    // Positions up to 3·10^7 with a stride that is no multiple of anything.
    let layout = Layout::strided(&[1_000_003, 7], 0).with_offset(11);
    let shape = [30, 16];
    let problem = digits(&shape).input_layout(layout.clone());
    let mut buffer = vec![Complex::new(f64::NAN, f64::NAN); problem.input_len()];
    let values = uniform_complex(points(&shape), 25);
    for (element, place) in positions(&layout, &shape, 1).into_iter().enumerate() {
        buffer[place] = values[element];
        assert_eq!(unravel(element, &shape)[1], element % 16);
    }
    let mut output = vec![Complex::new(0.0, 0.0); points(&shape)];
    plan(&problem)
        .process_outofplace(&buffer, &mut output)
        .unwrap();
    let exact = dft_nd(&values, &shape, Direction::Forward);
    assert!(compare_scaled(&output, &exact, Scale::One).l2 <= plan(&problem).bound());
}
