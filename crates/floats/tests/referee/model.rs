//! Every bound once more, from the lines of `docs/ladder.md`, "Bounds, line by line". Nothing here comes from the crate but what a plan
//! says of itself: mode, length, path, factors as printed, unit.

use crate::chirp::ChirpTable;
use crate::norms::{Norms, Which};
use crate::rounding::{DIGITS, Pieces};
use floats::unit::Order;
use floats::{FloatPlan, Format, Mode, Path, Table};
use num_complex::Complex;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Mutex;

const SINGLE: f64 = 1.0 / (1u64 << 24) as f64;
const DOUBLE: f64 = 1.0 / (1u64 << 53) as f64;

/// Outwards: more than a hundred operations in f64 err by, and far less than anything is measured by.
const OUTWARDS: f64 = 1.0 + 1e-13;

/// B1: steps in sequence.
fn chain(steps: impl IntoIterator<Item = f64>) -> f64 {
    let steps = steps.into_iter();
    steps.fold(0.0, |all, step| all + step + all * step)
}

/// B2: so many roundings.
fn roundings(count: f64, u: f64) -> f64 {
    (count * u.ln_1p()).exp_m1()
}

/// What a plan says of itself.
#[derive(Debug, Clone)]
pub struct Facts {
    pub n: usize,
    pub mode: Mode,
    pub path: Path,
    /// Factors as printed.
    pub factors: Vec<usize>,
    /// The order of its unit's sums, where there is one.
    pub order: Option<Order>,
    pub table: Table,
}

impl Facts {
    pub fn of(plan: &FloatPlan, order: Option<Order>, table: Table) -> Facts {
        let how = plan.how();
        let path = plan.path().to_string();
        let start = how.find(&path).expect("a plan names its path") + path.len();
        let end = start + how[start..].find(", ").expect("and where it runs");
        let numbers = how[start..end].split(|c: char| !c.is_ascii_digit());
        Facts {
            n: plan.len(),
            mode: plan.mode(),
            path: plan.path(),
            factors: numbers.filter_map(|number| number.parse().ok()).collect(),
            order: order.filter(|_| plan.unit().is_some()),
            table,
        }
    }
}

/// A bound before the last rounding of every number by itself, and that rounding (B18).
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    before: f64,
    last: f64,
}

impl Bound {
    pub fn whole(self) -> f64 {
        chain([self.before, self.last])
    }

    /// Of half a spectrum by itself.
    pub fn half(self) -> f64 {
        chain([2f64.sqrt() * self.before, self.last])
    }
}

/// B4, B5, B3: the small DFT of a stage.
fn small(points: usize, as_matrix: bool, u: f64) -> f64 {
    let half = (points / 2) as f64;
    match points {
        2 => roundings(1.0, u),
        4 => roundings(2.0, u),
        // 4 × 4 entries are not 0 or ±1.
        8 if as_matrix => chain([roundings(14.0, u), 4.0 / 8f64.sqrt() * u]),
        8 => roundings(6.0, u),
        _ => chain([roundings(2.0 + half, u), half.sqrt() * u]),
    }
}

/// B7 with B6.
fn stages(factors: &[usize], posted: bool, u: f64) -> f64 {
    let last = factors.len().saturating_sub(1);
    let each = factors.iter().enumerate().flat_map(|(i, &points)| {
        let rotation = if i < last { roundings(3.0, u) } else { 0.0 };
        [small(points, posted, u), rotation]
    });
    chain(each)
}

/// B9: second words and what is lost, both relative to the number, layer after layer.
#[derive(Debug, Clone, Copy, Default)]
struct Carried {
    second: f64,
    lost: f64,
}

impl Carried {
    fn sum(self, u: f64) -> Carried {
        Carried {
            second: self.second + u,
            lost: self.lost + u * (2.0 * self.second + u),
        }
    }

    /// `spread` is the norm of all products over that of their sums.
    fn products(self, spread: f64, u: f64) -> Carried {
        Carried {
            second: self.second + 2.0 * spread * u,
            lost: self.lost + spread * u * (2.0 * self.second + 5.0 * u),
        }
    }

    fn rotation(self, u: f64) -> Carried {
        self.products(2f64.sqrt(), u).sum(u)
    }

    fn sums(self, count: usize, u: f64) -> Carried {
        (0..count).fold(self, |carried, _| carried.sum(u))
    }

    fn stages(self, factors: &[usize], posted: bool, u: f64) -> Carried {
        let last = factors.len().saturating_sub(1);
        let step = |carried: Carried, (i, &points): (usize, &usize)| {
            let half = points / 2;
            let done = match points {
                2 => carried.sum(u),
                4 => carried.sums(2, u),
                8 if posted => carried.products(2f64.sqrt() * 8f64.sqrt(), u).sums(14, u),
                8 => carried.sums(2, u).products(1.0, u).sums(2, u),
                _ => carried
                    .sum(u)
                    .products((half as f64).sqrt(), u)
                    .sums(half + 1, u),
            };
            if i < last { done.rotation(u) } else { done }
        };
        factors.iter().enumerate().fold(self, step)
    }
}

