//! Abstract, sections 1 to 4 and 7: the γ-roof, wall times, the four floors.

use super::{Printed, Setting, checked, contradiction, given};
use crate::floors;

const MS: &str = "ms";

pub(super) fn numbers(setting: &Setting) -> Vec<Printed> {
    let mut numbers = counts(setting);
    numbers.extend(wall_times(setting));
    numbers.extend(the_four_floors(setting));
    numbers.extend(table_1());
    numbers.extend(margins());
    numbers
}

fn counts(s: &Setting) -> Vec<Printed> {
    vec![
        checked(
            "abstract",
            "FP64 of B200 over B300",
            (30.0, 1, "×"),
            "40 / 1.3",
            40.0 / 1.3,
        ),
        checked(
            "section 2",
            "products of Ozaki-2/FP8, 3r + 1",
            (37.0, 2, ""),
            "3·12 + 1",
            3.0 * 12.0 + 1.0,
        ),
        contradiction(
            "3.2",
            "INT8's cost of a modulus over FP8's",
            (2.5, 2, "×"),
            ("(37/12) / (15/14)", 37.0 / 12.0 / (15.0 / 14.0)),
            "3r + 1 and s + 1 are 3.1 and 1.1 a modulus; 2.5 is 37/15, the whole product with 12 moduli over that with 14",
        ),
        given("7.3", "operations of a butterfly", (10.0, 2, "")),
        checked(
            "eq. 4",
            "bytes of 1024³",
            (103.0, 3, "GB"),
            "96 N³",
            s.cube.bytes() / 1e9,
        ),
        checked(
            "eq. 4",
            "memory roof at 8 TB/s",
            (12.9, 3, MS),
            "96 N³ / 8e12",
            s.cube.bytes() / 8e12 * 1e3,
        ),
        checked(
            "4.3",
            "memory roof at 22 TB/s",
            (4.7, 2, MS),
            "96 N³ / 22e12",
            s.cube.bytes() / 22e12 * 1e3,
        ),
        checked(
            "eq. 5",
            "operations of Bailey's products",
            (1.5e13, 2, ""),
            "3 N² · 2 · 37 · 2 · 32³",
            s.products,
        ),
        checked(
            "4.1",
            "their time at 5 PFLOP/s",
            (3.0, 2, MS),
            "1.5e13 / 5e15",
            1.5e13 / 5e15 * 1e3,
        ),
        checked(
            "eq. 8",
            "operations of Garner's recursion, r = 12",
            (360.0, 3, ""),
            "2.5 · 12²",
            2.5 * 144.0,
        ),
        checked(
            "eq. 30",
            "outputs of 1024³",
            (1.9e10, 2, ""),
            "18 N³",
            s.outputs,
        ),
        checked(
            "eq. 9",
            "operations of Garner for all outputs",
            (6.8e12, 2, ""),
            "360 · 1.9e10, outputs rounded first",
            360.0 * 1.9e10,
        ),
        checked(
            "4.1",
            "effective INT32 rate",
            (25.0, 2, "TOP/s"),
            "75 / 3",
            75.0 / 3.0,
        ),
        contradiction(
            "4.1",
            "effective INT32 rate, used on 2.5r² operations",
            (25.0, 2, "TOP/s"),
            ("75: the 5 operations of a triple hold Barrett's 3", 75.0),
            "Barrett's three operations are in 2.5r² and divide the rate once more: 260 ms would be 90",
        ),
        checked(
            "eq. 12",
            "slices S = ⌈7r/8⌉, r = 12",
            (11.0, 2, ""),
            "⌈84/8⌉",
            s.slices,
        ),
        checked(
            "4.2",
            "operations of phase A",
            (2.5e12, 2, ""),
            "12 · 11 · 1.9e10, outputs rounded first",
            132.0 * 1.9e10,
        ),
        checked(
            "4.2",
            "their time at 5 PFLOP/s, a multiply-add as one operation",
            (0.5, 1, MS),
            "2.5e12 / 5e15",
            2.5e12 / 5e15 * 1e3,
        ),
        contradiction(
            "section 1 (2)",
            "time of phase A",
            (0.9, 1, MS),
            ("section 4.2: 2.5e12 / 5e15", 0.5),
            "0.5 ms in 4.2 and C.1, 0.9 in section 1, about 1 in the abstract, 5.4 and the conclusion; a multiply-add counted as two operations, as in equation 5, makes it 1.0",
        ),
    ]
}

