//! What one call of `fftw_execute` takes, beside FFTW with `FFTW_ESTIMATE` and with `FFTW_MEASURE`: contiguous complex transforms in
//! place, one thread, the same array again and again. A quiet machine is needed for figures that are worth anything.
//!
//! `cargo run --release -p ozfft-fftw --example latency -- --longest 1048576` prints tables in Markdown. The program needs neither cargo
//! nor an installed FFTW: `FFTW_LIBRARY=path/libfftw3.so.3` and `FFTWF_LIBRARY=path/libfftw3f.so.3` say where FFTW's libraries are.

use libloading::Library;
use ozfft_testkit::oracle::inputs::Generator;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::time::{Duration, Instant};

const ESTIMATE: c_uint = 1 << 6;
const MEASURE: c_uint = 0;

/// The length that is no power of 4.
const ROUND: usize = 1000;

type Plan = *mut c_void;
type PlanLine<T> = unsafe extern "C" fn(c_int, *mut T, *mut T, c_int, c_uint) -> Plan;
type WithPlan = unsafe extern "C" fn(Plan);

/// The functions that are measured, of one library.
struct Functions<T> {
    plan: PlanLine<T>,
    execute: WithPlan,
    destroy: WithPlan,
    /// Whose they are.
    name: String,
}

/// The numbers of arrays.
trait Sample: Copy + Default {
    const TITLE: &str;
    const LIBRARY: &str;
    const PREFIX: &str;
    /// The environment's variable that names FFTW's library.
    const VARIABLE: &str;
    fn from_f64(value: f64) -> Self;
    fn ours() -> Functions<Self>;
}

macro_rules! sample {
    ($real:ident, $module:ident, $title:literal, $library:literal, $prefix:literal, $variable:literal) => {
        impl Sample for $real {
            const TITLE: &str = $title;
            const LIBRARY: &str = $library;
            const PREFIX: &str = $prefix;
            const VARIABLE: &str = $variable;
            fn from_f64(value: f64) -> Self {
                value as $real
            }
            fn ours() -> Functions<Self> {
                // SAFETY: complex numbers are pairs of reals, and pointers to plans are pointers all the same.
                unsafe {
                    Functions {
                        plan: std::mem::transmute::<*const (), PlanLine<$real>>(
                            ozfft_fftw::$module::plan_dft_1d as *const (),
                        ),
                        execute: std::mem::transmute::<*const (), WithPlan>(
                            ozfft_fftw::$module::execute as *const (),
                        ),
                        destroy: std::mem::transmute::<*const (), WithPlan>(
                            ozfft_fftw::$module::destroy_plan as *const (),
                        ),
                        name: format!("ozfft {}", env!("CARGO_PKG_VERSION")),
                    }
                }
            }
        }
    };
}

sample!(
    f64,
    double,
    "Double precision",
    "libfftw3.so.3",
    "fftw_",
    "FFTW_LIBRARY"
);
sample!(
    f32,
    single,
    "Single precision",
    "libfftw3f.so.3",
    "fftwf_",
    "FFTWF_LIBRARY"
);

/// FFTW's functions: from the library that the environment names, which has to be there; else from the installed one, if there is one.
fn real<T: Sample>() -> Option<Functions<T>> {
    let given = std::env::var(T::VARIABLE).ok();
    let path = given.as_deref().unwrap_or(T::LIBRARY);
    // SAFETY: FFTW's initialisers set up its own data. The library stays loaded.
    let library = match unsafe { Library::new(path) } {
        Ok(library) => Box::leak(Box::new(library)),
        Err(error) if given.is_some() => {
            panic!(
                "{} names {path}, which cannot be loaded: {error}",
                T::VARIABLE
            )
        }
        Err(_) => return None,
    };
    let find = |name: &str| -> *const () {
        let name = format!("{}{name}", T::PREFIX);
        // SAFETY: only the address is taken here.
        let found = unsafe { library.get::<*const ()>(&name) };
        *found.unwrap_or_else(|error| panic!("{path} lacks {name}: {error}"))
    };
    // SAFETY: the types are those of fftw3.h; the version is a text that ends in zero.
    unsafe {
        let version = CStr::from_ptr(find("version").cast::<c_char>());
        Some(Functions {
            plan: std::mem::transmute::<*const (), PlanLine<T>>(find("plan_dft_1d")),
            execute: std::mem::transmute::<*const (), WithPlan>(find("execute")),
            destroy: std::mem::transmute::<*const (), WithPlan>(find("destroy_plan")),
            name: version.to_string_lossy().into_owned(),
        })
    }
}

