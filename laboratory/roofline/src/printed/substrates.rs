//! Sections 5 and 7.1: narrow words, FP8 as the sole primitive, regimes.

use super::{Printed, Setting, checked, contradiction, given};
use crate::floors::{self, Words, amdahl};

pub(super) fn numbers(setting: &Setting) -> Vec<Printed> {
    let mut numbers = narrow_words();
    numbers.extend(fp8_alone(setting));
    numbers.extend(landing());
    numbers.extend(regimes());
    numbers
}

fn narrow_words() -> Vec<Printed> {
    let cost = |word, radix| Words::printed(word, radix).cost();
    vec![
        contradiction(
            "eq. 19",
            "what it reduces to for 32-bit words",
            (8.25, 3, "B"),
            ("(11·1 + 4)/16 · 33/16", cost(32, 32) * 2.0625),
            "c(32) is 0.94 by the formula and 4 in equation 37, which it is said to generalise",
        ),
        checked(
            "Table 2",
            "lanes of 512 bits, INT32",
            (16.0, 2, ""),
            "512 / 32",
            f64::from(Words::printed(32, 32).lanes()),
        ),
        checked(
            "Table 2",
            "lanes of 512 bits, INT16",
            (32.0, 2, ""),
            "512 / 16",
            f64::from(Words::printed(16, 16).lanes()),
        ),
        checked(
            "Table 2",
            "lanes of 512 bits, INT8",
            (64.0, 2, ""),
            "512 / 8",
            f64::from(Words::printed(8, 8).lanes()),
        ),
        checked(
            "Table 2",
            "words for 104 bits, INT32, least",
            (4.0, 1, ""),
            "⌈104/32⌉",
            f64::from(Words::printed(32, 32).words()),
        ),
        given("Table 2", "words for 104 bits, INT32, most", (5.0, 1, "")),
        checked(
            "Table 2",
            "words for 104 bits, INT16, least",
            (8.0, 1, ""),
            "⌈104/13⌉",
            f64::from(Words::printed(16, 13).words()),
        ),
        checked(
            "Table 2",
            "words for 104 bits, INT16, most",
            (9.0, 1, ""),
            "⌈104/12⌉",
            f64::from(Words::printed(16, 12).words()),
        ),
        checked(
            "Table 2",
            "words for 104 bits, INT8, least",
            (15.0, 2, ""),
            "⌈104/7⌉",
            f64::from(Words::printed(8, 7).words()),
        ),
        checked(
            "Table 2",
            "words for 104 bits, INT8, most",
            (26.0, 2, ""),
            "⌈104/4⌉",
            f64::from(Words::printed(8, 4).words()),
        ),
        contradiction(
            "Table 2",
            "throughput of INT16",
            (1.2, 2, "×"),
            (
                "c(32)/c(16) with 5 and 8 words: 16/16 over 30/32",
                cost(32, 21) / cost(16, 13),
            ),
            "the most that equation 19 gives for the words of the table is 1.07, the least 0.97",
        ),
        checked(
            "Table 2",
            "throughput of INT8",
            (1.1, 2, "×"),
            "15/16 over (11·3.5 + 15)/64: a payload spans three to four words of radix 7",
            (15.0 / 16.0) / ((11.0 * 3.5 + 15.0) / 64.0),
        ),
        checked(
            "Table 2",
            "sub-floor of INT16",
            (6.9, 2, "B"),
            "8.25 / 1.2",
            8.25 / 1.2,
        ),
        checked(
            "Table 2",
            "sub-floor of INT8",
            (7.5, 2, "B"),
            "8.25 / 1.1",
            8.25 / 1.1,
        ),
        contradiction(
            "5.2",
            "bits of the existing moduli",
            (28.0, 2, "bits"),
            ("equation 11: log2 M = 7r", 7.0),
            "everywhere else moduli have 7 bits, and r is 12, not 5",
        ),
        contradiction(
            "5.2",
            "phase A of strategy B for INT16",
            (2.3, 2, "×"),
            ("(3·9 + 1)/(3·5 + 1)", 28.0 / 16.0),
            "moduli that grow from 5 to 9 make 1.8 times the products",
        ),
        contradiction(
            "5.2",
            "phase A of strategy B for INT8",
            (6.5, 2, "×"),
            ("(3·21 + 1)/(3·5 + 1)", 4.0),
            "moduli that grow from 5 to 21 make 4 times the products",
        ),
    ]
}

