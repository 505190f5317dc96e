//! Every reconstruction method against big integers.

mod random;

use num_bigint::{BigInt, BigUint, Sign};
use random::Random;
use residues::bytes::Portable;
use residues::reconstruct::{Method, Reconstruction};
use residues::{COLUMNS, I256, Moduli, ResidueError, Residues, Set, U256};
use std::sync::Arc;

/// Numbers from a seed, which tests print.
fn big(x: U256) -> BigInt {
    BigInt::from_bytes_le(Sign::Plus, &x.to_le_bytes())
}

fn big_signed(x: I256) -> BigInt {
    BigInt::from_signed_bytes_le(&x.to_le_bytes())
}

/// Moduli in big integers, as a reference.
struct Referee {
    moduli: Moduli,
    product: BigInt,
    largest: BigInt,
    /// Numbers that are 1 modulo one modulus and 0 modulo the others.
    weights: Vec<BigInt>,
}

impl Referee {
    fn new(moduli: &Moduli) -> Referee {
        let product: BigInt = moduli.values().iter().map(|&m| BigInt::from(m)).product();
        assert_eq!(product, big(moduli.product()));
        let weights = moduli.values().iter().map(|&m| {
            let others = &product / m;
            let inverse = others
                .modinv(&BigInt::from(m))
                .expect("the moduli are coprime");
            others * inverse
        });
        Referee {
            weights: weights.collect(),
            moduli: moduli.clone(),
            largest: big(moduli.largest()),
            product,
        }
    }

    /// The residues of integers of one panel.
    fn residues(&self, integers: &[BigInt; COLUMNS]) -> Vec<Residues> {
        let row = |&m: &u16| {
            std::array::from_fn(|column| {
                let integer = &integers[column];
                let rest = (integer.magnitude() % m).iter_u32_digits().next();
                let rest = rest.unwrap_or(0) as i32;
                let m = i32::from(m);
                let negative = integer.sign() == Sign::Minus;
                let rest = if negative { (m - rest) % m } else { rest };
                (if 2 * rest >= m { rest - m } else { rest }) as i16
            })
        };
        self.moduli.values().iter().map(row).collect()
    }

    /// The integer of smallest magnitude with these residues.
    fn integer(&self, residues: &[i16]) -> BigInt {
        let weighted = residues.iter().zip(&self.weights).map(|(&v, u)| u * v);
        let sum: BigInt = weighted.sum();
        let rest = ((sum % &self.product) + &self.product) % &self.product;
        if &rest * 2 >= self.product {
            rest - &self.product
        } else {
            rest
        }
    }

    fn random(&self, random: &mut Random) -> BigInt {
        let digits = [random.next(), random.next(), random.next(), random.next()];
        let bytes: Vec<u8> = digits.iter().flat_map(|d| d.to_le_bytes()).collect();
        let range = self.largest.magnitude() * 2u32 + 1u32;
        BigInt::from(BigUint::from_bytes_le(&bytes) % range) - &self.largest
    }

    /// Panel number `number`: the ends of the range, the smallest numbers, extreme residues, numbers of all lengths,
    /// and any numbers.
    fn panel(&self, number: usize, random: &mut Random) -> [BigInt; COLUMNS] {
        std::array::from_fn(|column| {
            let candidate = match (number % 64, column) {
                (0, 0) => self.largest.clone(),
                (0, 1) => -&self.largest,
                (0, 2) => &self.largest - 1,
                (0, 3) => 1 - &self.largest,
                (0, 4) => BigInt::from(0),
                (0, 5) => BigInt::from(1),
                (0, 6) => BigInt::from(-1),
                (0, _) => self.random(random) >> (8 * (column - 6)),
                // All residues at an end of their range: the same, alternating, any.
                (1..=8, _) => {
                    let signs = match column {
                        0 => 0,
                        1 => u64::MAX,
                        2 => 0x5555_5555_5555_5555,
                        3 => 0xaaaa_aaaa_aaaa_aaaa,
                        _ => random.next(),
                    };
                    let residues = self.moduli.values().iter().enumerate().map(|(k, &m)| {
                        let (low, high) = (-i32::from(m / 2), i32::from(m - 1) / 2);
                        (if signs >> k & 1 == 0 { high } else { low }) as i16
                    });
                    self.integer(&residues.collect::<Vec<i16>>())
                }
                (9..=16, _) => {
                    let bits = self.largest.bits() as usize;
                    self.random(random) >> random.below(bits + 1)
                }
                // So near to the ends of the range that the multiple of M is hardest to find.
                (17..=32, _) => {
                    let bits = self.largest.bits() as usize;
                    let near =
                        &self.largest - (self.random(random) >> (12 + random.below(bits + 1)));
                    if column % 2 == 0 { near } else { -near }
                }
                _ => self.random(random),
            };
            // Extreme residues may stand for an integer beyond the margin.
            if candidate.magnitude() > self.largest.magnitude() {
                BigInt::from(0)
            } else {
                candidate
            }
        })
    }
}

