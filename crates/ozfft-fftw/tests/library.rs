//! The shared library as others see it: its names, its header, a C program, the environment.

use ozfft_testkit::{Requirement, available};
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

/// Functions and texts that a header declares, in FFTW's form: X(name)( declares a function, X(name)[] a text.
fn declared(header: &str) -> BTreeSet<String> {
    let names = header.split("X(").filter_map(|rest| rest.split_once(')'));
    let names = names.filter(|(_, after)| after.starts_with('(') || after.starts_with('['));
    // A pointer to a function, which is a type: (*X(name))(.
    let names = names.filter(|(name, _)| !name.ends_with("_func"));
    names.map(|(name, _)| name.to_owned()).collect()
}

const PREFIXES: [(&str, &str, &str); 2] = [
    ("fftw_", "dfftw_", "libfftw3"),
    ("fftwf_", "sfftw_", "libfftw3f"),
];

#[test]
fn the_header_declares_what_the_library_defines() {
    let Some(names) = available(Requirement::Compiler, defined(&library()).ok_or("no nm")) else {
        return;
    };
    let header = std::fs::read_to_string(Path::new(CRATE).join("include/ozfft_fftw.h"))
        .expect("the header is there");
    for (prefix, ..) in PREFIXES {
        let c_names: BTreeSet<String> = names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix))
            .map(str::to_owned)
            .collect();
        assert_eq!(declared(&header), c_names, "{prefix}");
    }
    let ours = |name: &&String| {
        let mut prefixes = PREFIXES.iter();
        prefixes.any(|(c, fortran, _)| name.starts_with(c) || name.starts_with(fortran))
    };
    let others: Vec<_> = names.iter().filter(|name| !ours(name)).collect();
    assert!(
        others.is_empty(),
        "names that are nobody's business: {others:?}"
    );
}

/// A library of FFTW, where it is installed.
fn of_fftw(file: &str) -> Option<PathBuf> {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    let mut paths = folders.iter().map(|folder| Path::new(folder).join(file));
    paths.find(|path| path.exists())
}

/// What fftw3.h and the legacy Fortran interface have, and nothing of FFTW's inner parts.
#[test]
fn no_name_of_the_real_library_s_interface_is_missing() {
    let names = defined(&library()).ok_or("no nm");
    let Some(all_of_ours) = available(Requirement::Compiler, names) else {
        return;
    };
    for (prefix, fortran_prefix, name) in PREFIXES {
        let real = |file: String| defined(&of_fftw(&file)?);
        let both = real(format!("{name}.so.3")).zip(real(format!("{name}_threads.so.3")));
        let both = both.ok_or_else(|| format!("{name} is not installed"));
        let Some((serial, threads)) = available(Requirement::Fftw, both) else {
            continue;
        };
        let of_this = |name: &&String| name.starts_with(prefix) || name.starts_with(fortran_prefix);
        let ours: BTreeSet<String> = all_of_ours.iter().filter(of_this).cloned().collect();
        let real: BTreeSet<String> = serial.union(&threads).cloned().collect();
        let fortran = real.iter().filter(|name| name.starts_with(fortran_prefix));
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
            let missing: Vec<_> = declared(&header)
                .iter()
                .map(|name| format!("{prefix}{name}"))
                .filter(|name| !ours.contains(name))
                .collect();
            assert!(missing.is_empty(), "C names that are missing: {missing:?}");
        }
    }
}

/// Programs that are linked to fixed addresses copy these texts, in the size that they were linked with: with more bytes here, the zero
/// at the end was lost.
#[test]
fn texts_have_the_sizes_of_debian_s_library() {
    let sizes = |library: &Path| -> Option<Vec<String>> {
        let output = Command::new("nm").args(["-D", "-S"]).arg(library).output();
        let text = String::from_utf8(output.ok()?.stdout).ok()?;
        let mut found: Vec<String> = text
            .lines()
            .filter_map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let [_, size, _, name] = words[..] else {
                    return None;
                };
                let is_text = ["version", "cc", "codelet_optim"].iter().any(|text| {
                    PREFIXES
                        .iter()
                        .any(|(prefix, ..)| name == format!("{prefix}{text}"))
                });
                is_text.then(|| format!("{name} {size}"))
            })
            .collect();
        found.sort();
        Some(found)
    };
    let Some(ours) = sizes(&library()) else {
        return;
    };
    assert_eq!(ours.len(), 6, "{ours:?}");
    let debian = Path::new("/etc/debian_version").exists();
    for (.., name) in PREFIXES {
        if let Some(real) = of_fftw(&format!("{name}.so.3")).filter(|_| debian) {
            for text in sizes(&real).unwrap_or_default() {
                assert!(ours.contains(&text), "{text} is not among {ours:?}");
            }
        }
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
    let compiler = Command::new("cc").arg("--version").output();
    available(Requirement::Compiler, compiler).is_some()
}

