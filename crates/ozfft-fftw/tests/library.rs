//! The shared library as others see it: its names, its header, a C program, the environment.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The shared library lies beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().expect("a test is in a folder");
    let library = folder.join("libozfft_fftw.so");
    assert!(library.exists(), "{} is not there", library.display());
    library
}

fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Names that a shared library defines for others; none where there is no `nm` or no such library.
fn defined(library: &Path) -> Option<BTreeSet<String>> {
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    Some(names.map(str::to_owned).collect())
}

/// Functions and texts that a header declares.
fn declared(header: &str) -> BTreeSet<String> {
    let words = header.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut names = BTreeSet::new();
    let mut before = "";
    for word in words.filter(|word| !word.is_empty()) {
        // A name of the interface is what follows a type, and its types themselves are no names of the library.
        let is_type = [
            "plan",
            "complex",
            "iodim",
            "iodim64",
            "r2r_kind",
            "write_char_func",
            "read_char_func",
        ]
        .iter()
        .any(|name| word == format!("fftw_{name}"));
        let inner = word.ends_with("_s") || word.ends_with("_e");
        if word.starts_with("fftw_") && !is_type && !inner && before != "include" {
            names.insert(word.to_owned());
        }
        before = word;
    }
    // Names in comments and guards.
    names.remove("fftw_h");
    names
}

#[test]
fn the_header_declares_what_the_library_defines() {
    let Some(names) = defined(&library()) else {
        eprintln!("there is no nm; the library's names are not looked at");
        return;
    };
    let header = std::fs::read_to_string(Path::new(CRATE).join("include/ozfft_fftw.h"))
        .expect("the header is there");
    let c_names: BTreeSet<String> = names
        .iter()
        .filter(|name| name.starts_with("fftw_"))
        .cloned()
        .collect();
    assert_eq!(declared(&header), c_names);
    let others: Vec<_> = names
        .iter()
        .filter(|name| !name.starts_with("fftw_") && !name.starts_with("dfftw_"))
        .collect();
    assert!(
        others.is_empty(),
        "names that are nobody's business: {others:?}"
    );
}

/// What fftw3.h and the legacy Fortran interface have, and nothing of FFTW's inner parts.
#[test]
fn no_name_of_the_real_library_s_interface_is_missing() {
    let Some(ours) = defined(&library()) else {
        return;
    };
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    let real = |file: &str| {
        folders
            .iter()
            .find_map(|folder| defined(&Path::new(folder).join(file)))
    };
    let (Some(serial), Some(threads)) = (real("libfftw3.so.3"), real("libfftw3_threads.so.3"))
    else {
        eprintln!("FFTW is not installed; its names are not compared");
        return;
    };
    let real: BTreeSet<String> = serial.union(&threads).cloned().collect();
    let fortran = real.iter().filter(|name| name.starts_with("dfftw_"));
    let missing: Vec<_> = fortran.filter(|name| !ours.contains(*name)).collect();
    assert!(
        missing.is_empty(),
        "Fortran names that are missing: {missing:?}"
    );
    let invented: Vec<_> = ours.difference(&real).collect();
    assert!(
        invented.is_empty(),
        "names that FFTW does not have: {invented:?}"
    );
    if let Ok(header) = std::fs::read_to_string("/usr/include/fftw3.h") {
        // X(name)( declares a function, X(name)[] a text.
        let functions = header.split("X(").filter_map(|rest| rest.split_once(')'));
        let functions =
            functions.filter(|(_, after)| after.starts_with('(') || after.starts_with('['));
        let missing: Vec<_> = functions
            .map(|(name, _)| format!("fftw_{name}"))
            .filter(|name| !ours.contains(name))
            .collect();
        assert!(missing.is_empty(), "C names that are missing: {missing:?}");
    }
}

/// A folder with the library under its own name and under that which the linker looks for.
fn installed(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ozfft-fftw-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for file in ["libozfft_fftw.so", "libozfft_fftw.so.0"] {
        let link = folder.join(file);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(library(), link).expect("a link can be made");
    }
    folder
}

fn has_compiler() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok();
    if !found {
        eprintln!("there is no C compiler; nothing is compiled");
    }
    found
}

/// Compiles and links one of the C programs among the examples.
fn compiled(source: &str, folder: &Path) -> PathBuf {
    let program = folder.join("program");
    let compiled = run(Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(Path::new(CRATE).join("include"))
        .arg(Path::new(CRATE).join("examples").join(source))
        .arg("-L")
        .arg(folder)
        .args(["-lozfft_fftw", "-lm", "-o"])
        .arg(&program));
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    program
}

#[test]
fn a_forked_process_plans_and_transforms() {
    if !has_compiler() {
        return;
    }
    let folder = installed("fork");
    let program = compiled("fork.c", &folder);
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", &folder));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_c_program_is_compiled_linked_and_computes() {
    if !has_compiler() {
        return;
    }
    let folder = installed("c");
    let program = compiled("example.c", &folder);
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", &folder));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("fftw-3.3.10-ozfft"), "{text}");
    assert!(text.contains("all is well"), "{text}");

    // The environment: a value that cannot be read is told without being asked, and there is no plan.
    let output = run(Command::new(&program)
        .env("LD_LIBRARY_PATH", &folder)
        .env("OZFFT_ENGINE", "steam"));
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("OZFFT_ENGINE is \"steam\"; give digits, residues, native, auto"),
        "{told}"
    );

    // Asked, the library tells every plan and what it is made of.
    let output = run(Command::new(&program)
        .env("LD_LIBRARY_PATH", &folder)
        .env("OZFFT_ENGINE", "native")
        .env("OZFFT_THREADS", "2")
        .env("OZFFT_VERBOSE", "1"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("2 threads, Native"), "{told}");
    assert!(
        told.contains("no plan: a length is 0; it must be at least 1"),
        "{told}"
    );
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn the_header_agrees_with_fftw3_h() {
    if !has_compiler() {
        return;
    }
    if !Path::new("/usr/include/fftw3.h").exists() {
        eprintln!("fftw3.h is not installed; nothing to compare");
        return;
    }
    let folder = installed("header");
    let source = folder.join("both.c");
    // Declarations that differ do not compile.
    std::fs::write(
        &source,
        "#include <fftw3.h>\n#include \"ozfft_fftw.h\"\nint nothing;\n",
    )
    .expect("a file can be written");
    for language in ["c", "c++"] {
        let compiled = run(Command::new("cc")
            .args([
                "-x",
                language,
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
                "-I",
            ])
            .arg(Path::new(CRATE).join("include"))
            .arg(&source));
        assert!(
            compiled.status.success(),
            "{}",
            String::from_utf8_lossy(&compiled.stderr)
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}
