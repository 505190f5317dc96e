//! Threads: the functions of libfftw3_threads and libfftw3_omp.

use crate::log::log;
use crate::options;
use crate::pool::{plan_for, planned};
use std::ffi::{c_char, c_int, c_void};

/// A caller's loop that runs jobs in parallel.
pub type ParallelLoop = unsafe extern "C" fn(
    work: Option<unsafe extern "C" fn(*mut c_char) -> *mut c_void>,
    jobs: *mut c_char,
    size: usize,
    count: c_int,
    data: *mut c_void,
);

macro_rules! thread_entry_points {
    ($module:ident, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// Nothing has to be prepared: always 1, which is success.
            #[unsafe(export_name = concat!($prefix, "init_threads"))]
            pub extern "C" fn init_threads() -> c_int {
                1
            }

            /// Threads of the plans made from now on; less than 1 counts as 1, and no more are used than help.
            /// `OZFFT_THREADS` has the last word.
            #[unsafe(export_name = concat!($prefix, "plan_with_nthreads"))]
            pub extern "C" fn plan_with_nthreads(threads: c_int) {
                let threads = usize::try_from(threads).unwrap_or(1).max(1);
                plan_for(threads);
            }

            /// Threads of the plans made from now on, as they were asked for.
            #[unsafe(export_name = concat!($prefix, "planner_nthreads"))]
            pub extern "C" fn planner_nthreads() -> c_int {
                let threads = options::threads_asked().ok().flatten();
                c_int::try_from(threads.unwrap_or_else(planned)).unwrap_or(c_int::MAX)
            }

            /// Plans are for one thread again; wisdom and unused plans are dropped, as by `fftw_cleanup`.
            #[unsafe(export_name = concat!($prefix, "cleanup_threads"))]
            pub extern "C" fn cleanup_threads() {
                plan_with_nthreads(1);
                crate::entry_points::memory::$module::cleanup();
            }

            /// Planning is safe from several threads at once without it.
            #[unsafe(export_name = concat!($prefix, "make_planner_thread_safe"))]
            pub extern "C" fn make_planner_thread_safe() {}

            /// Taken note of and not called: transforms run in a pool of this library, and their bits do not depend on it.
            #[unsafe(export_name = concat!($prefix, "threads_set_callback"))]
            pub extern "C" fn threads_set_callback(
                parallel: Option<ParallelLoop>,
                _data: *mut c_void,
            ) {
                if parallel.is_some() && options::verbose() {
                    log(concat!(
                        $prefix,
                        "threads_set_callback: the caller's loop is not used; transforms run in a pool of this library"
                    ));
                }
            }
        }
    };
}
thread_entry_points!(double, "fftw_");
thread_entry_points!(single, "fftwf_");
