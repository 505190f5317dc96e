//! Declared lists of benchmarks.

use super::Setting;
use ozfft_measure::arrays::digest_bytes;
use ozfft_measure::failure::Failure;
use ozfft_measure::inputs::read_text;
use ozfft_measure::options::{KindName, parse_accuracy, parse_shape, parse_substrates};
use serde::Deserialize;
use std::path::Path;

/// One benchmark, as the file has it: texts are what the options of the same names take.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    group: String,
    shape: String,
    batch: usize,
    threads: usize,
    kind: KindName,
    accuracy: String,
    substrates: String,
    #[serde(default)]
    interleaved: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    definitions: Vec<Entry>,
}

/// One benchmark.
#[derive(Debug)]
pub struct Definition {
    pub name: String,
    pub group: String,
    pub setting: Setting,
}

/// A list of benchmarks and the digest of the file it came from.
#[derive(Debug)]
pub struct Definitions {
    pub list: Vec<Definition>,
    pub sha256: String,
}

impl Definitions {
    /// Reads a file of definitions.
    pub fn read(path: &Path) -> Result<Definitions, Failure> {
        let text = read_text(path)?;
        let list = parse(&text).map_err(|reason| {
            let path = path.to_path_buf();
            Failure::Content { path, reason }
        })?;
        Ok(Definitions {
            list,
            sha256: digest_bytes(text.as_bytes()),
        })
    }

    /// Those whose name or group is among the given ones; all if none is given.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Definition>, Failure> {
        let entries = self.list.iter();
        selected(
            entries.map(|d| (d.name.as_str(), d.group.as_str(), d)),
            names,
        )
    }
}

/// Of definitions with their names and groups those that are asked for; all if no name is given.
pub fn selected<'a, D>(
    entries: impl Iterator<Item = (&'a str, &'a str, D)>,
    names: &[String],
) -> Result<Vec<D>, Failure> {
    let entries: Vec<_> = entries.collect();
    let is = |(name, group, _): &(&str, &str, D), asked: &str| *name == asked || *group == asked;
    let known = |asked: &&String| entries.iter().any(|entry| is(entry, asked));
    if let Some(unknown) = names.iter().find(|asked| !known(asked)) {
        let all: Vec<&str> = entries.iter().map(|entry| entry.0).collect();
        return Err(Failure::Usage(format!(
            "no definition and no group is named {unknown:?}; the definitions are {}",
            all.join(", ")
        )));
    }
    let wanted =
        |entry: &(&str, &str, D)| names.is_empty() || names.iter().any(|asked| is(entry, asked));
    Ok(entries
        .into_iter()
        .filter(wanted)
        .map(|entry| entry.2)
        .collect())
}

fn parse(text: &str) -> Result<Vec<Definition>, String> {
    let file: File = serde_json::from_str(text)
        .map_err(|error| format!("this is not a list of benchmark definitions: {error}"))?;
    let mut list: Vec<Definition> = Vec::new();
    for entry in file.definitions {
        let name = entry.name.clone();
        // Two of one name could not be distinguished in the record.
        if list.iter().any(|other| other.name == name) {
            return Err(format!("two definitions are named {name:?}"));
        }
        list.push(entry.definition().map_err(|why| format!("{name}: {why}"))?);
    }
    Ok(list)
}

impl Entry {
    fn definition(self) -> Result<Definition, String> {
        Ok(Definition {
            name: self.name,
            group: self.group,
            setting: Setting {
                shape: parse_shape(&self.shape)?,
                batch: self.batch,
                threads: self.threads,
                kind: self.kind,
                accuracy: parse_accuracy(&self.accuracy)?,
                interleaved: self.interleaved,
                substrates: parse_substrates(&self.substrates)?,
                steps: None,
                engines: Vec::new(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft::{Accuracy, Substrate};

    const TWO: &str = r#"{"definitions": [
        {"name": "a", "group": "one", "shape": "8x4", "batch": 3, "threads": 2, "kind": "r2c",
         "accuracy": "single", "substrates": "auto"},
        {"name": "b", "group": "two", "shape": "16", "batch": 1, "threads": 1, "kind": "c2c",
         "accuracy": "double", "substrates": "all"}]}"#;

    fn two() -> Definitions {
        Definitions {
            list: parse(TWO).expect("definitions"),
            sha256: String::new(),
        }
    }

    #[test]
    fn definitions_say_what_the_options_say() {
        let setting = &two().list[0].setting;
        assert_eq!(setting.shape.0, [8, 4]);
        assert_eq!((setting.batch, setting.threads), (3, 2));
        assert_eq!(setting.kind, KindName::R2c);
        assert_eq!(setting.accuracy, Accuracy::Single);
        assert_eq!(
            setting.substrates,
            parse_substrates("auto").expect("a list")
        );
    }

    #[test]
    fn they_are_selected_by_name_or_group() {
        let definitions = two();
        let names = |wanted: &[&str]| -> Vec<&str> {
            let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            let selected = definitions.select(&wanted).expect("they exist");
            selected
                .iter()
                .map(|definition| &*definition.name)
                .collect()
        };
        assert_eq!(names(&[]), ["a", "b"]);
        assert_eq!(names(&["b"]), ["b"]);
        assert_eq!(names(&["one", "b"]), ["a", "b"]);
        assert!(definitions.select(&["c".into()]).is_err());
    }

    #[test]
    fn mistakes_are_rejected() {
        let reject = |from: &str, to: &str, why: &str| {
            let message = parse(&TWO.replace(from, to)).expect_err("a mistake");
            assert!(message.contains(why), "{message}");
        };
        reject("\"b\"", "\"a\"", "two definitions");
        reject("8x4", "8by4", "8by4");
        reject("r2c", "r2r", "r2r");
        reject("batch", "bunch", "bunch");
        reject("auto", "abacus", "abacus");
    }

    #[test]
    fn the_definitions_of_this_project_can_be_read() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../benchmarks/definitions.json"
        );
        let definitions = Definitions::read(Path::new(path)).expect("definitions");
        let curve = definitions.select(&["curve".into()]).expect("a curve");
        assert_eq!(curve.len(), 17);
        for Definition { name, setting, .. } in curve {
            let points: usize = setting.shape.0.iter().product();
            assert_eq!(points * setting.batch, 1 << 20, "{name}");
        }
        let strided = definitions.select(&["strided".into()]).expect("a group");
        assert!(strided.iter().all(|one| one.setting.interleaved));
        // What nobody asks for by name is measured everywhere.
        for Definition { name, setting, .. } in &definitions.list {
            assert!(setting.substrates.0.contains(&Substrate::Auto), "{name}");
        }
    }
}
