//! Numbers of records that are tables of text.

type Found = Result<f64, String>;

/// Tables of `bluestein_ntt`, by the machine.
const BLUESTEIN: [(&str, &str); 2] = [
    (
        "xeon",
        include_str!("../../../benchmarks/records/2026-11-18-idle-bluestein-ntt.txt"),
    ),
    (
        "h200",
        include_str!("../../../benchmarks/records/2026-11-18-h200-bluestein-ntt.txt"),
    ),
];
/// What `residue_kinds` printed.
const KINDS: &str = include_str!("../../../benchmarks/records/2026-11-18-h200-residue-kinds.txt");
/// What `last_digits` printed.
const LAST_DIGITS: &str =
    include_str!("../../../benchmarks/records/2026-11-18-h200-last-digits.txt");

/// The least or the most of values.
pub fn end(values: Vec<f64>, which: &str) -> Found {
    let found = match which {
        "least" => values.into_iter().min_by(f64::total_cmp),
        "most" => values.into_iter().max_by(f64::total_cmp),
        _ => return Err(format!("{which} is neither least nor most")),
    };
    found.ok_or_else(|| "the record has no such values".into())
}

fn parsed(word: &str) -> Found {
    word.parse()
        .map_err(|_| format!("{word:?} is no number in the record"))
}

/// A column of one of the tables of `bluestein_ntt`.
pub fn bluestein(machine: &str, engine: &str, n: &str, field: &str) -> Found {
    let table = BLUESTEIN.iter().find(|(name, _)| *name == machine);
    let (_, table) = table.ok_or_else(|| format!("{machine} has no such table"))?;
    let mut rows = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|row| row.len() == 7 && row[0] == n && row[1] == engine);
    let row = row.ok_or_else(|| format!("{engine} was not measured on {n} points"))?;
    let column = match field {
        "l2" => 2,
        "us" => 5,
        "ratio" => 6,
        _ => return Err(format!("the table has no {field}")),
    };
    parsed(row[column])
}

/// Times with adaptive moduli over those with all of them on the H200, of all accuracies.
pub fn adaptive_time(which: &str) -> Found {
    let lines = KINDS
        .lines()
        .filter(|line| line.starts_with("adaptive, "))
        .filter_map(|line| line.split(" ms, ").nth(1)?.split(" times ").next());
    let times: Result<Vec<f64>, String> = lines.map(parsed).collect();
    end(times?, which)
}

/// The most digests of final states that one program has with a library, however it is run.
pub fn digests(library: &str) -> Found {
    let lines = LAST_DIGITS.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let all = words.next() == Some(library) && words.next() == Some("all");
        words.next().filter(|_| all)
    });
    let counts: Result<Vec<f64>, String> = lines.map(parsed).collect();
    end(counts?, "most")
}

/// Programs that `last_digits` ran.
pub fn programs() -> Found {
    let heads = LAST_DIGITS
        .lines()
        .filter(|line| line.starts_with("library "));
    Ok(heads.count() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        assert_eq!(adaptive_time("least"), Ok(1.116));
        assert_eq!(adaptive_time("most"), Ok(1.442));
        assert_eq!(digests("ozfft"), Ok(1.0));
        assert!(digests("fftw").expect("FFTW ran") > 1.0);
        assert!(programs().expect("programs") >= 3.0);
        assert!(end(Vec::new(), "most").is_err() && end(vec![1.0], "middle").is_err());
        assert!(digests("none").is_err());
    }
}
