//! The GPU against the processor, bit for bit, and what planning says where there is none.
//!
//! Without a GPU the comparisons are skipped with a notice (with `OZFFT_REQUIRE=gpu` they fail); the kernels' arithmetic is then held by the emulator's tests
//! in `executor/cuda`.

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode_enum};
use cudarc::driver::{CudaContext, DevicePtrMut};
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Device, DevicePointer, Direction, Engine, FftError, GpuUnit, Layout, Norm,
    Planner, Problem, Products, Substrate,
};
use ozfft_testkit::oracle::inputs::{uniform_complex, uniform_real};
use ozfft_testkit::{Requirement, assert_same_bits, available, same_bits};

const SEED: u64 = 0x0d15_ea5e_0b5e_55ed;

/// Whether there is a GPU to compare with.
fn gpu() -> bool {
    let problem = Problem::complex(&[8]).device(Device::Cuda(0));
    let plan = available(Requirement::Gpu, Planner::<f64>::new().plan(&problem));
    if let Some(plan) = &plan {
        println!("{plan}");
    }
    plan.is_some()
}

#[test]
fn without_a_gpu_errors_are_typed_and_auto_says_why() {
    let planner = Planner::<f64>::new();
    let problem = Problem::complex(&[64]).engine(Engine::Digits);
    let asked = planner.plan(&problem.clone().device(Device::Cuda(0)));
    let auto = planner.plan(&problem.clone().device(Device::Auto)).unwrap();
    match asked {
        Ok(plan) => {
            assert_eq!(plan.device(), Device::Cuda(0));
            // Which of the GPU's int8 instructions is faster depends on the GPU.
            assert!(plan.substrate().starts_with("int8-"), "{plan}");
            assert_eq!(auto.device(), Device::Cuda(0), "{auto}");
        }
        Err(error) => {
            assert!(
                matches!(
                    error,
                    FftError::NoDriver { .. }
                        | FftError::NoSuchDevice { .. }
                        | FftError::DeviceTooOld { .. }
                ),
                "{error}"
            );
            assert_eq!(auto.device(), Device::Cpu);
            assert!(auto.why().contains("on the processor"), "{}", auto.why());
        }
    }
    let far = planner.plan(&problem.clone().device(Device::Cuda(1000)));
    assert!(far.is_err());
    assert!(
        auto.to_string()
            .contains(&format!("device {}", auto.device()))
    );
}

#[test]
fn requests_that_no_device_has_are_rejected() {
    let planner = Planner::<f64>::new();
    let problem = Problem::complex(&[64]);
    let rejected = |problem: Problem| {
        let outcome = planner.plan(&problem);
        assert!(
            matches!(outcome, Err(FftError::Unsupported(_))),
            "{outcome:?}"
        );
    };
    rejected(
        problem
            .clone()
            .engine(Engine::Native)
            .device(Device::Cuda(0)),
    );
    rejected(
        problem
            .clone()
            .substrate(CpuUnit::Amx)
            .device(Device::Cuda(0)),
    );
    let digits = problem.engine(Engine::Digits);
    for substrate in [
        Substrate::Gpu(GpuUnit::Int8MmaSync),
        Substrate::Gpu(GpuUnit::Int8Wgmma),
        Substrate::Gpu(GpuUnit::Fp8Wgmma),
        Substrate::Gpu(GpuUnit::Fp8MmaSync),
        Substrate::Gpu(GpuUnit::F16MmaSync),
    ] {
        rejected(digits.clone().substrate(substrate));
    }
}

#[test]
fn plans_for_the_processor_take_no_device_pointers() {
    let plan = Planner::<f64>::new()
        .plan(&Problem::complex(&[16]).engine(Engine::Digits))
        .unwrap();
    assert_eq!(plan.device_workspace_len(), 0);
    let nothing = DevicePointer(0);
    // SAFETY: rejected before anything is done with the addresses.
    let outcome = unsafe { plan.process_device(nothing, nothing, nothing, 0) };
    assert!(matches!(outcome, Err(FftError::Unsupported(_))));
}

#[test]
fn the_device_is_part_of_saved_plans() {
    let problem = Problem::complex(&[8]).device(Device::Auto);
    let text = serde_json::to_string(&problem).unwrap();
    assert_eq!(serde_json::from_str::<Problem>(&text).unwrap(), problem);
    // Plans saved before there were devices are for the processor.
    let old = text.replace("\"device\":\"Auto\",", "");
    assert_ne!(old, text);
    assert_eq!(
        serde_json::from_str::<Problem>(&old).unwrap(),
        Problem::complex(&[8])
    );
}

