//! Parameters of the template's kernels that have been measured to be fastest on a GPU: kept for all plans of the process, and in a file for
//! those of others. Bits never depend on them.

use crate::error::FftError;
use crate::executor::cuda::device::compiler;
use crate::sync::lock;
use ozfft_kernels::template::KernelSpec;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What is known of a GPU.
pub(crate) struct Tuning {
    state: Mutex<State>,
}

struct State {
    /// Parameters by purpose.
    choices: BTreeMap<String, String>,
    /// What this process has chosen, none where it has taken something back: the rest is what the file said.
    chosen: BTreeMap<String, Option<String>>,
    /// While somebody listens: kernels that plans have asked for.
    asked: Option<Vec<Tunable>>,
    heading: String,
    /// None where there is no folder for it.
    path: Option<PathBuf>,
}

/// A kernel whose parameters can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tunable {
    pub(crate) purpose: String,
    /// What it is launched with now, and what else could be: the most promising first.
    pub(crate) choice: String,
    pub(crate) choices: Vec<String>,
}

const BETWEEN: &str = ": ";

impl Default for Tuning {
    fn default() -> Self {
        Tuning::nothing()
    }
}

impl Tuning {
    /// Nothing is known, and nothing can be kept.
    pub(crate) const fn nothing() -> Self {
        Tuning {
            state: Mutex::new(State {
                choices: BTreeMap::new(),
                chosen: BTreeMap::new(),
                asked: None,
                heading: String::new(),
                path: None,
            }),
        }
    }

    /// What a file in the folder of compiled kernels says of this GPU, if there is one.
    pub(crate) fn of_gpu(name: &str, (major, minor): (i32, i32)) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let file: String = name.chars().map(plain).collect();
        let path = compiler::cache_folder().map(|folder| folder.join(file + ".tuning"));
        Tuning::at(
            path,
            format!("# Kernels that were fastest on {name}, compute capability {major}.{minor}"),
        )
    }

    pub(crate) fn at(path: Option<PathBuf>, heading: String) -> Self {
        let state = State {
            choices: path.as_deref().map(choices_in).unwrap_or_default(),
            chosen: BTreeMap::new(),
            asked: None,
            heading,
            path,
        };
        Tuning {
            state: Mutex::new(state),
        }
    }

    /// The kernel to be launched for the purpose of this one. For few lines, which leave multiprocessors without work, another one may be
    /// the fastest than for many.
    pub(crate) fn preferred(&self, spec: KernelSpec, few: bool) -> KernelSpec {
        self.find(spec, few, true)
    }

    /// The same without being asked for: somebody looks whether a kernel is there, who may launch another one.
    pub(crate) fn known(&self, spec: KernelSpec, few: bool) -> KernelSpec {
        self.find(spec, few, false)
    }

    fn find(&self, spec: KernelSpec, few: bool, asks: bool) -> KernelSpec {
        let mut purpose = spec.purpose();
        if few {
            purpose += ", few";
        }
        let mut state = lock(&self.state);
        let known = state.choices.get(&purpose).cloned();
        if known.is_none() && state.asked.is_none() {
            return spec;
        }
        let mut candidates = spec.candidates();
        let place = |choice: &String| candidates.iter().position(|c| c.choice() == *choice);
        let place = known.as_ref().and_then(place);
        if let Some(asked) = state.asked.as_mut().filter(|_| asks) {
            let tunable = Tunable {
                choice: place.map_or_else(|| spec.choice(), |place| candidates[place].choice()),
                choices: candidates.iter().map(KernelSpec::choice).collect(),
                purpose,
            };
            if !asked.contains(&tunable) {
                asked.push(tunable);
            }
        }
        match place {
            Some(place) => candidates.swap_remove(place),
            None => spec,
        }
    }

    /// The kernels that `plan` asks for.
    pub(crate) fn asked_by<P>(
        &self,
        plan: impl FnOnce() -> Result<P, FftError>,
    ) -> Result<(P, Vec<Tunable>), FftError> {
        lock(&self.state).asked = Some(Vec::new());
        let planned = plan();
        let asked = lock(&self.state).asked.take().unwrap_or_default();
        Ok((planned?, asked))
    }

    /// Takes these parameters for a purpose from now on; none: those that would be taken without a measurement.
    pub(crate) fn choose(&self, purpose: &str, choice: Option<&str>) {
        let state = &mut *lock(&self.state);
        let choice = choice.map(String::from);
        state.chosen.insert(purpose.into(), choice.clone());
        apply(&mut state.choices, purpose, choice);
    }

    /// Writes to the file what has been chosen, beside what others have written there meanwhile, and takes theirs over. Other processes
    /// see all of it or none.
    pub(crate) fn save(&self) -> Result<PathBuf, FftError> {
        let state = &mut *lock(&self.state);
        let Some(path) = &state.path else {
            return Err(FftError::Unsupported(
                "there is no folder to keep the parameters in; let OZFFT_CACHE name one".into(),
            ));
        };
        let failed = |error: std::io::Error| {
            let path = path.display();
            FftError::Unsupported(format!(
                "{path} cannot be written ({error}); let OZFFT_CACHE name another folder"
            ))
        };
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        // Who reads and writes in turn with others loses nothing of theirs. The lock is given back with its file, which stays.
        let turn = File::create(path.with_extension("lock")).map_err(failed)?;
        turn.lock().map_err(failed)?;
        let mut choices = choices_in(path);
        for (purpose, choice) in &state.chosen {
            apply(&mut choices, purpose, choice.clone());
        }
        let mut text = format!("{}\n", state.heading);
        for (purpose, choice) in &choices {
            let _ = writeln!(text, "{purpose}{BETWEEN}{choice}");
        }
        let own = path.with_extension(format!("{}.new", std::process::id()));
        let written = fs::write(&own, text).and_then(|()| fs::rename(&own, path));
        if written.is_err() {
            let _ = fs::remove_file(&own);
        }
        written.map_err(failed)?;
        state.choices = choices;
        Ok(path.clone())
    }
}

