//! Which file of a Python package imports which, also inside functions.

use crate::graph::{Graph, Modules};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

pub fn graph(package: &Path) -> Graph {
    let mut files = Vec::new();
    for entry in fs::read_dir(package).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "py") {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let module = if stem == "__init__" { "" } else { stem };
            files.push((module.to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    let name = package.file_name().unwrap().to_str().unwrap();
    let mut modules = Modules::default();
    for (module, text) in &files {
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in imports(text, name) {
            let last = path.rsplit("::").next().unwrap().to_string();
            names.entry(last).or_default().insert(path);
        }
        modules.add(module, names, BTreeSet::new());
    }
    let mut graph = Graph::default();
    for (module, text) in &files {
        let named = imports(text, name);
        graph.add(
            module,
            named.iter().filter_map(|path| modules.file_of(path)),
        );
    }
    graph
}

/// `a::b` of `from .a import b`, of `from package.a import b`, and `a` of `from . import a` and `import package.a`.
fn imports(text: &str, package: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let joined = text.replace("(\n", "(");
    let mut lines = joined.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("import ") {
            let named = rest
                .split(',')
                .filter_map(|name| name.split_whitespace().next());
            found.extend(named.filter_map(|name| {
                name.strip_prefix(package)?
                    .strip_prefix('.')
                    .map(String::from)
            }));
        } else if let Some((from, names)) = line
            .strip_prefix("from ")
            .and_then(|rest| rest.split_once(" import "))
        {
            let from = match from.strip_prefix(package) {
                Some(rest) if rest.is_empty() || rest.starts_with('.') => {
                    rest.trim_start_matches('.')
                }
                _ => match from.strip_prefix('.') {
                    Some(module) => module,
                    None => continue,
                },
            };
            let mut names = names.to_string();
            while names.starts_with('(') && !names.contains(')') {
                names += lines.next().expect("a closing bracket");
            }
            let names = names.trim_matches(['(', ')']).split(',');
            for name in names.filter_map(|name| name.split_whitespace().next()) {
                found.insert(if from.is_empty() {
                    name.into()
                } else {
                    format!("{from}::{name}")
                });
            }
        }
    }
    found
}

#[test]
fn imports_of_python_are_found() {
    let text = "import numpy\nfrom . import _a, _b as c\nfrom ._d import (\n    e,\n    f,\n)\ndef g():\n    from p._h import i\nimport p.j\nfrom typing import Any\n";
    let expected = ["_a", "_b", "_d::e", "_d::f", "_h::i", "j"];
    assert_eq!(imports(text, "p"), expected.map(String::from).into());
}
