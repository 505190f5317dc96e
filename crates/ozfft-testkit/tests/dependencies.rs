//! What `deny.toml` allows is all that there is among the dependencies: licences, bans and sources, by the same rules as cargo-deny, which
//! takes longer to install than this to run. `./run-tests` asks cargo-deny as well where it is installed.

use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};
use std::process::Command;

/// The lists of `deny.toml` that are held here.
struct Policy {
    licences: Vec<Licensee>,
    /// Crates that may have others.
    exceptions: Vec<(String, Vec<Licensee>)>,
    banned: Vec<String>,
    registries: Vec<String>,
}

fn texts(value: &toml::Value) -> Vec<String> {
    let list = value.as_array().expect("a list");
    let text = |value: &toml::Value| value.as_str().expect("a text").to_owned();
    list.iter().map(text).collect()
}

impl Policy {
    fn read() -> Policy {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deny.toml");
        let text = std::fs::read_to_string(path).expect("deny.toml");
        let file: toml::Table = text.parse().expect("TOML");
        // The only setting under which crates from elsewhere are rejected.
        for key in ["unknown-registry", "unknown-git"] {
            assert_eq!(file["sources"][key].as_str(), Some("deny"), "{key}");
        }
        let licence = |text: &String| Licensee::parse(text).expect("a licence");
        let licences = |list: &toml::Value| texts(list).iter().map(licence).collect();
        let exceptions = file["licenses"]["exceptions"].as_array().expect("a list");
        let exception = |entry: &toml::Value| {
            let name = entry["crate"].as_str().expect("a name").to_owned();
            (name, licences(&entry["allow"]))
        };
        let banned = file["bans"]["deny"].as_array().expect("a list");
        let name = |ban: &toml::Value| ban["crate"].as_str().expect("a name").to_owned();
        Policy {
            exceptions: exceptions.iter().map(exception).collect(),
            licences: licences(&file["licenses"]["allow"]),
            banned: banned.iter().map(name).collect(),
            registries: texts(&file["sources"]["allow-registry"]),
        }
    }

    /// What is wrong with a package of `cargo metadata`.
    fn objections(&self, package: &Value) -> Vec<String> {
        let name = package["name"].as_str().expect("a name");
        let mut found = Vec::new();
        let licence = package["license"].as_str().unwrap_or_default();
        // Lax, as cargo-deny reads manifests: some write MIT/Apache-2.0.
        let allowed = Expression::parse_mode(licence, ParseMode::LAX).is_ok_and(|expression| {
            let own = self.exceptions.iter().filter(|(named, _)| named == name);
            let known = own.flat_map(|(_, licences)| licences).chain(&self.licences);
            expression.evaluate(|one| known.clone().any(|known| known.satisfies(one)))
        });
        if !allowed {
            found.push(format!("{name}: the licence {licence:?} is not allowed"));
        }
        if self.banned.iter().any(|banned| banned == name) {
            found.push(format!("{name}: is banned"));
        }
        // None is a crate of this workspace.
        if let Some(source) = package["source"].as_str() {
            let registry = source.strip_prefix("registry+").unwrap_or_default();
            if !self.registries.iter().any(|known| known == registry) {
                found.push(format!("{name}: comes from {source}"));
            }
        }
        found
    }
}

/// All packages that the workspace in a folder of the repository is made of.
fn packages(workspace: &str) -> Vec<Value> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--all-features", "--manifest-path"])
        .arg(format!("{root}/{workspace}/Cargo.toml"))
        .output()
        .expect("cargo");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{workspace}: {errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

#[test]
fn dependencies_are_what_deny_toml_allows() {
    let policy = Policy::read();
    for workspace in [".", "laboratory", "applications"] {
        let packages = packages(workspace);
        assert!(packages.len() > 50, "{workspace}");
        let objections: Vec<String> = packages
            .iter()
            .flat_map(|package| policy.objections(package))
            .collect();
        assert!(
            objections.is_empty(),
            "{workspace}: {}\nA new dependency needs a reason; deny.toml has the lists.",
            objections.join("\n")
        );
    }
}

#[test]
fn disallowed_dependencies_are_named() {
    let policy = Policy::read();
    let registry = "registry+https://github.com/rust-lang/crates.io-index";
    let package = |name: &str, licence: Option<&str>, source: &str| {
        policy
            .objections(&serde_json::json!({ "name": name, "license": licence, "source": source }))
    };
    let either = Some("GPL-3.0-only OR MIT");
    assert!(package("good", either, registry).is_empty());
    assert!(package("old", Some("MIT/Apache-2.0"), registry).is_empty());
    let both = Some("GPL-3.0-only AND MIT");
    for (licence, source) in [
        (both, registry),
        (None, registry),
        (Some("no licence"), registry),
        (either, "git+https://example.com/good"),
        (either, "registry+https://example.com/index"),
    ] {
        let objections = package("bad", licence, source);
        assert_eq!(objections.len(), 1, "{licence:?} {source}");
        assert!(objections[0].starts_with("bad: "), "{objections:?}");
    }
    assert_eq!(package("openssl-sys", either, registry).len(), 1);
    // An exception is for one crate.
    let bsd = Some("BSD-3-Clause");
    assert!(package("bindgen", bsd, registry).is_empty());
    assert_eq!(package("other", bsd, registry).len(), 1);
}
