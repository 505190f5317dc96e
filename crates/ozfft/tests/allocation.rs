//! The calls that take workspace allocate nothing. One test only, so that nothing else runs in this process.

mod common_arrays;

use common_arrays::plan;
use num_complex::Complex;
use ozfft::{Engine, Layout as ArrayLayout, Problem};
use ozfft_testkit::oracle::inputs::{uniform_complex, uniform_real};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Those of this thread: the test harness, too, allocates now and then.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
    OWN.set(OWN.get() + 1);
}

// SAFETY: every call is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CALLS: usize = 20;

/// Allocations during twenty calls after a first one: of this thread, and of all threads if they are so many that
/// they cannot be the harness's.
fn counted(mut call: impl FnMut()) -> usize {
    call();
    let (before, own) = (ALLOCATIONS.load(Ordering::SeqCst), OWN.get());
    for _ in 0..CALLS {
        call();
    }
    let all = ALLOCATIONS.load(Ordering::SeqCst) - before;
    if all >= CALLS / 2 {
        all
    } else {
        OWN.get() - own
    }
}

#[test]
fn calls_with_workspace_allocate_nothing() {
    let zero = Complex::new(0.0, 0.0);
    // Collected and shown together, because one cause often shows in several places.
    let mut found = Vec::new();
    for engine in [Engine::Digits, Engine::Residues, Engine::Native] {
        for shape in [&[1024][..], &[4096], &[1009], &[12, 35]] {
            let problem = Problem::complex(shape).engine(engine).threads(1);
            let made = plan(&problem);
            let mut workspace = vec![0; made.workspace_len()];
            let input = uniform_complex(problem.input_len(), 1);
            let mut output = vec![zero; input.len()];
            let apart = counted(|| {
                made.process_outofplace_with_workspace(&input, &mut output, &mut workspace)
                    .unwrap();
            });
            let together = counted(|| {
                output.copy_from_slice(&input);
                made.process_with_workspace(&mut output, &mut workspace)
                    .unwrap();
            });
            if apart + together > 0 {
                found.push(format!(
                    "{shape:?} by {engine:?}: {apart} out of place, {together} in place"
                ));
            }
        }
        for shape in [&[1000][..], &[131], &[24, 30]] {
            let forward = Problem::real_to_complex(shape).engine(engine).threads(1);
            let made = plan(&forward);
            let mut workspace = vec![0; made.workspace_len()];
            let mut real = uniform_real(forward.input_len(), 1);
            let mut half = vec![zero; forward.output_len()];
            let there = counted(|| {
                made.process_real_to_complex_with_workspace(&real, &mut half, &mut workspace)
                    .unwrap();
            });
            // What the transform leaves here, of the size of its error, would be reported in the inverse transform.
            half[0].im = 0.0;
            half[shape[0] / 2].im = 0.0;
            let made = plan(&Problem::complex_to_real(shape).engine(engine).threads(1));
            let mut workspace = vec![0; made.workspace_len()];
            let back = counted(|| {
                made.process_complex_to_real_with_workspace(&half, &mut real, &mut workspace)
                    .unwrap();
            });
            // The same in one array, rows of reals padded to those of the half-spectrum.
            let padded = ArrayLayout::padded_real(shape);
            let made = plan(&forward.clone().input_layout(padded));
            let mut workspace = vec![0; made.workspace_len()];
            let mut rows = half.clone();
            let in_place = counted(|| {
                made.process_real_in_place_with_workspace(&mut rows, &mut workspace)
                    .unwrap();
            });
            if there + back + in_place > 0 {
                found.push(format!(
                    "{shape:?} by {engine:?}: {there} real to complex, {back} complex to real, {in_place} in place"
                ));
            }
        }
    }
    assert!(found.is_empty(), "allocations in 100 calls: {found:#?}");
    // Several threads: rayon's queue grows by a block now and then, which is rayon's and not a transform's.
    let problem = Problem::complex(&[256])
        .batch(8)
        .threads(2)
        .engine(Engine::Digits);
    let made = plan(&problem);
    let mut workspace = vec![0; made.workspace_len()];
    let mut data = uniform_complex(problem.input_len(), 1);
    let shared = counted(|| {
        made.process_with_workspace(&mut data, &mut workspace)
            .unwrap();
    });
    assert!(shared <= CALLS / 10, "{shared} allocations in 100 calls");
}