/// What a file says; nothing where there is none. What is not among a kernel's choices is not taken, whoever has written it.
fn choices_in(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let entries = text.lines().filter_map(|line| line.rsplit_once(BETWEEN));
    let choices = entries.map(|(purpose, choice)| (purpose.into(), choice.into()));
    choices.collect()
}

/// The parameters for a purpose, or none.
fn apply(choices: &mut BTreeMap<String, String>, purpose: &str, choice: Option<String>) {
    match choice {
        Some(choice) => choices.insert(purpose.into(), choice),
        None => choices.remove(purpose),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_kernels::template::{Block, Number};

    fn spec() -> KernelSpec {
        let steps = [32, 32];
        let spec = KernelSpec::new(Block { steps }, Number::Double, false, 227 << 10);
        spec.expect("a kernel")
    }

    #[test]
    fn what_was_chosen_is_taken_and_found_again_by_others() {
        let folder = std::env::temp_dir().join(format!("ozfft-tuning-{}", std::process::id()));
        let path = folder.join("a-gpu.tuning");
        let tuning = Tuning::at(Some(path.clone()), "# a GPU".into());
        let usual = spec().choice();
        assert_eq!(tuning.preferred(spec(), false).choice(), usual);
        let (taken, asked) = tuning
            .asked_by(|| Ok(tuning.preferred(spec(), false)))
            .expect("a kernel");
        assert_eq!(taken.choice(), usual);
        let [tunable] = &asked[..] else {
            panic!("{asked:?}");
        };
        assert_eq!(tunable.choices[0], usual);
        let other = &tunable.choices[2];
        tuning.choose(&tunable.purpose, Some(other));
        assert_eq!(tuning.preferred(spec(), false).choice(), *other);
        assert_eq!(tuning.save().expect("a file"), path);
        let again = Tuning::at(Some(path.clone()), "# a GPU".into());
        assert_eq!(again.preferred(spec(), false).choice(), *other);
        assert_eq!(
            again.preferred(spec(), true).choice(),
            usual,
            "of few lines"
        );
        again.choose(&tunable.purpose, None);
        assert_eq!(again.preferred(spec(), false).choice(), usual);
        // Nonsense, and parameters that no kernel has, are as if they were not there.
        let nonsense = format!(
            "x\n{}: 99 lines, 1 and 1 units, 1 groups\n",
            tunable.purpose
        );
        fs::write(&path, nonsense).expect("a file");
        let again = Tuning::at(Some(path), "# a GPU".into());
        assert_eq!(again.preferred(spec(), false).choice(), usual);
        fs::remove_dir_all(folder).expect("the folder is there");
        let nowhere = Tuning::at(None, String::new()).save();
        assert!(nowhere.is_err_and(|error| error.to_string().contains("OZFFT_CACHE")));
    }

    /// Each had read the file before the other wrote it: the last one lost what the first had found out.
    #[test]
    fn who_saves_keeps_what_others_have_saved_meanwhile() {
        let folder = std::env::temp_dir().join(format!("ozfft-writers-{}", std::process::id()));
        let path = folder.join("a-gpu.tuning");
        let open = || Tuning::at(Some(path.clone()), "# a GPU".into());
        let said =
            |tuning: &Tuning, purpose: &str| lock(&tuning.state).choices.get(purpose).cloned();
        let (one, other) = (open(), open());
        one.choose("a", Some("1"));
        one.choose("b", Some("1"));
        one.save().expect("a file");
        other.choose("b", Some("2"));
        other.choose("c", Some("2"));
        other.save().expect("a file");
        let again = open();
        for (purpose, choice) in [("a", "1"), ("b", "2"), ("c", "2")] {
            assert_eq!(said(&again, purpose).as_deref(), Some(choice), "{purpose}");
            assert_eq!(said(&other, purpose).as_deref(), Some(choice), "{purpose}");
        }
        // What is taken back is gone from the file, and nothing else.
        again.choose("a", None);
        again.save().expect("a file");
        assert_eq!(lock(&open().state).choices.len(), 2);
        // All at once.
        let writers = 8;
        let saved = 10;
        std::thread::scope(|scope| {
            for writer in 0..writers {
                let tuning = open();
                scope.spawn(move || {
                    for number in 0..saved {
                        tuning.choose(&format!("{writer}, {number}"), Some("3"));
                        tuning.save().expect("a file");
                    }
                });
            }
        });
        assert_eq!(lock(&open().state).choices.len(), 2 + writers * saved);
        // The file and the lock.
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 2);
        fs::remove_dir_all(folder).expect("the folder is there");
    }
}
