//! What a profiler counted while paths ran: the table that `ncu --csv --page raw` writes, and its counts beside the paths, recognised by kernel and
//! blocks of its grid.

use super::name_of;
use crate::failure::Failure;
use ozfft_measure::inputs::read_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A launch of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub kernel: String,
    /// Of its grid.
    pub blocks: u64,
}

/// Threads of a warp: the profiler counts instructions of warps.
const WARP: f64 = 32.0;

/// Instructions and bytes of a path, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counters {
    Counted(Counts),
    MachineCode(CountsOfMachineCode),
    NotCounted(String),
}

impl Default for Counters {
    fn default() -> Counters {
        Counters::NotCounted("no file of counters was given (--counters)".into())
    }
}

impl Counters {
    /// What a profiler counted.
    pub fn counts(&self) -> Option<&Counts> {
        match self {
            Counters::Counted(counts) => Some(counts),
            Counters::MachineCode(_) | Counters::NotCounted(_) => None,
        }
    }

    /// Instructions of a point by pipe, from either source.
    pub fn pipes(&self) -> Option<&BTreeMap<String, f64>> {
        match self {
            Counters::Counted(counts) => Some(&counts.pipes_per_point),
            Counters::MachineCode(counts) => Some(&counts.pipes_per_point),
            Counters::NotCounted(_) => None,
        }
    }

    /// The same, or what was counted in the machine code of the kernel when it was compiled.
    pub fn or_machine_code(self, kernel: Option<&str>) -> Counters {
        let Counters::NotCounted(why) = &self else {
            return self;
        };
        let pipes = kernel.and_then(ozfft_kernels::instructions::of_a_point);
        match pipes {
            None => self,
            Some(pipes) => Counters::MachineCode(CountsOfMachineCode {
                not_counted: why.clone(),
                instructions_per_point: pipes.iter().map(|(_, count)| count).sum(),
                pipes_per_point: pipes.iter().map(|&(p, count)| (p.into(), count)).collect(),
            }),
        }
    }
}

/// What the machine code of a kernel has for one point of one axis; reading, quantising and writing are not among it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountsOfMachineCode {
    /// Why there are no counts of a profiler.
    pub not_counted: String,
    pub instructions_per_point: f64,
    pub pipes_per_point: BTreeMap<String, f64>,
}

/// What was counted, for one point of one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// The profiler's file.
    pub source: String,
    /// Launches that were counted.
    pub launches: usize,
    /// Kernels of the path that the file does not have.
    pub left_out: Vec<String>,
    /// Instructions of threads.
    pub instructions_per_point: Option<f64>,
    /// The same by pipe, as the profiler names pipes; some are parts of others (`fmaheavy` of `fma`).
    pub pipes_per_point: BTreeMap<String, f64>,
    pub dram_bytes_per_point: Option<f64>,
    /// Warps that were active, of those that fit a multiprocessor.
    pub achieved_occupancy: Option<f64>,
    /// Cycles in which an instruction was issued, of those in which a scheduler had warps.
    pub issue_share: Option<f64>,
}

/// A metric that is made use of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Metric {
    Instructions,
    Pipe(String),
    DramBytes,
    Occupancy,
    Issue,
}

impl Metric {
    fn of(column: &str) -> Option<Metric> {
        let bare = column
            .strip_prefix("smsp__")
            .or(column.strip_prefix("sm__"));
        match (column, bare) {
            (_, Some("inst_executed.sum")) => Some(Metric::Instructions),
            // Reads and writes add up.
            ("dram__bytes.sum" | "dram__bytes_read.sum" | "dram__bytes_write.sum", _) => {
                Some(Metric::DramBytes)
            }
            (_, Some("warps_active.avg.pct_of_peak_sustained_active")) => Some(Metric::Occupancy),
            (_, Some("issue_active.avg.pct_of_peak_sustained_active")) => Some(Metric::Issue),
            (_, Some(bare)) => {
                let pipe = bare.strip_prefix("inst_executed_pipe_")?;
                pipe.strip_suffix(".sum")
                    .map(|pipe| Metric::Pipe(pipe.into()))
            }
            _ => None,
        }
    }

