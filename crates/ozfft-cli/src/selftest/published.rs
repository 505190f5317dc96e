//! The digests that `ozfft selftest` prints, as they are published (`docs/numerics.md`, section 9): every machine has these bits.

use super::DigestRow;

/// The digest of one fixed transform.
struct Published {
    shape: &'static str,
    kind: &'static str,
    recipe: &'static str,
    sha256: &'static str,
}

/// A line of the table. They change with the version only, together with the document and the changelog.
const fn line(
    shape: &'static str,
    kind: &'static str,
    recipe: &'static str,
    sha256: &'static str,
) -> Published {
    Published {
        shape,
        kind,
        recipe,
        sha256,
    }
}

const COMPLEX: &str = "complex-to-complex";
const REAL: &str = "real-to-complex";
#[rustfmt::skip]
const PUBLISHED: [Published; 12] = [
    line("1024", COMPLEX, "truncated", "f40190b2c610aa39a1d94a78b0054ebf54f593b50b5ae244c95646d69761fc7a"),
    line("1024", COMPLEX, "exact", "0cc628675d4db035059818c540317972dbc3b8b95aff1ef92558499fbb7f367c"),
    line("1009", COMPLEX, "truncated", "664df064cd64548cb4d6aeb2a44f1bff38a1bfe8b0e3789efbf09a3bd8ad8887"),
    line("1009", COMPLEX, "exact", "f1f48e5ce4fe7e985f98b2f4e7044ac39086cb6ca45df82e549188a043e20d36"),
    line("60x60", COMPLEX, "truncated", "1f3082c0163113e0fec8c03a61ff6b0f855a3c6adf7c7d06d5be973dc4cc3d38"),
    line("60x60", COMPLEX, "exact", "98ebf9b1ed0ccc46373e27c2156e9d6d6911e26b5151296fb305a0d31cdd0adc"),
    line("4096", REAL, "truncated", "73426242b95c33d3b9336ef45d1f4436ad68658e88f23de660f33f4661bd8683"),
    line("4096", REAL, "exact", "7c0f79301707c647ca3d9b46ae27bce427a2348d7e72b17e9c352912baf51072"),
    line("1024", COMPLEX, "ntt", "988fc786d8dede621b407e1273c493dc8e1f3101421d3ac21a0e38c7fff32b72"),
    line("1009", COMPLEX, "ntt", "995a81ae558270b37b7eb9cf0ec4dff5d66be47093789b53418f0483e56694ef"),
    line("60x60", COMPLEX, "ntt", "0c52b2a26b48b8ab0bd7d50c0d4b1b55f0b48cdf64f5f7bc49e76eee17955f82"),
    line("4096", REAL, "ntt", "8950e13b9c49a35d9ae55a0ea977e8d4caa5876ff0e66c548a0aa0abcbce185c"),
];

/// What is to be said of a digest that is not the published one; nothing of one that is.
pub(super) fn difference(row: &DigestRow) -> Option<String> {
    let published = PUBLISHED.iter().find(|published| {
        (published.shape, published.kind, published.recipe)
            == (row.shape.as_str(), row.kind.as_str(), row.recipe)
    });
    let published = published.map_or("none", |published| published.sha256);
    (row.sha256 != published).then(|| {
        format!(
            "the sha256 of {} {} {} is {}, and the published one is {published}: this machine, or this build, has other bits than \
             version {} of ozfft; do not rely on equal bits here, and report processor, compiler and both digests",
            row.shape,
            row.kind,
            row.recipe,
            row.sha256,
            env!("CARGO_PKG_VERSION"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../docs/numerics.md");

    #[test]
    fn the_document_has_the_digests_of_the_program() {
        let rows: Vec<String> = PUBLISHED
            .iter()
            .map(|row| {
                format!(
                    "| {} | {} | {} | `{}` |",
                    row.shape, row.kind, row.recipe, row.sha256
                )
            })
            .collect();
        let documented: Vec<&str> = DOCUMENT
            .lines()
            .filter(|line| {
                let sha256 = line.rsplit('`').nth(1).unwrap_or("");
                sha256.len() == 64 && sha256.chars().all(|digit| digit.is_ascii_hexdigit())
            })
            .collect();
        assert_eq!(documented, rows);
    }

    #[test]
    fn another_digest_is_a_failure_that_names_both() {
        let row = |sha256: &str| DigestRow {
            shape: "1009".into(),
            kind: "complex-to-complex".into(),
            recipe: "exact",
            sha256: sha256.into(),
        };
        let published = PUBLISHED[3].sha256;
        assert_eq!(difference(&row(published)), None);
        let other = published.replace("f1f4", "f1f5");
        let message = difference(&row(&other)).expect("a difference");
        for part in [&other, published, "1009", "other bits"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
