//! Which parameters of a plan's kernels are fastest on a GPU: measured, and kept for later plans.

use super::Plan;
use super::planner::{OpenDevice, Planner, open_device};
use crate::error::FftError;
use crate::executor::cuda::{DeviceMemory, Machine};
use crate::problem::{DevicePointer, Problem};
use crate::sample::Real;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Runs of which the shortest counts.
const RUNS: usize = 7;
/// A run is repeated until it lasts so long.
const RUN_SECONDS: f64 = 2e-3;
const MOST_REPEATS: f64 = 1000.0;
/// Others are taken if they are faster by more than this: what differs by less may be chance.
const WORTH: f64 = 0.98;
/// Bytes of results that are compared.
const COMPARED: usize = 1 << 24;

/// What [`Planner::tune`] has found out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tuned {
    /// One for every kernel of the plan that has parameters to choose.
    pub kernels: Vec<TunedKernel>,
    /// The file in which the parameters are kept for other processes; none where there was nothing to choose.
    pub file: Option<PathBuf>,
}

/// A kernel of a plan and its parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TunedKernel {
    /// What it does.
    pub purpose: String,
    /// What was tried, what was taken before at first.
    pub trials: Vec<Trial>,
    /// The place in `trials` of what is taken from now on.
    pub chosen: usize,
}

/// Parameters that were tried.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trial {
    /// The parameters, in words.
    pub parameters: String,
    /// Time of the whole plan with them; none where the kernel could not be had.
    pub seconds: Option<f64>,
    /// What became of the kernel where it could not be had.
    pub remark: Option<String>,
}

/// A plan's arrays on the device.
struct Arrays {
    input: DeviceMemory,
    output: DeviceMemory,
    workspace: DeviceMemory,
    output_bytes: usize,
}

impl Arrays {
    fn new<T: Real>(machine: &Arc<dyn Machine>, problem: &Problem) -> Result<Self, FftError> {
        let (input_size, output_size) = problem.element_sizes::<T>();
        let input_bytes = problem.input_len() * input_size;
        let output_bytes = problem.output_len() * output_size;
        let input = DeviceMemory::new(machine, input_bytes)?;
        // Numbers of both signs and of several sizes, whose sums are not zero.
        let reals = input_bytes / size_of::<T>();
        let number = |i: usize| T::narrow(((i * 7919) % 8191) as f64 / 4096.0 - 0.75);
        let numbers: Vec<T> = (0..reals).map(number).collect();
        // SAFETY: the memory is so long; the queue is waited for before the numbers go.
        unsafe { machine.upload(0, input.address(), bytemuck::cast_slice(&numbers))? };
        machine.synchronize(0)?;
        Ok(Arrays {
            input,
            output: DeviceMemory::new(machine, output_bytes)?,
            workspace: DeviceMemory::new(machine, 16)?,
            output_bytes,
        })
    }

    /// Seconds of a plan, and the beginning of its result.
    fn measure<T: Real>(
        &mut self,
        machine: &Arc<dyn Machine>,
        plan: &Plan<T>,
    ) -> Result<(f64, Vec<u8>), FftError> {
        if plan.device_workspace_len() > self.workspace.bytes() {
            self.workspace = DeviceMemory::new(machine, plan.device_workspace_len())?;
        }
        let [input, output, workspace] = [&self.input, &self.output, &self.workspace]
            .map(|memory| DevicePointer(memory.address()));
        let run = |repeats: usize| -> Result<f64, FftError> {
            let start = Instant::now();
            for _ in 0..repeats {
                // SAFETY: as long as the plan says, and nothing else uses it.
                unsafe { plan.process_device(input, output, workspace, 0)? };
            }
            machine.synchronize(0)?;
            Ok(start.elapsed().as_secs_f64() / repeats as f64)
        };
        // Kernels are loaded, and what can be recorded is.
        run(3)?;
        let repeats = (RUN_SECONDS / run(1)?.max(1e-7)).clamp(1.0, MOST_REPEATS) as usize;
        let mut least = f64::INFINITY;
        for _ in 0..RUNS {
            least = least.min(run(repeats)?);
        }
        let mut result = vec![0; self.output_bytes.min(COMPARED)];
        // SAFETY: the memory is at least so long; the queue is waited for.
        unsafe { machine.download(0, self.output.address(), &mut result)? };
        machine.synchronize(0)?;
        Ok((least, result))
    }
}