/// Problems of all kinds.
fn problems() -> Vec<Problem> {
    let mut all = Vec::new();
    for n in (1..=200).chain([
        243,
        256,
        360,
        512,
        729,
        1000,
        1009,
        1024,
        2048,
        4096,
        10_007,
        65_536,
        100_003,
        1 << 20,
    ]) {
        let batch = if n < 300 { 37 } else { 3 };
        all.push(Problem::complex(&[n]).batch(batch));
    }
    for n in [2, 17, 32, 64, 100, 128, 1000, 1024, 2048, 5000, 65_536] {
        for norm in [Norm::Ortho, Norm::Forward] {
            all.push(
                Problem::complex(&[n])
                    .norm(norm)
                    .direction(Direction::Inverse)
                    .batch(5),
            );
        }
        all.push(Problem::complex(&[n]).products(Products::Exact).batch(3));
        for accuracy in [
            Accuracy::Single,
            Accuracy::Target(1e-10),
            Accuracy::Target(1e-3),
        ] {
            all.push(Problem::complex(&[n]).accuracy(accuracy).batch(9));
        }
    }
    for shape in [
        &[64, 64][..],
        &[128, 96],
        &[67, 30],
        &[32, 32, 32],
        &[5, 6, 7, 8],
        &[2048, 9],
        &[100, 1, 50],
    ] {
        all.push(Problem::complex(shape));
        all.push(Problem::complex(shape).axes(&[0]));
        all.push(Problem::complex(shape).input_layout(Layout::fortran(shape)));
    }
    all
}

#[test]
fn bits_of_the_gpu_are_those_of_the_processor() {
    if !gpu() {
        return;
    }
    let planner = Planner::<f64>::new();
    let mut wrong = 0;
    let problems = problems();
    for problem in &problems {
        let problem = problem.clone().engine(Engine::Digits);
        let input = uniform_complex(problem.input_len(), SEED + problem.input_len() as u64);
        let mut expected = vec![Complex::new(0.0, 0.0); problem.output_len()];
        let mut got = expected.clone();
        planner
            .plan(&problem)
            .unwrap()
            .process_outofplace(&input, &mut expected)
            .unwrap();
        let plan = planner
            .plan(&problem.clone().device(Device::Cuda(0)))
            .unwrap();
        plan.process_outofplace(&input, &mut got).unwrap();
        if let Err(difference) = same_bits(&expected, &got, SEED) {
            wrong += 1;
            println!("{problem:?}: {difference}");
        }
    }
    println!("{} problems, {wrong} with differing bits", problems.len());
    assert_eq!(wrong, 0);
}

#[test]
fn real_transforms_have_the_bits_of_the_processor() {
    if !gpu() {
        return;
    }
    let planner = Planner::<f64>::new();
    for shape in [
        &[7][..],
        &[64],
        &[1000],
        &[1024],
        &[4096],
        &[67],
        &[65_536],
        &[32, 48],
        &[9, 10, 11],
        &[2, 2048],
    ] {
        let problem = Problem::real_to_complex(shape).engine(Engine::Digits);
        let input = uniform_real(problem.input_len(), SEED + problem.input_len() as u64);
        let mut half = vec![Complex::new(0.0, 0.0); problem.output_len()];
        let mut got = half.clone();
        planner
            .plan(&problem)
            .unwrap()
            .process_real_to_complex(&input, &mut half)
            .unwrap();
        let plan = planner.plan(&problem.device(Device::Cuda(0))).unwrap();
        plan.process_real_to_complex(&input, &mut got).unwrap();
        assert_same_bits(&half, &got, SEED, format_args!("real to complex {shape:?}"));

        let problem = Problem::complex_to_real(shape).engine(Engine::Digits);
        let (mut expected, mut got) = (
            vec![0.0; problem.output_len()],
            vec![1.0; problem.output_len()],
        );
        let first = planner
            .plan(&problem)
            .unwrap()
            .process_complex_to_real(&half, &mut expected);
        let plan = planner.plan(&problem.device(Device::Cuda(0))).unwrap();
        assert_eq!(plan.process_complex_to_real(&half, &mut got), first);
        assert_same_bits(
            &expected,
            &got,
            SEED,
            format_args!("complex to real {shape:?}"),
        );
    }
}

#[test]
fn special_numbers_have_the_bits_of_the_processor() {
    if !gpu() {
        return;
    }
    let planner = Planner::<f64>::new();
    for shape in [&[60][..], &[1024], &[2048], &[67], &[24, 40]] {
        for factor in [
            f64::from_bits(1),
            1e-310,
            1e300,
            1.7e308,
            f64::NAN,
            f64::INFINITY,
        ] {
            let problem = Problem::complex(shape).engine(Engine::Digits).batch(2);
            let mut input = uniform_complex(problem.input_len(), SEED + problem.input_len() as u64);
            if factor.is_finite() {
                input.iter_mut().for_each(|z| *z *= factor);
            } else {
                input[5].im = factor;
            }
            let mut expected = input.clone();
            planner
                .plan(&problem)
                .unwrap()
                .process(&mut expected)
                .unwrap();
            let plan = planner.plan(&problem.device(Device::Cuda(0))).unwrap();
            plan.process(&mut input).unwrap();
            assert_same_bits(
                &expected,
                &input,
                SEED,
                format_args!("{shape:?} {factor:e}"),
            );
        }
    }
}

