//! Transforms allocate nothing.

use floats::{Direction, FloatPlan, Mode, Table, Unit};
use num_complex::Complex;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn processing_allocates_nothing_in_any_mode() {
    for mode in Mode::ALL {
        for table in [Table::Measured, Table::Posted] {
            for n in [1, 12, 256, 1000, 1009] {
                let plan = FloatPlan::with_table(n, mode, Direction::Forward, Unit::best(), table)
                    .unwrap();
                let mut workspace = plan.workspace();
                // Numbers of f16 take plain code long.
                let count = if n > 300 { 2 } else { 35 };
                let mut lines = vec![Complex::new(1.0f32, 0.5); count * n];
                let mut wide = vec![Complex::new(1.0f64, 0.5); count * n];
                let before = ALLOCATIONS.get();
                plan.process(&mut lines, &mut workspace).unwrap();
                if mode.takes_f64() {
                    plan.process_f64(&mut wide, &mut workspace).unwrap();
                }
                assert_eq!(ALLOCATIONS.get(), before, "{mode} {table:?} {n}");
            }
        }
    }
}
