//! Section 6: single precision.

use super::{Printed, checked, contradiction};
use crate::floors;

pub(super) fn numbers() -> Vec<Printed> {
    vec![
        contradiction(
            "eq. 23",
            "floor of FP32",
            (1.56, 3, "B"),
            ("15 log2 N / 48", floors::native_single(1024)),
            "the same operations on half the bytes are twice as many a byte; equation 24, in the same section, has halved the bytes",
        ),
        contradiction(
            "6.3",
            "floor of FP32 at 8 TB/s",
            (12.5, 3, "TFLOP/s"),
            ("3.125 · 8", 25.0),
            "follows from equation 23",
        ),
        contradiction(
            "6.3",
            "floor of FP32 at 22 TB/s",
            (34.3, 3, "TFLOP/s"),
            ("3.125 · 22", 68.75),
            "follows from equation 23",
        ),
        checked(
            "eq. 24",
            "floor of Ozaki-II for FP32",
            (2.25, 3, "B"),
            "3 · 6 / 8",
            floors::reconstruction_single(18.0, 6.0),
        ),
        checked(
            "6.2",
            "the same at 8 TB/s",
            (18.0, 2, "TFLOP/s"),
            "2.25 · 8",
            floors::reconstruction_single(18.0, 6.0) * 8.0,
        ),
        checked(
            "6.2",
            "the same at 22 TB/s",
            (50.0, 2, "TFLOP/s"),
            "2.25 · 22",
            floors::reconstruction_single(18.0, 6.0) * 22.0,
        ),
        checked(
            "6.2",
            "bits of six moduli",
            (48.0, 2, "bits"),
            "6 · 8",
            6.0 * 8.0,
        ),
        checked(
            "6.2",
            "products of phase A, r = 6",
            (36.0, 2, ""),
            "6 · 6",
            6.0 * 6.0,
        ),
        contradiction(
            "6.2",
            "products of phase A, r = 12",
            (224.0, 3, ""),
            ("12 · 11", 132.0),
            "224 is 16 · 14, the value of r = 16; C.1 has 132",
        ),
        checked(
            "Figure 5",
            "FP32 headroom of B300, by equation 23",
            (6.0, 1, "×"),
            "75 / 12.5",
            75.0 / 12.5,
        ),
        contradiction(
            "Figure 5",
            "FP32 headroom of B300",
            (6.0, 1, "×"),
            ("75 / (3.125 · 8)", 3.0),
            "follows from equation 23",
        ),
        checked(
            "Figure 5",
            "FP64 headroom of B300",
            (0.1, 1, "×"),
            "1.3 / 12.5",
            1.3 / 12.5,
        ),
        contradiction(
            "section 9",
            "FP32 headroom of B300, B200 and Rubin",
            (6.0, 1, "×"),
            ("Rubin: 75 / 34.3", 75.0 / 34.3),
            "Figure 5 says that Rubin sits near parity; with the 60 to 80 TFLOP/s of 6.3 it has twice the floor of equation 23, not six times",
        ),
    ]
}