/// The largest magnitude of the spectrum of `exp(πi j²/n)`, wrapped around `length` points. Several modes ask for it.
fn largest_of_chirp(n: usize, length: usize) -> f64 {
    static KNOWN: Mutex<BTreeMap<usize, f64>> = Mutex::new(BTreeMap::new());
    let lock = || KNOWN.lock().expect("nothing panics while it is held");
    if let Some(&largest) = lock().get(&n) {
        return largest;
    }
    let turn = |angle: f64| Complex::from_polar(1.0, 2.0 * PI * angle);
    let mut values = vec![Complex::new(0.0, 0.0); length];
    for j in 0..n {
        let value = turn((j * j % (2 * n)) as f64 / (2 * n) as f64);
        values[j] = value;
        values[(length - j) % length] = value;
    }
    let roots: Vec<_> = (0..length)
        .map(|k| turn(-(k as f64) / length as f64))
        .collect();
    let spectrum = halved(&values, &roots, 1);
    let largest = spectrum
        .iter()
        .fold(0.0, |largest, value| value.norm().max(largest));
    lock().insert(n, largest);
    largest
}

/// The spectrum by halves; `roots[k·step]` turns output `k` of the second one.
fn halved(values: &[Complex<f64>], roots: &[Complex<f64>], step: usize) -> Vec<Complex<f64>> {
    let n = values.len();
    if n == 1 {
        return values.to_vec();
    }
    let every_other =
        |first: usize| -> Vec<_> { values.iter().skip(first).step_by(2).copied().collect() };
    let [even, odd] = [0, 1].map(|first| halved(&every_other(first), roots, 2 * step));
    let mut all = vec![Complex::new(0.0, 0.0); n];
    for k in 0..n / 2 {
        let turned = odd[k] * roots[k * step];
        (all[k], all[k + n / 2]) = (even[k] + turned, even[k] - turned);
    }
    all
}

/// B3 to B10: transforms in f32 (`u` of it, errors carried or not) and f64.
fn lines(facts: &Facts, carried: bool, u: f64) -> Bound {
    let (n, posted) = (facts.n as f64, facts.table == Table::Posted);
    let rounded = |before: f64| Bound {
        before,
        last: if carried { u } else { 0.0 },
    };
    match facts.path {
        _ if facts.n == 1 => Bound {
            before: 0.0,
            last: 0.0,
        },
        Path::DftGemm => rounded(chain([roundings(2.0 * n, u), (n - 1.0) / n.sqrt() * u])),
        Path::Bluestein => {
            let length: usize = facts.factors.iter().product();
            let largest = largest_of_chirp(facts.n, length);
            // There is no program of the posts' steps to read the table from: what it adds, a few per cent, is left out there.
            let table = match posted {
                true => 0.0,
                false => ChirpTable::of(facts.n).error() / largest,
            };
            let amplified = largest / n.sqrt();
            if carried {
                let turned = Carried::default().rotation(u);
                let there = turned.stages(&facts.factors, posted, u).rotation(u);
                let back = there.stages(&facts.factors, posted, u).rotation(u);
                return rounded(amplified * chain([back.lost, table]));
            }
            let (turn, transform) = (roundings(3.0, u), stages(&facts.factors, posted, u));
            let convolution = chain([turn, transform, table, turn, transform]);
            rounded(chain([amplified * convolution, turn]))
        }
        _ if carried => rounded(Carried::default().stages(&facts.factors, posted, u).lost),
        _ => rounded(stages(&facts.factors, posted, u)),
    }
}