fn fp8_alone(s: &Setting) -> Vec<Printed> {
    let dual = |share| floors::dual_use(170.0, share, 1.0);
    let even = |share| 100.0 * floors::break_even(5.0, 1.36, share);
    vec![
        checked(
            "5.3",
            "bits that weights span",
            (80.0, 2, "bits"),
            "8 · 10",
            8.0 * 10.0,
        ),
        checked(
            "5.3",
            "bands",
            (5.0, 1, ""),
            "⌈104/24⌉",
            (104f64 / 24.0).ceil(),
        ),
        checked(
            "5.3",
            "utilisation of tiles",
            (69.0, 2, "%"),
            "11 / 16",
            100.0 * 11.0 / 16.0,
        ),
        checked(
            "5.3",
            "waste by padding",
            (31.0, 2, "%"),
            "5 / 16",
            100.0 * 5.0 / 16.0,
        ),
        checked(
            "5.3",
            "phase B over phase A, most",
            (0.4, 1, "×"),
            "5 bands · 11 / 132",
            55.0 / 132.0,
        ),
        contradiction(
            "5.3",
            "phase B over the phase A whose floor it raises",
            (0.4, 1, "×"),
            (
                "5 · 16 · 18 N³ padded products over all operations of equation 18",
                2.0 * 80.0 * s.outputs / (s.products + s.phase_a),
            ),
            "0.4 is of phase A's slices (132 an output), 170 B is of Bailey's products as well, seven times as much: of that it is 0.17 with padding",
        ),
        checked(
            "eq. 20",
            "dual-use floor, least",
            (220.0, 2, "B"),
            "1.3 · 170",
            dual(0.3),
        ),
        checked(
            "eq. 20",
            "dual-use floor, most",
            (240.0, 2, "B"),
            "1.4 · 170",
            dual(0.4),
        ),
        checked(
            "eq. 20",
            "the same at 8 TB/s, least",
            (1.8, 2, "PFLOP/s"),
            "1.3 · 1.36",
            1.3 * 1.36,
        ),
        checked(
            "eq. 20",
            "the same at 8 TB/s, most",
            (1.9, 2, "PFLOP/s"),
            "1.4 · 1.36",
            1.4 * 1.36,
        ),
        checked(
            "5.3",
            "B300 above the dual-use floor, least",
            (2.6, 2, "×"),
            "5 / (1.4 · 1.36)",
            5.0 / 1.904,
        ),
        checked(
            "5.3",
            "B300 above the dual-use floor, most",
            (2.8, 2, "×"),
            "5 / (1.3 · 1.36)",
            5.0 / 1.768,
        ),
        checked(
            "eq. 21",
            "dual-use floor without phase B",
            (170.0, 2, "B"),
            "(1 + 0) · 170",
            floors::dual_use(170.0, 0.0, 0.69),
        ),
        checked(
            "eq. 22",
            "peak over floor 4",
            (3.68, 3, "×"),
            "5 / 1.36",
            5.0 / 1.36,
        ),
        checked(
            "eq. 22",
            "efficiency that is enough, least",
            (11.0, 2, "%"),
            "0.3 / 2.68",
            even(0.3),
        ),
        checked(
            "eq. 22",
            "efficiency that is enough, most",
            (15.0, 2, "%"),
            "0.4 / 2.68",
            even(0.4),
        ),
        checked(
            "5.3",
            "room below the tile's utilisation, least",
            (4.6, 2, "×"),
            "69 % / 14.9 %",
            69.0 / even(0.4),
        ),
        checked(
            "5.3",
            "room below the tile's utilisation, most",
            (6.2, 2, "×"),
            "69 % / 11.2 %",
            69.0 / even(0.3),
        ),
        checked(
            "5.3",
            "inflation of phase B that is borne, least",
            (7.0, 1, "×"),
            "1 / 14.9 %",
            100.0 / even(0.4),
        ),
        checked(
            "5.3",
            "inflation of phase B that is borne, most",
            (9.0, 1, "×"),
            "1 / 11.2 %",
            100.0 / even(0.3),
        ),
    ]
}

fn landing() -> Vec<Printed> {
    vec![
        checked(
            "5.4",
            "phase B, INT16",
            (11.0, 2, "ms"),
            "13 / 1.2",
            13.0 / 1.2,
        ),
        checked(
            "5.4",
            "phase B, INT8",
            (12.0, 2, "ms"),
            "13 / 1.1",
            13.0 / 1.1,
        ),
        contradiction(
            "5.4",
            "whole transform, INT16",
            (14.0, 2, "ms"),
            ("18 - 13 + 11, from the parts beside it", 16.0),
            "with 1 ms of phase A, 11 of phase B and the remainder of the INT32 path's 18 it is 16; the abstract of 5.4 has all integer widths land \"at the same 13–14 ms as the INT32 path\", which is printed as 18",
        ),
        contradiction(
            "5.4",
            "whole transform, INT8",
            (14.0, 2, "ms"),
            ("18 - 13 + 12, from the parts beside it", 17.0),
            "as for INT16",
        ),
        checked(
            "5.4",
            "whole transform, FP8 alone",
            (12.9, 3, "ms"),
            "memory",
            103.079215104 / 8.0,
        ),
        contradiction(
            "5.6",
            "gain of ReproBLAS at f = 0.7, most",
            (4.0, 1, "×"),
            ("equation 38, k = 12", amdahl(0.7, 12.0)),
            "2.8; 4 needs f = 0.82",
        ),
        checked(
            "5.6",
            "gain of ReproBLAS at f = 0.7, least",
            (3.0, 1, "×"),
            "equation 38, k = 12",
            amdahl(0.7, 12.0),
        ),
        given("5.6", "f of dense DGEMM", (0.15, 2, "")),
    ]
}

fn regimes() -> Vec<Printed> {
    vec![
        checked("7.1", "r² at r = 12", (144.0, 3, ""), "12²", 12.0 * 12.0),
        checked(
            "7.1",
            "Bailey's factor",
            (32.0, 2, ""),
            "√1024",
            1024f64.sqrt(),
        ),
        contradiction(
            "Table 3",
            "α of the compute roof, r = 12",
            (12.0, 2, ""),
            ("section 3.2: 3r + 1", 37.0),
            "the table has α = r, the model 3r + 1",
        ),
    ]
}
