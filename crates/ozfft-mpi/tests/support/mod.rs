//! Tests that run on several ranks: a test starts itself under `mpirun`, and waits no longer than it says.
#![allow(dead_code)] // The crate's own tests use a part of it.

use mpi::topology::SimpleCommunicator;
use ozfft_testkit::{Requirement, available};
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Set in the environment of the ranks.
const ON_A_RANK: &str = "OZFFT_MPI_TEST_RANK";

/// No test takes as long unless ranks wait for each other for ever.
const LIMIT: Duration = Duration::from_secs(120);

/// What starts ranks, however few cores there are: Open MPI's `mpirun`, or what `OZFFT_MPIRUN` says, such as `mpirun.mpich`.
fn start_of_launch() -> Vec<String> {
    let given = std::env::var("OZFFT_MPIRUN").unwrap_or_default();
    let words: Vec<String> = given.split_whitespace().map(String::from).collect();
    match words.is_empty() {
        true => ["mpirun", "--oversubscribe", "--allow-run-as-root"]
            .map(String::from)
            .to_vec(),
        false => words,
    }
}

/// `mpirun` for so many ranks.
fn launcher(ranks: usize) -> Command {
    let words = start_of_launch();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["-n", &ranks.to_string()]);
    command
}

/// Runs a command to its end, or fails when the time is up; what it printed comes with its status.
fn finish(mut command: Command, what: &str) -> (ExitStatus, String) {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::null());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut stderr = child.stderr.take().expect("a pipe");
    let read = |pipe: &mut dyn Read| {
        let mut text = String::new();
        let _ = pipe.read_to_string(&mut text);
        text
    };
    std::thread::scope(|scope| {
        let stdout = scope.spawn(move || read(&mut stdout));
        let stderr = scope.spawn(move || read(&mut stderr));
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("its status") {
                break Some(status);
            }
            if start.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = format!(
            "{}{}",
            stdout.join().unwrap_or_default(),
            stderr.join().unwrap_or_default()
        );
        let Some(status) = status else {
            panic!("{what}: the ranks did not end within {LIMIT:?}\n{text}");
        };
        (status, text)
    })
}

/// Whether ranks can be started here.
fn can_launch() -> bool {
    let program = &start_of_launch()[0];
    let found = Command::new(program).arg("--version").output();
    available(
        Requirement::Mpi,
        found.map_err(|error| format!("{program}: {error}")),
    )
    .is_some()
}

/// Runs a test's body on so many ranks, and `judge` on what `mpirun` says afterwards. `test` is the test's full name.
pub fn on_ranks_judged(
    test: &str,
    ranks: usize,
    body: impl FnOnce(&SimpleCommunicator),
    judge: impl FnOnce(ExitStatus, &str),
) {
    if std::env::var_os(ON_A_RANK).is_some() {
        let universe = mpi::initialize().expect("MPI was not initialised before");
        body(&universe.world());
        return;
    }
    if !can_launch() {
        return;
    }
    let mut command = launcher(ranks);
    command
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(ON_A_RANK, "1");
    let (status, text) = finish(command, test);
    judge(status, &text);
}

/// Runs a test's body on so many ranks, all of which must pass.
pub fn on_ranks(test: &str, ranks: usize, body: impl FnOnce(&SimpleCommunicator)) {
    on_ranks_judged(test, ranks, body, |status, text| {
        assert!(
            status.success(),
            "{test} on {ranks} ranks: {status}\n{text}"
        );
    });
}

/// Runs a program on so many ranks; none where that cannot be done here.
pub fn program_on_ranks(
    ranks: usize,
    program: &str,
    arguments: &[&str],
) -> Option<(ExitStatus, String)> {
    if !can_launch() {
        return None;
    }
    let mut command = launcher(ranks);
    command.arg(program).args(arguments);
    Some(finish(command, &arguments.join(" ")))
}
