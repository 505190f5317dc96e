//! Launches of short transforms, recorded as CUDA graphs. To put a launch into a stream takes the processor some microseconds, and a
//! plan of several axes has a dozen; who transforms the same arrays again and again, as most do, has them put there by one call.

use crate::error::FftError;
use crate::executor::cuda::device::machine::{Machine, Queue};
use crate::executor::cuda::program::task::Arrays;
use std::sync::{Arc, Mutex};

/// Recordings that a plan keeps: of so many different arrays.
const MOST: usize = 8;

/// What has been recorded of a plan.
#[derive(Default)]
pub(crate) struct Recordings(Mutex<Recorded>);

#[derive(Default)]
struct Recorded {
    /// Arrays of calls that were launched, the last ones: those of one call alone are not worth recording. Several, because a solver
    /// transforms its fields in turn.
    seen: Vec<Arrays>,
    /// From the one that was used longest ago.
    kept: Vec<(Arrays, Recording)>,
    /// There is nothing to record with, or it has failed.
    impossible: bool,
}

/// A recording of a machine, given back when dropped.
struct Recording {
    machine: Arc<dyn Machine>,
    handle: u64,
}

impl Drop for Recording {
    fn drop(&mut self) {
        // SAFETY: made by `record`, and nobody else has it. What still runs ends before it is freed.
        unsafe { self.machine.forget(self.handle) }
    }
}

