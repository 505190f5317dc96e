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

/// Whether a sentence says how long a build takes or how large its result is, and not which command does it.
fn is_bare_figure(sentence: &str) -> bool {
    let words: Vec<&str> = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    let is_about_builds = ["to build", "wheel"]
        .iter()
        .any(|words| sentence.contains(words));
    let units = ["s", "seconds", "min", "minutes", "MB", "MiB"];
    let has_figure = words
        .windows(2)
        .any(|pair| pair[0].parse::<f64>().is_ok() && units.contains(&pair[1]));
    let commands = ["`cargo ", "`python/", "`crates/", "`./"];
    let has_command = commands.iter().any(|command| sentence.contains(command));
    is_about_builds && has_figure && !has_command
}

#[test]
fn times_and_sizes_of_builds_stand_beside_the_command_that_makes_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["", "docs", "laboratory", "laboratory/docs"];
    let paths = folders
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut documents = 0;
    for path in paths {
        documents += 1;
        // The changelog is history.
        if path.ends_with("CHANGELOG.md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let bare = text
            .lines()
            .flat_map(|line| line.split(". "))
            .find(|sentence| is_bare_figure(sentence));
        assert_eq!(bare, None, "{}", path.display());
    }
    assert!(documents > 15, "{documents}");
}

#[test]
fn bare_figures_of_builds_are_seen() {
    assert!(is_bare_figure(
        "Write `ozfft = { path = \"…\" }` (19 dependencies, 46 s to build on two cores)"
    ));
    assert!(is_bare_figure("The wheel has 8.1 MB."));
    assert!(!is_bare_figure(
        "`cargo build -p ozfft` took 99 s to build."
    ));
    assert!(!is_bare_figure("A build has 19 dependencies."));
}
