//! FFTW for comparison, and MKL, which has the same interface, where the machine has them: the shared libraries are
//! loaded while the program runs.
//!
//! Calls of C functions are `unsafe` code, which only this file, `gpu` and `probe/device.rs` have.
#![allow(unsafe_code)]

use crate::arrays::half_shape;
use libloading::Library;
use num_complex::Complex;
use ozfft::Kind;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names of the double-precision library on Linux, macOS and Windows.
const FILE_NAMES: [&str; 3] = ["libfftw3.so.3", "libfftw3.3.dylib", "libfftw3-3.dll"];
/// Names of its part for several threads; on Windows that is in the same file.
const THREADS_FILE_NAMES: [&str; 2] = ["libfftw3_threads.so.3", "libfftw3_threads.3.dylib"];
/// Names of MKL's single file that loads all others.
const MKL_FILE_NAMES: [&str; 6] = [
    "libmkl_rt.so",
    "libmkl_rt.so.3",
    "libmkl_rt.so.2",
    "libmkl_rt.dylib",
    "mkl_rt.3.dll",
    "mkl_rt.2.dll",
];
/// `FFTW_FORWARD` of fftw3.h.
const FORWARD: c_int = -1;

/// How much time planning may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Plans without measuring, and so without touching the arrays.
    Estimate,
    /// Tries plans on the arrays, which are overwritten, and takes the fastest.
    Measure,
    /// Without measuring, for arrays at any address.
    EstimateUnaligned,
    /// Without measuring, and without vector instructions.
    EstimateScalar,
}

impl Effort {
    /// `FFTW_ESTIMATE` or `FFTW_MEASURE` of fftw3.h, with `FFTW_UNALIGNED` or `FFTW_NO_SIMD`.
    fn flag(self) -> c_uint {
        match self {
            Effort::Estimate => 1 << 6,
            Effort::Measure => 0,
            Effort::EstimateUnaligned => 1 << 6 | 1 << 1,
            Effort::EstimateScalar => 1 << 6 | 1 << 17,
        }
    }
}

/// `fftw_plan_many_dft` of fftw3.h; a plan is an opaque pointer, an `fftw_complex` is two doubles.
type PlanMany = unsafe extern "C" fn(
    rank: c_int,
    lengths: *const c_int,
    batch: c_int,
    input: *mut f64,
    input_embedding: *const c_int,
    input_stride: c_int,
    input_distance: c_int,
    output: *mut f64,
    output_embedding: *const c_int,
    output_stride: c_int,
    output_distance: c_int,
    sign: c_int,
    flags: c_uint,
) -> *mut c_void;
/// `fftw_plan_many_dft_r2c` and `fftw_plan_many_dft_c2r`: the same without the sign.
type PlanManyReal = unsafe extern "C" fn(
    rank: c_int,
    lengths: *const c_int,
    batch: c_int,
    input: *mut f64,
    input_embedding: *const c_int,
    input_stride: c_int,
    input_distance: c_int,
    output: *mut f64,
    output_embedding: *const c_int,
    output_stride: c_int,
    output_distance: c_int,
    flags: c_uint,
) -> *mut c_void;
/// `fftw_execute_dft`, `fftw_execute_dft_r2c` and `fftw_execute_dft_c2r`.
type Execute = unsafe extern "C" fn(plan: *mut c_void, input: *mut f64, output: *mut f64);
/// `fftw_destroy_plan`.
type Destroy = unsafe extern "C" fn(plan: *mut c_void);
/// `fftw_init_threads`.
type InitThreads = unsafe extern "C" fn() -> c_int;
/// `fftw_plan_with_nthreads`, and `MKL_Set_Num_Threads` of mkl_service.h.
type SetThreads = unsafe extern "C" fn(threads: c_int);
/// `MKL_Get_Version_String` of mkl_service.h.
type GetVersion = unsafe extern "C" fn(text: *mut c_char, length: c_int);

/// Equal arrays in C order, one after the other or side by side, transformed over all axes without scaling: complex input forward, real
/// input forward to half-spectra, half-spectra back to real output.
#[derive(Debug, Clone, Copy)]
pub struct Arrays<'a> {
    pub kind: Kind,
    /// Of the real arrays, for real transforms.
    pub shape: &'a [usize],
    pub batch: usize,
    /// The arrays lie side by side: one number of each, and then the next one of each.
    pub interleaved: bool,
}

