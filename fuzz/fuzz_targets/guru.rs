//! Plans of FFTW's guru interface with whatever numbers the bytes have: rejected, or executed within the arrays that they describe.
//! Everything around the described elements, and the input, stays as it was.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
// Linked for its C names, which are what is tried.
use ozfft_fftw as _;
use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint, c_void};

// SAFETY: as fftw3.h declares them.
unsafe extern "C" {
    fn fftw_plan_guru64_dft(
        rank: c_int,
        dims: *const Dim,
        loop_rank: c_int,
        loops: *const Dim,
        input: *mut f64,
        output: *mut f64,
        sign: c_int,
        flags: c_uint,
    ) -> *mut c_void;
    fn fftw_plan_guru64_dft_r2c(
        rank: c_int,
        dims: *const Dim,
        loop_rank: c_int,
        loops: *const Dim,
        input: *mut f64,
        output: *mut f64,
        flags: c_uint,
    ) -> *mut c_void;
    fn fftw_plan_guru64_dft_c2r(
        rank: c_int,
        dims: *const Dim,
        loop_rank: c_int,
        loops: *const Dim,
        input: *mut f64,
        output: *mut f64,
        flags: c_uint,
    ) -> *mut c_void;
    fn fftw_execute(plan: *mut c_void);
    fn fftw_destroy_plan(plan: *mut c_void);
}

/// Most points of a transform that is executed, and most doubles of an array.
const MOST_POINTS: i128 = 2048;
const MOST_DOUBLES: i128 = 1 << 15;
/// From here on nothing may be planned, and rejecting takes no time.
const ABSURD: i128 = 1 << 60;

/// As `fftw_iodim64`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Dim {
    n: isize,
    is: isize,
    os: isize,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Number {
    Small(u8),
    Negative(u8),
    Large(i32),
    Any(i64),
}

impl Number {
    fn value(self) -> isize {
        match self {
            Number::Small(value) => (value % 40) as isize,
            Number::Negative(value) => -((value % 40) as isize),
            Number::Large(value) => value as isize,
            Number::Any(value) => value as isize,
        }
    }
}

#[derive(Debug, Arbitrary)]
struct Request {
    kind: u8,
    dims: Vec<(u8, Number, Number)>,
    loops: Vec<(Number, Number, Number)>,
    /// Another length in place of one of the small ones.
    length: Option<(u8, Number)>,
    backward: bool,
    preserve: bool,
}

const FFTW_ESTIMATE: c_uint = 1 << 6;
const FFTW_PRESERVE_INPUT: c_uint = 1 << 4;
/// What no transform gives.
const CANARY: u64 = 0x7ff8_dead_beef_0001;

/// First doubles of all elements of an array, relative to its pointer; nothing if there are too many or one is too far.
fn places(axes: impl Iterator<Item = (isize, isize)>, doubles: i128) -> Option<Vec<i128>> {
    let mut places = vec![0i128];
    for (n, stride) in axes {
        let n = i128::from(n as i64);
        if n <= 0 || n * places.len() as i128 > 4 * MOST_POINTS {
            return None;
        }
        let step = i128::from(stride as i64) * doubles;
        places = (0..n)
            .flat_map(|i| places.iter().map(move |place| place + i * step))
            .collect();
    }
    let fits = |place: &i128| place.abs() < MOST_DOUBLES;
    places.iter().all(fits).then_some(places)
}

/// An array that holds these places, with canaries everywhere, and where its pointer is.
fn array(places: &[i128], doubles: i128) -> (Vec<f64>, usize) {
    let low = places.iter().min().copied().unwrap_or(0).min(0);
    let high = places.iter().max().copied().unwrap_or(0).max(0) + doubles - 1;
    // Redzones on both sides.
    let length = (high - low + 1) as usize + 32;
    (vec![f64::from_bits(CANARY); length], (16 - low) as usize)
}

