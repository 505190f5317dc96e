//! The shape of the repository, crate by crate: no file imports itself by a detour, folders of a crate import those before them, and
//! folders, files and functions are short. Every folder with a `Cargo.toml` or an `__init__.py` is held. Tests are free to import.
//!
//! `exceptions.txt` has what is longer or goes in a circle as yet. It only shrinks: what is no longer needed there fails, too.

mod graph;
mod python;
mod rust;
mod source;

use graph::Graph;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_FILES: usize = 15;
const MAX_LINES: usize = 700;
const MAX_FUNCTION_LINES: usize = 120;

/// Files that people write and read as code.
const CODE: [&str; 10] = ["rs", "py", "pyi", "cu", "cuh", "h", "c", "cpp", "hpp", "js"];

/// Crates with an order of folders: a later one may import an earlier one, and not the reverse. Single files at the root are
/// folders of their own.
const ORDERS: [(&str, &[&str]); 2] = [
    (
        "crates/ozfft-core",
        &[
            "portable",
            "sync",
            "parallel",
            "workspace",
            "kind",
            "error",
            "sample",
            "substrate",
            "recipe",
            "roots",
            "simd",
            "stages",
            "matrix_unit",
            "transform",
        ],
    ),
    (
        "crates/ozfft",
        &[
            "layout",
            "problem",
            "progress",
            "norm",
            "executor",
            "engines",
            "plan",
            "functions",
            "rustfft_traits",
            "wide",
            "dct",
            "convolution",
        ],
    ),
];

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// All files of the repository, by their paths in it.
fn files() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            let name = name.to_str().unwrap();
            let kind = entry.file_type().unwrap();
            // What is built, what is downloaded, and git's own.
            let is_skipped = name.starts_with('.')
                || ["target", "node_modules", "__pycache__", "corpus"].contains(&name);
            match kind.is_dir() {
                true if !is_skipped => walk(&entry.path(), found),
                false if kind.is_file() => found.push(entry.path()),
                _ => (),
            }
        }
    }
    let root = root();
    let mut found = Vec::new();
    walk(&root, &mut found);
    let within = |path: &PathBuf| {
        path.strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let mut paths: Vec<String> = found.iter().map(within).collect();
    paths.sort();
    paths
}

/// Folders of all crates.
fn crates() -> Vec<String> {
    let folders = files()
        .into_iter()
        .filter_map(|path| Some(path.strip_suffix("/Cargo.toml")?.to_owned()));
    folders
        .filter(|folder| root().join(folder).join("src").is_dir())
        .collect()
}

/// Something that is more than it should be: what is counted, how many there are, and where.
type Excess = BTreeMap<(String, String), usize>;

/// The excess of one kind that `exceptions.txt` does not cover, and exceptions that cover none.
fn unlisted(kind: &str, excess: &Excess) -> Vec<String> {
    let listed = include_str!("exceptions.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let listed: Vec<(usize, &str)> = listed
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))
        .map(|line| line.split_once(' ').expect("a number and what has it"))
        .map(|(number, what)| (number.parse().expect("a number"), what))
        .collect();
    // A folder stands for all of its files.
    let covers = |what: &str, subject: &str| {
        subject == what || what.ends_with('/') && subject.starts_with(what)
    };
    let is_listed = |subject: &str, number: usize| {
        listed
            .iter()
            .any(|(most, what)| covers(what, subject) && number <= *most)
    };
    let found = excess.iter().filter(|((of, _), _)| of == kind);
    let found: Vec<(&String, usize)> = found
        .map(|((_, subject), number)| (subject, *number))
        .collect();
    let new = found
        .iter()
        .filter(|(subject, number)| !is_listed(subject, *number));
    let mut errors: Vec<String> = new
        .map(|(subject, number)| format!("{kind} {number} {subject}"))
        .collect();
    for (number, what) in &listed {
        if !found.iter().any(|(subject, _)| covers(what, subject)) {
            errors.push(format!(
                "no longer needed in exceptions.txt: {kind} {number} {what}"
            ));
        }
    }
    errors
}

/// Every file in a circle, with the files of the circle, and the circles in words.
fn circles() -> (Excess, String) {
    let mut excess = Excess::new();
    let mut drawn = String::new();
    let mut hold = |folder: &str, extension: &str, graph: &Graph| {
        for circle in graph.circles() {
            drawn += &format!("{folder}: {circle:#?}\n");
            for module in circle.keys() {
                let path = format!("{folder}/{}", module.replace("::", "/"));
                let path = match root().join(&path).is_dir() {
                    true => format!("{path}/mod.{extension}"),
                    false => format!("{path}.{extension}"),
                };
                excess.insert(("circle".into(), path), circle.len());
            }
        }
    };
    for folder in crates() {
        let sources = format!("{folder}/src");
        hold(&sources, "rs", &rust::graph(&root().join(&sources)));
    }
    for path in files() {
        if let Some(package) = path.strip_suffix("/__init__.py") {
            hold(package, "py", &python::graph(&root().join(package)));
        }
    }
    (excess, drawn)
}

#[test]
fn no_file_imports_itself_by_a_detour() {
    let found = crates();
    assert!(
        found.len() >= 20,
        "only {} crates were found: {found:?}",
        found.len()
    );
    let modules = found
        .iter()
        .map(|folder| rust::graph(&root().join(folder).join("src")));
    let modules: usize = modules.map(|graph| graph.0.len()).sum();
    assert!(modules > 500, "only {modules} modules were found");
    let (excess, drawn) = circles();
    let errors = unlisted("circle", &excess);
    assert!(errors.is_empty(), "{drawn}\n{}", errors.join("\n"));
}

#[test]
fn folders_import_those_before_them() {
    for (name, order) in ORDERS {
        let rank = |module: &str| {
            let folder = module.split("::").next().unwrap();
            let place = order.iter().position(|&name| name == folder);
            place.unwrap_or_else(|| panic!("{name}: {folder} has no place in the order of folders"))
        };
        let graph = rust::graph(&root().join(name).join("src"));
        for (module, needed) in graph.0.iter().filter(|(module, _)| !module.is_empty()) {
            for other in needed.iter().filter(|other| !other.is_empty()) {
                assert!(
                    rank(other) <= rank(module),
                    "{name}: {module} imports {other}"
                );
            }
        }
    }
}

#[test]
fn folders_files_and_functions_are_short() {
    let mut excess = Excess::new();
    let mut hold = |kind: &str, subject: String, number: usize, most: usize| {
        if number > most {
            let known = excess.entry((kind.into(), subject)).or_default();
            *known = number.max(*known);
        }
    };
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for path in files() {
        let extension = path.rsplit('.').next().unwrap();
        if !CODE.contains(&extension) {
            continue;
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder.into()).or_default() += 1;
        let text = fs::read_to_string(root().join(&path)).unwrap();
        // Read where it is made.
        if text
            .lines()
            .take(12)
            .any(|line| line.contains("do not edit"))
        {
            continue;
        }
        hold("file", path.clone(), text.lines().count(), MAX_LINES);
        for (name, lines) in source::functions(&text, extension) {
            hold(
                "function",
                format!("{path} {name}"),
                lines,
                MAX_FUNCTION_LINES,
            );
        }
    }
    for (folder, number) in folders {
        hold("folder", folder, number, MAX_FILES);
    }
    let errors: Vec<String> = ["folder", "file", "function"]
        .iter()
        .flat_map(|kind| unlisted(kind, &excess))
        .collect();
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}