#[test]
fn device_pointers_in_a_stream_and_wrong_ones() {
    if !gpu() {
        return;
    }
    let planner = Planner::<f64>::new();
    for shape in [&[1000][..], &[65_536], &[67], &[32, 64]] {
        let problem = Problem::complex(shape).engine(Engine::Digits);
        let input = uniform_complex(problem.input_len(), SEED + problem.input_len() as u64);
        let mut expected = input.clone();
        planner
            .plan(&problem)
            .unwrap()
            .process(&mut expected)
            .unwrap();
        let plan = planner.plan(&problem.device(Device::Cuda(0))).unwrap();
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let numbers: Vec<f64> = input.iter().flat_map(|z| [z.re, z.im]).collect();
        let mut array = stream.clone_htod(&numbers).unwrap();
        let mut workspace = stream
            .alloc_zeros::<u8>(plan.device_workspace_len().max(16))
            .unwrap();
        {
            let (data, _guard) = array.device_ptr_mut(&stream);
            let (scratch, _other) = workspace.device_ptr_mut(&stream);
            let (data, scratch) = (DevicePointer(data), DevicePointer(scratch));
            let queue = stream.cu_stream() as u64;
            // SAFETY: the arrays are long enough, ours, and outlive the stream's work.
            unsafe { plan.process_device(data, data, scratch, queue) }.unwrap();
            let host = DevicePointer(numbers.as_ptr() as u64);
            // SAFETY: rejected before anything is done.
            let outcome = unsafe { plan.process_device(host, data, scratch, queue) };
            assert!(
                matches!(outcome, Err(FftError::WrongPointer { .. })),
                "{outcome:?}"
            );
        }
        let got = stream.clone_dtoh(&array).unwrap();
        let got: Vec<_> = got.chunks(2).map(|z| Complex::new(z[0], z[1])).collect();
        assert_same_bits(&expected, &got, SEED, format_args!("{shape:?}"));
    }
}

/// A caller records a stream of his own, with a plan in it that has been called with these arrays before or has not, and repeats what he
/// has recorded with other contents.
#[test]
fn plans_can_be_part_of_a_graph_that_the_caller_records() {
    if !gpu() {
        return;
    }
    let planner = Planner::<f64>::new();
    // One block, one launch of two passes, passes through memory, a convolution, several axes with scales in between.
    for shape in [&[1024][..], &[2048], &[65_536], &[67], &[64, 48]] {
        let problem = Problem::complex(shape).engine(Engine::Digits);
        let reference = planner.plan(&problem).unwrap();
        let plan = planner
            .plan(&problem.clone().device(Device::Cuda(0)))
            .unwrap();
        let context = CudaContext::new(0).unwrap();
        // Other streams, the driver's own of other tests among them, go on meanwhile.
        let stream = context.new_stream().unwrap();
        let inputs: Vec<Vec<f64>> = (0..3)
            .map(|number| {
                let numbers = uniform_complex(problem.input_len(), SEED + number);
                numbers.iter().flat_map(|z| [z.re, z.im]).collect()
            })
            .collect();
        let mut input = stream.clone_htod(&inputs[0]).unwrap();
        let mut output = stream.alloc_zeros::<f64>(inputs[0].len()).unwrap();
        let mut workspace = stream
            .alloc_zeros::<u8>(plan.device_workspace_len().max(16))
            .unwrap();
        let [from, to, scratch] = {
            let (from, _one) = input.device_ptr_mut(&stream);
            let (to, _two) = output.device_ptr_mut(&stream);
            let (scratch, _three) = workspace.device_ptr_mut(&stream);
            [from, to, scratch].map(DevicePointer)
        };
        let queue = stream.cu_stream() as u64;
        for calls_before in 0..4 {
            // SAFETY: the arrays are long enough, ours, and outlive the stream's work.
            let call = || unsafe { plan.process_device(from, to, scratch, queue) }.unwrap();
            if calls_before > 0 {
                call();
            }
            stream.synchronize().unwrap();
            stream
                .begin_capture(CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
                .unwrap();
            call();
            let graph = stream.end_capture(CUgraphInstantiate_flags(0)).unwrap();
            let graph = graph.expect("launches were recorded");
            for numbers in &inputs {
                stream.memcpy_htod(numbers, &mut input).unwrap();
                graph.launch().unwrap();
                let got = stream.clone_dtoh(&output).unwrap();
                let complex = |numbers: &[f64]| -> Vec<Complex<f64>> {
                    numbers
                        .chunks(2)
                        .map(|z| Complex::new(z[0], z[1]))
                        .collect()
                };
                let mut expected = complex(numbers);
                reference.process(&mut expected).unwrap();
                let what = format_args!("{shape:?}, {calls_before} calls before");
                assert_same_bits(&expected, &complex(&got), SEED, what);
            }
        }
    }
}