fn build(method: Method, moduli: &Moduli) -> Result<Box<dyn Reconstruction>, ResidueError> {
    method.build(moduli, Arc::new(Portable))
}

/// These methods are exact on `panels` panels.
fn methods_are_exact(
    moduli: &Moduli,
    methods: &[Method],
    panels: usize,
    random: &mut Random,
) -> Result<(), ResidueError> {
    let referee = Referee::new(moduli);
    let mut reconstructions = Vec::new();
    for &method in methods {
        let reconstruction = build(method, moduli)?;
        assert!(reconstruction.is_exact() && reconstruction.name() == method.name());
        reconstructions.push(reconstruction);
    }
    for number in 0..panels {
        let integers = referee.panel(number, random);
        let residues = referee.residues(&integers);
        for reconstruction in &reconstructions {
            let mut got = [I256::MAX; COLUMNS];
            reconstruction.reconstruct(&residues, &mut got);
            for (got, expected) in got.iter().zip(&integers) {
                let values = moduli.values();
                assert_eq!(
                    &big_signed(*got),
                    expected,
                    "{} of {values:?}",
                    reconstruction.name()
                );
            }
        }
    }
    Ok(())
}

const EXACT: [Method; 5] = [
    Method::Garner,
    Method::Kulisch32,
    Method::Kulisch16,
    Method::Kulisch8,
    Method::Bins,
];

#[test]
fn exact_methods_return_a_million_integers() -> Result<(), ResidueError> {
    let mut random = Random::new(0x7ab1e);
    let mut total = 0;
    for count in 2..=20 {
        let moduli = Moduli::first(Set::Int8, count)?;
        let panels = 3_300;
        methods_are_exact(&moduli, &EXACT, panels, &mut random)?;
        total += panels * COLUMNS;
    }
    assert!(total > 1_000_000);
    Ok(())
}

#[test]
fn exact_methods_take_any_moduli() -> Result<(), ResidueError> {
    let mut random = Random::new(0x0dd);
    let own: [&[u16]; 9] = [
        &[2],
        &[3],
        &[256],
        &[3, 5, 2],
        &[255, 253, 256],
        &[251, 249, 247, 256],
        &[7, 11, 13, 64, 3, 5],
        &[128, 127, 125, 123, 121, 119, 113, 109, 107, 103, 101, 97],
        &[173, 179, 181, 191, 193, 197, 199, 211, 256],
    ];
    for values in own {
        let moduli = Moduli::new(Set::Int8, values)?;
        methods_are_exact(&moduli, &EXACT, 200, &mut random)?;
    }
    for count in [1, 21, 22, 23, 24] {
        let moduli = Moduli::first(Set::Int8, count)?;
        methods_are_exact(&moduli, &EXACT, 200, &mut random)?;
    }
    for count in 1..=Moduli::MOST {
        let moduli = Moduli::first(Set::Fp8, count)?;
        methods_are_exact(&moduli, &EXACT, 200, &mut random)?;
    }
    let moduli = Moduli::new(Set::Fp8, &[1089, 961, 1024])?;
    methods_are_exact(&moduli, &EXACT, 1_000, &mut random)
}

/// The largest error of a method over some panels.
fn observed(
    reconstruction: &dyn Reconstruction,
    referee: &Referee,
    panels: usize,
    random: &mut Random,
) -> f64 {
    let mut largest = 0.0f64;
    for number in 0..panels {
        let integers = referee.panel(number, random);
        let residues = referee.residues(&integers);
        let mut got = [I256::MAX; COLUMNS];
        reconstruction.reconstruct(&residues, &mut got);
        for (got, expected) in got.iter().zip(&integers) {
            let error = big_signed(*got) - expected;
            let shift = error.bits().saturating_sub(64);
            let head = (error.magnitude() >> shift).iter_u64_digits().next();
            largest = largest.max(head.unwrap_or(0) as f64 * (shift as f64).exp2());
        }
    }
    largest
}

