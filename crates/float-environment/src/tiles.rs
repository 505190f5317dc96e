//! AMX's tile registers: part of a thread's state, for which Linux requires a permission request.

use core::arch::asm;
use core::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// Whether Linux grants this process the tile registers, which it does on request only. It is requested once.
pub fn amx_tiles_are_granted() -> bool {
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => {
            let granted = granted();
            // Threads that ask at the same time get the same answer.
            ANSWER.store(if granted { YES } else { NO }, Ordering::Relaxed);
            granted
        }
        answer => answer == YES,
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn granted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const REQUEST_PERMISSION: i64 = 0x1023;
    const TILE_DATA: i64 = 18;
    let outcome: i64;
    // SAFETY: a system call without memory operands.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => outcome,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    outcome == 0
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn granted() -> bool {
    false
}