impl<T: Real> Planner<T> {
    /// Measures which parameters of the GPU kernels are fastest for a problem, and takes those for all plans that this process makes from
    /// then on. They are written to a file, too, from which other processes have them (its folder is that of compiled kernels,
    /// `OZFFT_CACHE`). Results keep their bits.
    ///
    /// Where kernels are compiled when they are asked for this takes a second for each that is tried; `trial` is told before.
    ///
    /// ```no_run
    /// use ozfft::{Device, Planner, Problem};
    /// let planner = Planner::<f64>::new();
    /// let problem = Problem::complex(&[360]).batch(100_000).device(Device::Cuda(0));
    /// let tuned = planner.tune(&problem, &mut |what| eprintln!("{what}"))?;
    /// for kernel in &tuned.kernels {
    ///     println!("{}: {}", kernel.purpose, kernel.trials[kernel.chosen].parameters);
    /// }
    /// # Ok::<(), ozfft::FftError>(())
    /// ```
    pub fn tune(&self, problem: &Problem, trial: &mut dyn FnMut(&str)) -> Result<Tuned, FftError> {
        self.tune_among(problem, usize::MAX, trial)
    }

    /// The same with at most `most` parameters tried of every kernel, the most promising ones.
    pub fn tune_among(
        &self,
        problem: &Problem,
        most: usize,
        trial: &mut dyn FnMut(&str),
    ) -> Result<Tuned, FftError> {
        self.tune_on(problem, most, trial, &open_device)
    }

