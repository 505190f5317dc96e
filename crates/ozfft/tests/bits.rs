//! Same recipe, same bits: whatever the threads, the batch, the layout, the substrate or the kind of call.

use crate::common_arrays::{
    ComplexDouble, Sample, available_substrates, bits, choose, collect, count, execute_any,
    hermitian_extension, plan, positions, random_layout, random_problem, random_values, run_cases,
    spread, widths,
};
use crate::support::everything;
use num_complex::Complex;
use ozfft::{
    CpuUnit, Direction, Engine, Kind, Layout, Norm, Planner, Problem, Products, Substrate,
};
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex, uniform_real};
use ozfft_testkit::same_bits;
use sha2::{Digest, Sha256};

/// A quarter of what there is time for otherwise.
fn cases() -> usize {
    if everything() { 10_000 } else { 2_500 }
}
const SEED: u64 = 0x0ddb_1a5e_5bad_5eed;

/// One case: a variant against the plain transform. Returns what differed.
fn differing<T: Sample>(planner: &Planner<T>, generator: &mut Generator) -> Result<(), String> {
    let plain = random_problem::<T>(generator);
    let kind = plain.kind();
    let (input_shape, output_shape) = (plain.input_shape(), plain.output_shape());
    let (input_width, output_width) = widths(kind);
    let small = count(&input_shape) <= 64;
    let batch = match generator.below(8) {
        0 if small => 17,
        0..=3 => 1,
        _ => 2 + generator.below(2),
    };
    let chosen = generator.below(batch);
    let in_place = kind == Kind::ComplexToComplex && generator.below(3) == 0;
    // Contiguous arrays take paths of their own, which random strides hardly ever meet.
    let contiguous = generator.below(3) == 0;
    let mut lay = |shape: &[usize]| {
        if contiguous {
            Layout::contiguous(shape)
        } else {
            random_layout(generator, shape, batch)
        }
    };
    let input_layout = lay(&input_shape);
    let output_layout = if in_place {
        input_layout.clone()
    } else {
        lay(&output_shape)
    };
    let variant = plain
        .clone()
        .batch(batch)
        .threads(choose(generator, &[1, 2, 3, 7]))
        .substrate(choose(generator, available_substrates()))
        .input_layout(input_layout.clone())
        .output_layout(output_layout.clone());
    let say = |what: &str| format!("{what}: {variant:?}");

    let per_array = count(&input_shape) * input_width;
    let values: Vec<T> = random_values(generator, per_array * batch);
    let reference = planner
        .plan(&plain.threads(1).substrate(CpuUnit::Scalar))
        .map_err(|error| say(&error.to_string()))?;
    let mut expected = vec![T::from_double(0.0); count(&output_shape) * output_width];
    execute_any(
        &reference,
        &values[chosen * per_array..][..per_array],
        &mut expected,
    )
    .map_err(|error| say(&error.to_string()))?;

    let made = planner
        .plan(&variant)
        .map_err(|error| say(&error.to_string()))?;
    // The recipe, and nothing else, is to determine the bits: it must be the same to begin with.
    if made.recipe() != reference.recipe() {
        return Err(say("the recipe depends on the layout"));
    }
    let filler = T::from_double(12345.0);
    let read = positions(&input_layout, &input_shape, batch);
    let written = positions(&output_layout, &output_shape, batch);
    let input = spread(&values, input_width, &read, variant.input_len(), filler);
    let mut output = if in_place {
        input.clone()
    } else {
        vec![filler; variant.output_len() * output_width]
    };
    let outcome = if in_place {
        made.process(bytemuck::cast_slice_mut(&mut output))
    } else {
        execute_any(&made, &input, &mut output)
    };
    outcome.map_err(|error| say(&error.to_string()))?;
    let all = collect(&output, output_width, &written);
    let found = &all[chosen * expected.len()..][..expected.len()];
    same_bits(&expected, found, SEED).map_err(|difference| say(&difference.to_string()))?;
    // What lies between the elements is not ours to write.
    let untouched = spread(&all, output_width, &written, variant.output_len(), filler);
    same_bits(&untouched, &output, SEED)
        .map_err(|difference| say(&format!("written outside the layout: {difference}")))
}

#[test]
fn random_variants_have_the_bits_of_the_plain_transform() {
    run_cases((cases(), SEED), differing::<f32>, differing::<f64>);
}

