//! The digest that runs are compared by.

use sha2::{Digest, Sha256};

/// SHA-256 of the bits of these numbers, little-endian, one array after the other, in hexadecimal.
///
/// ```
/// use ozfft_applications::digest::sha256;
/// assert_eq!(sha256([&[1.0, 2.0][..]]), sha256([&[1.0][..], &[2.0]]));
/// assert_ne!(sha256([&[0.0][..]]), sha256([&[-0.0][..]]));
/// ```
pub fn sha256<'a>(arrays: impl IntoIterator<Item = &'a [f64]>) -> String {
    let mut hash = Sha256::new();
    for array in arrays {
        for value in array {
            hash.update(value.to_le_bytes());
        }
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
