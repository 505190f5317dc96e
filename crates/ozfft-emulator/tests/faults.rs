//! Whether the emulator finds what it is there to find: a kernel that does everything right has the sums and copies that it
//! should have, and with any one mistake (`src/faulty.cpp`) it has not, or ends the program.

use std::process::Command;

/// Mistakes by their numbers, and what is reported.
const FAULTS: [&str; 17] = [
    "ends before the products or copies",
    "wrong sums",
    "without a fence",
    "ends before the products or copies",
    "lanes multiply differently",
    "warps multiply differently",
    "waits for threads that have ended or wait elsewhere",
    "not one of its shared memory",
    "waits for threads that have ended or wait elsewhere",
    "ends before copies to the block's shared memory",
    "ends before the products or copies",
    "wrong copy",
    "more than 2^14 units in fp8",
    "a matrix in fp8 that has not digits",
    "more than 2^22 units in f16",
    "a matrix in f16 that has not digits",
    "does not name their sums",
];

/// Says which mistake the kernel is to make.
const VARIABLE: &str = "OZFFT_EMULATOR_FAULT";

#[repr(C, align(64))]
struct FaultyTask {
    maps: [[u64; 16]; 2],
    matrix: *const i8,
    sums: *mut i32,
    fault: u64,
}

/// Arrays of 2 × 2 × 2 × 5 numbers, of which boxes take 2 × 2 × 2 × 16, from two before the first: by rows of 128 bytes.
fn map(array: *const f64, rank: u64) -> [u64; 16] {
    let (dimensions, boxed, distances): ([u64; 5], [u64; 5], [u64; 4]) = match rank {
        5 => ([5, 2, 2, 2, 1], [16, 2, 2, 2, 1], [64, 128, 256, 512]),
        _ => ([5, 8, 1, 1, 0], [16, 8, 1, 1, 0], [64, 512, 512, 0]),
    };
    let mut map = [0; 16];
    (map[0], map[1]) = (array as u64, rank);
    map[2..7].copy_from_slice(&dimensions);
    map[7..11].copy_from_slice(&distances);
    map[11..].copy_from_slice(&boxed);
    map
}

/// Runs the kernel and compares; alone it makes no mistake.
#[test]
fn kernel() {
    let fault = std::env::var(VARIABLE).map_or(0, |text| text.parse().unwrap());
    let digit = |column: usize, k: usize| (37 * column + 11 * k) as u8 as i8;
    let matrix: Vec<i8> = (0..1024)
        .map(|place| {
            let (eight, piece, column) = (place / 256, place / 128 % 2, place / 16 % 8);
            digit(8 * eight + column, 16 * piece + place % 16)
        })
        .collect();
    // Of eight numbers the last three are beyond the array, but the copy engine ends at multiples of 16 bytes.
    let from: Vec<f64> = (0..64).map(f64::from).collect();
    let mut to = vec![-1.0; 64];
    let mut sums = vec![0; 16 * 128];
    let task = FaultyTask {
        maps: [map(from.as_ptr(), 5), map(to.as_mut_ptr(), 4)],
        matrix: matrix.as_ptr(),
        sums: sums.as_mut_ptr(),
        fault,
    };
    let parameters = std::ptr::from_ref(&task).cast();
    // SAFETY: the task is as the kernel declares it, and its arrays are alive.
    unsafe { ozfft_emulator::launch("faulty", parameters, 1, 128, 2048 + 16) };
    for (place, &sum) in sums.iter().enumerate() {
        let (thread, i) = (place / 16, place % 16);
        let row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        let column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        let expected: i32 = (0..32)
            .map(|k| (row + k) as i32 * i32::from(digit(column, k)))
            .sum();
        assert_eq!(sum, expected, "wrong sums: row {row}, column {column}");
    }
    for (place, (&number, &original)) in to.iter().zip(&from).enumerate() {
        let expected = if place % 8 >= 6 { -1.0 } else { original };
        assert_eq!(number, expected, "wrong copy at {place}");
    }
}

#[test]
fn every_fault_is_found() {
    let program = std::env::current_exe().unwrap();
    for (number, message) in FAULTS.iter().enumerate() {
        let output = Command::new(&program)
            .args(["--exact", "kernel", "--nocapture"])
            .env(VARIABLE, (number + 1).to_string())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success(),
            "fault {} is not found",
            number + 1
        );
        assert!(text.contains(message), "fault {}: {text}", number + 1);
    }
}

/// `kulisch_spmv.cu` and `kulisch_gemv.cu` had functions of one name, and the linker took one of them for both where neither was inlined.
#[test]
fn functions_of_one_name_in_two_files_stay_apart() {
    for (kernel, expected) in [("namesake_one", 1), ("namesake_other", 2)] {
        let mut result = 0;
        let task: *mut i32 = &mut result;
        let parameters = std::ptr::from_ref(&task).cast();
        // SAFETY: the only parameter is the address of a number that is alive.
        unsafe { ozfft_emulator::launch(kernel, parameters, 1, 32, 0) };
        assert_eq!(result, expected, "{kernel}");
    }
}