/// B12 and B13: one product on a unit.
fn product(n: usize, format: Format, parts: usize, order: Order, norms: &mut Norms) -> f64 {
    let unit = (-f64::from(format.bits())).exp2();
    let all_of_f32 = format == Format::Bf16 && parts == 3;
    let left_of_data = |used: usize| {
        if all_of_f32 && used == 3 {
            0.0
        } else {
            unit.powi(used as i32)
        }
    };
    if n == 1 {
        return left_of_data(parts);
    }
    let part_of_data = |part: usize| left_of_data(part) * (1.0 + unit);
    let pieces = Pieces::Parts(format);
    let mut bound = left_of_data(parts);
    for data in 0..parts {
        bound += norms.of(n, pieces, parts - data, Which::Left) * part_of_data(data);
    }
    // Products of the smallest parts first.
    let mut terms: Vec<(usize, usize)> = (0..parts)
        .flat_map(|data| (0..parts - data).map(move |part| (data, part)))
        .collect();
    terms.sort_by_key(|&(data, part)| (parts - data - part, data));
    let (mut so_far, mut sums) = (0.0, 0.0);
    for (data, part) in terms {
        let size = norms.of(n, pieces, part, Which::Next) * part_of_data(data);
        so_far += size;
        let (count, tiles) = (2.0 * n as f64, n.div_ceil(16) as f64);
        let (rounded, within) = match order {
            Order::Pairs => (count, 0.0),
            Order::Tiles => {
                let in_a_tile = 2f64.sqrt() * (n.min(16) as f64 - 1.0) + 1.0;
                (tiles, in_a_tile * tiles.sqrt() * size)
            }
            Order::Aligned { depth, guard_bits } => {
                let blocks = (count / depth as f64).ceil();
                let cut = depth as f64 / f64::from(guard_bits).exp2();
                let largest = size.max(unit.powi(part as i32) * part_of_data(data));
                (
                    2.0 * blocks * (1.0 + cut),
                    2.0 * cut * (2.0 * blocks).sqrt() * largest,
                )
            }
        };
        sums += SINGLE * (rounded * (so_far + sums / 2.0) + within);
    }
    bound + sums
}

/// B12 to B14.
fn on_unit(facts: &Facts, norms: &mut Norms) -> f64 {
    let format = facts.mode.format().expect("a mode with a unit");
    let parts = match facts.mode {
        Mode::Ozaki | Mode::Fp16Ozaki => 2,
        Mode::OzakiHq => 3,
        _ => 1,
    };
    let order = facts.order.expect("a unit adds in some order");
    let (products, between) = match facts.factors[..] {
        [n1, n2] => {
            let divided = n1.next_power_of_two() as f64 / (n1 as f64).sqrt();
            let first = product(n1, format, parts, order, norms);
            let second = product(n2, format, parts, order, norms);
            (chain([first, roundings(3.0, SINGLE), second]), divided)
        }
        _ => (product(facts.n, format, parts, order, norms), 0.0),
    };
    match format {
        Format::Bf16 => products,
        Format::Fp16 => {
            products + (2.0 * facts.n as f64).sqrt() * (1.0 + between) * (-39f64).exp2()
        }
    }
}

/// B16: one product in digits.
fn digit_product(n: usize, line: usize, norms: &mut Norms) -> f64 {
    let components = (2.0 * line as f64).sqrt();
    let mut bound = components * (-31f64).exp2() + norms.of(n, Pieces::Digits, DIGITS, Which::Left);
    for data in 0..DIGITS {
        for part in DIGITS - data..DIGITS {
            let size = components * 2.0 / f64::from(8 * data as i32).exp2();
            bound += norms.of(n, Pieces::Digits, part, Which::Next) * size;
        }
    }
    bound
}

/// The bound of a plan for f32 data, and for f64 data where it takes them.
pub fn bounds(facts: &Facts, inverse: Option<&Facts>, norms: &mut Norms) -> (Bound, Option<Bound>) {
    let outwards = |bound: Bound| Bound {
        before: bound.before * OUTWARDS,
        last: bound.last,
    };
    let in_double = |before: f64| {
        let before = before * OUTWARDS;
        (
            Bound {
                before,
                last: SINGLE,
            },
            Some(Bound { before, last: 0.0 }),
        )
    };
    let on_a_unit = facts.order.is_some();
    match facts.mode {
        Mode::OzakiTwoLevel if on_a_unit => in_double(match facts.factors[..] {
            [n1, n2] => chain([
                digit_product(n1, facts.n, norms),
                roundings(3.0, DOUBLE),
                digit_product(n2, facts.n, norms),
            ]),
            _ => digit_product(facts.n, facts.n, norms),
        }),
        Mode::OzakiTwoLevel | Mode::Double => in_double(lines(facts, false, DOUBLE).whole()),
        Mode::Kahan => (outwards(lines(facts, true, SINGLE)), None),
        Mode::Bf16Refined if on_a_unit => {
            // B15.
            let forward = on_unit(facts, norms);
            let back = lines(inverse.expect("an inverse in f32"), false, SINGLE).whole();
            let residual = chain([back, SINGLE]) * (1.0 + forward);
            let residual = residual + SINGLE * (forward + residual);
            let before = residual + forward * (forward + residual);
            let before = chain([before, SINGLE]);
            (outwards(Bound { before, last: 0.0 }), None)
        }
        _ if on_a_unit => {
            let before = on_unit(facts, norms);
            (outwards(Bound { before, last: 0.0 }), None)
        }
        _ => (outwards(lines(facts, false, SINGLE)), None),
    }
}
