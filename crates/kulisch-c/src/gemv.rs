//! `y = α·op(A)·x + β·y`, every number of the result rounded once.

use crate::numbers::{Number, Strided};
use exact::Accumulator;
use float_environment::with_default;
use std::ffi::{c_char, c_int};

/// Rows that are gathered together where they lie across memory: a line of a cache has eight doubles.
const GATHERED_ROWS: usize = 8;

/// A matrix with its operation: rows of op(A) and how far apart their numbers and they are.
struct Rows<T> {
    numbers: *const T,
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

/// Checks arguments in their order, as the reference BLAS does; the position of the first bad one.
fn arranged<T>(
    (order, trans): (c_char, c_char),
    (m, n): (isize, isize),
    numbers: *const T,
    lda: isize,
    (incx, incy): (isize, isize),
) -> Result<Rows<T>, c_int> {
    let row_major = match (order as u8).to_ascii_lowercase() {
        b'r' => true,
        b'c' => false,
        _ => return Err(1),
    };
    let transposed = match (trans as u8).to_ascii_lowercase() {
        b'n' => false,
        b't' | b'c' => true,
        _ => return Err(2),
    };
    let m = usize::try_from(m).map_err(|_| 3)?;
    let n = usize::try_from(n).map_err(|_| 4)?;
    let lda = usize::try_from(lda).map_err(|_| 7)?;
    if lda < if row_major { n } else { m }.max(1) {
        return Err(7);
    }
    if incx == 0 {
        return Err(9);
    }
    if incy == 0 {
        return Err(12);
    }
    let (rows, columns) = if transposed { (n, m) } else { (m, n) };
    let along_memory = row_major != transposed;
    Ok(Rows {
        numbers,
        rows,
        columns,
        row_step: if along_memory { lda } else { 1 },
        column_step: if along_memory { 1 } else { lda },
    })
}

impl<T: Number> Rows<T> {
    /// Calls `take` with every row as doubles.
    ///
    /// # Safety
    /// The matrix is there.
    unsafe fn each(&self, mut take: impl FnMut(usize, &[f64])) {
        let at = |row: usize, column: usize| {
            // SAFETY: the caller's promise.
            unsafe {
                *self
                    .numbers
                    .add(row * self.row_step + column * self.column_step)
            }
        };
        let mut gathered = vec![0.0; GATHERED_ROWS * self.columns];
        for first in (0..self.rows).step_by(GATHERED_ROWS) {
            let count = GATHERED_ROWS.min(self.rows - first);
            for column in 0..self.columns {
                for row in 0..count {
                    gathered[row * self.columns + column] = at(first + row, column).wide();
                }
            }
            for row in 0..count {
                take(first + row, &gathered[row * self.columns..][..self.columns]);
            }
        }
    }
}

/// The product; the position of a bad argument, or 0.
///
/// # Safety
/// Arrays are as large as the other arguments say, and `y` overlaps neither of the others.
#[expect(clippy::too_many_arguments, reason = "as BLAS has them")]
unsafe fn gemv<T: Number + PartialEq>(
    order: c_char,
    trans: c_char,
    m: isize,
    n: isize,
    alpha: T,
    a: *const T,
    lda: isize,
    x: *const T,
    incx: isize,
    beta: T,
    y: *mut T,
    incy: isize,
) -> c_int {
    let rows = match arranged((order, trans), (m, n), a, lda, (incx, incy)) {
        Ok(rows) => rows,
        Err(position) => return position,
    };
    with_default(|| {
        // SAFETY: the caller's promise, here and below.
        let result = unsafe { Strided::new(rows.rows as isize, y.cast_const(), incy) };
        let write = |row: usize, sum: &Accumulator| {
            let place = result.place(row).cast_mut();
            // As in BLAS, a result that is multiplied by zero is not read.
            // SAFETY: a number of y.
            let before = if beta == T::ZERO {
                T::ZERO
            } else {
                unsafe { *place }
            };
            let value = match alpha == T::ONE && beta == T::ZERO {
                true => T::rounded(sum),
                false => T::scaled_plus(sum, alpha, beta, before),
            };
            // SAFETY: the same.
            unsafe { place.write(value) };
        };
        if alpha == T::ZERO || rows.columns == 0 {
            // A matrix that is multiplied by zero is not read either.
            let nothing = Accumulator::new();
            (0..rows.rows).for_each(|row| write(row, &nothing));
            return;
        }
        // SAFETY: the caller's promise.
        let vector = unsafe { Strided::new(rows.columns as isize, x, incx) };
        // SAFETY: the same.
        let vector = unsafe { vector.doubles() };
        let multiply = |row: usize, numbers: &[f64]| {
            let mut sum = Accumulator::new();
            sum.add_products(numbers, &vector)
                .expect("both have as many columns");
            write(row, &sum);
        };
        // SAFETY: the same.
        unsafe { rows.each(multiply) };
    });
    0
}

/// Defines the C names for both precisions.
macro_rules! products {
    ($($number:ty: $name:ident;)*) => {$(
        /// `y = alpha·op(A)·x + beta·y`; 0, or the position of a bad argument, and then nothing is written.
        ///
        /// # Safety
        /// Arrays are as large as the other arguments say, and `y` overlaps neither of the others.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            order: c_char,
            trans: c_char,
            m: isize,
            n: isize,
            alpha: $number,
            a: *const $number,
            lda: isize,
            x: *const $number,
            incx: isize,
            beta: $number,
            y: *mut $number,
            incy: isize,
        ) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { gemv(order, trans, m, n, alpha, a, lda, x, incx, beta, y, incy) }
        }
    )*};
}

products! {
    f64: kulisch_dgemv;
    f32: kulisch_sgemv;
}
