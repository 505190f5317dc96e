//! Both libraries as one table of function pointers: ours, linked into this program, and the real one, loaded where it is installed.
//! Neither sees the other's symbols: a program exports none, and the real library is loaded for itself.
#![allow(dead_code)]
// The table of functions has the types.
#![allow(clippy::missing_transmute_annotations)]

use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;

pub type Plan = *mut c_void;

/// A dimension of the guru interface, in 64-bit numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim64 {
    pub n: isize,
    pub is: isize,
    pub os: isize,
}

/// The same in 32-bit numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim32 {
    pub n: c_int,
    pub is: c_int,
    pub os: c_int,
}

impl From<&Dim64> for Dim32 {
    fn from(dim: &Dim64) -> Self {
        Dim32 {
            n: dim.n as c_int,
            is: dim.is as c_int,
            os: dim.os as c_int,
        }
    }
}

/// The numbers of arrays.
pub trait Sample: Copy + PartialEq + std::fmt::Debug + Default + Send + Sync + 'static {
    /// Largest relative error of one rounding.
    const ROUNDING: f64;
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn bits(self) -> u64;
    /// A value that marks a number nobody may write.
    fn canary(index: usize) -> Self;
}

impl Sample for f64 {
    const ROUNDING: f64 = f64::EPSILON / 2.0;
    fn from_f64(value: f64) -> f64 {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn canary(index: usize) -> f64 {
        f64::from_bits(0x7ff4_dead_0000_0000 | index as u64)
    }
}

impl Sample for f32 {
    const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    fn canary(index: usize) -> f32 {
        f32::from_bits(0x7fa0_0000 | index as u32)
    }
}

macro_rules! api {
    (@precision $real:ident, $module:ident, $prefix:literal, $fortran:literal, $library:literal;
     $($name:ident = $($path:ident)::+;)* @fortran $($f_name:ident = $($f_path:ident)::+, $f_text:literal;)*) => {
        impl Api<$real> {
            /// Our functions.
            pub fn ours() -> Self {
                // SAFETY: pointers to plans, complex numbers and files are pointers all the same.
                unsafe {
                    Api {
                        $($name: std::mem::transmute::<*const (), _>(ozfft_fftw::$module::$($path)::+ as *const ()),)*
                        $($f_name: std::mem::transmute::<*const (), _>(ozfft_fftw::$module::$($f_path)::+ as *const ()),)*
                    }
                }
            }

            /// Those of FFTW, if it is installed. A name that is missing there is a mistake of this table.
            pub fn real() -> Option<Self> {
                // SAFETY: FFTW's initialisers set up its own data. The libraries stay loaded.
                let open = |name: &str| Some(ManuallyDrop::new(unsafe { Library::new(name) }.ok()?));
                let library = open(concat!($library, ".so.3"))?;
                let threads = open(concat!($library, "_threads.so.3"))?;
                let find = |name: &str| -> *const () {
                    // SAFETY: the types are those of fftw3.h.
                    unsafe {
                        let found = library.get::<*const ()>(name);
                        *found.or_else(|_| threads.get(name)).unwrap_or_else(|error| panic!("FFTW lacks {name}: {error}"))
                    }
                };
                // SAFETY: as above.
                unsafe {
                    Some(Api {
                        $($name: std::mem::transmute::<*const (), _>(find(concat!($prefix, stringify!($name)))),)*
                        $($f_name: std::mem::transmute::<*const (), _>(find(concat!($fortran, $f_text))),)*
                    })
                }
            }
        }
    };
    ($($name:ident = $($path:ident)::+: fn($($type:ty),*) $(-> $result:ty)?;)*
     @fortran
     $($f_name:ident = $($f_path:ident)::+, $f_text:literal: fn($($f_type:ty),*);)*) => {
        #[derive(Clone, Copy)]
        pub struct Api<T> {
            $(pub $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
            $(pub $f_name: unsafe extern "C" fn($($f_type),*),)*
        }

        api! { @precision f64, double, "fftw_", "dfftw_", "libfftw3";
            $($name = $($path)::+;)* @fortran $($f_name = $($f_path)::+, $f_text;)* }
        api! { @precision f32, single, "fftwf_", "sfftw_", "libfftw3f";
            $($name = $($path)::+;)* @fortran $($f_name = $($f_path)::+, $f_text;)* }
    };
}

api! {
    plan_dft = plan_dft: fn(c_int, *const c_int, *mut T, *mut T, c_int, c_uint) -> Plan;
    plan_dft_1d = plan_dft_1d: fn(c_int, *mut T, *mut T, c_int, c_uint) -> Plan;
    plan_dft_2d = plan_dft_2d: fn(c_int, c_int, *mut T, *mut T, c_int, c_uint) -> Plan;
    plan_dft_3d = plan_dft_3d: fn(c_int, c_int, c_int, *mut T, *mut T, c_int, c_uint) -> Plan;
    plan_dft_r2c = plan_dft_r2c: fn(c_int, *const c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_dft_r2c_1d = plan_dft_r2c_1d: fn(c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_dft_r2c_2d = plan_dft_r2c_2d: fn(c_int, c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_dft_r2c_3d = plan_dft_r2c_3d: fn(c_int, c_int, c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_dft_c2r = plan_dft_c2r: fn(c_int, *const c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_dft_c2r_1d = plan_dft_c2r_1d: fn(c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_dft_c2r_2d = plan_dft_c2r_2d: fn(c_int, c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_dft_c2r_3d = plan_dft_c2r_3d: fn(c_int, c_int, c_int, *mut T, *mut T, c_uint) -> Plan;
    plan_r2r = plan_r2r: fn(c_int, *const c_int, *mut T, *mut T, *const c_int, c_uint) -> Plan;
    plan_r2r_1d = plan_r2r_1d: fn(c_int, *mut T, *mut T, c_int, c_uint) -> Plan;
    plan_r2r_2d = plan_r2r_2d: fn(c_int, c_int, *mut T, *mut T, c_int, c_int, c_uint) -> Plan;
    plan_r2r_3d = plan_r2r_3d: fn(c_int, c_int, c_int, *mut T, *mut T, c_int, c_int, c_int, c_uint) -> Plan;
    plan_many_dft = plan_many_dft: fn(c_int, *const c_int, c_int, *mut T, *const c_int, c_int, c_int, *mut T, *const c_int, c_int, c_int, c_int, c_uint) -> Plan;
    plan_many_dft_r2c = plan_many_dft_r2c: fn(c_int, *const c_int, c_int, *mut T, *const c_int, c_int, c_int, *mut T, *const c_int, c_int, c_int, c_uint) -> Plan;
    plan_many_dft_c2r = plan_many_dft_c2r: fn(c_int, *const c_int, c_int, *mut T, *const c_int, c_int, c_int, *mut T, *const c_int, c_int, c_int, c_uint) -> Plan;
    plan_many_r2r = plan_many_r2r: fn(c_int, *const c_int, c_int, *mut T, *const c_int, c_int, c_int, *mut T, *const c_int, c_int, c_int, *const c_int, c_uint) -> Plan;
    plan_guru_dft = guru::dft: fn(c_int, *const Dim32, c_int, *const Dim32, *mut T, *mut T, c_int, c_uint) -> Plan;
    plan_guru_split_dft = guru::split_dft: fn(c_int, *const Dim32, c_int, *const Dim32, *mut T, *mut T, *mut T, *mut T, c_uint) -> Plan;
    plan_guru_dft_r2c = guru::dft_r2c: fn(c_int, *const Dim32, c_int, *const Dim32, *mut T, *mut T, c_uint) -> Plan;
    plan_guru_dft_c2r = guru::dft_c2r: fn(c_int, *const Dim32, c_int, *const Dim32, *mut T, *mut T, c_uint) -> Plan;
    plan_guru_split_dft_r2c = guru::split_dft_r2c: fn(c_int, *const Dim32, c_int, *const Dim32, *mut T, *mut T, *mut T, c_uint) -> Plan;
    plan_guru_split_dft_c2r = guru::split_dft_c2r: fn(c_int, *const Dim32, c_int, *const Dim32, *mut T, *mut T, *mut T, c_uint) -> Plan;
    plan_guru_r2r = guru::r2r: fn(c_int, *const Dim32, c_int, *const Dim32, *mut T, *mut T, *const c_int, c_uint) -> Plan;
    plan_guru64_dft = guru64::dft: fn(c_int, *const Dim64, c_int, *const Dim64, *mut T, *mut T, c_int, c_uint) -> Plan;
    plan_guru64_split_dft = guru64::split_dft: fn(c_int, *const Dim64, c_int, *const Dim64, *mut T, *mut T, *mut T, *mut T, c_uint) -> Plan;
    plan_guru64_dft_r2c = guru64::dft_r2c: fn(c_int, *const Dim64, c_int, *const Dim64, *mut T, *mut T, c_uint) -> Plan;
    plan_guru64_dft_c2r = guru64::dft_c2r: fn(c_int, *const Dim64, c_int, *const Dim64, *mut T, *mut T, c_uint) -> Plan;
    plan_guru64_split_dft_r2c = guru64::split_dft_r2c: fn(c_int, *const Dim64, c_int, *const Dim64, *mut T, *mut T, *mut T, c_uint) -> Plan;
    plan_guru64_split_dft_c2r = guru64::split_dft_c2r: fn(c_int, *const Dim64, c_int, *const Dim64, *mut T, *mut T, *mut T, c_uint) -> Plan;
    plan_guru64_r2r = guru64::r2r: fn(c_int, *const Dim64, c_int, *const Dim64, *mut T, *mut T, *const c_int, c_uint) -> Plan;
    execute = execute: fn(Plan);
    execute_dft = execute_dft: fn(Plan, *mut T, *mut T);
    execute_dft_r2c = execute_dft_r2c: fn(Plan, *mut T, *mut T);
    execute_dft_c2r = execute_dft_c2r: fn(Plan, *mut T, *mut T);
    execute_r2r = execute_r2r: fn(Plan, *mut T, *mut T);
    execute_split_dft = execute_split_dft: fn(Plan, *mut T, *mut T, *mut T, *mut T);
    execute_split_dft_r2c = execute_split_dft_r2c: fn(Plan, *mut T, *mut T, *mut T);
    execute_split_dft_c2r = execute_split_dft_c2r: fn(Plan, *mut T, *mut T, *mut T);
    destroy_plan = destroy_plan: fn(Plan);
    sprint_plan = sprint_plan: fn(Plan) -> *mut c_char;
    forget_wisdom = forget_wisdom: fn();
    export_wisdom_to_string = export_wisdom_to_string: fn() -> *mut c_char;
    import_wisdom_from_string = import_wisdom_from_string: fn(*const c_char) -> c_int;
    plan_with_nthreads = plan_with_nthreads: fn(c_int);
    planner_nthreads = planner_nthreads: fn() -> c_int;
    alignment_of = alignment_of: fn(*mut T) -> c_int;
    @fortran
    fortran_plan_dft_2d = fortran::plan_dft_2d, "plan_dft_2d_": fn(*mut Plan, *const c_int, *const c_int, *mut T, *mut T, *const c_int, *const c_int);
    fortran_plan_dft_r2c = fortran::plan_dft_r2c, "plan_dft_r2c_": fn(*mut Plan, *const c_int, *const c_int, *mut T, *mut T, *const c_int);
    fortran_plan_many_dft = fortran::plan_many_dft, "plan_many_dft_": fn(*mut Plan, *const c_int, *const c_int, *const c_int, *mut T, *const c_int, *const c_int, *const c_int, *mut T, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int);
    fortran_plan_guru_dft_r2c = fortran::two_underscores::plan_guru_dft_r2c, "plan_guru_dft_r2c__": fn(*mut Plan, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, *mut T, *mut T, *const c_int);
    fortran_plan_r2r_2d = fortran::plan_r2r_2d, "plan_r2r_2d_": fn(*mut Plan, *const c_int, *const c_int, *mut T, *mut T, *const c_int, *const c_int, *const c_int);
    fortran_execute_dft = fortran::execute_dft, "execute_dft_": fn(*const Plan, *mut T, *mut T);
    fortran_execute = fortran::execute, "execute_": fn(*const Plan);
    fortran_destroy_plan = fortran::two_underscores::destroy_plan, "destroy_plan__": fn(*mut Plan);
}

pub const ESTIMATE: c_uint = 1 << 6;
pub const WISDOM_ONLY: c_uint = 1 << 21;

impl<T> Api<T> {
    /// A plan's description.
    pub fn describe(&self, plan: Plan) -> String {
        // SAFETY: the text ends in zero and is ours to give back.
        unsafe {
            let text = (self.sprint_plan)(plan);
            let copy = std::ffi::CStr::from_ptr(text)
                .to_string_lossy()
                .into_owned();
            libc_free(text.cast());
            copy
        }
    }
}

unsafe extern "C" {
    #[link_name = "free"]
    fn libc_free(memory: *mut c_void);
}

/// The largest bound in a plan's description; 0 where it only copies.
pub fn bound_of(description: &str) -> f64 {
    let bounds = description
        .lines()
        .filter_map(|line| line.strip_prefix("bound "));
    let bounds = bounds.filter_map(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    bounds.fold(0.0, f64::max)
}
