//! The product, the laboratory, the applications and the fuzz targets are workspaces with one folder for what is built. What they have
//! in common is compiled once only where versions and profiles agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

const WORKSPACES: [&str; 4] = [".", "laboratory", "applications", "fuzz"];

fn read(workspace: &str, name: &str) -> Table {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path: PathBuf = root.join(workspace).join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().expect("TOML")
}

/// Name and version of everything that a workspace is compiled of.
fn locked(workspace: &str) -> Vec<(String, String)> {
    let lock = read(workspace, "Cargo.lock");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let packages = lock["package"].as_array().expect("packages").iter();
    packages
        .map(|package| (text(&package["name"]), text(&package["version"])))
        .collect()
}

/// The part of a version that compatible ones share: 1.2.3 and 1.9 do, 0.1.2 and 0.2.0 do not.
fn compatible(version: &str) -> &str {
    let leading = version.find(|c: char| c.is_ascii_digit() && c != '0');
    let end = leading.and_then(|start| Some(start + version[start..].find('.')?));
    &version[..end.unwrap_or(version.len())]
}

#[test]
fn all_workspaces_lock_the_same_versions() {
    let mut found = BTreeMap::<(String, String), BTreeMap<String, Vec<&str>>>::new();
    for workspace in WORKSPACES {
        for (name, version) in locked(workspace) {
            let key = (name, compatible(&version).to_owned());
            found
                .entry(key)
                .or_default()
                .entry(version)
                .or_default()
                .push(workspace);
        }
    }
    let shared = found.values().flat_map(|versions| versions.values());
    assert!(shared.filter(|workspaces| workspaces.len() > 2).count() > 50);
    found.retain(|_, versions| versions.len() > 1);
    assert!(
        found.is_empty(),
        "{found:?}\n`cargo update NAME --precise VERSION --manifest-path …` in the workspace that differs"
    );
}

#[test]
fn versions_that_can_replace_each_other_are_seen() {
    for (version, part) in [
        ("1.2.3", "1"),
        ("0.1.2", "0.1"),
        ("0.0.3", "0.0.3"),
        ("0.20.3+x", "0.20"),
    ] {
        assert_eq!(compatible(version), part);
    }
}

/// A table of a manifest, empty where it is missing.
fn table<'a>(manifest: &'a Table, path: &[&str]) -> Option<&'a Table> {
    let (first, rest) = path.split_first()?;
    let inner = manifest.get(*first)?.as_table()?;
    if rest.is_empty() {
        Some(inner)
    } else {
        table(inner, rest)
    }
}

/// The workspaces whose tests are compiled with the product's profiles.
const TESTED: [&str; 2] = ["laboratory", "applications"];

#[test]
fn packages_have_the_same_profiles_everywhere() {
    let product = read(".", "Cargo.toml");
    let own: BTreeSet<String> = locked(".").into_iter().map(|(name, _)| name).collect();
    for workspace in TESTED {
        let manifest = read(workspace, "Cargo.toml");
        let there: BTreeSet<String> = locked(workspace)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let profiles = |manifest: &Table| {
            let mut profiles = manifest["profile"].as_table().expect("profiles").clone();
            let overrides = profiles["dev"]
                .as_table_mut()
                .and_then(|dev| dev.remove("package"));
            let mut overrides = overrides
                .expect("profiles of packages")
                .as_table()
                .expect("a table")
                .clone();
            // Cargo warns of those that a workspace does not have.
            overrides.retain(|name, _| own.contains(name) && there.contains(name));
            (profiles, overrides)
        };
        assert_eq!(profiles(&manifest), profiles(&product), "{workspace}");
    }
}

#[test]
fn what_packages_inherit_is_the_same_everywhere() {
    let product = read(".", "Cargo.toml");
    for workspace in TESTED {
        let manifest = read(workspace, "Cargo.toml");
        let package = ["workspace", "package"];
        assert_eq!(
            table(&manifest, &package),
            table(&product, &package),
            "{workspace}"
        );
        let dependencies = table(&manifest, &["workspace", "dependencies"]).expect("dependencies");
        for (name, dependency) in dependencies {
            assert_eq!(
                Some(dependency),
                product["workspace"]["dependencies"].get(name),
                "{workspace}: {name}"
            );
        }
    }
}
