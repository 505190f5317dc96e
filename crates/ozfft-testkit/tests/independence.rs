//! The oracle imports nothing of ours, not even the rest of its own crate: it judges what the rest is made for.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn the_oracle_imports_only_itself_and_crates_of_others() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("src/oracle");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    assert!(files.len() > 15, "the oracle has moved");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (place, _) in text.match_indices("crate::") {
            let path = &text[place..];
            assert!(
                path.starts_with("crate::oracle::"),
                "{}: {}",
                file.display(),
                path.lines().next().unwrap()
            );
        }
        // Files of the folder itself must not go up to the crate's root.
        let is_root = file == folder.join("mod.rs");
        assert!(!is_root || !text.contains("super::"), "{}", file.display());
        assert!(!text.contains("super::super::super"), "{}", file.display());
    }
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("path"), "a dependency of this workspace");
}
