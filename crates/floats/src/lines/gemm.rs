//! The DFT as one product with its matrix, in the arithmetic of the lanes: what the posts do for short lengths.

use crate::lanes::{InstructionSet, Scalar, Task, Vectors};
use crate::lines::program::{LineProgram, Operation};
use crate::numbers::arithmetic::Arithmetic;
use crate::numbers::number::{ComplexConstant, Constant, Number, Pair};
use crate::numbers::roots::root;

/// Cosine, sine and the negated sine of every `n`-th of a turn: the matrix has no other entries.
#[derive(Debug)]
pub(crate) struct Gemm<S> {
    roots: Vec<[Constant<S>; 3]>,
}

/// Outputs that are summed together.
const TOGETHER: usize = 4;

impl<S: Scalar> Gemm<S> {
    pub(crate) fn new(n: usize) -> Self {
        let constant = |k: usize| root(k as u64, n as u64);
        Gemm {
            roots: (0..n)
                .map(|k| {
                    let (root, conjugate) = (constant(k), constant((n - k) % n));
                    [root.re, root.im, conjugate.im].map(Constant::new)
                })
                .collect(),
        }
    }

    /// The product for another machine.
    pub(crate) fn write(&self, program: &mut LineProgram) {
        program.push(Operation::Product);
        for &[re, im, _] in &self.roots {
            program.constant(ComplexConstant { re, im });
        }
    }

    /// Transforms what is in the first array into the second.
    pub(crate) fn transform<A: Arithmetic<Scalar = S>>(
        &self,
        set: InstructionSet,
        a: &[S],
        b: &mut [S],
    ) {
        set.enter(Product::<A> { gemm: self, a, b });
    }

    #[inline(always)]
    fn product<N: Number<Scalar = S>>(&self, a: &[S], b: &mut [S]) {
        let n = self.roots.len();
        for first in (0..n).step_by(TOGETHER) {
            let mut sums = [Pair::<N>::zero(); TOGETHER];
            let mut indices = [0; TOGETHER];
            for j in 0..n {
                let x = Pair::<N>::load(a, j);
                for (i, (sum, index)) in sums.iter_mut().zip(&mut indices).enumerate() {
                    let [cos, sin, minus_sin] = self.roots[*index];
                    // The real part's products first, in both sums: what there is halfway is then the DFT of numbers as well (B3).
                    sum.re = sum.re.plus_product(x.re, cos).plus_product(x.im, sin);
                    sum.im = sum.im.plus_product(x.re, minus_sin).plus_product(x.im, cos);
                    *index += (first + i) % n;
                    if *index >= n {
                        *index -= n;
                    }
                }
            }
            for (i, sum) in sums.iter().enumerate().take(n - first) {
                sum.store(b, first + i);
            }
        }
    }
}

struct Product<'a, A: Arithmetic> {
    gemm: &'a Gemm<A::Scalar>,
    a: &'a [A::Scalar],
    b: &'a mut [A::Scalar],
}

impl<A: Arithmetic> Task for Product<'_, A> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        self.gemm.product::<A::Number<V>>(self.a, self.b);
    }
}