    /// What one of the unit is.
    fn factor(&self, unit: &str) -> Option<f64> {
        match (self, unit) {
            (Metric::Instructions | Metric::Pipe(_), "inst" | "") | (Metric::DramBytes, "byte") => {
                Some(1.0)
            }
            (Metric::DramBytes, "Kbyte") => Some(1e3),
            (Metric::DramBytes, "Mbyte") => Some(1e6),
            (Metric::DramBytes, "Gbyte") => Some(1e9),
            (Metric::DramBytes, "Tbyte") => Some(1e12),
            (Metric::Occupancy | Metric::Issue, "%") => Some(0.01),
            _ => None,
        }
    }

    fn is_share(&self) -> bool {
        matches!(self, Metric::Occupancy | Metric::Issue)
    }
}

/// One launch.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    kernel: String,
    blocks: u64,
    values: BTreeMap<Metric, f64>,
}

/// A profiler's table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    source: PathBuf,
    rows: Vec<Row>,
}

impl Table {
    pub fn read(path: &Path) -> Result<Table, Failure> {
        let text = read_text(path)?;
        let rows = parse(&text).map_err(Failure::content(path))?;
        Ok(Table {
            source: path.to_path_buf(),
            rows,
        })
    }

    /// The counts of a path: of every one of its launches the mean of what the file has, for one point of one axis.
    pub fn of(&self, launches: &[Launch], points_and_axes: f64) -> Counters {
        if launches.is_empty() {
            return Counters::NotCounted("its kernels are not known by name".into());
        }
        let mut totals: BTreeMap<&Metric, f64> = BTreeMap::new();
        let (mut counted, mut found, mut left_out) = (0, 0.0, Vec::new());
        for launch in launches {
            let of_launch =
                |row: &&Row| (&row.kernel, row.blocks) == (&launch.kernel, launch.blocks);
            let rows: Vec<&Row> = self.rows.iter().filter(of_launch).collect();
            if rows.is_empty() {
                left_out.push(format!("{}, {} blocks", launch.kernel, launch.blocks));
                continue;
            }
            counted += rows.len();
            found += 1.0;
            for row in &rows {
                for (metric, value) in &row.values {
                    *totals.entry(metric).or_insert(0.0) += value / rows.len() as f64;
                }
            }
        }
        if counted == 0 {
            return Counters::NotCounted(format!(
                "{} has no launch of {}",
                self.source.display(),
                left_out.join(" or ")
            ));
        }
        left_out.dedup();
        let total = |metric: &Metric| {
            let value = totals.get(metric)?;
            Some(match metric {
                Metric::DramBytes => value / points_and_axes,
                metric if metric.is_share() => value / found,
                _ => WARP * value / points_and_axes,
            })
        };
        let pipes = totals.keys().filter_map(|metric| match metric {
            Metric::Pipe(name) => Some((name.clone(), total(metric)?)),
            _ => None,
        });
        Counters::Counted(Counts {
            source: name_of(&self.source),
            launches: counted,
            left_out,
            instructions_per_point: total(&Metric::Instructions),
            pipes_per_point: pipes.collect(),
            dram_bytes_per_point: total(&Metric::DramBytes),
            achieved_occupancy: total(&Metric::Occupancy),
            issue_share: total(&Metric::Issue),
        })
    }
}

/// The fields of a line, all of them in quotation marks, a doubled mark for one within.
fn fields(line: &str) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    let mut rest = line.trim_end();
    loop {
        let Some(mut quoted) = rest.strip_prefix('"') else {
            return Err(format!("a field in quotation marks, not {:?}", shown(rest)));
        };
        let mut field = String::new();
        loop {
            let Some((before, after)) = quoted.split_once('"') else {
                return Err("the quotation mark that ends a field".into());
            };
            field.push_str(before);
            match after.strip_prefix('"') {
                Some(more) => {
                    field.push('"');
                    quoted = more;
                }
                None => {
                    rest = after;
                    break;
                }
            }
        }
        fields.push(field);
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None if rest.is_empty() => return Ok(fields),
            None => return Err(format!("a comma, not {:?}", shown(rest))),
        }
    }
}

/// The beginning of something that may be long.
fn shown(text: &str) -> String {
    text.chars().take(24).collect()
}

/// A function's own name: no result, no namespaces, no parameters.
fn plain_name(kernel: &str) -> &str {
    let name = kernel.split(['(', '<']).next().unwrap_or(kernel).trim();
    name.rsplit([' ', ':']).next().unwrap_or(name)
}

