//! laboratory/docs/roofline.md says what the crate works out.

use roofline::document;

#[test]
fn the_document_has_the_tables_of_the_crate() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/roofline.md");
    let text = std::fs::read_to_string(path).unwrap();
    let right = document::replaced(&text, &document::tables().unwrap()).unwrap();
    assert!(
        text == right,
        "laboratory/docs/roofline.md is out of date; make it again with `ozfft-lab model document --out laboratory/docs/roofline.md`"
    );
}
