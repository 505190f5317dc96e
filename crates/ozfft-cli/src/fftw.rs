//! FFTW for comparison, where the machine has it: its shared library is loaded while the program runs.
//!
//! This is the only file of the program with `unsafe` code: C functions can be called in no other way.
#![allow(unsafe_code)]

use libloading::Library;
use num_complex::Complex;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// Names of the double-precision library on Linux, macOS and Windows.
const FILE_NAMES: [&str; 3] = ["libfftw3.so.3", "libfftw3.3.dylib", "libfftw3-3.dll"];
/// `FFTW_FORWARD` of fftw3.h.
const FORWARD: c_int = -1;
/// `FFTW_ESTIMATE` of fftw3.h: plans without measuring, and so without touching the arrays.
const ESTIMATE: c_uint = 1 << 6;

/// `fftw_plan_dft` of fftw3.h; a plan is an opaque pointer, an `fftw_complex` is two doubles.
type PlanDft = unsafe extern "C" fn(
    rank: c_int,
    lengths: *const c_int,
    input: *mut Complex<f64>,
    output: *mut Complex<f64>,
    sign: c_int,
    flags: c_uint,
) -> *mut c_void;
/// `fftw_execute` and `fftw_destroy_plan`.
type OnPlan = unsafe extern "C" fn(plan: *mut c_void);

/// The loaded library.
pub struct Fftw {
    library: Library,
}

impl Fftw {
    /// Loads FFTW; nothing where it is not installed.
    pub fn load() -> Option<Fftw> {
        FILE_NAMES.into_iter().find_map(|name| {
            // SAFETY: loading runs the library's initialisers; those of FFTW set up its own data and nothing else.
            let library = unsafe { Library::new(name) }.ok()?;
            Some(Fftw { library })
        })
    }

    /// The library's own name and version.
    pub fn version(&self) -> String {
        // SAFETY: `fftw_version` is declared `const char fftw_version[]` in fftw3.h, so the symbol's address is that
        // of a text that ends in zero and lives as long as the library.
        unsafe {
            match self.library.get::<*const c_char>("fftw_version") {
                Ok(symbol) => match symbol.try_as_raw_ptr() {
                    Some(text) => CStr::from_ptr(text.cast()).to_string_lossy().into_owned(),
                    None => "fftw".into(),
                },
                Err(_) => "fftw".into(),
            }
        }
    }

    /// The forward transform over all axes of a C-ordered array, not scaled. `None` where FFTW has no plan for it.
    pub fn forward(&self, shape: &[usize], input: &[Complex<f64>]) -> Option<Vec<Complex<f64>>> {
        let lengths = shape
            .iter()
            .map(|&length| c_int::try_from(length).ok())
            .collect::<Option<Vec<_>>>()?;
        let rank = c_int::try_from(lengths.len()).ok()?;
        assert_eq!(
            shape.iter().product::<usize>(),
            input.len(),
            "shape and input differ"
        );
        let mut values = input.to_vec();
        let mut output = vec![Complex::new(0.0, 0.0); input.len()];
        // SAFETY: the three types are those of fftw3.h. Both arrays hold the product of the lengths, do not overlap
        // and outlive the plan, which is used once and destroyed here. No other thread plans at the same time.
        unsafe {
            let plan_dft = self.library.get::<PlanDft>("fftw_plan_dft").ok()?;
            let execute = self.library.get::<OnPlan>("fftw_execute").ok()?;
            let destroy = self.library.get::<OnPlan>("fftw_destroy_plan").ok()?;
            let plan = plan_dft(
                rank,
                lengths.as_ptr(),
                values.as_mut_ptr(),
                output.as_mut_ptr(),
                FORWARD,
                ESTIMATE,
            );
            if plan.is_null() {
                return None;
            }
            execute(plan);
            destroy(plan);
        }
        Some(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_fftw_is_installed_it_transforms_forward() {
        let Some(fftw) = Fftw::load() else {
            eprintln!("FFTW is not installed; nothing to check");
            return;
        };
        let input = oracle::inputs::uniform_complex(60, 1);
        let exact = oracle::dft_nd(&input, &[5, 12], oracle::Direction::Forward);
        let output = fftw
            .forward(&[5, 12], &input)
            .expect("FFTW plans every shape");
        assert!(oracle::compare(&output, &exact).l2 < 1e-15);
        assert!(fftw.version().starts_with("fftw-3"), "{}", fftw.version());
    }
}