impl Recordings {
    /// Puts launches into a queue: from a recording, where there is one of these arrays, or by `put`.
    ///
    /// # Safety
    /// As for `put`, which stays the same for the life of the recordings, and so does what it launches for the same arrays.
    pub(crate) unsafe fn run(
        &self,
        machine: &Arc<dyn Machine>,
        queue: Queue,
        arrays: &Arrays,
        put: &dyn Fn(Queue) -> Result<(), FftError>,
    ) -> Result<(), FftError> {
        // Another thread has them: launching is quicker than waiting. What somebody else records has to be launched.
        let Ok(mut recorded) = self.0.try_lock() else {
            return put(queue);
        };
        if recorded.impossible || machine.is_recorded(queue) {
            return put(queue);
        }
        let known = recorded.kept.iter().position(|(of, _)| of == arrays);
        let recording = match known {
            Some(place) => recorded.kept.remove(place),
            None if recorded.seen.contains(arrays) => {
                recorded.seen.retain(|seen| seen != arrays);
                // What cannot be recorded can be launched all the same.
                let Ok(Some(handle)) = machine.record(put) else {
                    recorded.impossible = true;
                    return put(queue);
                };
                let machine = Arc::clone(machine);
                (*arrays, Recording { machine, handle })
            }
            None => {
                if recorded.seen.len() == MOST {
                    recorded.seen.remove(0);
                }
                recorded.seen.push(*arrays);
                return put(queue);
            }
        };
        // SAFETY: recorded of these arrays, by the caller's promise; the lock is held.
        let outcome = unsafe { machine.replay(queue, recording.1.handle) };
        if recorded.kept.len() == MOST {
            recorded.kept.remove(0);
        }
        recorded.kept.push(recording);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::executor::cuda::device::emulated::Emulator;
    use crate::executor::cuda::device::machine::{DeviceMemory, Machine};
    use crate::executor::cuda::program::task::Arrays;
    use crate::executor::cuda::tests::{Style, numbers};
    use crate::{DevicePointer, Direction, Plan, Planner, Problem};
    use num_complex::Complex;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    type Number = Complex<f64>;

    /// # Safety
    /// As for [`Plan::process_device`].
    unsafe fn run(plan: &Plan<f64>, arrays: &Arrays) -> Result<(), crate::FftError> {
        let [input, output, workspace] =
            [arrays.input, arrays.output, arrays.workspace].map(DevicePointer);
        // SAFETY: the caller's promise.
        unsafe { plan.process_device(input, output, workspace, 0) }
    }

    struct Device {
        input: DeviceMemory,
        output: DeviceMemory,
    }

    impl Device {
        fn new(machine: &Arc<dyn Machine>, bytes: usize) -> Self {
            let memory = || DeviceMemory::new(machine, bytes).expect("memory");
            Device {
                input: memory(),
                output: memory(),
            }
        }
    }

    /// The same arrays are launched once, recorded at the second call and replayed from then on; others, and other contents of the same
    /// ones, have their own results; more arrays than are kept are recorded anew.
    #[test]
    fn calls_with_the_same_arrays_are_replayed() {
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let machine: Arc<dyn Machine> = Arc::<Emulator>::clone(&emulator);
        for (shape, direction) in [
            (&[1024][..], Direction::Forward),
            (&[32, 45], Direction::Inverse),
            (&[67], Direction::Forward),
        ] {
            let problem = Problem::complex(shape).direction(direction);
            let planner = Planner::<f64>::new();
            let reference = planner.plan(&problem).expect("a plan");
            let plan = planner.plan_on(&problem, &machine).expect("a plan");
            let points: usize = shape.iter().product();
            let bytes = 16 * points;
            let workspace =
                DeviceMemory::new(&machine, plan.device_workspace_len()).expect("memory");
            let devices: Vec<Device> = (0..super::MOST + 2)
                .map(|_| Device::new(&machine, bytes))
                .collect();
            let mut calls = 0;
            let mut call = |number: usize, style: Style| {
                let device = &devices[number];
                calls += 1;
                let input: Vec<Number> = numbers(points, style, calls);
                let mut expected = vec![Complex::default(); points];
                reference
                    .process_outofplace(&input, &mut expected)
                    .expect("a transform");
                let arrays = Arrays {
                    input: device.input.address(),
                    output: device.output.address(),
                    workspace: workspace.address(),
                };
                let mut found = vec![Complex::default(); points];
                let before = emulator.replays.load(Ordering::Relaxed);
                // SAFETY: the memory is of this length, and nothing else uses it.
                unsafe {
                    machine
                        .upload(0, arrays.input, bytemuck::cast_slice(&input))
                        .expect("a copy");
                    run(&plan, &arrays).expect("launches");
                    let bytes = bytemuck::cast_slice_mut(&mut found);
                    machine.download(0, arrays.output, bytes).expect("a copy");
                }
                if let Err(difference) = ozfft_testkit::same_bits(&expected, &found, calls) {
                    panic!("{shape:?}, arrays {number}: {difference}");
                }
                emulator.replays.load(Ordering::Relaxed) - before
            };
            assert_eq!(call(0, Style::Uniform), 0, "the first call");
            assert_eq!(call(0, Style::Sparse), 1, "recorded and replayed");
            assert_eq!(call(0, Style::Wild), 1, "other contents");
            assert_eq!(call(1, Style::Uniform), 0, "other arrays");
            assert_eq!(call(0, Style::Uniform), 1, "kept");
            for number in 1..devices.len() {
                assert_eq!(call(number, Style::Uniform), u64::from(number == 1));
                assert_eq!(call(number, Style::Tiny), 1);
            }
            assert_eq!(call(0, Style::Uniform), 0, "given up for others");
            assert_eq!(call(devices.len() - 1, Style::Huge), 1, "kept");
        }
    }

    /// A solver's fields: each is launched once and replayed from then on, though none is transformed twice in a row.
    #[test]
    fn fields_that_are_transformed_in_turn_are_replayed() {
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let machine: Arc<dyn Machine> = Arc::<Emulator>::clone(&emulator);
        let plan = Planner::<f64>::new().plan_on(&Problem::complex(&[64]), &machine);
        let plan = plan.expect("a plan");
        let workspace = DeviceMemory::new(&machine, plan.device_workspace_len()).expect("memory");
        let fields = [0; 3].map(|_| Device::new(&machine, 16 * 64));
        for turn in 0..3 {
            for field in &fields {
                let arrays = Arrays {
                    input: field.input.address(),
                    output: field.output.address(),
                    workspace: workspace.address(),
                };
                // SAFETY: the memory is of this length, and nothing else uses it.
                unsafe { run(&plan, &arrays).expect("launches") };
            }
            assert_eq!(emulator.replays.load(Ordering::Relaxed), 3 * turn);
        }
    }

    /// A caller who records a stream gets all launches and not a graph of ours, whether the plan has recorded these arrays before, would
    /// do so now, or has never seen them; he can repeat them with other contents; and what the plan has recorded itself stays.
    #[test]
    fn what_the_caller_records_is_launched_into_his_recording() {
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let machine: Arc<dyn Machine> = Arc::<Emulator>::clone(&emulator);
        for (shape, batch) in [(&[1024][..], 1), (&[32, 45], 2), (&[67], 3), (&[2048], 1)] {
            let problem = Problem::complex(shape).batch(batch);
            let planner = Planner::<f64>::new();
            let reference = planner.plan(&problem).expect("a plan");
            let plan = planner.plan_on(&problem, &machine).expect("a plan");
            let points = problem.input_len();
            let workspace =
                DeviceMemory::new(&machine, plan.device_workspace_len()).expect("memory");
            for calls_before in 0..3 {
                let device = Device::new(&machine, 16 * points);
                let arrays = Arrays {
                    input: device.input.address(),
                    output: device.output.address(),
                    workspace: workspace.address(),
                };
                let transform = |seed: u64, run: &dyn Fn()| {
                    let input: Vec<Number> = numbers(points, Style::Uniform, seed);
                    let mut expected = vec![Complex::default(); points];
                    let outcome = reference.process_outofplace(&input, &mut expected);
                    outcome.expect("a transform");
                    let mut found = vec![Complex::default(); points];
                    // SAFETY: the memory is of this length, and nothing else uses it.
                    unsafe {
                        let bytes = bytemuck::cast_slice(&input);
                        machine.upload(0, arrays.input, bytes).expect("a copy");
                        run();
                        let bytes = bytemuck::cast_slice_mut(&mut found);
                        machine.download(0, arrays.output, bytes).expect("a copy");
                    }
                    if let Err(difference) = ozfft_testkit::same_bits(&expected, &found, seed) {
                        panic!("{shape:?}, {calls_before} calls before: {difference}");
                    }
                };
                // SAFETY: as above.
                let call = || unsafe { run(&plan, &arrays) }.expect("launches");
                let replays = || emulator.replays.load(Ordering::Relaxed);
                for seed in 0..calls_before {
                    transform(seed, &call);
                }
                let before = replays();
                emulator.begin_capture(0);
                call();
                let recording = emulator.end_capture();
                for seed in 10..13 {
                    transform(seed, &recording);
                }
                assert_eq!(
                    replays(),
                    before,
                    "{shape:?}: launches, and no graph of ours"
                );
                // As if nobody had recorded anything.
                transform(20, &call);
                assert_eq!(replays() - before, u64::from(calls_before > 0), "{shape:?}");
            }
        }
    }

    /// Where there is nothing to record with, all is launched.
    #[test]
    fn nothing_is_replayed_where_nothing_can_be_recorded() {
        let mut emulator = Emulator::with_tuned_kernels();
        emulator.cannot_record = true;
        let emulator = Arc::new(emulator);
        let machine: Arc<dyn Machine> = Arc::<Emulator>::clone(&emulator);
        let plan = {
            let problem = Problem::complex(&[64]);
            Planner::<f64>::new()
                .plan_on(&problem, &machine)
                .expect("a plan")
        };
        let device = Device::new(&machine, 16 * 64);
        let workspace = DeviceMemory::new(&machine, plan.device_workspace_len()).expect("memory");
        let arrays = Arrays {
            input: device.input.address(),
            output: device.output.address(),
            workspace: workspace.address(),
        };
        for _ in 0..4 {
            // SAFETY: the memory is of this length, and nothing else uses it.
            unsafe { run(&plan, &arrays).expect("launches") };
        }
        assert_eq!(emulator.replays.load(Ordering::Relaxed), 0);
    }
}