/// Observed errors are within the bounds, and bounds are no more than 10^4 times what is seen, but for those that have to
/// say that the multiple of the product may be missed: that is rarely observed.
#[test]
fn errors_keep_their_bounds_which_are_at_most_1e4_times_too_large() -> Result<(), ResidueError> {
    let mut random = Random::new(0xb0bd);
    let everywhere = [
        Method::BernsteinDouble,
        Method::BernsteinSingle,
        Method::BernsteinKahan,
    ];
    let slices = [
        Method::Double,
        Method::Sum2,
        Method::Sum3,
        Method::DoubleSingle,
        Method::QuadSingle,
        Method::SingleKahan,
    ];
    for (set, count) in (1..=Moduli::MOST).flat_map(|c| [(Set::Int8, c), (Set::Fp8, c)]) {
        let moduli = Moduli::first(set, count)?;
        let referee = Referee::new(&moduli);
        for method in [&slices[..], &everywhere].concat() {
            let reconstruction = build(method, &moduli)?;
            let bound = reconstruction.error_bound();
            let seen = observed(&*reconstruction, &referee, 320, &mut random);
            let relative = seen / moduli.largest().as_f64().max(1.0);
            let times = bound / seen;
            println!(
                "{set} {count:2} {method:17} seen {seen:9.2e} ({relative:8.1e}) bound {bound:9.2e}, {times:.1} times"
            );
            assert!(seen <= bound, "{method} of {count} {set}");
            match (set, method) {
                (Set::Int8, Method::Double) => assert_eq!(reconstruction.is_exact(), count <= 6),
                (Set::Int8, Method::QuadSingle) => {
                    assert_eq!(reconstruction.is_exact(), count <= 12)
                }
                _ => {}
            }
            let may_miss = everywhere.contains(&method) && bound >= moduli.largest().as_f64();
            assert!(
                bound <= 1e4 * seen.max(1.0) || may_miss,
                "{method} of {count} {set}"
            );
        }
    }
    Ok(())
}

#[test]
fn names_are_read_as_they_are_written() -> Result<(), ResidueError> {
    for method in Method::ALL {
        assert_eq!(method.to_string().parse::<Method>()?, method);
    }
    let error = "garnet".parse::<Method>().err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("garnet") && e.contains("garner, double")));
    let moduli = Moduli::first(Set::Int8, 12)?;
    for method in Method::ALL {
        assert_eq!(build(method, &moduli)?.name(), method.name());
    }
    Ok(())
}

/// Operation counts of the methods at 12 moduli: 12 slices and 3 rows for the quotient. Counted, so that a change of any is seen.
#[test]
fn operations_are_counted() -> Result<(), ResidueError> {
    let moduli = Moduli::first(Set::Int8, 12)?;
    let referee = Referee::new(&moduli);
    let residues = referee.residues(&referee.panel(40, &mut Random::new(0xc0)));
    let expected = [
        // Name, operations on integers, doubles and floats. Conversions of slices count.
        (Method::Garner, 237.0, 0.0, 0.0),
        (Method::Double, 0.0, 24.0, 0.0),
        (Method::Sum2, 0.0, 109.0, 0.0),
        (Method::Sum3, 0.0, 182.0, 0.0),
        (Method::DoubleSingle, 0.0, 0.0, 144.0),
        (Method::QuadSingle, 0.0, 0.0, 468.0),
        (Method::SingleKahan, 0.0, 0.0, 72.0),
        (Method::Kulisch32, 33.0, 0.0, 0.0),
        (Method::Bins, 0.0, 52.0, 0.0),
        (Method::BernsteinDouble, 0.0, 40.0, 0.0),
        (Method::BernsteinSingle, 0.0, 0.0, 40.0),
        (Method::BernsteinKahan, 0.0, 0.0, 76.0),
    ];
    for (method, integer, double, single) in expected {
        let reconstruction = build(method, &moduli)?;
        let counted = reconstruction.operations(&residues);
        let sum = (counted.integer, counted.double, counted.single);
        assert_eq!(sum, (integer, double, single), "{method}");
        let slices = method != Method::Garner && !method.name().starts_with("bernstein");
        // An addition and a shift for each of the three rows of the quotient, and a product and a difference a slice.
        let (products, reduction) = if slices { (180.0, 30.0) } else { (0.0, 0.0) };
        assert_eq!(counted.int8_products, products, "{method}");
        assert_eq!(counted.reduction, reduction, "{method}");
        assert_eq!(counted.fp8_products, 0.0);
    }
    // Words of these accumulators are skipped where a digit is zero, so the data decide a little.
    for (method, least, most) in [
        (Method::Kulisch16, 60.0, 90.0),
        (Method::Kulisch8, 200.0, 300.0),
    ] {
        let counted = build(method, &moduli)?.operations(&residues).integer;
        assert!(least < counted && counted < most, "{method}: {counted}");
    }
    Ok(())
}