/// The blocks of `(262144, 1, 1)`.
fn blocks(grid: &str) -> Option<u64> {
    let inner = grid.trim().trim_start_matches('(').trim_end_matches(')');
    let parts: Option<Vec<u64>> = inner
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    parts.map(|parts| parts.iter().product())
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = (1..).zip(text.lines());
    // The profiler and the program say other things first.
    let heading = lines.find_map(|(_, line)| {
        let heading = fields(line).ok()?;
        heading
            .iter()
            .any(|name| name == "Kernel Name")
            .then_some(heading)
    });
    let Some(heading) = heading else {
        return Err(
            "it has no heading with \"Kernel Name\"; make it with ncu --csv --page raw --log-file FILE".into(),
        );
    };
    let place = |name: &str| {
        let place = heading.iter().position(|column| column == name);
        place.ok_or_else(|| format!("it has no column {name:?}"))
    };
    let (kernel, grid) = (place("Kernel Name")?, place("Grid Size")?);
    let metrics: Vec<(usize, Metric)> = heading
        .iter()
        .enumerate()
        .filter_map(|(column, name)| Some((column, Metric::of(name)?)))
        .collect();
    if metrics.is_empty() {
        return Err("it has no metric that is made use of; ask ncu for --metrics sm__inst_executed.sum or others".into());
    }
    let mut factors: Option<Vec<f64>> = None;
    let mut rows = Vec::new();
    for (number, line) in lines {
        if line.trim().is_empty() || line.starts_with("==") {
            continue;
        }
        let row = fields(line).map_err(|wanted| format!("line {number}: {wanted} is expected"))?;
        if row.len() != heading.len() {
            let (found, wanted) = (row.len(), heading.len());
            return Err(format!(
                "line {number} has {found} columns, and the heading {wanted}"
            ));
        }
        let wrong = |column: usize, what: &str| {
            let (name, value) = (&heading[column], &row[column]);
            format!("line {number}, column {name:?}: {value:?} is {what}")
        };
        // Units come first, beside a kernel without a name.
        let Some(factors) = &factors else {
            if !row[kernel].is_empty() {
                return Err(format!(
                    "line {number}: the units of the columns are expected"
                ));
            }
            let known = metrics.iter().map(|(column, metric)| {
                let factor = metric.factor(&row[*column]);
                factor.ok_or_else(|| wrong(*column, "no unit for it; give ncu --print-units base"))
            });
            factors = Some(known.collect::<Result<_, _>>()?);
            continue;
        };
        let mut values = BTreeMap::new();
        for ((column, metric), factor) in metrics.iter().zip(factors) {
            let digits = row[*column].replace(',', "");
            let value = digits.parse().ok().filter(|value: &f64| value.is_finite());
            let value = value.ok_or_else(|| wrong(*column, "no number"))?;
            *values.entry(metric.clone()).or_insert(0.0) += factor * value;
        }
        rows.push(Row {
            kernel: plain_name(&row[kernel]).into(),
            blocks: blocks(&row[grid]).ok_or_else(|| wrong(grid, "no size of a grid"))?,
            values,
        });
    }
    if rows.is_empty() {
        return Err("it has a heading and no launches".into());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"==PROF== Connected to process 7
some words of the program
"ID","Kernel Name","Block Size","Grid Size","dram__bytes.sum","sm__inst_executed.sum","sm__inst_executed_pipe_alu.sum","sm__warps_active.avg.pct_of_peak_sustained_active","other"
"","","","","Mbyte","inst","inst","%","cycle""#;

    fn table(rows: &str) -> Result<Vec<Row>, String> {
        parse(&format!("{HEAD}\n{rows}\n"))
    }

    fn counted(rows: &str, launches: &[(&str, u64)], points: f64) -> Counters {
        let launches: Vec<Launch> = launches
            .iter()
            .map(|&(kernel, blocks)| Launch {
                kernel: kernel.into(),
                blocks,
            })
            .collect();
        let table = Table {
            source: "counters.csv".into(),
            rows: table(rows).expect("a table"),
        };
        table.of(&launches, points)
    }

    const ROWS: &str = r#""0","residues_kulisch32(Tasks)","(256, 1, 1)","(16, 1, 1)","3.5","1,024","512","24","1"
"1","residues_kulisch32(Tasks)","(256, 1, 1)","(16, 1, 1)","4.5","3,072","512","26","1"
"2","residues_kulisch32(Tasks)","(256, 1, 1)","(8, 1, 1)","100","9","9","1","1"
==PROF== Disconnected
"3","void other::largest<int>(int*)","(256, 1, 1)","(2, 2, 1)","0.5","32","0","50","1""#;

    #[test]
    fn counts_are_means_over_launches_of_the_same_grid_for_a_point() {
        // Two launches of 16 blocks: 4 MB and 2048 instructions of a warp in the mean; 65536 points.
        let counters = counted(ROWS, &[("residues_kulisch32", 16)], 65_536.0);
        let counts = counters.counts().expect("counts");
        assert_eq!(counts.launches, 2);
        assert_eq!(counts.instructions_per_point, Some(1.0));
        assert_eq!(
            counts.pipes_per_point,
            BTreeMap::from([("alu".into(), 0.25)])
        );
        assert_eq!(counts.dram_bytes_per_point, Some(4e6 / 65_536.0));
        assert_eq!(counts.achieved_occupancy, Some(0.25));
        assert_eq!(counts.issue_share, None);
        assert!(counts.left_out.is_empty());
    }

    #[test]
    fn several_kernels_add_up_and_a_missing_one_is_named() {
        let launches = [("residues_kulisch32", 16), ("largest", 4), ("nobody", 1)];
        let counters = counted(ROWS, &launches, 65_536.0);
        let counts = counters.counts().expect("counts");
        assert_eq!(counts.launches, 3);
        assert_eq!(counts.instructions_per_point, Some(2080.0 / 2048.0));
        assert_eq!(counts.achieved_occupancy, Some(0.375));
        assert_eq!(counts.left_out, ["nobody, 1 blocks"]);
        match counted(ROWS, &[("nobody", 1)], 1.0) {
            Counters::NotCounted(why) => {
                assert!(why.contains("counters.csv has no launch of nobody"))
            }
            other => panic!("{other:?}"),
        }
        assert!(counted(ROWS, &[], 1.0).counts().is_none());
    }

    #[test]
    fn malformed_tables_are_rejected_with_line_and_column() {
        let rejected = |rows: &str| table(rows).expect_err("rejected");
        assert!(
            parse("garbage\nmore")
                .expect_err("rejected")
                .contains("Kernel Name")
        );
        assert!(rejected("").contains("no launches"));
        let row =
            |bytes: &str, grid: &str| format!(r#""0","k","1","{grid}","{bytes}","1","1","1","1""#);
        let text = rejected(&row("n/a", "(1, 1, 1)"));
        assert!(
            text.contains("line 5") && text.contains("dram__bytes.sum") && text.contains("n/a"),
            "{text}"
        );
        let text = rejected(&row("1", "many"));
        assert!(
            text.contains("line 5") && text.contains("Grid Size"),
            "{text}"
        );
        assert!(rejected("words of the program").contains("line 5"));
        assert!(rejected(r#""0","k""#).contains("2 columns"));
        assert!(rejected(r#""0","k"#).contains("quotation mark"));
    }

    #[test]
    fn units_must_be_there_and_known() {
        let with = |unit: &str| parse(&HEAD.replace("Mbyte", unit)).expect_err("rejected");
        let text = with("furlong");
        assert!(
            text.contains("line 4") && text.contains("dram__bytes.sum") && text.contains("furlong"),
            "{text}"
        );
        let heading: Vec<&str> = HEAD.lines().take(3).collect();
        let text = parse(&format!("{}\n{ROWS}", heading.join("\n"))).expect_err("rejected");
        assert!(text.contains("line 4") && text.contains("units"), "{text}");
        let nothing = HEAD.replace("sum", "max").replace("pct_of", "part_of");
        assert!(parse(&nothing).expect_err("rejected").contains("no metric"));
    }

    #[test]
    fn names_of_kernels_and_quotation_marks_are_read() {
        assert_eq!(plain_name("void ns::kernel<(int)3>(Tasks)"), "kernel");
        assert_eq!(plain_name("residues_garner"), "residues_garner");
        assert!(fields(r#""a","b""c",""#).is_err());
        assert_eq!(
            fields(r#""a","b""c","""#),
            Ok(vec!["a".into(), "b\"c".into(), String::new()])
        );
        assert_eq!(blocks("(3, 2, 1)"), Some(6));
    }
}
