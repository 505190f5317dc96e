//! The caller's environment is saved and restored.
#![cfg(all(target_arch = "x86_64", not(miri)))]

use float_environment::{DefaultEnvironment, with_default};
use std::arch::asm;
use std::hint::black_box;

fn control() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores a register in memory that is ours.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value) };
    value
}

fn set_control(value: u32) {
    // SAFETY: loads a register; tests set it back before they compute.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value) };
}

const DEFAULT: u32 = 0x1f80;
/// Rounding down, up, to zero; subnormal results and operands as zero; exceptions that stop the program; some at once.
const OTHERS: [u32; 8] = [
    0x3f80, 0x5f80, 0x7f80, 0x9f80, 0x1fc0, 0x9fc0, 0x0000, 0xe040,
];

#[test]
fn results_are_those_of_the_default_environment_and_the_callers_is_restored() {
    for value in OTHERS {
        set_control(value);
        let (third, tiny) = with_default(|| {
            let third = black_box(1.0f64) / black_box(3.0);
            let tiny = black_box(f64::MIN_POSITIVE) / black_box(4.0) * black_box(2.0);
            (third, tiny)
        });
        let after = control();
        set_control(DEFAULT);
        assert_eq!(after, value);
        assert_eq!(third.to_bits(), 0x3fd5_5555_5555_5555, "{value:#x}");
        assert_eq!(tiny.to_bits(), 1 << 51, "{value:#x}");
    }
}

#[test]
fn the_environment_is_restored_after_a_panic_and_when_nested() {
    for value in OTHERS {
        set_control(value);
        let outer = DefaultEnvironment::enter();
        let inner = DefaultEnvironment::enter();
        let during = control();
        drop(inner);
        let still = control();
        drop(outer);
        let after = control();
        set_control(DEFAULT);
        let panicked = std::panic::catch_unwind(|| {
            set_control(value);
            with_default(|| std::panic::resume_unwind(Box::new(())));
        });
        let after_panic = control();
        set_control(DEFAULT);
        assert!(panicked.is_err());
        let control_bits = |value: u32| value & 0xffc0;
        assert_eq!(control_bits(during), DEFAULT);
        assert_eq!(control_bits(still), DEFAULT);
        assert_eq!((after, after_panic), (value, value));
    }
}

#[test]
fn sticky_flags_do_not_count_as_a_different_environment() {
    set_control(DEFAULT | 0x20);
    let environment = DefaultEnvironment::enter();
    set_control(DEFAULT | 0x31);
    drop(environment);
    let after = control();
    set_control(DEFAULT);
    assert_eq!(after, DEFAULT | 0x31);
}
