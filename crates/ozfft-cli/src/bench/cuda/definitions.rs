//! Declared lists of benchmarks for GPUs.

use super::Setting;
use crate::bench::definitions::{Definition, Definitions};
use ozfft_measure::failure::Failure;
use ozfft_measure::gpu::Precision;
use ozfft_measure::options::{KindName, parse_accuracy, parse_shape};
use serde::Deserialize;
use std::path::Path;

/// One benchmark, as the file has it: texts are what the options of the same names take.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    group: String,
    /// Or `smooth 16..4096`: every such length without prime factors above 7, as a definition of its own.
    shape: String,
    /// Of all arrays together: as many arrays as fit into it, at least one.
    points: usize,
    kind: KindName,
    precision: Precision,
    accuracy: String,
    /// As the option of this name.
    #[serde(default)]
    interleaved: bool,
}

/// Reads a file of definitions. `points` replaces the declared points of transforms along one axis.
pub fn read(path: &Path, points: Option<usize>) -> Result<Definitions<Setting>, Failure> {
    Definitions::read_entries(path, |entry| definitions(entry, points))
}

fn definitions(entry: Entry, points: Option<usize>) -> Result<Vec<Definition<Setting>>, String> {
    let all = entry.expanded().into_iter();
    all.map(|entry| entry.definition(points)).collect()
}

/// Whether a length has no prime factor above 7.
fn is_smooth(n: usize) -> bool {
    let rest = [2, 3, 5, 7].iter().fold(n, |mut rest, prime| {
        while rest > 1 && rest % prime == 0 {
            rest /= prime;
        }
        rest
    });
    rest == 1
}

impl Entry {
    /// One entry for every length, where it has a range of them.
    fn expanded(self) -> Vec<Entry> {
        let range = self.shape.strip_prefix("smooth ");
        let range = range.and_then(|range| range.split_once(".."));
        let range = range.and_then(|(first, last)| {
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            Some(first..=last)
        });
        let Some(range) = range else {
            return vec![self];
        };
        let smooth = range.filter(|&n| is_smooth(n));
        let one = |n: usize| Entry {
            name: format!("{}-{n}", self.name),
            shape: n.to_string(),
            ..self.clone()
        };
        smooth.map(one).collect()
    }

    fn definition(self, points: Option<usize>) -> Result<Definition<Setting>, String> {
        let setting = self
            .setting(points)
            .map_err(|why| format!("{}: {why}", self.name))?;
        let (name, group) = (self.name, self.group);
        Ok(Definition {
            name,
            group,
            setting,
        })
    }

    fn setting(&self, points: Option<usize>) -> Result<Setting, String> {
        let shape = parse_shape(&self.shape)?;
        let points = match points {
            Some(points) if shape.0.len() == 1 => points,
            _ => self.points,
        };
        Ok(Setting {
            batch: Setting::batch_of(&shape.0, points),
            shape,
            kind: self.kind,
            precision: self.precision,
            accuracy: parse_accuracy(&self.accuracy)?,
            interleaved: self.interleaved,
            variants: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::definitions::parse;
    use ozfft::Accuracy;

    const PATH: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benchmarks/definitions-cuda.json"
    );

    #[test]
    fn the_definitions_of_this_project_can_be_read() {
        let Definitions { list, sha256 } = read(Path::new(PATH), None).expect("definitions");
        assert_eq!(sha256.len(), 64);
        let of = |name: &str| {
            let found = list.iter().find(|definition| definition.name == name);
            &found.unwrap_or_else(|| panic!("{name}")).setting
        };
        for (name, batch) in [
            ("batched-256", 1 << 22),
            ("batched-1000", 1_073_741),
            ("batched-1024", 1 << 20),
            ("long-1048576", 1 << 10),
            ("cube-1024", 1),
            ("r2c-cube-512", 1),
        ] {
            assert_eq!(of(name).batch, batch, "{name}");
        }
        assert_eq!(of("f32-1024").precision, Precision::Single);
        assert_eq!(of("single-1024").accuracy, Accuracy::Single);
        assert_eq!(of("target-1e-10-1024").accuracy, Accuracy::Target(1e-10));
    }

    #[test]
    fn a_range_of_lengths_is_a_definition_for_each() {
        let path = PATH.replace("definitions-cuda", "definitions-cuda-lengths");
        let Definitions { list, .. } = read(Path::new(&path), None).expect("definitions");
        let interleaved = list.iter().filter(|one| one.setting.interleaved);
        assert_eq!((list.len(), interleaved.count()), (2 * 235, 235));
        assert_eq!(list[0].name, "contiguous-16");
        assert_eq!(list[0].setting.shape.0, [16]);
        assert_eq!(list[469].name, "interleaved-4096");
    }

    #[test]
    fn points_can_be_replaced_and_names_selected() {
        let names = ["cube".to_string(), "batched-256".to_string()];
        let read = || read(Path::new(PATH), Some(1 << 12)).expect("definitions");
        let list = read().select(&names).expect("they exist").list;
        assert_eq!(list.len(), 5);
        assert_eq!(list[0].setting.batch, 16);
        assert_eq!(list[1].setting.batch, 1);
        assert!(read().select(&["sphere".into()]).is_err());
    }

    #[test]
    fn mistakes_are_rejected() {
        let one = r#"{"definitions": [{"name": "a", "group": "g", "shape": "8", "points": 64, "kind": "c2c",
            "precision": "double", "accuracy": "double"}]}"#;
        let parse = |text: &str| parse(text, |entry| definitions(entry, None));
        assert_eq!(parse(one).expect("one")[0].setting.batch, 8);
        for (from, to) in [("\"8\"", "\"eight\""), ("points", "batch"), ("c2c", "c2q")] {
            assert!(parse(&one.replace(from, to)).is_err(), "{to}");
        }
    }
}
