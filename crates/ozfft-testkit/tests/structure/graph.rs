//! Files that import each other.

use std::collections::{BTreeMap, BTreeSet};

/// The modules of a crate: what each has from others, under which name, and what it defines.
#[derive(Default)]
pub struct Modules {
    imported: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    defined: BTreeMap<String, BTreeSet<String>>,
}

impl Modules {
    pub fn add(
        &mut self,
        module: &str,
        imported: BTreeMap<String, BTreeSet<String>>,
        defined: BTreeSet<String>,
    ) {
        self.imported.insert(module.to_string(), imported);
        self.defined.insert(module.to_string(), defined);
    }

    pub fn has(&self, path: &str) -> bool {
        self.imported.contains_key(path)
    }

    pub fn is_imported(&self, module: &str, path: &str) -> bool {
        let mut imported = self.imported[module].values();
        imported.any(|sources| sources.contains(path))
    }

    /// What a module has under a name.
    pub fn imports(&self, module: &str, name: &str) -> impl Iterator<Item = &String> {
        self.imported[module].get(name).into_iter().flatten()
    }

    /// The module with the file that defines what `path` names: a name that a module imports is another's.
    pub fn file_of(&self, path: &str) -> Option<String> {
        self.follow(path, &mut BTreeSet::new())
    }

    fn follow(&self, path: &str, seen: &mut BTreeSet<String>) -> Option<String> {
        if !seen.insert(path.to_string()) {
            return None;
        }
        let (module, name) = self.split(path);
        let imported = &self.imported[module];
        if name.is_empty() || self.defined[module].contains(name) {
            return Some(module.to_string());
        }
        if let Some(sources) = imported.get(name) {
            let sources = sources
                .iter()
                .filter_map(|source| self.follow(source, seen));
            return sources.max_by_key(|module| module.len());
        }
        let starred = imported.get("*").into_iter().flatten();
        let starred = starred.filter_map(|source| {
            let (other, rest) = self.split(source.strip_suffix('*')?.trim_end_matches("::"));
            (rest.is_empty() && other != module).then(|| format!("{other}::{name}"))
        });
        let defining = |source: &String| {
            let (other, rest) = self.split(source);
            self.defined[other].contains(rest) || self.imported[other].contains_key(rest)
        };
        match starred
            .filter(defining)
            .find_map(|source| self.follow(&source, seen))
        {
            Some(found) => Some(found),
            None => Some(module.to_string()),
        }
    }

    /// The longest module in `path`, and the name after it.
    fn split<'a>(&self, path: &'a str) -> (&'a str, &'a str) {
        let mut module = path;
        while !self.imported.contains_key(module) {
            module = module.rsplit_once("::").map_or("", |(parent, _)| parent);
        }
        let rest = path[module.len()..].trim_start_matches("::");
        (module, rest.split("::").next().unwrap())
    }
}

/// Every module and those that it imports.
#[derive(Default)]
pub struct Graph(pub BTreeMap<String, BTreeSet<String>>);

impl Graph {
    /// A folder's own file composes what is in the folder, so that what it has from there is no import; what those files have
    /// from it is one.
    pub fn add(&mut self, module: &str, needed: impl Iterator<Item = String>) {
        let is_part = |other: &String| {
            module.is_empty()
                || other == module
                || other
                    .strip_prefix(module)
                    .is_some_and(|rest| rest.starts_with("::"))
        };
        let needed = needed.filter(|other| !is_part(other));
        self.0.entry(module.to_string()).or_default().extend(needed);
    }

    fn reached(&self, from: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            for next in self.0.get(module).into_iter().flatten() {
                if reached.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        reached
    }

    /// The modules of every circle, with what they import of the same circle.
    pub fn circles(&self) -> Vec<BTreeMap<&str, BTreeSet<&str>>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> = self
            .0
            .keys()
            .map(|module| (module.as_str(), self.reached(module)))
            .collect();
        let mut found: Vec<BTreeMap<&str, BTreeSet<&str>>> = Vec::new();
        for (&module, others) in &reached {
            let is_known = found.iter().any(|circle| circle.contains_key(module));
            if is_known || !others.contains(module) {
                continue;
            }
            let circle: BTreeSet<&str> = others
                .iter()
                .copied()
                .filter(|other| reached[other].contains(module))
                .collect();
            let mut inner = BTreeMap::new();
            for &member in &circle {
                let needed = self.0[member].iter().map(String::as_str);
                inner.insert(
                    member,
                    needed.filter(|needed| circle.contains(needed)).collect(),
                );
            }
            found.push(inner);
        }
        found
    }
}

#[test]
fn circles_are_found() {
    let mut graph = Graph::default();
    for (module, needed) in [
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
        ("d", "a"),
        ("e", "e::f"),
        ("e::f", "e"),
    ] {
        graph.add(module, [needed.to_string()].into_iter());
    }
    let circles = graph.circles();
    assert_eq!(circles.len(), 1);
    let members: Vec<&str> = circles[0].keys().copied().collect();
    assert_eq!(members, ["a", "b", "c"]);
}

#[test]
fn names_are_followed_to_where_they_are_defined() {
    let mut modules = Modules::default();
    let names = |names: &[(&str, &str)]| {
        let one = |(name, path): &(&str, &str)| (name.to_string(), [path.to_string()].into());
        names
            .iter()
            .map(one)
            .collect::<BTreeMap<String, BTreeSet<String>>>()
    };
    let defined = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    modules.add("", names(&[("A", "a::A"), ("*", "b::*")]), defined(&[]));
    modules.add("a", names(&[("A", "a::c::A")]), defined(&["B"]));
    modules.add("a::c", names(&[]), defined(&["A"]));
    modules.add("b", names(&[]), defined(&["D"]));
    for (path, file) in [
        ("A::new", "a::c"),
        ("a::A", "a::c"),
        ("a::B", "a"),
        ("D", "b"),
        ("b", "b"),
        ("E", ""),
    ] {
        assert_eq!(modules.file_of(path).as_deref(), Some(file), "{path}");
    }
}