fn wall_times(s: &Setting) -> Vec<Printed> {
    let garner = 6.8e12 / 25e12 * 1e3;
    let kulisch = s.outputs * 44.0 / 75e12 * 1e3;
    let memory = s.cube.bytes() / 8e12 * 1e3;
    vec![
        contradiction(
            "4.1, wall-time summary",
            "recursive Garner on B300",
            (260.0, 2, MS),
            ("6.8e12 / 25e12, as printed beside it", garner),
            "the division that is printed gives 272; with unrounded outputs it is 278",
        ),
        contradiction(
            "eq. 10",
            "γ of recursive Garner",
            (14.0, 2, "ns"),
            ("360 / 25e12", 360.0 / 25e12 * 1e9),
            "14 ps; 14 ns times 1.9e10 outputs would be 270 s, not 260 ms",
        ),
        checked(
            "4.1",
            "Garner over the memory roof",
            (20.0, 2, "×"),
            "260 / 12.9",
            260.0 / 12.9,
        ),
        checked(
            "4.1",
            "Garner over the products",
            (90.0, 1, "×"),
            "260 / 3",
            260.0 / 3.0,
        ),
        checked(
            "eq. 13",
            "phase B in FP64 on B300",
            (163.0, 3, MS),
            "1.93e10 · 11 / 1.3e12, outputs rounded first",
            1.93e10 * 11.0 / 1.3e12 * 1e3,
        ),
        checked(
            "4.3",
            "phase B in FP64 over the memory roof",
            (13.0, 2, "×"),
            "163 / 12.9",
            163.0 / 12.9,
        ),
        checked(
            "Figure 1",
            "native on B300",
            (124.0, 3, MS),
            "15 N³ log2 N / 1.3e12",
            s.cube.flops() / 1.3e12 * 1e3,
        ),
        checked(
            "Figure 1",
            "native on B200",
            (12.9, 3, MS),
            "max(W/40e12, Q/8e12)",
            memory.max(s.cube.flops() / 40e12 * 1e3),
        ),
        checked(
            "Figure 1",
            "native on B300+",
            (12.9, 3, MS),
            "max(W/12.5e12, Q/8e12)",
            memory.max(s.cube.flops() / 12.5e12 * 1e3),
        ),
        contradiction(
            "Figure 1",
            "native on Rubin, \"memory-bound\"",
            (4.7, 2, MS),
            (
                "max(W/33e12, Q/22e12)",
                (s.cube.flops() / 33e12 * 1e3).max(s.cube.bytes() / 22e12 * 1e3),
            ),
            "33 TFLOP/s are below the floor of 34.3 that Table 1 has: FP64 binds, at 4.9 ms",
        ),
        given("4.3", "cuFFT on B200, least", (15.0, 2, MS)),
        given("4.3", "cuFFT on B200, most", (25.0, 2, MS)),
        contradiction(
            "eq. 14",
            "INT32 operations of Kulisch for all outputs",
            (8.3e11, 2, ""),
            ("18 N³ · 44", s.outputs * 44.0),
            "8.5e11; with outputs rounded to 1.9e10 it is 8.4e11",
        ),
        contradiction(
            "eq. 14",
            "phase B by Kulisch on B300, at peak",
            (13.0, 2, MS),
            ("8.3e11 / 75e12, as printed beside it", 8.3e11 / 75e12 * 1e3),
            "the division that is printed gives 11.1, and without rounding 11.3; that is also what the floor says: 66/75 of 12.9",
        ),
        contradiction(
            "eq. 14",
            "whole transform by Kulisch on B300",
            (18.0, 2, MS),
            ("equation 3: max(3.6, 12.9) + 11.3", memory + kulisch),
            "the model's own equation adds γ·n to the memory time: 24.2. All at once it is 12.9, one after the other 27.8; 18 is none of them, and elsewhere it is phase B alone at 60 % efficiency",
        ),
        contradiction(
            "4.5",
            "Kulisch at 70 % efficiency",
            (18.0, 2, MS),
            ("13 / 0.7", 13.0 / 0.7),
            "18.6 from its 13 ms, 16.2 from its operations",
        ),
        contradiction(
            "4.5",
            "Kulisch at 50 % efficiency",
            (25.0, 2, MS),
            ("13 / 0.5", 26.0),
            "26 from its 13 ms, 22.7 from its operations",
        ),
        contradiction(
            "4.3",
            "Kulisch at 60 % efficiency",
            (18.0, 2, MS),
            ("13 / 0.6", 13.0 / 0.6),
            "21.7 from its 13 ms; 18.9 from its operations",
        ),
        contradiction(
            "4.3",
            "Kulisch at 30 % efficiency",
            (40.0, 2, MS),
            ("13 / 0.3", 13.0 / 0.3),
            "43 from its 13 ms; 37.8 from its operations",
        ),
        given(
            "section 8 (1)",
            "limit of a practical rescue",
            (30.0, 2, MS),
        ),
    ]
}