impl Arrays<'_> {
    fn points(&self) -> usize {
        self.shape.iter().product()
    }

    fn half_points(&self) -> usize {
        half_shape(self.shape).iter().product()
    }

    /// Elements from one array to the next: in the input and in the output.
    fn distances(&self) -> (usize, usize) {
        match self.kind {
            Kind::ComplexToComplex => (self.points(), self.points()),
            Kind::RealToComplex => (self.points(), self.half_points()),
            Kind::ComplexToReal => (self.half_points(), self.points()),
        }
    }

    /// Elements from one number to the next of its row, and from one array to the next, which is `distance` where they lie one after the other.
    fn strides(&self, distance: usize) -> (usize, usize) {
        match self.interleaved {
            true => (self.batch, 1),
            false => (1, distance),
        }
    }

    /// Doubles in all of the input and in all of the output.
    pub fn lengths(&self) -> (usize, usize) {
        let (input, output) = self.distances();
        match self.kind {
            Kind::ComplexToComplex => (2 * self.batch * input, 2 * self.batch * output),
            Kind::RealToComplex => (self.batch * input, 2 * self.batch * output),
            Kind::ComplexToReal => (2 * self.batch * input, self.batch * output),
        }
    }
}

/// A loaded library with the interface of FFTW.
pub struct Fftw {
    library: Library,
    /// Where the functions for threads are, when not in the library itself.
    threads_library: Option<Library>,
}

impl Fftw {
    /// Loads FFTW; nothing where it is not installed.
    pub fn load() -> Option<Fftw> {
        Some(Fftw {
            library: load_first(&FILE_NAMES)?,
            threads_library: None,
        })
    }

    /// Loads FFTW, with threads where it has them. Must be done before FFTW is used for anything else.
    pub fn load_with_threads() -> Option<Fftw> {
        let mut fftw = Fftw::load()?;
        fftw.threads_library = load_first(&THREADS_FILE_NAMES);
        fftw.initialise_threads();
        Some(fftw)
    }

    /// Loads MKL from where the system finds it; nothing where it is not installed.
    pub fn load_mkl() -> Option<Fftw> {
        load_first(&MKL_FILE_NAMES).map(Fftw::from_mkl)
    }

    /// Loads MKL from a file, or says why that cannot be done.
    pub fn load_mkl_from(path: &Path) -> Result<Fftw, String> {
        let mkl = load_library(path.as_os_str()).map(Fftw::from_mkl)?;
        match mkl.function::<PlanMany>("fftw_plan_many_dft") {
            Some(_) => Ok(mkl),
            None => Err("it has no function fftw_plan_many_dft".into()),
        }
    }

    fn from_mkl(library: Library) -> Fftw {
        let mkl = Fftw {
            library,
            threads_library: None,
        };
        mkl.initialise_threads();
        mkl
    }

    fn initialise_threads(&self) {
        let _alone = alone();
        if let Some(initialise) = self.threads_function::<InitThreads>("fftw_init_threads") {
            // SAFETY: the type is that of fftw3.h, and no other function of the library has been called. A failure
            // (0) leaves plans for one thread, which is what FFTW makes anyway then.
            unsafe { initialise() };
        }
    }

