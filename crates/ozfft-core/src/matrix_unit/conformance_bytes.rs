//! Products of bytes on every unit against their definition, summed here in 64 bits.

use super::conformance::offered;
use super::*;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::{Requirement, available};
use residues::COLUMNS;
use residues::bytes::{ByteMatrix, Group, MOST_DEPTH, Sums};

const SEED: u64 = 0x31c6_0b7e_a95d_2f48;

/// Bytes of one kind: at either end of their range, of alternating ends, or random.
fn byte(kind: usize, place: usize, generator: &mut Generator) -> i8 {
    match kind {
        0 => -128,
        1 => 127,
        2 => [-128, 127][place % 2],
        3 => [-128, 127][generator.below(2)],
        _ => generator.next_u64() as i8,
    }
}

/// Fill pattern of memory that a unit may not touch, and of memory that it must overwrite.
const DIRT: Sums = [-0x1234_5678; COLUMNS];

struct Case {
    rows: usize,
    depth: usize,
    /// Groups beyond those that the depth needs.
    spare: usize,
}

impl Case {
    fn compare(&self, unit: &dyn ByteProducts, kinds: [usize; 2], generator: &mut Generator) {
        let &Case { rows, depth, spare } = self;
        let entries: Vec<i8> = (0..rows * depth)
            .map(|place| byte(kinds[0], place, generator))
            .collect();
        let matrix = ByteMatrix::new(rows, depth, &entries).expect("not too deep");
        // Elements beyond the depth may be anything.
        let data: Vec<Group> = (0..depth.div_ceil(4) + spare)
            .map(|_| std::array::from_fn(|_| std::array::from_fn(|i| byte(kinds[1], i, generator))))
            .collect();
        let mut sums = vec![DIRT; rows + 1];
        unit.multiply(&matrix, &data, &mut sums);
        let columns: Vec<Vec<i64>> = (0..COLUMNS)
            .map(|column| {
                let element = |k: usize| i64::from(data[k / 4][column][k % 4]);
                (0..depth).map(element).collect()
            })
            .collect();
        for (row, (entries, sums)) in entries.chunks_exact(depth).zip(&sums).enumerate() {
            for (column, (data, &found)) in columns.iter().zip(sums).enumerate() {
                let products = entries.iter().zip(data).map(|(&a, &b)| i64::from(a) * b);
                assert_eq!(
                    i64::from(found),
                    products.sum::<i64>(),
                    "{}: {rows} rows, depth {depth}, {spare} spare groups, bytes {kinds:?}: row {row}, column {column}",
                    unit.name(),
                );
            }
        }
        assert_eq!(sums[rows], DIRT, "beyond the rows");
    }
}

fn suite(unit: Unit) {
    let unit = unit.byte_products();
    println!("{}: seed {SEED:#x}", unit.name());
    let mut generator = Generator::new(SEED);
    for rows in 1..=40 {
        for depth in 1..=140 {
            let spare = [0, 0, 1, 40][generator.below(4)];
            let case = Case { rows, depth, spare };
            let kinds = [generator.below(6), generator.below(6)];
            case.compare(&*unit, kinds, &mut generator);
        }
    }
    // Several tiles of rows, whole and not.
    for rows in [47, 48, 63, 64, 65, 80, 95, 112, 128, 131] {
        for depth in [1, 4, 63, 64, 65, 128, 190, 256] {
            let spare = [0, 1, 40][generator.below(3)];
            let case = Case { rows, depth, spare };
            let kinds = [generator.below(6), generator.below(6)];
            case.compare(&*unit, kinds, &mut generator);
        }
    }
    // The largest sums of either sign that 32 bits hold.
    for kinds in [[0, 0], [0, 1], [1, 0], [1, 1], [4, 4]] {
        let case = Case {
            rows: 2,
            depth: MOST_DEPTH,
            spare: 0,
        };
        case.compare(&*unit, kinds, &mut generator);
    }
}

/// The suite for every unit of the list, as a test of its name.
macro_rules! suites {
    ($($(#[doc = $doc:literal])* $name:ident, $lanes:literal, $text:literal, $compiled:meta, $needs:literal;)*) => {
        /// One test for each unit.
        #[allow(non_snake_case)]
        mod products_of_bytes_conform {
            use super::*;
            $(
                #[cfg($compiled)]
                #[test]
                fn $name() {
                    if let Some(unit) = offered::<super::$name>($text, $needs) {
                        suite(Unit::$name(unit));
                    }
                }
            )*
        }
    };
}
for_each_unit!(suites);

/// Products of bytes open sessions of their own: one that is open already must survive them.
#[cfg(vector_unit)]
#[test]
fn products_of_bytes_keep_the_session_unchanged() {
    let amx = Amx::detect().ok_or("this processor has no AMX, or the tiles are not granted");
    let Some(amx) = available(Requirement::Amx, amx) else {
        return;
    };
    let mut generator = Generator::new(SEED);
    let case = Case {
        rows: 20,
        depth: 70,
        spare: 0,
    };
    case.compare(&amx, [4, 4], &mut generator);
    assert_eq!(amx::palette(), 0);
    {
        let _session = MatrixUnit::<8>::session(amx);
        for _ in 0..2 {
            case.compare(&amx, [4, 4], &mut generator);
            assert_eq!(amx::palette(), 1);
        }
    }
    assert_eq!(amx::palette(), 0);
}
