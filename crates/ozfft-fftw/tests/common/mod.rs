//! Both libraries behind one table of functions: ours, linked into this program, and the real one, loaded where it is installed.
//! Neither sees the other's symbols: a program exports none, and the real library is loaded for itself.
#![allow(dead_code)]

use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};

pub type Plan = *mut c_void;
type Complexes = *mut f64;
type Reals = *mut f64;

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

macro_rules! doors {
    ($($name:ident: fn($($type:ty),*) $(-> $result:ty)?;)*) => {
        #[derive(Clone, Copy)]
        pub struct Doors {
            $(pub $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Doors {
            /// Our functions.
            pub fn ours() -> Doors {
                use ozfft_fftw::{dft::*, execute::*, fortran::*, guru::*, many::*, memory::*, print::*, r2r::*, real::*, threads::*, wisdom::*};
                // SAFETY: pointers to plans, complex numbers and files are pointers all the same.
                unsafe {
                    Doors { $($name: std::mem::transmute::<*const (), unsafe extern "C" fn($($type),*) $(-> $result)?>($name as *const ()),)* }
                }
            }

            /// Those of FFTW, if it is installed. A name that is missing there is a mistake of this table.
            pub fn real() -> Option<Doors> {
                // SAFETY: FFTW's initialisers set up its own data. The libraries stay loaded.
                let library: &'static Library = Box::leak(Box::new(unsafe { Library::new("libfftw3.so.3") }.ok()?));
                let threads: &'static Library = Box::leak(Box::new(unsafe { Library::new("libfftw3_threads.so.3") }.ok()?));
                // SAFETY: the types are those of fftw3.h.
                unsafe {
                    Some(Doors { $($name: {
                        let name = concat!(stringify!($name), "\0");
                        let found = library.get::<unsafe extern "C" fn($($type),*) $(-> $result)?>(name);
                        *found.or_else(|_| threads.get(name)).unwrap_or_else(|error| panic!("FFTW lacks {name}: {error}"))
                    },)* })
                }
            }
        }
    };
}

doors! {
    fftw_plan_dft: fn(c_int, *const c_int, Complexes, Complexes, c_int, c_uint) -> Plan;
    fftw_plan_dft_1d: fn(c_int, Complexes, Complexes, c_int, c_uint) -> Plan;
    fftw_plan_dft_2d: fn(c_int, c_int, Complexes, Complexes, c_int, c_uint) -> Plan;
    fftw_plan_dft_3d: fn(c_int, c_int, c_int, Complexes, Complexes, c_int, c_uint) -> Plan;
    fftw_plan_dft_r2c: fn(c_int, *const c_int, Reals, Complexes, c_uint) -> Plan;
    fftw_plan_dft_r2c_1d: fn(c_int, Reals, Complexes, c_uint) -> Plan;
    fftw_plan_dft_r2c_2d: fn(c_int, c_int, Reals, Complexes, c_uint) -> Plan;
    fftw_plan_dft_r2c_3d: fn(c_int, c_int, c_int, Reals, Complexes, c_uint) -> Plan;
    fftw_plan_dft_c2r: fn(c_int, *const c_int, Complexes, Reals, c_uint) -> Plan;
    fftw_plan_dft_c2r_1d: fn(c_int, Complexes, Reals, c_uint) -> Plan;
    fftw_plan_dft_c2r_2d: fn(c_int, c_int, Complexes, Reals, c_uint) -> Plan;
    fftw_plan_dft_c2r_3d: fn(c_int, c_int, c_int, Complexes, Reals, c_uint) -> Plan;
    fftw_plan_r2r: fn(c_int, *const c_int, Reals, Reals, *const c_int, c_uint) -> Plan;
    fftw_plan_r2r_1d: fn(c_int, Reals, Reals, c_int, c_uint) -> Plan;
    fftw_plan_r2r_2d: fn(c_int, c_int, Reals, Reals, c_int, c_int, c_uint) -> Plan;
    fftw_plan_r2r_3d: fn(c_int, c_int, c_int, Reals, Reals, c_int, c_int, c_int, c_uint) -> Plan;
    fftw_plan_many_dft: fn(c_int, *const c_int, c_int, Complexes, *const c_int, c_int, c_int, Complexes, *const c_int, c_int, c_int, c_int, c_uint) -> Plan;
    fftw_plan_many_dft_r2c: fn(c_int, *const c_int, c_int, Reals, *const c_int, c_int, c_int, Complexes, *const c_int, c_int, c_int, c_uint) -> Plan;
    fftw_plan_many_dft_c2r: fn(c_int, *const c_int, c_int, Complexes, *const c_int, c_int, c_int, Reals, *const c_int, c_int, c_int, c_uint) -> Plan;
    fftw_plan_many_r2r: fn(c_int, *const c_int, c_int, Reals, *const c_int, c_int, c_int, Reals, *const c_int, c_int, c_int, *const c_int, c_uint) -> Plan;
    fftw_plan_guru_dft: fn(c_int, *const Dim32, c_int, *const Dim32, Complexes, Complexes, c_int, c_uint) -> Plan;
    fftw_plan_guru_split_dft: fn(c_int, *const Dim32, c_int, *const Dim32, Reals, Reals, Reals, Reals, c_uint) -> Plan;
    fftw_plan_guru_dft_r2c: fn(c_int, *const Dim32, c_int, *const Dim32, Reals, Complexes, c_uint) -> Plan;
    fftw_plan_guru_dft_c2r: fn(c_int, *const Dim32, c_int, *const Dim32, Complexes, Reals, c_uint) -> Plan;
    fftw_plan_guru_split_dft_r2c: fn(c_int, *const Dim32, c_int, *const Dim32, Reals, Reals, Reals, c_uint) -> Plan;
    fftw_plan_guru_split_dft_c2r: fn(c_int, *const Dim32, c_int, *const Dim32, Reals, Reals, Reals, c_uint) -> Plan;
    fftw_plan_guru_r2r: fn(c_int, *const Dim32, c_int, *const Dim32, Reals, Reals, *const c_int, c_uint) -> Plan;
    fftw_plan_guru64_dft: fn(c_int, *const Dim64, c_int, *const Dim64, Complexes, Complexes, c_int, c_uint) -> Plan;
    fftw_plan_guru64_split_dft: fn(c_int, *const Dim64, c_int, *const Dim64, Reals, Reals, Reals, Reals, c_uint) -> Plan;
    fftw_plan_guru64_dft_r2c: fn(c_int, *const Dim64, c_int, *const Dim64, Reals, Complexes, c_uint) -> Plan;
    fftw_plan_guru64_dft_c2r: fn(c_int, *const Dim64, c_int, *const Dim64, Complexes, Reals, c_uint) -> Plan;
    fftw_plan_guru64_split_dft_r2c: fn(c_int, *const Dim64, c_int, *const Dim64, Reals, Reals, Reals, c_uint) -> Plan;
    fftw_plan_guru64_split_dft_c2r: fn(c_int, *const Dim64, c_int, *const Dim64, Reals, Reals, Reals, c_uint) -> Plan;
    fftw_plan_guru64_r2r: fn(c_int, *const Dim64, c_int, *const Dim64, Reals, Reals, *const c_int, c_uint) -> Plan;
    fftw_execute: fn(Plan);
    fftw_execute_dft: fn(Plan, Complexes, Complexes);
    fftw_execute_dft_r2c: fn(Plan, Reals, Complexes);
    fftw_execute_dft_c2r: fn(Plan, Complexes, Reals);
    fftw_execute_r2r: fn(Plan, Reals, Reals);
    fftw_execute_split_dft: fn(Plan, Reals, Reals, Reals, Reals);
    fftw_execute_split_dft_r2c: fn(Plan, Reals, Reals, Reals);
    fftw_execute_split_dft_c2r: fn(Plan, Reals, Reals, Reals);
    fftw_destroy_plan: fn(Plan);
    fftw_sprint_plan: fn(Plan) -> *mut c_char;
    fftw_forget_wisdom: fn();
    fftw_export_wisdom_to_string: fn() -> *mut c_char;
    fftw_import_wisdom_from_string: fn(*const c_char) -> c_int;
    fftw_plan_with_nthreads: fn(c_int);
    fftw_planner_nthreads: fn() -> c_int;
    fftw_alignment_of: fn(Reals) -> c_int;
    dfftw_plan_dft_2d_: fn(*mut Plan, *const c_int, *const c_int, Complexes, Complexes, *const c_int, *const c_int);
    dfftw_plan_dft_r2c_: fn(*mut Plan, *const c_int, *const c_int, Reals, Complexes, *const c_int);
    dfftw_plan_many_dft_: fn(*mut Plan, *const c_int, *const c_int, *const c_int, Complexes, *const c_int, *const c_int, *const c_int, Complexes, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int);
    dfftw_plan_guru_dft_r2c__: fn(*mut Plan, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, *const c_int, Reals, Complexes, *const c_int);
    dfftw_plan_r2r_2d_: fn(*mut Plan, *const c_int, *const c_int, Reals, Reals, *const c_int, *const c_int, *const c_int);
    dfftw_execute_dft_: fn(*const Plan, Complexes, Complexes);
    dfftw_execute_: fn(*const Plan);
    dfftw_destroy_plan__: fn(*mut Plan);
}

pub const ESTIMATE: c_uint = 1 << 6;
pub const WISDOM_ONLY: c_uint = 1 << 21;

impl Doors {
    /// A plan's description.
    pub fn describe(&self, plan: Plan) -> String {
        // SAFETY: the text ends in zero and is ours to give back.
        unsafe {
            let text = (self.fftw_sprint_plan)(plan);
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