fn transformed(problem: &Problem, input: &[ComplexDouble]) -> Vec<ComplexDouble> {
    let mut output = vec![Complex::new(0.0, 0.0); problem.output_len()];
    plan(problem)
        .process_outofplace(input, &mut output)
        .unwrap();
    output
}

#[test]
fn one_two_three_and_seven_threads_give_the_same_bits() {
    // Long lines share their threads within the line, short ones are dealt out.
    for (shape, batch) in [
        (vec![1 << 15], 1),
        (vec![40_009], 1),
        (vec![96, 131], 1),
        (vec![1000], 9),
        (vec![1500], 2),
    ] {
        let problem = Problem::complex(&shape).batch(batch).engine(Engine::Digits);
        let input = uniform_complex(problem.input_len(), 31);
        let alone = transformed(&problem.clone().threads(1), &input);
        for threads in [2, 3, 7] {
            let shared = transformed(&problem.clone().threads(threads), &input);
            assert!(
                bits(&alone) == bits(&shared),
                "{shape:?}, {threads} threads"
            );
        }
    }
}

#[test]
fn every_position_in_batches_of_two_seventeen_and_a_thousand_gives_the_same_bits() {
    for n in [8, 60, 131, 1030] {
        let problem = Problem::complex(&[n]).engine(Engine::Digits);
        let line = uniform_complex(n, n as u64);
        let alone = transformed(&problem, &line);
        for batch in [1, 2, 17, 1000] {
            if n * batch > 150_000 {
                continue; // A thousand of the longer lines would show nothing new, and take seconds.
            }
            // The line itself at every third position, others in between, a thousand times larger.
            let mut input: Vec<ComplexDouble> = uniform_complex(n * batch, 77)
                .iter()
                .map(|z| z * 1000.0)
                .collect();
            for position in (0..batch).step_by(3) {
                input[position * n..][..n].copy_from_slice(&line);
            }
            let output = transformed(&problem.clone().batch(batch).threads(2), &input);
            for position in (0..batch).step_by(3) {
                assert!(
                    bits(&output[position * n..][..n]) == bits(&alone),
                    "length {n}, position {position} of {batch}"
                );
            }
        }
    }
}

#[test]
fn real_to_complex_is_the_half_of_complex_to_complex() {
    for n in [
        1usize, 2, 3, 8, 60, 97, 127, 131, 262, 1000, 1024, 1030, 4096,
    ] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let real = uniform_real(n, n as u64);
            let complex: Vec<ComplexDouble> = real.iter().map(|&x| Complex::new(x, 0.0)).collect();
            let whole = Problem::complex(&[n])
                .direction(direction)
                .engine(Engine::Digits);
            let expected = transformed(&whole, &complex);
            let half = Problem::real_to_complex(&[n])
                .direction(direction)
                .engine(Engine::Digits);
            let mut output = vec![Complex::new(0.0, 0.0); n / 2 + 1];
            plan(&half)
                .process_real_to_complex(&real, &mut output)
                .unwrap();
            assert!(
                bits(&output) == bits(&expected[..n / 2 + 1]),
                "{n}, {direction:?}"
            );
        }
    }
}

#[test]
fn real_to_complex_in_two_dimensions_is_the_half_of_complex_to_complex() {
    let shape = [12, 131];
    let real = uniform_real(12 * 131, 5);
    let complex: Vec<ComplexDouble> = real.iter().map(|&x| Complex::new(x, 0.0)).collect();
    let expected = transformed(&Problem::complex(&shape).engine(Engine::Digits), &complex);
    let problem = Problem::real_to_complex(&shape).engine(Engine::Digits);
    let mut output = vec![Complex::new(0.0, 0.0); 12 * 66];
    plan(&problem)
        .process_real_to_complex(&real, &mut output)
        .unwrap();
    for (row, half) in output.chunks_exact(66).enumerate() {
        assert!(
            bits(half) == bits(&expected[row * 131..][..66]),
            "row {row}"
        );
    }
}