    /// The library's own name and version.
    pub fn version(&self) -> String {
        if let Some(get_version) = self.function::<GetVersion>("MKL_Get_Version_String") {
            let mut text = [0; 256];
            // SAFETY: the type is that of mkl_service.h; the text is cut to the length given, which leaves the last
            // byte of the array 0.
            return unsafe {
                get_version(text.as_mut_ptr(), 255);
                CStr::from_ptr(text.as_ptr())
            }
            .to_string_lossy()
            .trim()
            .into();
        }
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

    /// Plans made from now on use so many threads. False if there can be only one.
    pub fn set_threads(&self, threads: usize) -> bool {
        let count = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let names = ["MKL_Set_Num_Threads", "fftw_plan_with_nthreads"];
        let setters = names.map(|name| self.threads_function::<SetThreads>(name));
        for set in setters.iter().flatten() {
            // SAFETY: both have this type, and `initialise_threads` has been called if there is anything to call.
            unsafe { set(count) };
        }
        threads == 1 || setters.iter().any(Option::is_some)
    }

    /// Plans a transform from `input` to `output`, for these two pieces of memory. `None` where the library has no
    /// plan for it.
    pub fn plan(
        &self,
        arrays: &Arrays<'_>,
        (input, output): (&mut [f64], &mut [f64]),
        effort: Effort,
    ) -> Option<FftwPlan<'_>> {
        assert_eq!(
            arrays.lengths(),
            (input.len(), output.len()),
            "arrays of other lengths than their shape says"
        );
        let _alone = alone();
        let integer = |number: usize| c_int::try_from(number).ok();
        let lengths = arrays
            .shape
            .iter()
            .map(|&length| integer(length))
            .collect::<Option<Vec<_>>>()?;
        let (rank, batch) = (integer(lengths.len())?, integer(arrays.batch)?);
        let (from, to) = arrays.distances();
        let integers = |(stride, distance)| Some((integer(stride)?, integer(distance)?));
        let (from_stride, from) = integers(arrays.strides(from))?;
        let (to_stride, to) = integers(arrays.strides(to))?;
        let (input_start, output_start) = (input.as_mut_ptr(), output.as_mut_ptr());
        // No embedding: rows lie one after the other, those of half-spectra with n/2+1 elements.
        let dense = std::ptr::null();
        let real = |name: &str| {
            let plan = self.function::<PlanManyReal>(name)?;
            // SAFETY: as below.
            Some(unsafe {
                plan(
                    rank,
                    lengths.as_ptr(),
                    batch,
                    input_start,
                    dense,
                    from_stride,
                    from,
                    output_start,
                    dense,
                    to_stride,
                    to,
                    effort.flag(),
                )
            })
        };
        let (execute, plan) = match arrays.kind {
            Kind::ComplexToComplex => {
                let plan = self.function::<PlanMany>("fftw_plan_many_dft")?;
                // SAFETY: the types are those of fftw3.h. Both arrays have the lengths that shape and batch need, as
                // asserted, and do not overlap, as they are borrowed mutably. Nobody else plans meanwhile.
                let plan = unsafe {
                    plan(
                        rank,
                        lengths.as_ptr(),
                        batch,
                        input_start,
                        dense,
                        from_stride,
                        from,
                        output_start,
                        dense,
                        to_stride,
                        to,
                        FORWARD,
                        effort.flag(),
                    )
                };
                ("fftw_execute_dft", plan)
            }
            Kind::RealToComplex => ("fftw_execute_dft_r2c", real("fftw_plan_many_dft_r2c")?),
            Kind::ComplexToReal => ("fftw_execute_dft_c2r", real("fftw_plan_many_dft_c2r")?),
        };
        if plan.is_null() {
            return None;
        }
        Some(FftwPlan {
            fftw: self,
            plan,
            execute: self.function(execute)?,
            input: (input_start, input.len()),
            output: (output_start, output.len()),
        })
    }

    /// The forward transform over all axes of a C-ordered array, not scaled. `None` where FFTW has no plan for it.
    pub fn forward(&self, shape: &[usize], input: &[Complex<f64>]) -> Option<Vec<Complex<f64>>> {
        let arrays = Arrays {
            kind: Kind::ComplexToComplex,
            shape,
            batch: 1,
            interleaved: false,
        };
        let mut values = input.to_vec();
        let mut output = vec![Complex::new(0.0, 0.0); input.len()];
        let from: &mut [f64] = bytemuck::cast_slice_mut(&mut values);
        let to: &mut [f64] = bytemuck::cast_slice_mut(&mut output);
        let plan = self.plan(&arrays, (from, to), Effort::Estimate)?;
        plan.execute(from, to);
        drop(plan);
        Some(output)
    }

    /// A function of the library; the caller knows its type.
    fn function<F: Copy>(&self, name: &str) -> Option<F> {
        function_of(&self.library, name)
    }

    fn threads_function<F: Copy>(&self, name: &str) -> Option<F> {
        let extra = self.threads_library.as_ref();
        extra
            .and_then(|library| function_of(library, name))
            .or_else(|| self.function(name))
    }
}

/// A planned transform, tied to the memory that it was planned for.
pub struct FftwPlan<'a> {
    fftw: &'a Fftw,
    plan: *mut c_void,
    execute: Execute,
    input: (*mut f64, usize),
    output: (*mut f64, usize),
}

// SAFETY: FFTW executes a plan on any thread, and destroys it on any while nobody else plans; the memory is only compared with the caller's.
unsafe impl Send for FftwPlan<'_> {}

