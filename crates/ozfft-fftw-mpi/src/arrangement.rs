//! How a rank's part lies in FFTW's array: with its first two dimensions exchanged, or with real rows padded for the half-spectrum.

/// A part of an array whose elements lie at strides; all of them count elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrangement {
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl Arrangement {
    /// A part of this shape. `row` is the dimension of real rows and their length with padding; `transposed` exchanges the first two dimensions.
    pub(crate) fn new(
        shape: &[usize],
        row: Option<(usize, usize)>,
        transposed: bool,
    ) -> Arrangement {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if transposed {
            order.swap(0, 1);
        }
        let mut strides = vec![0; shape.len()];
        let mut stride = 1;
        for &dimension in order.iter().rev() {
            strides[dimension] = stride;
            stride *= match row {
                Some((padded, length)) if padded == dimension => length,
                _ => shape[dimension],
            };
        }
        Arrangement {
            shape: shape.to_vec(),
            strides,
        }
    }

    /// Elements of the part.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether elements lie in C order without gaps.
    pub(crate) fn is_plain(&self) -> bool {
        self.len() == 0 || self.innermost() == 0
    }

    /// The first of the innermost dimensions that lie side by side.
    fn innermost(&self) -> usize {
        let mut expected = 1;
        for dimension in (0..self.shape.len()).rev() {
            if self.shape[dimension] > 1 && self.strides[dimension] != expected {
                return dimension + 1;
            }
            expected *= self.shape[dimension];
        }
        0
    }

    /// Calls `visit` with runs of elements: where they begin in C order and in the arrangement, and how many.
    pub(crate) fn for_each_run(&self, mut visit: impl FnMut(usize, usize, usize)) {
        if self.len() == 0 {
            return;
        }
        let outer = self.innermost();
        let run: usize = self.shape[outer..].iter().product();
        let mut index = vec![0; outer];
        let (mut plain, mut place) = (0, 0);
        loop {
            visit(plain, place, run);
            plain += run;
            let mut dimension = outer;
            loop {
                if dimension == 0 {
                    return;
                }
                dimension -= 1;
                index[dimension] += 1;
                place += self.strides[dimension];
                if index[dimension] < self.shape[dimension] {
                    break;
                }
                place -= index[dimension] * self.strides[dimension];
                index[dimension] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(arrangement: &Arrangement) -> Vec<usize> {
        let mut found = Vec::new();
        arrangement.for_each_run(|plain, place, run| {
            assert_eq!(plain, found.len());
            found.extend(place..place + run);
        });
        assert_eq!(found.len(), arrangement.len());
        found
    }

    #[test]
    fn elements_lie_where_fftw_puts_them() {
        let plain = Arrangement::new(&[2, 3, 4], None, false);
        assert!(plain.is_plain());
        assert_eq!(places(&plain), (0..24).collect::<Vec<_>>());
        // n1 x n0 x n2.
        let transposed = Arrangement::new(&[2, 3, 2], None, true);
        assert!(!transposed.is_plain());
        assert_eq!(places(&transposed), [0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11]);
        // Rows of three reals in room for four.
        let padded = Arrangement::new(&[2, 3], Some((1, 4)), false);
        assert_eq!(places(&padded), [0, 1, 2, 4, 5, 6]);
        // The same for two interleaved arrays.
        let interleaved = Arrangement::new(&[2, 3, 2], Some((1, 4)), false);
        assert_eq!(
            places(&interleaved),
            [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13]
        );
        assert_eq!(
            places(&Arrangement::new(&[0, 3], None, true)),
            Vec::<usize>::new()
        );
        assert!(Arrangement::new(&[1, 3, 2], None, true).is_plain());
    }
}