/// Compiles and links one of the C programs among the examples or beside these tests.
fn compiled(source: &str, folder: &Path) -> PathBuf {
    let program = folder.join("program");
    let compiled = run(Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(Path::new(CRATE).join("include"))
        .arg(Path::new(CRATE).join(source))
        .arg("-L")
        .arg(folder)
        .args(["-lozfft_fftw", "-lm", "-lpthread", "-ldl", "-o"])
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
    let program = compiled("examples/fork.c", &folder);
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
    let program = compiled("examples/example.c", &folder);
    let output = run(Command::new(&program).env("LD_LIBRARY_PATH", &folder));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("fftw-3.3.10-ozfft"), "{text}");
    assert!(text.contains("all is well"), "{text}");

    // Asked, the library tells every plan and what it is made of.
    let output = run(Command::new(&program)
        .env("LD_LIBRARY_PATH", &folder)
        .env("OZFFT_ENGINE", "native")
        .env("OZFFT_THREADS", "2")
        .env("OZFFT_VERBOSE", "1"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("1 thread, Native"), "{stderr}");
    assert!(
        stderr.contains("3 plans, 1 refused, 3 executions"),
        "{stderr}"
    );
    assert!(
        stderr.contains("no plan: a length is 0; it must be at least 1"),
        "{stderr}"
    );
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn the_header_agrees_with_fftw3_h() {
    if !has_compiler() {
        return;
    }
    let header = std::fs::metadata("/usr/include/fftw3.h");
    if available(Requirement::Fftw, header).is_none() {
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

/// A C program, and how it is run.
struct Program {
    folder: PathBuf,
    program: PathBuf,
}

impl Program {
    fn new(source: &str, name: &str) -> Option<Program> {
        if !has_compiler() {
            return None;
        }
        let folder = installed(name);
        let program = compiled(source, &folder);
        Some(Program { folder, program })
    }

    /// Whether it succeeded, what it printed, and what it said on standard error.
    fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> (bool, String, String) {
        let output = run(Command::new(&self.program)
            .args(arguments)
            .env("LD_LIBRARY_PATH", &self.folder)
            .envs(environment.iter().copied()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.success(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Programs went on with wrong numbers where nothing had been computed.
#[test]
fn calls_that_cannot_be_computed_end_the_program_with_a_reason() {
    let Some(program) = Program::new("tests/misuse.c", "misuse") else {
        return;
    };
    let go_on = [("OZFFT_ON_ERROR", "null")];
    for (case, reason) in [
        (
            "execute NULL",
            "fftw_execute: not computed: the plan is NULL",
        ),
        (
            "execute what was rejected",
            "fftw_execute_dft: not computed: the plan is NULL; the last call that returned NULL said: fftw_plan_dft_1d: \
             no plan: a length is 0; it must be at least 1",
        ),
        (
            "destroy twice",
            "fftw_destroy_plan: the plan has been destroyed",
        ),
        ("another kind", "the plan is for a complex transform"),
        ("another precision", "the plan is for double precision"),
        ("no arrays", "the input is a null pointer"),
    ] {
        let (well, printed, stderr) = program.run(&[case], &[]);
        assert!(!well && printed.is_empty(), "{case}: {printed}{stderr}");
        assert!(stderr.contains(reason), "{case}: {stderr}");
        assert!(stderr.contains("OZFFT_ON_ERROR=null"), "{case}: {stderr}");
        let (well, printed, stderr) = program.run(&[case], &go_on);
        assert!(well && printed.contains("went on"), "{case}: {stderr}");
        assert!(stderr.contains(reason), "{case}: {stderr}");
    }
    // Nothing can be done with a plan of nobody: it is not even looked at.
    for case in ["execute a plan of nobody", "destroy a plan of nobody"] {
        for environment in [&[][..], &go_on] {
            let (well, printed, stderr) = program.run(&[case], environment);
            assert!(!well && printed.is_empty(), "{case}: {printed}{stderr}");
            assert!(
                stderr.contains("the plan was not made by this library"),
                "{case}: {stderr}"
            );
        }
    }
    for case in [
        "rank INT_MAX",
        "INT_MAX threads",
        "many plans, then cleanup",
    ] {
        let (well, printed, stderr) = program.run(&[case], &[]);
        assert!(
            well && printed.contains("went on"),
            "{case}: {printed}{stderr}"
        );
    }
}

/// `OZFFT_ENGINE=digit` (a typo) gave no plans, and energies that were wrong.
#[test]
fn an_environment_that_cannot_be_followed_ends_the_program_at_the_first_plan() {
    let Some(program) = Program::new("tests/misuse.c", "environment") else {
        return;
    };
    for (name, value, reason) in [
        (
            "OZFFT_ENGINE",
            "digit",
            "OZFFT_ENGINE is \"digit\"; give digits, residues, ntt, native, auto",
        ),
        (
            "OZFFT_DEVICE",
            "gpu",
            "OZFFT_DEVICE is \"gpu\"; give cpu, auto",
        ),
        ("OZFFT_DEVICE", "cuda:77", "fftw_plan_dft_1d: no plan: "),
        ("OZFFT_ACCURACY", "7", "accuracy 7 is not usable"),
        ("OZFFT_THREADS", "0", "OZFFT_THREADS is \"0\""),
        (
            "OZFFT_ON_ERROR",
            "ignore",
            "OZFFT_ON_ERROR is \"ignore\"; give abort or null",
        ),
    ] {
        let (well, _, stderr) = program.run(&["plan"], &[(name, value)]);
        assert!(!well, "{name}={value}: {stderr}");
        assert!(stderr.contains(reason), "{name}={value}: {stderr}");
        assert!(
            !stderr.contains("not computed"),
            "{name}={value} ended it too late: {stderr}"
        );
        // Otherwise there is no plan, as the program sees.
        if name != "OZFFT_ON_ERROR" {
            let environment = [(name, value), ("OZFFT_ON_ERROR", "null")];
            let (_, _, stderr) = program.run(&["plan"], &environment);
            assert!(stderr.contains("fftw_execute: not computed"), "{stderr}");
        }
    }
    let (well, _, stderr) = program.run(&["plan"], &[("OZFFT_ENGINE", ""), ("OZFFT_THREADS", "3")]);
    assert!(well, "{stderr}");
}

/// A fork while another thread started the pool deadlocked the child.
#[test]
fn forks_while_the_pool_starts_do_not_deadlock_the_child() {
    let Some(program) = Program::new("tests/forks.c", "forks") else {
        return;
    };
    let (well, printed, stderr) = program.run(&[], &[]);
    assert!(well, "{printed}{stderr}");
}

/// One of the programs that `fuzz/outside` runs, each of which says what broke.
fn expect_withstood(name: &str) {
    let Some(program) = Program::new(&format!("../../fuzz/attacks/{name}.c"), name) else {
        return;
    };
    let output = run(Command::new(&program.program).env("LD_LIBRARY_PATH", &program.folder));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, stderr) = (text(&output.stdout), text(&output.stderr));
    match output.status.code() {
        Some(0) => {}
        Some(77) => println!("skipped: {printed}"),
        _ => panic!("{name}: {}\n{printed}{stderr}", output.status),
    }
}

macro_rules! withstood {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            expect_withstood(stringify!($name));
        }
    )*};
}
withstood! {
    fork_in_a_new_pid_namespace
    main_leaves_by_pthread_exit
    small_alternate_stack
    stacks_of_16_kb
    unshare_after_planning
    wisdom_and_what_follows
}

/// A program that opens FFTW's library for itself passes a preloaded one by.
#[test]
fn a_program_that_opens_libfftw3f_gets_this_library_from_a_folder_of_links() {
    let Some(program) = Program::new("tests/opened.c", "opened") else {
        return;
    };
    let link = program.folder.join("libfftw3f.so.3");
    std::os::unix::fs::symlink(library(), &link).expect("a link can be made");
    let (well, printed, stderr) = program.run(&["libfftw3f.so.3"], &[]);
    assert!(well, "{stderr}");
    assert_eq!(printed.trim(), "fftw-3.3.10-ozfft, 8");
}

/// Nothing said whether a program had passed the library by.
#[test]
fn a_library_that_is_loaded_and_never_called_reports_so_when_verbose() {
    if !Path::new("/bin/true").exists() {
        return;
    }
    let logged = |verbose: &str| {
        let output = run(Command::new("/bin/true")
            .env("LD_PRELOAD", library())
            .env("OZFFT_VERBOSE", verbose));
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(logged("1").contains("ozfft-fftw: 0 plans, 0 refused, 0 executions"));
    assert_eq!(logged(""), "");
}

/// Plans of libfftw3_mpi were taken for ours: wrong numbers, then the end of the program.
#[test]
fn plans_of_fftw_s_mpi_library_are_executed_and_destroyed_by_fftw() {
    let there = |command: &str| Command::new(command).arg("--version").output().is_ok();
    let header = Path::new("/usr/include/fftw3-mpi.h").exists();
    let all = header && there("mpicc") && there("mpirun") && of_fftw("libfftw3_mpi.so.3").is_some();
    let reason = "FFTW's MPI library, its header, mpicc or mpirun is not installed";
    if available(Requirement::Mpi, all.then_some(()).ok_or(reason)).is_none() {
        return;
    }
    let folder = installed("mpi");
    let program = folder.join("program");
    let compiled = run(Command::new("mpicc")
        .args(["-std=c99", "-Wall", "-o"])
        .arg(&program)
        .arg(Path::new(CRATE).join("tests/with_mpi.c"))
        .args(["-lfftw3_mpi", "-lfftw3", "-lm"]));
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let preload = format!("LD_PRELOAD={}", library().display());
    for ranks in ["1", "2"] {
        // `env` sets it for the program alone, whatever MPI this is.
        let output = run(Command::new("mpirun")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .args(["-n", ranks, "env", &preload, "OZFFT_VERBOSE=1"])
            .arg(&program));
        let (printed, stderr) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert!(output.status.success(), "{ranks}: {printed}{stderr}");
        assert!(
            printed.contains("all is well"),
            "{ranks}: {printed}{stderr}"
        );
        assert!(
            stderr.contains("1 plans, 0 refused, 1 executions") && stderr.contains("passed on"),
            "{ranks}: {stderr}"
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}