fuzz_target!(|data: &[u8]| {
    let Ok(request) = Request::arbitrary(&mut Unstructured::new(data)) else {
        return;
    };
    if request.dims.len() > 5 || request.loops.len() > 3 {
        return;
    }
    let mut dims: Vec<Dim> = request
        .dims
        .iter()
        .map(|&(n, is, os)| Dim {
            n: isize::from(n % 24),
            is: is.value(),
            os: os.value(),
        })
        .collect();
    if let Some((at, length)) = request.length
        && !dims.is_empty()
    {
        let at = usize::from(at) % dims.len();
        dims[at].n = length.value();
    }
    let loops: Vec<Dim> = request
        .loops
        .iter()
        .map(|&(n, is, os)| Dim {
            n: n.value(),
            is: is.value(),
            os: os.value(),
        })
        .collect();
    let points = |of: &[Dim]| of.iter().fold(1i128, |total, d| total.saturating_mul((d.n as i128).max(0)));
    let total = points(&dims).saturating_mul(points(&loops));
    if total > MOST_POINTS && total < ABSURD {
        // Only slow.
        return;
    }
    // Kinds: complex, real to complex, complex to real. The last axis of the complex side is halved.
    let kind = request.kind % 3;
    let halved = |side: bool| {
        let mut axes: Vec<(isize, isize, isize)> = dims.iter().map(|d| (d.n, d.is, d.os)).collect();
        if side && let Some(last) = axes.last_mut() {
            last.0 = last.0 / 2 + isize::from(last.0 > 0);
        }
        axes.extend(loops.iter().map(|d| (d.n, d.is, d.os)));
        axes
    };
    let (from_doubles, to_doubles) = [(2, 2), (1, 2), (2, 1)][usize::from(kind)];
    let from = places(halved(kind == 2).into_iter().map(|a| (a.0, a.1)), from_doubles);
    let to = places(halved(kind == 1).into_iter().map(|a| (a.0, a.2)), to_doubles);
    let executable = from.is_some() && to.is_some() && total <= MOST_POINTS;
    let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
    let (mut input, input_start) = array(&from, from_doubles);
    let (mut output, output_start) = array(&to, to_doubles);
    for (number, &place) in from.iter().enumerate() {
        for part in 0..from_doubles {
            let at = (input_start as i128 + place + part) as usize;
            input[at] = (number % 17) as f64 - part as f64;
        }
    }
    let before = input.clone();
    let flags = FFTW_ESTIMATE | if request.preserve { FFTW_PRESERVE_INPUT } else { 0 };
    let sign: c_int = if request.backward { 1 } else { -1 };
    // SAFETY: dimensions are what they say they are. Pointers lie within the arrays; a plan that ESTIMATE makes touches none of
    // them, and is executed only where all elements lie within.
    unsafe {
        let (i, o) = (input.as_mut_ptr().add(input_start), output.as_mut_ptr().add(output_start));
        let (rank, loop_rank) = (dims.len() as c_int, loops.len() as c_int);
        let (d, l) = (dims.as_ptr(), loops.as_ptr());
        let plan = match kind {
            0 => fftw_plan_guru64_dft(rank, d, loop_rank, l, i, o, sign, flags),
            1 => fftw_plan_guru64_dft_r2c(rank, d, loop_rank, l, i, o, flags),
            _ => fftw_plan_guru64_dft_c2r(rank, d, loop_rank, l, i, o, flags),
        };
        assert!(total < ABSURD || plan.is_null(), "{total} points were planned");
        if !plan.is_null() && executable {
            fftw_execute(plan);
        }
        fftw_destroy_plan(plan);
    }
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    // Complex to real may overwrite its input, as FFTW's does, unless it is told not to.
    assert!((kind == 2 && !request.preserve) || same(&input, &before), "the input was written");
    let described: BTreeSet<usize> = to
        .iter()
        .flat_map(|&place| (0..to_doubles).map(move |part| place + part))
        .map(|place| (output_start as i128 + place) as usize)
        .collect();
    for (at, value) in output.iter().enumerate() {
        let untouched = value.to_bits() == CANARY;
        assert!(untouched || described.contains(&at), "double {at} is not described");
    }
});
