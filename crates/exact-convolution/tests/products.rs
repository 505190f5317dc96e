use exact_convolution::Unit;
use num_bigint::BigUint;

fn big(l: &[u64]) -> BigUint {
    BigUint::from_slice(
        &l.iter()
            .flat_map(|&x| [x as u32, (x >> 32) as u32])
            .collect::<Vec<_>>(),
    )
}

#[test]
fn basic() {
    let mut s = 1u64;
    let mut next = || {
        s = s
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        s ^ (s >> 29)
    };
    for unit in Unit::available() {
        for n in [49, 50, 64, 70, 100, 128, 200, 333, 1000, 2500, 5000] {
            for m in [49, 60, 128, 401, 3000] {
                for k in 0..3 {
                    let mut v = |n| {
                        (0..n)
                            .map(|_| match k {
                                0 => next(),
                                1 => u64::MAX,
                                _ => u64::MAX << (next() % 64),
                            })
                            .collect::<Vec<u64>>()
                    };
                    let (a, b): (Vec<u64>, Vec<u64>) = (v(n), v(m));
                    let got = exact_convolution::multiply_limbs_on(unit, &a, &b);
                    assert!(big(&got) == big(&a) * big(&b), "{unit} {n} {m} {k}");
                }
            }
        }
    }
}
