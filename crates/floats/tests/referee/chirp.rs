//! The table of Bluestein's algorithm, as the crate gives it to other machines, against the exact spectrum of a chirp: by its definition, in
//! double-double arithmetic.

use floats::steps::{Operation, program};
use floats::{Mode, Table};
use num_complex::Complex;
use ozfft_testkit::oracle::{Direction, DoubleDouble, dft, root_of_unity};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Entry by entry.
pub struct ChirpTable {
    /// How far the table is off.
    pub errors: Vec<f64>,
    /// How large the spectrum is.
    pub magnitudes: Vec<f64>,
}

impl ChirpTable {
    /// Of a length that the mode `double` has a convolution for. Several modes ask for it, and it is kept.
    pub fn of(n: usize) -> Arc<ChirpTable> {
        static KNOWN: Mutex<BTreeMap<usize, Arc<ChirpTable>>> = Mutex::new(BTreeMap::new());
        let lock = || KNOWN.lock().expect("nothing panics while it is held");
        if let Some(found) = lock().get(&n) {
            return Arc::clone(found);
        }
        let found = Arc::new(ChirpTable::new(n));
        lock().insert(n, Arc::clone(&found));
        found
    }

    fn new(n: usize) -> ChirpTable {
        let program = program(n, Mode::Double, Table::Measured).expect("a program in f64");
        let length = program.length;
        let is_table =
            |operation| matches!(operation, Operation::Multiply { values, .. } if values == length);
        let step = program
            .steps
            .iter()
            .find(|step| is_table(step.operation))
            .expect("the product with the table");
        let table = &program.constants[step.constants..][..length];
        // A double-double number is transformed as two numbers.
        let mut lines = [
            vec![Complex::default(); length],
            vec![Complex::default(); length],
        ];
        for j in 0..n {
            let square = (j as u128 * j as u128 % (2 * n as u128)) as usize;
            let chirp = root_of_unity(2 * n - square, 2 * n);
            let high = chirp.to_complex();
            let low = |all: DoubleDouble, high: f64| (all - DoubleDouble::from(high)).to_f64();
            let low = Complex::new(low(chirp.re, high.re), low(chirp.im, high.im));
            for place in [j, (length - j) % length] {
                (lines[0][place], lines[1][place]) = (high, low);
            }
        }
        let [high, low] = lines.map(|line| dft(&line, Direction::Forward));
        let part = |values: [DoubleDouble; 2]| {
            let [high, low] = [
                values[0].scale_by_power_of_two(high.exponent),
                values[1].scale_by_power_of_two(low.exponent),
            ];
            high + low
        };
        let each = high.values.iter().zip(&low.values).zip(table);
        let both = each.map(|((high, low), &[re, _, im, _])| {
            let exact = [part([high.re, low.re]), part([high.im, low.im])];
            // The table is divided by the length, a power of two.
            let ours = [re, im].map(|x| DoubleDouble::from(x * length as f64));
            let off = [0, 1].map(|i| (exact[i] - ours[i]).to_f64());
            (
                off[0].hypot(off[1]),
                exact[0].to_f64().hypot(exact[1].to_f64()),
            )
        });
        let (errors, magnitudes) = both.unzip();
        ChirpTable { errors, magnitudes }
    }

    /// The largest error.
    pub fn error(&self) -> f64 {
        self.errors.iter().fold(0.0, |all, &one| all.max(one))
    }

    /// Lines whose product with the chirp has nearly all of its spectrum in one entry: that where the table errs most, that where it is
    /// largest, and the first.
    pub fn tones(&self, n: usize) -> Vec<Vec<Complex<f64>>> {
        let length = self.errors.len();
        let last_of = |values: &[f64]| {
            let places = values.iter().enumerate();
            let largest = places.max_by(|a, b| a.1.total_cmp(b.1));
            largest.map_or(0, |(place, _)| place)
        };
        let places = [last_of(&self.errors), last_of(&self.magnitudes), 0];
        let line = |k: usize| {
            let point = |j: usize| {
                let square = (j as u128 * j as u128 % (2 * n as u128)) as usize;
                let unchirped = root_of_unity(2 * n - square, 2 * n).to_complex();
                let turn = (j as u128 * k as u128 % length as u128) as usize;
                unchirped * root_of_unity(length - turn, length).to_complex()
            };
            (0..n).map(point).collect()
        };
        places.map(line).to_vec()
    }
}
