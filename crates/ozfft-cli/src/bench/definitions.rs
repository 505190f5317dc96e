//! Declared lists of benchmarks.

use super::Setting;
use ozfft_measure::arrays::digest_bytes;
use ozfft_measure::failure::Failure;
use ozfft_measure::inputs::read_text;
use ozfft_measure::options::{KindName, parse_accuracy, parse_shape, parse_substrates};
use serde::Deserialize;
use serde::de::DeserializeOwned;
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<E> {
    definitions: Vec<E>,
}

/// One benchmark.
#[derive(Debug)]
pub struct Definition<S> {
    pub name: String,
    pub group: String,
    pub setting: S,
}

/// A list of benchmarks and the digest of the file it came from.
#[derive(Debug)]
pub struct Definitions<S> {
    pub list: Vec<Definition<S>>,
    pub sha256: String,
}

impl<S> Definitions<S> {
    /// Reads a file of definitions, each of which is made of an entry of the file by `definition`.
    pub fn read_entries<E: DeserializeOwned>(
        path: &Path,
        definition: impl Fn(E) -> Result<Vec<Definition<S>>, String>,
    ) -> Result<Definitions<S>, Failure> {
        let text = read_text(path)?;
        Ok(Definitions {
            list: parse(&text, definition).map_err(Failure::content(path))?,
            sha256: digest_bytes(text.as_bytes()),
        })
    }

    /// Those whose name or group is among the given ones; all if none is given.
    pub fn select(mut self, names: &[String]) -> Result<Definitions<S>, Failure> {
        let is = |one: &Definition<S>, asked: &str| one.name == asked || one.group == asked;
        let known = |asked: &&String| self.list.iter().any(|one| is(one, asked));
        if let Some(unknown) = names.iter().find(|asked| !known(asked)) {
            let all: Vec<&str> = self.list.iter().map(|one| one.name.as_str()).collect();
            return Err(Failure::Usage(format!(
                "no definition and no group is named {unknown:?}; the definitions are {}",
                all.join(", ")
            )));
        }
        let is_wanted = |one: &Definition<S>| names.iter().any(|asked| is(one, asked));
        self.list.retain(|one| names.is_empty() || is_wanted(one));
        Ok(self)
    }
}

/// The definitions of a file.
pub fn parse<E: DeserializeOwned, S>(
    text: &str,
    definition: impl Fn(E) -> Result<Vec<Definition<S>>, String>,
) -> Result<Vec<Definition<S>>, String> {
    let file: File<E> = serde_json::from_str(text)
        .map_err(|error| format!("this is not a list of benchmark definitions: {error}"))?;
    let mut list: Vec<Definition<S>> = Vec::new();
    for entry in file.definitions {
        for made in definition(entry)? {
            // Two of one name could not be distinguished in the record.
            if list.iter().any(|other| other.name == made.name) {
                return Err(format!("two definitions are named {:?}", made.name));
            }
            list.push(made);
        }
    }
    Ok(list)
}

impl Definitions<Setting> {
    /// Reads a file of definitions for the processor.
    pub fn read(path: &Path) -> Result<Definitions<Setting>, Failure> {
        Definitions::read_entries(path, Entry::definition)
    }
}

impl Entry {
    fn definition(self) -> Result<Vec<Definition<Setting>>, String> {
        let setting = self
            .setting()
            .map_err(|why| format!("{}: {why}", self.name))?;
        let (name, group) = (self.name, self.group);
        Ok(vec![Definition {
            name,
            group,
            setting,
        }])
    }

    fn setting(&self) -> Result<Setting, String> {
        Ok(Setting {
            shape: parse_shape(&self.shape)?,
            batch: self.batch,
            threads: self.threads,
            kind: self.kind,
            accuracy: parse_accuracy(&self.accuracy)?,
            interleaved: self.interleaved,
            substrates: parse_substrates(&self.substrates)?,
            steps: None,
            engines: Vec::new(),
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

    fn two() -> Definitions<Setting> {
        Definitions {
            list: parse(TWO, Entry::definition).expect("definitions"),
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
        let names = |wanted: &[&str]| -> Vec<String> {
            let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            let selected = two().select(&wanted).expect("they exist").list;
            selected.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(&[]), ["a", "b"]);
        assert_eq!(names(&["b"]), ["b"]);
        assert_eq!(names(&["one", "b"]), ["a", "b"]);
        assert!(two().select(&["c".into()]).is_err());
    }

    #[test]
    fn mistakes_are_rejected() {
        let reject = |from: &str, to: &str, why: &str| {
            let message = parse(&TWO.replace(from, to), Entry::definition).expect_err("a mistake");
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
        let read = || Definitions::read(Path::new(path)).expect("definitions");
        let group = |name: &str| read().select(&[name.into()]).expect("a group").list;
        let curve = group("curve");
        assert_eq!(curve.len(), 17);
        for Definition { name, setting, .. } in curve {
            let points: usize = setting.shape.0.iter().product();
            assert_eq!(points * setting.batch, 1 << 20, "{name}");
        }
        assert!(group("strided").iter().all(|one| one.setting.interleaved));
        // What nobody asks for by name is measured everywhere.
        for Definition { name, setting, .. } in read().list {
            assert!(setting.substrates.0.contains(&Substrate::Auto), "{name}");
        }
    }
}