#[test]
fn complex_to_real_is_the_real_part_of_the_inverse_of_the_hermitian_extension() {
    for n in [1usize, 2, 3, 8, 60, 97, 127, 131, 262, 1000, 1024, 1030] {
        for direction in [Direction::Inverse, Direction::Forward] {
            let mut half = uniform_complex(n / 2 + 1, 3 * n as u64);
            half[0].im = 0.0;
            if n % 2 == 0 {
                half[n / 2].im = 0.0;
            }
            let whole = Problem::complex(&[n])
                .direction(direction)
                .engine(Engine::Digits);
            let expected: Vec<f64> = transformed(&whole, &hermitian_extension(&half, &[n], &[0]))
                .iter()
                .map(|z| z.re)
                .collect();
            let problem = Problem::complex_to_real(&[n])
                .direction(direction)
                .engine(Engine::Digits);
            let mut output = vec![0.0; n];
            plan(&problem)
                .process_complex_to_real(&half, &mut output)
                .unwrap();
            assert!(bits(&output) == bits(&expected), "{n}, {direction:?}");
        }
    }
}

/// One axis of an array, by plans of rank one over a strided batch for each of the outer dimensions.
fn along_axis(array: &mut [ComplexDouble], shape: &[usize], axis: usize, plain: &Problem) {
    let inner = count(&shape[axis + 1..]);
    let layout = Layout::strided(&[inner as isize], 1);
    let problem = plain
        .clone()
        .batch(inner)
        .input_layout(layout.clone())
        .output_layout(layout);
    for block in array.chunks_exact_mut(shape[axis] * inner) {
        plan(&problem).process(block).unwrap();
    }
}

#[test]
fn several_dimensions_are_the_composition_of_one_dimensional_plans() {
    for (shape, axes) in [
        (vec![60, 60], vec![0, 1]),
        (vec![5, 131, 4], vec![0, 1, 2]),
        (vec![3, 4, 5, 6], vec![2, 0, 3]),
        (vec![2, 1030], vec![1, 0]),
    ] {
        for norm in [Norm::Backward, Norm::Ortho, Norm::Forward] {
            let problem = Problem::complex(&shape)
                .axes(&axes)
                .norm(norm)
                .engine(Engine::Digits);
            let input = uniform_complex(count(&shape), 9);
            let expected = transformed(&problem, &input);
            let mut composed = input;
            for &axis in axes.iter().rev() {
                let line = Problem::complex(&[shape[axis]])
                    .norm(norm)
                    .engine(Engine::Digits);
                along_axis(&mut composed, &shape, axis, &line);
            }
            assert!(bits(&composed) == bits(&expected), "{shape:?}, {axes:?}");
        }
    }
}

/// What the outputs of six fixed inputs hash to, on every platform and for ever: bits are part of the interface.
const DIGEST: &str = "817c59623c6acaafbc9e46aa7321c4d1d33e17a1aeefa5b1168e8e6f19dfde8f";

#[test]
fn six_fixed_inputs_have_the_known_digest_on_every_platform() {
    let named = available_substrates().iter().copied();
    for substrate in [Substrate::Auto].into_iter().chain(named) {
        let mut digest = Sha256::new();
        // Little-endian whatever the machine.
        let mut absorb = |values: &[ComplexDouble]| {
            for z in values {
                digest.update(z.re.to_le_bytes());
                digest.update(z.im.to_le_bytes());
            }
        };
        let digits = |shape: &[usize]| {
            Problem::complex(shape)
                .engine(Engine::Digits)
                .substrate(substrate)
        };
        absorb(&transformed(&digits(&[1024]), &uniform_complex(1024, 1)));
        let exact = digits(&[1024]).products(Products::Exact);
        absorb(&transformed(&exact, &uniform_complex(1024, 2)));
        absorb(&transformed(&digits(&[1009]), &uniform_complex(1009, 3)));
        absorb(&transformed(&digits(&[60, 60]), &uniform_complex(3600, 4)));
        let mut half = vec![Complex::new(0.0, 0.0); 2049];
        plan(
            &Problem::real_to_complex(&[4096])
                .engine(Engine::Digits)
                .substrate(substrate),
        )
        .process_real_to_complex(&uniform_real(4096, 5), &mut half)
        .unwrap();
        absorb(&half);
        let mut single: Vec<Complex<f32>> = uniform_complex(1000, 6)
            .iter()
            .map(|z| Complex::new(z.re as f32, z.im as f32))
            .collect();
        Planner::<f32>::new()
            .plan(&digits(&[1000]))
            .and_then(|plan| plan.process(&mut single))
            .unwrap();
        for z in &single {
            digest.update(z.re.to_le_bytes());
            digest.update(z.im.to_le_bytes());
        }
        let hexadecimal: String = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hexadecimal, DIGEST, "{substrate:?}");
    }
}
