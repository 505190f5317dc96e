//! Constants of a unit from measured times: what `crates/ozfft/src/plan/measured_units.rs` holds is fitted here.

use ozfft::predictions::{DigitsWork, UnitCost};

/// Constants, none of them negative, for which predicted times are nearest to measured ones in the sum of squares of relative errors:
/// pairs of work and nanoseconds for a point of complex arrays. None where there are fewer pairs than constants, or all of one kind.
pub fn fit(samples: &[(DigitsWork, f64)], real: f64) -> Option<UnitCost> {
    if samples.len() < 3 {
        return None;
    }
    // Few enough constants to try all choices of those that are not zero.
    let mut best: Option<(f64, [f64; 3])> = None;
    for chosen in 1..8u32 {
        let Some(constants) = least_squares(samples, chosen) else {
            continue;
        };
        if constants.iter().any(|&c| c < 0.0) {
            continue;
        }
        let error: f64 = samples
            .iter()
            .map(|(work, time)| (dot(&features(work), &constants) / time - 1.0).powi(2))
            .sum();
        if best.is_none_or(|(least, _)| error < least) {
            best = Some((error, constants));
        }
    }
    let (_, [pass, strided, product]) = best?;
    Some(UnitCost {
        pass,
        strided,
        product,
        real,
    })
}

fn features(work: &DigitsWork) -> [f64; 3] {
    [work.passes, work.strided, work.products]
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Constants of the chosen features, by the normal equations; none where these do not tell them apart.
fn least_squares(samples: &[(DigitsWork, f64)], chosen: u32) -> Option<[f64; 3]> {
    let mut equations = [[0.0; 4]; 3];
    for (work, time) in samples {
        let row = features(work).map(|feature| feature / time);
        for (i, equation) in equations.iter_mut().enumerate() {
            for (j, feature) in row.iter().enumerate() {
                equation[j] += row[i] * feature;
            }
            equation[3] += row[i];
        }
    }
    for i in 0..3 {
        if chosen >> i & 1 == 0 {
            equations[i] = [0.0; 4];
            equations.iter_mut().for_each(|equation| equation[i] = 0.0);
            equations[i][i] = 1.0;
        }
    }
    for i in 0..3 {
        let pivot = equations[i];
        if pivot[i] < 1e-12 * equations.iter().map(|e| e[i].abs()).fold(0.0, f64::max)
            || pivot[i] == 0.0
        {
            return None;
        }
        for (j, equation) in equations.iter_mut().enumerate() {
            if j != i {
                let factor = equation[i] / pivot[i];
                for (to, from) in equation.iter_mut().zip(pivot) {
                    *to -= factor * from;
                }
            }
        }
    }
    Some(std::array::from_fn(|i| equations[i][3] / equations[i][i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(passes: f64, strided: f64, products: f64) -> DigitsWork {
        DigitsWork {
            passes,
            strided,
            products,
        }
    }

    #[test]
    fn constants_that_made_times_are_found_again() {
        let cost = |w: &DigitsWork| 10.0 * w.passes + 2.0 * w.strided + 0.01 * w.products;
        let works = [
            work(1.0, 0.0, 560.0),
            work(1.0, 0.0, 1120.0),
            work(2.0, 2.0, 1120.0),
            work(3.0, 2.0, 840.0),
        ];
        let samples = works.map(|w| (w, cost(&w)));
        let found = fit(&samples, 1.0).unwrap();
        for (a, b) in [
            (found.pass, 10.0),
            (found.strided, 2.0),
            (found.product, 0.01),
        ] {
            assert!((a / b - 1.0f64).abs() < 1e-9, "{found:?}");
        }
        // Times that fall with products cannot be had of constants that are not negative: they get none.
        let falling = works.map(|w| (w, 10.0 * w.passes - 0.001 * w.products));
        assert_eq!(fit(&falling, 1.0).unwrap().product, 0.0);
        assert_eq!(fit(&samples[..2], 1.0), None);
    }
}
