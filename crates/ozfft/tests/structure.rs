//! The modules of the library import in one direction: no file needs, however indirectly, a file that needs it. Tests are free.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a later folder may import, and an earlier one not. Single files at the root are folders of their own.
const ORDER: [&str; 25] = [
    "portable",
    "sync",
    "parallel",
    "workspace",
    "kind",
    "error",
    "sample",
    "layout",
    "substrate",
    "problem",
    "recipe",
    "roots",
    "simd",
    "stages",
    "matrix_unit",
    "transform",
    "progress",
    "executor",
    "engines",
    "plan",
    "functions",
    "rustfft_traits",
    "wide",
    "dct",
    "convolution",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Path of a module: `stages/lines.rs` is `stages::lines`, `plan/mod.rs` is `plan`.
fn module(path: &Path, root: &Path) -> String {
    let path = path.strip_prefix(root).unwrap().with_extension("");
    let parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
    // The tables and launches of the GPU's kernels are one module: they change together, with the kernels.
    if parts.starts_with(&["executor", "cuda"]) {
        return "executor::cuda".into();
    }
    parts.join("::").trim_end_matches("::mod").to_string()
}

/// Names behind `crate::` and `super::` in the code itself: without its tests and comments.
fn imports(text: &str, module: &str, is_folder: bool) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let code: String = code
        .lines()
        .map(|line| line.split("//").next().unwrap())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = BTreeSet::new();
    let parent = match is_folder {
        true => module.to_string(),
        false => module
            .rsplit_once("::")
            .map_or("", |(parent, _)| parent)
            .to_string(),
    };
    for (start, prefix) in [("crate::", String::new()), ("use super::", parent)] {
        for (place, _) in code.match_indices(start) {
            let rest = &code[place + start.len()..];
            for path in paths(rest) {
                found.insert(match prefix.is_empty() {
                    true => path,
                    false => format!("{prefix}::{path}"),
                });
            }
        }
    }
    found
}

/// `a::b` of `a::b::C`, and all of `a::{b::C, d}`.
fn paths(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
    let first = &text[..end.unwrap_or(text.len())];
    match text[first.len()..].strip_prefix('{') {
        Some(list) => {
            let mut depth = 0;
            let close = list.find(|c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth < 0
            });
            let list = &list[..close.unwrap_or(list.len())];
            let mut items = vec![String::new()];
            for c in list.chars() {
                depth += i32::from(c == '{') - i32::from(c == '}');
                match c {
                    ',' if depth < 0 => items.push(String::new()),
                    _ => items.last_mut().unwrap().push(c),
                }
            }
            let items = items
                .iter()
                .map(|item| item.trim())
                .filter(|item| !item.is_empty());
            items
                .flat_map(|item| paths(&format!("{first}{item}")))
                .collect()
        }
        None => vec![first.trim_end_matches(':').to_string()],
    }
}

/// Every module and the modules that it imports.
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let is_test = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        name.ends_with("tests") || name.starts_with("conformance") || name == "lib"
    };
    // The emulated device and the tests of large transforms are compiled for tests alone.
    let is_test = |path: &PathBuf| {
        is_test(path) || path.ends_with("cuda/emulated.rs") || path.ends_with("cuda/large.rs")
    };
    files.retain(|path| !is_test(path));
    let mut modules: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in files {
        modules.entry(module(&path, &root)).or_default().push(path);
    }
    let known = |path: &str| {
        let mut path = path;
        loop {
            if modules.contains_key(path) {
                return Some(path.to_string());
            }
            path = path.rsplit_once("::")?.0;
        }
    };
    let edges = |(name, paths): (&String, &Vec<PathBuf>)| {
        let mut found = BTreeSet::new();
        for path in paths {
            let text = fs::read_to_string(path).unwrap();
            let is_folder = path.file_stem().unwrap() == "mod";
            let named = imports(&text, name, is_folder);
            found.extend(named.iter().filter_map(|path| known(path)));
        }
        found.remove(name);
        (name.clone(), found)
    };
    modules.iter().map(edges).collect()
}

#[test]
fn imports_of_modules_have_no_cycle() {
    let mut graph = graph();
    assert!(graph.len() > 60, "only {} modules were found", graph.len());
    // Modules that need nothing that is left are taken away, until none is.
    loop {
        let names: BTreeSet<String> = graph.keys().cloned().collect();
        for needed in graph.values_mut() {
            needed.retain(|name| names.contains(name));
        }
        let before = graph.len();
        graph.retain(|_, needed| !needed.is_empty());
        if graph.len() == before {
            break;
        }
    }
    assert!(graph.is_empty(), "these import each other: {graph:#?}");
}

#[test]
fn folders_import_those_before_them() {
    let rank = |module: &str| {
        let folder = module.split("::").next().unwrap();
        let place = ORDER.iter().position(|&name| name == folder);
        place.unwrap_or_else(|| panic!("{folder} has no place in the order of folders"))
    };
    for (module, needed) in graph() {
        for other in needed {
            assert!(rank(&other) <= rank(&module), "{module} imports {other}");
        }
    }
}

#[test]
fn paths_of_nested_imports_are_found() {
    let text = "use crate::a::{self, b::{C, d::E}, f};\nuse super::g::H; // crate::comment\nlet x = crate::i::j();";
    let found = imports(text, "m::n", false);
    let expected = [
        "a::self",
        "a::b::C",
        "a::b::d::E",
        "a::f",
        "m::g::H",
        "i::j",
    ];
    assert_eq!(found, expected.map(String::from).into());
}
