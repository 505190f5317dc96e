//! Which options a program documents, so that a test can say that each of them was run.

use std::collections::BTreeSet;

/// Options of every command that say what the program is, and do nothing.
const OF_ALL: [&str; 2] = ["--help", "--version"];

/// The options in a text of help: `--word` at the beginning of an entry.
pub fn documented(help: &str) -> BTreeSet<String> {
    let entry = |line: &str| -> Option<String> {
        let entry = line.trim_start();
        // `-o, --out <FILE>` as well.
        let entry = match entry.split_once(", ") {
            Some((short, rest)) if short.len() == 2 && short.starts_with('-') => rest,
            _ => entry,
        };
        let name = entry.split([' ', '=']).next()?;
        name.starts_with("--").then(|| name.to_string())
    };
    let found = help.lines().filter_map(entry);
    found
        .filter(|name| !OF_ALL.contains(&name.as_str()))
        .collect()
}

/// The subcommands in a text of help.
pub fn subcommands(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap_or_default();
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    lines
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(String::from)
        .collect()
}

/// Options of a documented set that no run has, where long and short names are one option.
pub fn not_run(documented: &BTreeSet<String>, runs: &[&[&str]]) -> Vec<String> {
    let given = |name: &&String| {
        let short = |argument: &str| argument == "-o" && name.as_str() == "--out";
        let is_it = |argument: &&str| argument.split('=').next() == Some(name) || short(argument);
        !runs.iter().any(|run| run.iter().any(&is_it))
    };
    documented.iter().filter(given).cloned().collect()
}