/// The median of batches of calls, each long enough for the clock, in seconds a call.
fn seconds_a_call(mut call: impl FnMut()) -> f64 {
    let time = |calls: u32, call: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed()
    };
    let mut calls = 1;
    while time(calls, &mut call) < Duration::from_millis(2) && calls < 1 << 20 {
        calls *= 2;
    }
    let mut batches: Vec<f64> = (0..31)
        .map(|_| time(calls, &mut call).as_secs_f64() / f64::from(calls))
        .collect();
    batches.sort_by(f64::total_cmp);
    batches[batches.len() / 2]
}

fn measured<T: Sample>(functions: &Functions<T>, n: usize, flags: c_uint) -> f64 {
    let mut array = vec![T::default(); 2 * n];
    let start = array.as_mut_ptr();
    // SAFETY: an array of `n` complex numbers, in place, alive until the plan is destroyed.
    unsafe {
        let plan = (functions.plan)(n as c_int, start, start, -1, flags);
        assert!(!plan.is_null(), "no plan for {n} points");
        // Results of results would overflow: the array is set anew for every call, and the time of that taken off.
        let mut random = Generator::new(n as u64);
        let original: Vec<T> = (0..2 * n)
            .map(|_| T::from_f64(random.uniform() - 0.5))
            .collect();
        let seconds = seconds_a_call(|| {
            array.copy_from_slice(&original);
            (functions.execute)(plan);
        });
        let copying = seconds_a_call(|| {
            array.copy_from_slice(std::hint::black_box(&original));
            std::hint::black_box(&mut array);
        });
        (functions.destroy)(plan);
        seconds - copying
    }
}

fn table<T: Sample>(longest: usize) {
    let (ours, real) = (T::ours(), real::<T>());
    let other = real.as_ref().map_or(
        format!(
            "{} is not installed ({} names one)",
            T::LIBRARY,
            T::VARIABLE
        ),
        |real| real.name.clone(),
    );
    println!("\n{}: {other}; {}\n", T::TITLE, ours.name);
    println!("| points | FFTW, ESTIMATE | FFTW, MEASURE | ozfft | over ESTIMATE | over MEASURE |");
    println!("|---|---|---|---|---|---|");
    // Powers of 4, and a round number, as programs ask for.
    let powers = (2..).map(|power| 1 << (2 * power));
    let mut lengths: Vec<usize> = powers.take_while(|&n| n <= longest).collect();
    if longest >= ROUND {
        lengths.push(ROUND);
        lengths.sort_unstable();
    }
    for n in lengths {
        let own = measured(&ours, n, ESTIMATE);
        let micro = |seconds: f64| format!("{:.3} µs", 1e6 * seconds);
        match &real {
            Some(real) => {
                let (estimate, measure) = (measured(real, n, ESTIMATE), measured(real, n, MEASURE));
                println!(
                    "| {n} | {} | {} | {} | {:.1} | {:.1} |",
                    micro(estimate),
                    micro(measure),
                    micro(own),
                    own / estimate,
                    own / measure
                );
            }
            None => println!("| {n} | | | {} | | |", micro(own)),
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let longest = match arguments.as_slice() {
        [] => 1 << 20,
        [name, text] if name == "--longest" => text
            .parse()
            .unwrap_or_else(|_| panic!("--longest takes a number of points, and {text:?} is none")),
        other => panic!("{other:?}: there is only --longest POINTS"),
    };
    if let Ok(processors) = std::fs::read_to_string("/proc/cpuinfo")
        && let Some(line) = processors
            .lines()
            .find(|line| line.starts_with("model name"))
    {
        println!(
            "{}",
            line.split_once(':').map_or(line, |(_, name)| name.trim())
        );
    }
    table::<f64>(longest);
    table::<f32>(longest);
}