fn the_four_floors(s: &Setting) -> Vec<Printed> {
    let exact = floors::matrix(s.cube, 12.0, s.slices);
    vec![
        checked(
            "eq. 15",
            "floor 1",
            (1.56, 3, "B"),
            "15 log2 N / 96",
            floors::native(1024),
        ),
        checked(
            "eq. 27",
            "operations a byte",
            (1.5625, 5, ""),
            "150 / 96",
            floors::native(1024),
        ),
        checked(
            "eq. 16",
            "floor 2",
            (2.06, 3, "B"),
            "3 · 11 / 16",
            floors::reconstruction(18.0, 1.0, 11.0),
        ),
        checked(
            "eq. 31",
            "floor 2",
            (2.0625, 5, "B"),
            "33 / 16",
            floors::reconstruction(18.0, 1.0, 11.0),
        ),
        checked(
            "eq. 17",
            "floor 3",
            (8.25, 3, "B"),
            "3 · 4 · 11 / 16",
            floors::reconstruction(18.0, 4.0, 11.0),
        ),
        checked(
            "eq. 18",
            "all operations of matrix units",
            (1.75e13, 3, ""),
            "1.5e13 + 2.5e12, both rounded first",
            1.5e13 + 2.5e12,
        ),
        checked("eq. 18", "floor 4", (170.0, 2, "B"), "W / Q", exact),
        contradiction(
            "eq. 18",
            "floor 4 in one kind of operation",
            (170.0, 2, "B"),
            (
                "(3·2·2·32·37 + 2·18·132) / 96",
                (14208.0 + 2.0 * 2376.0) / 96.0,
            ),
            "products are counted with two operations a multiply-add, phase A with one; with two it is 197.5",
        ),
        checked(
            "4.6",
            "floor 4 at 8 TB/s",
            (1.36, 3, "PFLOP/s"),
            "170 · 8",
            0.17 * 8.0,
        ),
        checked(
            "4.6",
            "floor 4 at 22 TB/s",
            (3.74, 3, "PFLOP/s"),
            "170 · 22",
            0.17 * 22.0,
        ),
        contradiction(
            "4.7",
            "floor 2 on Rubin",
            (57.75, 4, "TFLOP/s"),
            ("2.0625 · 22", 2.0625 * 22.0),
            "57.75 is S = 14, which is r = 16; with S = 11 it is 45.4",
        ),
        contradiction(
            "4.7",
            "Ozaki-Bailey over native on Rubin",
            (1.8, 2, "×"),
            ("45.4 / 33", 45.375 / 33.0),
            "follows from the 57.75 above",
        ),
        checked(
            "4.7",
            "integer floor, rounded",
            (8.0, 1, "B"),
            "8.25",
            floors::reconstruction(18.0, 4.0, 11.0),
        ),
        checked(
            "4.5",
            "width of the running sum",
            (104.0, 3, "bits"),
            "⌈log2(11 · 2^20 · 256^10)⌉",
            (11f64.log2() + 100.0).ceil(),
        ),
        checked(
            "Figure 3",
            "margin of the accumulator",
            (56.0, 2, "bits"),
            "160 - 104",
            160.0 - 104.0,
        ),
        contradiction(
            "Figure 3",
            "slices that live entirely in the lowest word",
            (3.0, 1, ""),
            ("slices s with 8s + 20 <= 32", 2.0),
            "the third slice begins at bit 16 and has 20 bits: it reaches into the next word",
        ),
        checked(
            "4.5",
            "operations of Kulisch for an output",
            (44.0, 2, ""),
            "4 · 11",
            4.0 * s.slices,
        ),
        checked(
            "4.5",
            "INT32 over FP64 on B300",
            (58.0, 2, "×"),
            "75 / 1.3",
            75.0 / 1.3,
        ),
        checked(
            "4.5",
            "sub-floor with overlap",
            (4.125, 4, "B"),
            "8.25 / 2",
            floors::reconstruction(18.0, 4.0, 11.0) / 2.0,
        ),
    ]
}