impl FftwPlan<'_> {
    /// Transforms `input` to `output`; half-spectra are overwritten.
    ///
    /// # Panics
    ///
    /// If these are not the pieces of memory that were planned for: others may be aligned differently.
    pub fn execute(&self, input: &mut [f64], output: &mut [f64]) {
        assert_eq!((input.as_mut_ptr(), input.len()), self.input);
        assert_eq!((output.as_mut_ptr(), output.len()), self.output);
        // SAFETY: the plan is one of the library's, not yet destroyed, and the memory is that which it was made for.
        unsafe { (self.execute)(self.plan, self.input.0, self.output.0) }
    }
}

impl Drop for FftwPlan<'_> {
    fn drop(&mut self) {
        let _alone = alone();
        if let Some(destroy) = self.fftw.function::<Destroy>("fftw_destroy_plan") {
            // SAFETY: the plan is one of the library's and is not used again.
            unsafe { destroy(self.plan) }
        }
    }
}

/// FFTW makes and destroys plans on one thread at a time; only executing them may happen on several.
fn alone() -> MutexGuard<'static, ()> {
    static PLANNING: Mutex<()> = Mutex::new(());
    PLANNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load_first(names: &[&str]) -> Option<Library> {
    let mut names = names.iter();
    names.find_map(|name| load_library(OsStr::new(name)).ok())
}

fn load_library(name: &OsStr) -> Result<Library, String> {
    // SAFETY: loading runs the library's initialisers; those of FFTW and MKL set up their own data and nothing else. A
    // path to some other library is as dangerous as running a program of that name, and only the user can give one.
    unsafe { Library::new(name) }.map_err(|error| error.to_string())
}

fn function_of<F: Copy>(library: &Library, name: &str) -> Option<F> {
    // SAFETY: `F` is one of the function types above, given with the names that it is documented with; it is called
    // only through `Fftw` and `FftwPlan`, which keep the library loaded.
    unsafe { library.get::<F>(name) }.ok().map(|symbol| *symbol)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::TestInput;
    use ozfft_testkit::oracle::{Direction, compare, dft_nd};

    #[test]
    fn where_fftw_is_installed_it_transforms_forward() {
        let Some(fftw) = Fftw::load() else {
            eprintln!("FFTW is not installed; nothing to check");
            return;
        };
        let input = ozfft_testkit::oracle::inputs::uniform_complex(60, 1);
        let exact = dft_nd(&input, &[5, 12], Direction::Forward);
        let output = fftw
            .forward(&[5, 12], &input)
            .expect("FFTW plans every shape");
        assert!(compare(&output, &exact).l2 < 1e-15);
        assert!(fftw.version().starts_with("fftw-3"), "{}", fftw.version());
    }

    #[test]
    fn where_fftw_is_installed_it_transforms_batches_of_every_kind() {
        let Some(fftw) = Fftw::load() else {
            eprintln!("FFTW is not installed; nothing to check");
            return;
        };
        let (shape, batch) = ([3, 10], 2);
        let reals: Vec<f64> = ozfft_testkit::oracle::inputs::uniform_real(60, 1);
        let plan_and_run = |kind: Kind, values: &[f64]| {
            let arrays = Arrays {
                kind,
                shape: &shape,
                batch,
                interleaved: false,
            };
            let mut input = vec![0.0; arrays.lengths().0];
            let mut output = vec![0.0; arrays.lengths().1];
            let plan = fftw
                .plan(&arrays, (&mut input, &mut output), Effort::Measure)
                .expect("FFTW plans every shape");
            input.copy_from_slice(values);
            plan.execute(&mut input, &mut output);
            output
        };
        let halves = plan_and_run(Kind::RealToComplex, &reals);
        let back = plan_and_run(Kind::ComplexToReal, &halves);
        for (there, here) in back.iter().zip(&reals) {
            assert!((there / 30.0 - here).abs() < 1e-14);
        }
        let complex = TestInput::Uniform.values(Kind::ComplexToComplex, &[60], 2);
        let spectra = plan_and_run(
            Kind::ComplexToComplex,
            bytemuck::cast_slice::<_, f64>(&complex),
        );
        let spectra: &[Complex<f64>] = bytemuck::cast_slice(&spectra);
        for (values, spectrum) in complex.chunks(30).zip(spectra.chunks(30)) {
            let exact = dft_nd(values, &shape, Direction::Forward);
            assert!(compare(spectrum, &exact).l2 < 1e-15);
        }
    }
}
