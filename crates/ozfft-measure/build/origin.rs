//! Build metadata compiled into programs: the build scripts of `ozfft-measure` and `ozfft-lab` share this.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Passes the versions of crates that do not export theirs to the program, each in a variable. `lock` is the workspace's Cargo.lock.
pub fn versions(lock: &str, crates: &[(&str, &str)]) {
    let lock = Path::new(lock);
    watch(lock);
    let text = std::fs::read_to_string(lock).unwrap_or_default();
    for (name, variable) in crates {
        let version = text
            .split("[[package]]")
            .find(|package| package.contains(&format!("name = \"{name}\"")))
            .and_then(|package| package.split("version = \"").nth(1))
            .and_then(|rest| rest.split('"').next())
            .unwrap_or("of unknown version");
        println!("cargo::rustc-env={variable}={version}");
    }
}

/// Passes the compiler and the commit to the program.
pub fn origin(root: &str, used: &[&str]) {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output(Command::new(compiler).arg("--version"));
    let version = version.unwrap_or_else(|| "rustc of unknown version".into());
    println!("cargo::rustc-env=RUSTC_VERSION={version}");
    println!("cargo::rustc-env=OZFFT_BUILT_FROM={}", commit(root, used));
}

/// Cargo runs this again when the file changes; one that does not exist would be new every time.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The commit of the sources: the one that the environment names, the one that `cargo package` noted, or the one that is checked out,
/// with a mark if files differ from it. Nothing where none of them knows. `root` is the repository's folder, as seen from the package, and
/// `used` are the folders of the crates that the program is made of.
fn commit(root: &str, used: &[&str]) -> String {
    println!("cargo::rerun-if-env-changed=OZFFT_COMMIT");
    if let Ok(named) = std::env::var("OZFFT_COMMIT") {
        let named = named.trim();
        assert!(
            named.chars().all(|character| character.is_ascii_graphic()),
            "OZFFT_COMMIT={named:?} is no name of a commit: it has a space or another character that commits have not"
        );
        return named.into();
    }
    let noted = Path::new(".cargo_vcs_info.json");
    watch(noted);
    let noted = std::fs::read_to_string(noted).ok();
    let sha1 =
        noted.and_then(|text| Some(text.split("\"sha1\": \"").nth(1)?.split('"').next()?.into()));
    sha1.or_else(|| checked_out(root, used)).unwrap_or_default()
}

fn checked_out(root: &str, used: &[&str]) -> Option<String> {
    let root = Path::new(root).canonicalize().ok()?;
    // Sources that lie somewhere within another repository are not of its commits.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if PathBuf::from(top).canonicalize().ok()? != root {
        return None;
    }
    let mut names = vec!["HEAD".into(), "packed-refs".into()];
    names.extend(git(&["symbolic-ref", "-q", "HEAD"]));
    for name in names {
        if let Some(path) = git(&["rev-parse", "--git-path", &name]) {
            watch(Path::new(&path));
        }
    }
    // What the program is made of. A change there compiles it again in any case, and decides about the mark.
    for folder in used {
        watch(&root.join(folder).join("src"));
        watch(&root.join(folder).join("Cargo.toml"));
    }
    git(&[
        "describe",
        "--always",
        "--abbrev=40",
        "--exclude=*",
        "--dirty",
    ])
}

/// What git says about these sources. Builds need not have it; settings of the repository that start programs are left out.
fn git(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.args(["-c", "core.fsmonitor=false"]).args(arguments);
    // A build may be started by git itself, from a hook of another repository.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    output(&mut command)
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_string())
}
