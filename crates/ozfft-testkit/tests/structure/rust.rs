//! Which file of a crate imports which.

use crate::graph::{Graph, Modules};
use crate::source::{blocks, code_of, is_word, words};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A file of a crate: its module, and its code without tests.
struct File {
    module: String,
    code: String,
}

pub fn graph(sources: &Path) -> Graph {
    let mut found = Vec::new();
    collect(sources, &mut found);
    let mut tests = BTreeSet::new();
    let mut files = Vec::new();
    for path in &found {
        let module = module_of(path, sources);
        let text = fs::read_to_string(path).unwrap();
        let code = without_tests(&text, &module, &mut tests);
        files.push(File { module, code });
    }
    let is_in = |module: &str, test: &String| {
        let rest = module.strip_prefix(test.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    files.retain(|file| !tests.iter().any(|test| is_in(&file.module, test)));
    let mut modules = Modules::default();
    for File { module, code } in &files {
        modules.add(module, imported_names(module, code), defined_names(code));
    }
    let mut graph = Graph::default();
    for File { module, code } in &files {
        let mut named = paths_in(module, code);
        // A module that is imported is not needed for itself, but for what is named behind it.
        named.retain(|path| !(modules.has(path) && modules.is_imported(module, path)));
        for (at, word) in words(code) {
            let is_first = code[at + word.len()..].starts_with("::") && !code[..at].ends_with("::");
            for source in modules.imports(module, word).filter(|_| is_first) {
                let behind =
                    |path: &String| path[word.len()..].trim_start_matches("::").to_string();
                let behind = paths(&code[at..]).iter().map(behind).collect::<Vec<_>>();
                named.extend(behind.iter().map(|rest| joined(source, rest)));
            }
        }
        graph.add(
            module,
            named.iter().filter_map(|path| modules.file_of(path)),
        );
    }
    graph
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// `stages/lines.rs` is `stages::lines`, `plan/mod.rs` is `plan`, and the crate's own file is the empty path.
fn module_of(path: &Path, sources: &Path) -> String {
    let path = path.strip_prefix(sources).unwrap().with_extension("");
    let mut parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
    if parts.last() == Some(&"mod") || ["lib", "main"].contains(&parts[0]) {
        parts.pop();
    }
    parts.join("::")
}

/// Blanks what is compiled for tests alone, and notes which files are.
fn without_tests(text: &str, module: &str, tests: &mut BTreeSet<String>) -> String {
    const ITEMS: [&str; 12] = [
        "pub", "mod", "use", "fn", "impl", "struct", "enum", "trait", "const", "static", "type",
        "unsafe",
    ];
    let code = code_of(text);
    let mut kept = code.clone();
    for attribute in ["#[cfg(test)]", "#[cfg(all(test,"] {
        for (start, _) in code.match_indices(attribute) {
            let mut depth = 0;
            let ends_item = |c: char| {
                depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
                depth == 0 && ";}".contains(c)
            };
            let Some(length) = code[start..].find(ends_item) else {
                continue;
            };
            let item = &code[start..=start + length];
            let after = item
                .rfind(']')
                .filter(|_| item.ends_with(';'))
                .map_or(attribute.len(), |at| at + 1);
            let item_words: Vec<&str> = words(&item[after..]).map(|(_, word)| word).collect();
            if !item_words.iter().any(|word| ITEMS.contains(word)) {
                continue;
            }
            if let Some(at) = item_words.iter().position(|&word| word == "mod")
                && item.ends_with(';')
            {
                let item = &text[start..start + length];
                let file = item
                    .split_once("#[path = \"")
                    .and_then(|(_, rest)| rest.split_once(".rs\""));
                let name = file.map_or(item_words[at + 1], |(file, _)| file);
                tests.insert(joined(folder_of(module, file.is_some()), name));
            }
            let blank = item.chars().map(|c| if c == '\n' { '\n' } else { ' ' });
            kept.replace_range(start..=start + length, &blank.collect::<String>());
        }
    }
    kept
}

/// Where `mod name;` of a module looks for its file; one with a path is a file beside the module's.
fn folder_of(module: &str, has_path: bool) -> &str {
    match has_path {
        true => module.rsplit_once("::").map_or("", |(parent, _)| parent),
        false => module,
    }
}

fn joined(parent: &str, child: &str) -> String {
    match (parent, child) {
        ("", _) => child.to_string(),
        (_, "") => parent.to_string(),
        _ => format!("{parent}::{child}"),
    }
}

/// All paths in the code that start at `crate`, `super` or `self`, from the crate's root.
fn paths_in(module: &str, code: &str) -> BTreeSet<String> {
    let inline: Vec<_> = blocks(code)
        .into_iter()
        .filter_map(|block| {
            let mut words = words(&code[block.header.clone()]).map(|(_, word)| word);
            words.find(|&word| word == "mod")?;
            Some((block.braces, words.next()?.to_string()))
        })
        .collect();
    let mut found = BTreeSet::new();
    for (at, word) in words(code) {
        let is_path = code[at + word.len()..].starts_with("::");
        // `pub(super)` and `crate::a::self` have no path of their own behind them.
        if !["crate", "super", "self"].contains(&word) || !is_path || code[..at].ends_with("::") {
            continue;
        }
        let names = inline.iter().filter(|(range, _)| range.contains(&at));
        let here = names.fold(module.to_string(), |path, (_, name)| joined(&path, name));
        found.extend(
            paths(&code[at..])
                .iter()
                .filter_map(|path| absolute(&here, path)),
        );
    }
    found
}

/// `self::a`, `super::a` and `crate::a` from the crate's root.
fn absolute(module: &str, path: &str) -> Option<String> {
    let mut base = module.to_string();
    let mut rest = path;
    loop {
        let (first, after) = rest.split_once("::").unwrap_or((rest, ""));
        match first {
            "crate" => base.clear(),
            "self" => (),
            "super" => {
                base = base
                    .rsplit_once("::")
                    .map_or("", |(parent, _)| parent)
                    .to_string()
            }
            _ => return Some(joined(&base, rest)),
        }
        if after.is_empty() {
            return Some(base);
        }
        rest = after;
    }
}

/// `a::b` of `a::b::C`, and all of `a::{b::C, d}`.
fn paths(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !(is_word(c) || c == ':' || c == '*'));
    let first = &text[..end.unwrap_or(text.len())];
    match text[first.len()..]
        .strip_prefix('{')
        .filter(|_| first.ends_with("::") || first.is_empty())
    {
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

/// Names that a module has from elsewhere, by `use`: what they are, from the crate's root; those of `*` under `*`.
fn imported_names(module: &str, code: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (at, _) in words(code).filter(|(_, word)| *word == "use") {
        let text = code[at + 3..].trim_start().trim_start_matches("::");
        let text = &text[..text.find(';').unwrap_or(text.len())];
        // `a as b`: both are taken for names of a, as lists are cut at commas.
        for path in paths(text) {
            let path = path.trim_end_matches("::self").to_string();
            let name = path.rsplit("::").next().unwrap().to_string();
            let is_relative = !["crate", "self", "super"]
                .iter()
                .any(|start| path.starts_with(start));
            let path = if is_relative {
                format!("self::{path}")
            } else {
                path
            };
            found
                .entry(name)
                .or_default()
                .extend(absolute(module, &path));
        }
    }
    found
}

/// Names of the items of a module.
fn defined_names(code: &str) -> BTreeSet<String> {
    const KINDS: [&str; 10] = [
        "fn",
        "struct",
        "enum",
        "union",
        "trait",
        "type",
        "const",
        "static",
        "mod",
        "macro_rules",
    ];
    let words: Vec<&str> = words(code).map(|(_, word)| word).collect();
    let pairs = words.windows(2).filter(|pair| KINDS.contains(&pair[0]));
    pairs.map(|pair| pair[1].to_string()).collect()
}

#[test]
fn paths_of_nested_imports_are_found() {
    let text = "use crate::a::{self, b::{C, d::E}, f};\nuse super::g::H; // crate::comment\nlet x = crate::i::j();\nmod k { use super::l; }\nuse super::super::m; pub(crate) fn n() {}";
    let found = paths_in("o::p", &code_of(text));
    let expected = [
        "a::self",
        "a::b::C",
        "a::b::d::E",
        "a::f",
        "o::g::H",
        "i::j",
        "o::p::l",
        "m",
    ];
    assert_eq!(found, expected.map(String::from).into());
}

#[test]
fn tests_are_left_out() {
    let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[path = \"n_tests.rs\"]\nmod tests;\n#[cfg(all(test, feature = \"a\"))]\nuse crate::b;\nuse crate::c;\n#[cfg(test)]\nmod d { use crate::e; }\nmatch f { #[cfg(test)] G => h, }";
    let mut tests = BTreeSet::new();
    let code = without_tests(text, "m", &mut tests);
    assert_eq!(
        tests,
        ["m::tests".to_string(), "n_tests".to_string()].into()
    );
    assert_eq!(paths_in("m", &code), ["c".to_string()].into());
    assert!(code.contains("G => h"));
}