/// Table 1: floors with rounded coefficients, and the specifications, which are given.
fn table_1() -> Vec<Printed> {
    const PLACE: &str = "Table 1";
    let mut numbers = Vec::new();
    for (what, (value, digits), bandwidth) in [
        ("H100, floor 1", (5.2, 2), 3.35),
        ("B200, floor 1", (12.5, 3), 8.0),
        ("B300, floor 1", (12.5, 3), 8.0),
        ("Rubin, floor 1", (34.3, 3), 22.0),
    ] {
        let printed = (value, digits, "TFLOP/s");
        numbers.push(checked(PLACE, what, printed, "1.56 · B", 1.56 * bandwidth));
    }
    for (what, (value, digits), bandwidth) in [
        ("H100, floor 3", (28.0, 2), 3.35),
        ("B200, floor 3", (66.0, 2), 8.0),
        ("B300, floor 3", (66.0, 2), 8.0),
        ("Rubin, floor 3", (182.0, 3), 22.0),
    ] {
        let printed = (value, digits, "TOP/s");
        numbers.push(checked(PLACE, what, printed, "8.25 · B", 8.25 * bandwidth));
    }
    for (what, (value, digits), bandwidth) in [
        ("H100, floor 4", (0.57, 2), 3.35),
        ("B200, floor 4", (1.36, 3), 8.0),
        ("B300, floor 4", (1.36, 3), 8.0),
        ("Rubin, floor 4", (3.74, 3), 22.0),
    ] {
        let printed = (value, digits, "PFLOP/s");
        numbers.push(checked(PLACE, what, printed, "170 · B", 0.17 * bandwidth));
    }
    for (what, value, digits, unit) in [
        ("H100, FP64", 34.0, 2, "TFLOP/s"),
        ("H100, INT32", 77.0, 2, "TOP/s"),
        ("H100, FP8", 2.0, 1, "PFLOP/s"),
        ("B200, FP64", 40.0, 2, "TFLOP/s"),
        ("B200, INT32", 75.0, 2, "TOP/s"),
        ("B200, FP8", 4.5, 2, "PFLOP/s"),
        ("B300, FP64", 1.3, 2, "TFLOP/s"),
        ("B300, INT32", 75.0, 2, "TOP/s"),
        ("B300, FP8", 5.0, 1, "PFLOP/s"),
        ("Rubin, FP64", 33.0, 2, "TFLOP/s"),
        ("Rubin, INT32", 75.0, 2, "TOP/s"),
        ("Rubin, FP8", 16.0, 2, "PFLOP/s"),
    ] {
        numbers.push(given(PLACE, what, (value, digits, unit)));
    }
    numbers
}

fn margins() -> Vec<Printed> {
    vec![
        checked(
            "4.6",
            "B300 below floor 1",
            (10.0, 2, "×"),
            "12.5 / 1.3",
            12.5 / 1.3,
        ),
        checked(
            "4.6",
            "B300 below floor 2",
            (13.0, 2, "×"),
            "2.06 · 8 / 1.3",
            2.06 * 8.0 / 1.3,
        ),
        checked(
            "4.6",
            "B300 above floor 3",
            (14.0, 2, "%"),
            "75 / 66 - 1",
            100.0 * (75.0 / 66.0 - 1.0),
        ),
        checked(
            "4.6",
            "B300 above floor 4",
            (3.7, 2, "×"),
            "5 / 1.36",
            5.0 / 1.36,
        ),
        checked(
            "4.6",
            "Rubin below floor 1",
            (4.0, 1, "%"),
            "1 - 33 / 34.3",
            100.0 * (1.0 - 33.0 / 34.3),
        ),
        checked(
            "4.6",
            "Rubin above floor 4",
            (4.0, 1, "×"),
            "16 / 3.74",
            16.0 / 3.74,
        ),
        checked(
            "4.6",
            "least margin over floor 4",
            (3.0, 1, "×"),
            "B200: 4.5 / 1.36",
            4.5 / 1.36,
        ),
    ]
}