    pub(crate) fn tune_on(
        &self,
        problem: &Problem,
        most: usize,
        trial: &mut dyn FnMut(&str),
        open_device: &dyn Fn(&Problem) -> Result<OpenDevice, FftError>,
    ) -> Result<Tuned, FftError> {
        problem.validate()?;
        let (Some((machine, _)), _) = open_device(problem)? else {
            return Err(FftError::Unsupported(
                "there is nothing to tune on the processor; take a device cuda".into(),
            ));
        };
        let tuning = machine.tuning();
        let plan = || self.plan_by(problem, open_device);
        let (first, tunables) = tuning.asked_by(plan)?;
        if tunables.is_empty() {
            return Ok(Tuned {
                kernels: Vec::new(),
                file: None,
            });
        }
        let mut arrays = Arrays::new::<T>(&machine, problem)?;
        let (_, expected) = arrays.measure(&machine, &first)?;
        let mut kernels = Vec::new();
        for tunable in tunables {
            let purpose = tunable.purpose;
            let others = tunable.choices.into_iter();
            let others = others.filter(|choice| *choice != tunable.choice);
            let choices = [tunable.choice.clone()].into_iter().chain(others);
            let choices: Vec<String> = choices.take(most.max(1)).collect();
            let mut trials = Vec::new();
            let mut attempt = |parameters: String| {
                trial(&format!("{purpose}: {parameters}"));
                tuning.choose(&purpose, Some(&parameters));
                let plan = plan()?;
                // A kernel that cannot be had is a remark of a plan that does without.
                let mut remarks = plan.kernel_remarks().iter();
                let is_without = |remark: &&String| {
                    let others = [
                        "the portable kernel",
                        "the kernel on mma.sync",
                        "a kernel for many lines",
                    ];
                    others.iter().any(|other| remark.starts_with(other))
                };
                let remark = remarks.rfind(is_without);
                let (seconds, result) = arrays.measure(&machine, &plan)?;
                if result != expected {
                    return Err(FftError::Unsupported(format!(
                        "{purpose}: with {parameters} the result has other bits, which is a fault of the kernel or of the GPU; \
                         `ozfft selftest --device cuda` looks closer"
                    )));
                }
                trials.push(Trial {
                    seconds: remark.is_none().then_some(seconds),
                    remark: remark.cloned(),
                    parameters,
                });
                Ok(())
            };
            if let Err(error) = choices.into_iter().try_for_each(&mut attempt) {
                // What was taken before stays.
                tuning.choose(&purpose, Some(&tunable.choice));
                return Err(error);
            }
            let seconds = |place: usize| trials[place].seconds.unwrap_or(f64::INFINITY);
            let fastest = (0..trials.len()).min_by(|&a, &b| seconds(a).total_cmp(&seconds(b)));
            let fastest = fastest.filter(|&place| seconds(place) < WORTH * seconds(0));
            let chosen = fastest.unwrap_or(0);
            tuning.choose(&purpose, Some(&trials[chosen].parameters));
            kernels.push(TunedKernel {
                purpose,
                trials,
                chosen,
            });
        }
        let file = Some(tuning.save()?);
        Ok(Tuned { kernels, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::device::emulated::Emulator;
    use crate::executor::cuda::select::tuning::Tuning;
    use crate::{Complex, Device, Kind};
    use ozfft_testkit::assert_same_bits;

    /// All that the emulator has of a kernel is its usual parameters: others are remarked on, and those stay; bits are compared.
    #[test]
    fn kernels_are_tried_and_the_fastest_kept() {
        let folder = std::env::temp_dir().join(format!("ozfft-tune-{}", std::process::id()));
        let path = folder.join("emulator.tuning");
        let mut emulator = Emulator::with_tuned_kernels();
        emulator.tuning = Tuning::at(Some(path.clone()), "# the emulator".into());
        let machine: Arc<dyn Machine> = Arc::new(emulator);
        let open = |_: &Problem| Ok((Some((Arc::clone(&machine), 0)), String::new()));
        let problem = Problem::complex(&[360]).batch(2).device(Device::Cuda(0));
        let mut told = 0;
        let planner = Planner::<f64>::new();
        let tuned = planner.tune_on(&problem, usize::MAX, &mut |_| told += 1, &open);
        let tuned = tuned.expect("kernels");
        let [kernel] = &tuned.kernels[..] else {
            panic!("{tuned:?}");
        };
        assert!(kernel.purpose.contains("20 x 18"), "{kernel:?}");
        assert_eq!((kernel.trials.len(), kernel.chosen), (told, 0));
        assert!(told > 2, "{kernel:?}");
        assert!(kernel.trials[0].seconds.is_some(), "{kernel:?}");
        let missing = &kernel.trials[1];
        assert!(missing.seconds.is_none(), "{missing:?}");
        assert!(
            missing
                .remark
                .as_ref()
                .is_some_and(|text| text.contains("no kernel"))
        );
        assert_eq!(tuned.file.as_deref(), Some(path.as_path()));
        let text = std::fs::read_to_string(&path).expect("a file");
        assert!(text.contains(&kernel.trials[0].parameters), "{text}");
        std::fs::remove_dir_all(folder).expect("the folder is there");
        // One step alone has nothing to choose where the portable kernel runs.
        let none = planner.tune_on(
            &Problem::complex(&[2]).device(Device::Cuda(0)),
            usize::MAX,
            &mut |_| {},
            &open,
        );
        assert_eq!(none.expect("a plan").kernels, []);
        let on_processor = planner.tune(&Problem::complex(&[360]), &mut |_| {});
        let message = on_processor.expect_err("no device").to_string();
        assert!(message.contains("take a device cuda"), "{message}");
    }

    /// Passes of long transforms, real lines and blocks of three steps had no parameters to choose: what is measured to be faster is
    /// launched, with the same bits.
    #[test]
    fn every_kind_of_kernel_takes_other_parameters_with_the_same_bits() {
        let emulator = Arc::new(Emulator::with_tuned_kernels());
        let machine: Arc<dyn Machine> = Arc::<Emulator>::clone(&emulator);
        let tuning = machine.tuning();
        let planner = Planner::<f64>::new();
        let open = |_: &Problem| Ok((Some((Arc::clone(&machine), 0)), String::new()));
        for (problem, purposes) in [
            (
                Problem::complex(&[10_000]),
                &["opening pass", "closing pass"][..],
            ),
            (
                Problem::real_to_complex(&[63]).batch(5),
                &["real to half-spectrum"],
            ),
            (Problem::complex(&[343]).batch(3), &["7 x 7 x 7"]),
        ] {
            let planned = |problem: &Problem| planner.plan_by(problem, &open).expect("a plan");
            let (first, tunables) = tuning.asked_by(|| Ok(planned(&problem))).expect("a plan");
            assert_eq!(tunables.len(), purposes.len(), "{tunables:?}");
            assert_eq!(first.kernel_remarks(), [""; 0]);
            let seed = 3;
            let reals = ozfft_testkit::oracle::inputs::uniform_real(2 * problem.input_len(), seed);
            let run = |plan: &Plan<f64>| {
                let mut output = vec![Complex::new(0.0, 0.0); problem.output_len()];
                let input: Vec<Complex<f64>> = reals
                    .chunks(2)
                    .map(|pair| Complex::new(pair[0], pair[1]))
                    .collect();
                let ran = match problem.kind() {
                    Kind::RealToComplex => {
                        plan.process_real_to_complex(&reals[..problem.input_len()], &mut output)
                    }
                    _ => plan.process_outofplace(&input, &mut output),
                };
                ran.expect("a transform");
                output
            };
            let expected = run(&planner.plan(&problem).expect("a plan"));
            let launched = |plan: &Plan<f64>| {
                let before = emulator.launched_names().len();
                assert_same_bits(&expected, &run(plan), seed, format_args!("{problem:?}"));
                emulator.launched_names().split_off(before)
            };
            let usual = launched(&first);
            assert_eq!(usual.len(), purposes.len(), "{usual:?}");
            for (tunable, purpose) in tunables.iter().zip(purposes) {
                assert!(tunable.purpose.contains(purpose), "{tunable:?}");
                tuning.choose(&tunable.purpose, Some(&tunable.choices[1]));
            }
            let plan = planned(&problem);
            assert_eq!(plan.kernel_remarks(), [""; 0]);
            let others = launched(&plan);
            assert_eq!(others.len(), usual.len(), "{others:?}");
            for (other, usual) in others.iter().zip(&usual) {
                assert_ne!(other, usual);
            }
        }
    }
}
