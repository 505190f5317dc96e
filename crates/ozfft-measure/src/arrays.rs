//! Small helpers on arrays: indices, orders, half-spectra and digests.

use num_complex::Complex;
use sha2::{Digest, Sha256};

/// Which index runs fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last one.
    C,
    /// The first one.
    Fortran,
}

/// Steps in elements from one index to the next, without gaps.
pub fn strides(shape: &[usize], order: Order) -> Vec<usize> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    let mut set = |axis: usize| {
        strides[axis] = step;
        step *= shape[axis];
    };
    match order {
        Order::C => (0..shape.len()).rev().for_each(&mut set),
        Order::Fortran => (0..shape.len()).for_each(&mut set),
    }
    strides
}

/// Numbers that have bytes of their own.
pub trait Bytes: Copy {
    /// Feeds the little-endian bytes to the digest.
    fn feed(self, digest: &mut Sha256);
}

impl Bytes for f64 {
    fn feed(self, digest: &mut Sha256) {
        digest.update(self.to_le_bytes());
    }
}

impl Bytes for f32 {
    fn feed(self, digest: &mut Sha256) {
        digest.update(self.to_le_bytes());
    }
}

impl<T: Bytes> Bytes for Complex<T> {
    fn feed(self, digest: &mut Sha256) {
        self.re.feed(digest);
        self.im.feed(digest);
    }
}

fn finish(digest: Sha256) -> String {
    let bytes = digest.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of a file's content.
pub fn digest_bytes(bytes: &[u8]) -> String {
    finish(Sha256::new_with_prefix(bytes))
}

/// SHA-256 of the values as little-endian bytes, real before imaginary parts.
pub fn digest<V: Bytes>(values: &[V]) -> String {
    let mut digest = Sha256::new();
    values.iter().for_each(|value| value.feed(&mut digest));
    finish(digest)
}

/// As [`digest`], taking the values in C order whatever order they lie in, so that equal arrays have equal digests.
pub fn digest_ordered<V: Bytes>(values: &[V], shape: &[usize], order: Order) -> String {
    if order == Order::C {
        return digest(values);
    }
    let fortran = strides(shape, Order::Fortran);
    let mut digest = Sha256::new();
    for flat in 0..values.len() {
        let indices = unravel(flat, shape);
        let place: usize = indices.iter().zip(&fortran).map(|(i, step)| i * step).sum();
        values[place].feed(&mut digest);
    }
    finish(digest)
}

/// The indices of a C-order position.
pub fn unravel(flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = flat;
    let mut indices = vec![0; shape.len()];
    for (index, &length) in indices.iter_mut().zip(shape).rev() {
        *index = rest % length;
        rest /= length;
    }
    indices
}

/// The C-order position of indices.
pub fn ravel(indices: &[usize], shape: &[usize]) -> usize {
    indices
        .iter()
        .zip(shape)
        .fold(0, |flat, (&index, &length)| flat * length + index)
}

/// The position of the opposite frequency along the named axes.
pub fn opposite(indices: &[usize], shape: &[usize], axes: &[usize]) -> Vec<usize> {
    let mut mirrored = indices.to_vec();
    for &axis in axes {
        mirrored[axis] = (shape[axis] - indices[axis]) % shape[axis];
    }
    mirrored
}

/// The shape of the half-spectrum of a real array, halved along the last axis.
pub fn half_shape(shape: &[usize]) -> Vec<usize> {
    let mut half = shape.to_vec();
    if let Some(last) = half.last_mut() {
        *last = *last / 2 + 1;
    }
    half
}

/// One value of the whole spectrum, from the half over the last axis (all axes transformed, C order).
pub fn from_half(half: &[Complex<f64>], shape: &[usize], flat: usize) -> Complex<f64> {
    let stored = half_shape(shape);
    let indices = unravel(flat, shape);
    let last = shape.len() - 1;
    if indices[last] < stored[last] {
        half[ravel(&indices, &stored)]
    } else {
        let axes: Vec<usize> = (0..shape.len()).collect();
        half[ravel(&opposite(&indices, shape, &axes), &stored)].conj()
    }
}

/// Makes a half-spectrum the half of a real array's: where a frequency's opposite is stored as well, the two become
/// conjugates, and values that are their own opposite become real.
pub fn make_hermitian(half: &mut [Complex<f64>], shape: &[usize]) {
    let stored = half_shape(shape);
    let axes: Vec<usize> = (0..shape.len()).collect();
    let last = shape.len() - 1;
    for flat in 0..half.len() {
        let indices = unravel(flat, &stored);
        let mirrored = opposite(&indices, shape, &axes);
        if mirrored[last] >= stored[last] {
            continue;
        }
        let partner = ravel(&mirrored, &stored);
        if partner == flat {
            half[flat].im = 0.0;
        } else if partner > flat {
            half[partner] = half[flat].conj();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_the_order() {
        let c_order = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let fortran = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        assert_eq!(
            digest(&c_order),
            digest_ordered(&fortran, &[2, 3], Order::Fortran)
        );
        // Of no bytes at all, as published with the algorithm.
        assert!(digest::<f64>(&[]).starts_with("e3b0c44298fc1c14"));
    }

    #[test]
    fn a_hermitian_half_completes_to_its_own_mirror_image() {
        for shape in [vec![8], vec![5], vec![4, 6], vec![3, 4, 5]] {
            let count: usize = half_shape(&shape).iter().product();
            let mut half = ozfft_testkit::oracle::inputs::uniform_complex(count, 3);
            make_hermitian(&mut half, &shape);
            let axes: Vec<usize> = (0..shape.len()).collect();
            for flat in 0..shape.iter().product() {
                let mirrored = ravel(&opposite(&unravel(flat, &shape), &shape, &axes), &shape);
                let (here, there) = (
                    from_half(&half, &shape, flat),
                    from_half(&half, &shape, mirrored),
                );
                assert_eq!(here, there.conj(), "{shape:?} at {flat}");
            }
        }
    }
}
