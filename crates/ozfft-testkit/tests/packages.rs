//! What is published stands alone: crates.io and docs.rs show a README without the folders around it.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the crates that are published.
fn published() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_published = |folder: &PathBuf| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        manifest["package"].get("publish") != Some(&toml::Value::Boolean(false))
    };
    folders.filter(is_published).collect()
}

/// What a text in Markdown links to: `[words](target)`.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next())
}

fn is_found_anywhere(target: &str) -> bool {
    target.starts_with("https://") || target.starts_with('#')
}

#[test]
fn links_of_published_packages_work_outside_the_repository() {
    let folders = published();
    assert!(folders.len() >= 7, "{folders:?}");
    for folder in folders {
        let readme = folder.join("README.md");
        assert!(!readme.is_symlink(), "{} is another's", readme.display());
        let text = fs::read_to_string(&readme).unwrap();
        let broken: Vec<&str> = targets(&text).filter(|t| !is_found_anywhere(t)).collect();
        assert!(broken.is_empty(), "{}: {broken:?}", readme.display());
    }
}

#[test]
fn relative_links_are_seen() {
    let text = "See [this](docs/a.md), [that](https://docs.rs/ozfft), [below](#speed) and ![a plot](a.svg \"title\").";
    let broken: Vec<&str> = targets(text).filter(|t| !is_found_anywhere(t)).collect();
    assert_eq!(broken, ["docs/a.md", "a.svg"]);
}
