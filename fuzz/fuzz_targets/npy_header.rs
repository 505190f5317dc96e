//! Headers of npy files that the bytes have changed or are: rejected, or understood as one header, which reads the same when it is written
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/ozfft-cli/src/npy/header.rs"]
mod header;

use header::{MOST_AXES, MOST_BYTES, written};

const SAVED: &str = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      \n";

/// A file of version 2.0 that has only this header.
fn file(text: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text);
    bytes
}

fn check(bytes: &[u8]) {
    let mut rest = bytes;
    let Ok(header) = header::read(&mut rest) else {
        return;
    };
    assert!(header.shape.len() <= MOST_AXES);
    let read = bytes.len() - rest.len();
    assert_eq!(header.bytes, read as u64, "it reads its own bytes only");
    assert!(read <= MOST_BYTES + 12);
    let shape: Vec<usize> = header.shape.iter().map(|&n| n as usize).collect();
    let kind = header.description.trim_start_matches(['<', '>', '=']);
    let again = written(kind, header.fortran_order, &shape);
    let again = header::read(&mut &again[..]).expect("what numpy would write");
    assert_eq!(
        (again.number, again.fortran_order, again.shape),
        (header.number, header.fortran_order, header.shape)
    );
}

fuzz_target!(|data: &[u8]| {
    let Some((&source, data)) = data.split_first() else {
        return;
    };
    match source % 3 {
        0 => check(data),
        1 => check(&file(data)),
        _ => {
            let mut text = SAVED.as_bytes().to_vec();
            for edit in data.chunks_exact(3) {
                let at = usize::from(edit[0]) % text.len();
                match edit[1] % 3 {
                    0 => text[at] = edit[2],
                    1 => text.insert(at, edit[2]),
                    _ if text.len() > 1 => {
                        text.remove(at);
                    }
                    _ => {}
                }
            }
            check(&file(&text));
        }
    }
});
