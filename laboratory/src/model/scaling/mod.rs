//! `ozfft-lab model scaling`: time of distributed transforms on many ranks, from measured local times and figures of networks.

mod check;
mod events;
mod formula;
mod local;
mod network;
mod published;

use super::show::{Form, table, write_between_markers};
use crate::failure::Failure;
use clap::Args;
use formula::{Binding, Grid, Time, Transform, transform};
use local::{LocalTimes, local_times};
use network::{Local, NETWORKS, Network};
use ozfft_measure::report::{say, say_json, write_text};
use roofline::{Cell, Mode, Table};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `ozfft-lab model scaling`.
#[derive(Debug, Args)]
pub struct ScalingOptions {
    /// Networks by name, or files of your own. Left out: all with ranks whose lines were measured
    #[arg(long, value_name = "NAME|FILE", value_delimiter = ',')]
    network: Vec<String>,
    /// Points of each of the three axes
    #[arg(long, value_delimiter = ',', default_value = "1024,2048,4096,8192,16384", value_parser = clap::value_parser!(u64).range(2..=1 << 20))]
    n: Vec<u64>,
    /// Ranks or GPUs; powers of two
    #[arg(long, value_delimiter = ',', default_value = "8,64,512,4096,32768,65536", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    ranks: Vec<u64>,
    /// Output in natural order: every exchange is made again, backwards. So for slabs; pencils of `ozfft-mpi` go back in one exchange, so it is an upper bound
    #[arg(long)]
    natural: bool,
    /// Compare with a record of runs on ranks of one machine instead
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Compare with times that others published instead
    #[arg(long, conflicts_with = "check")]
    published: bool,
    /// Write JSON, an object a line
    #[arg(long)]
    json: bool,
    /// Write comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Draw the times into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Replace what is between the markers of this file, such as laboratory/docs/scaling.md
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "published", "json", "csv"])]
    out: Option<PathBuf>,
}

/// Bytes a number of exchanges, the accuracy that has so many digits, and 8 for double.
pub const WORDS: [(u32, &str); 5] = [
    (8, "double"),
    (7, "1e-12"),
    (6, "1e-10"),
    (5, "1e-7"),
    (4, "1e-5"),
];

/// Arrays of a rank: input, output and two for the exchange.
const ARRAYS: f64 = 4.0;

/// One transform on so many ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub n: usize,
    pub ranks: usize,
    /// Slabs, where there are no more ranks than planes.
    pub slabs: Option<Time>,
    /// The fastest grid of pencils with two or more rows.
    pub pencils: Option<(Grid, Time)>,
    /// The faster of them by bytes a number, as `WORDS`.
    pub words: [Time; 5],
}

impl Point {
    /// The faster division.
    pub fn best(&self) -> Time {
        self.words[0]
    }
}

/// All points of a network: those that do not fit into its ranks' memory or number are none.
pub struct Scaling {
    pub network: Network,
    pub points: Vec<Point>,
    sources: Vec<String>,
}

fn time(
    network: &Network,
    local: LocalTimes,
    grid: Grid,
    (n, ranks): (usize, usize),
    (times, word): (usize, u32),
) -> Time {
    let asked = Transform {
        points: (n as f64).powi(3) / ranks as f64,
        local: local.transform,
        copy: local.copy,
        bytes: (network.bytes, network.bytes * f64::from(word) / 8.0),
    };
    let groups = grid.groups(network.ranks().0);
    transform(&network.links(), &groups, &asked, times)
}

/// None where it does not fit.
fn point(
    network: &Network,
    local: LocalTimes,
    (n, ranks): (usize, usize),
    times: usize,
) -> Option<Point> {
    let bytes = ARRAYS * network.bytes * (n as f64).powi(3) / ranks as f64;
    let fits = network.memory_bytes().is_none_or(|memory| bytes <= memory);
    if !fits || ranks > network.ranks().1 {
        return None;
    }
    let on = |grid, word| time(network, local, grid, (n, ranks), (times, word));
    let slabs = Grid {
        rows: 1,
        columns: ranks,
    };
    let mut best: Option<Grid> = None;
    let mut found = None;
    let mut pencils: Option<(Grid, Time)> = None;
    if ranks <= n {
        let time = on(slabs, 8);
        (best, found) = (Some(slabs), Some(time));
    }
    let mut columns = 2;
    while columns < ranks {
        let grid = Grid {
            rows: ranks / columns,
            columns,
        };
        if columns <= n && grid.rows <= n {
            let time = on(grid, 8);
            if pencils.is_none_or(|(_, other)| time.total() < other.total()) {
                pencils = Some((grid, time));
            }
        }
        columns *= 2;
    }
    if let Some((grid, time)) = pencils
        && found.is_none_or(|slabs: Time| time.total() < slabs.total())
    {
        best = Some(grid);
    }
    let best = best?;
    let mut words = [Time::default(); 5];
    for (time, (word, _)) in words.iter_mut().zip(WORDS) {
        *time = on(best, word);
    }
    Some(Point {
        n,
        ranks,
        slabs: found,
        pencils,
        words,
    })
}

/// Every length on every number of ranks, which are powers of two.
pub fn scaling(
    network: Network,
    lengths: &[usize],
    ranks: &[usize],
    natural: bool,
) -> Result<Scaling, Failure> {
    if let Some(wrong) = ranks.iter().find(|ranks| !ranks.is_power_of_two()) {
        return Err(Failure::Usage(format!(
            "{wrong} ranks are not a power of two; the model divides by powers of two alone"
        )));
    }
    let times = 1 + usize::from(natural);
    let (mut points, mut sources) = (Vec::new(), Vec::new());
    for &n in lengths {
        let (local, source) = local_times(&network, n)?;
        sources.push(format!("{n}: {source}"));
        for &ranks in ranks {
            points.extend(point(&network, local, (n, ranks), times));
        }
    }
    Ok(Scaling {
        network,
        points,
        sources,
    })
}

/// Those of the program with ranks whose lines were measured.
fn measured_networks() -> Result<Vec<Network>, Failure> {
    let networks = NETWORKS.iter().map(|(name, _)| Network::named(name));
    let mut networks = networks.collect::<Result<Vec<Network>, Failure>>()?;
    networks.retain(|network| network.local != Local::Memory);
    Ok(networks)
}

/// All of them as the figure has them.
#[cfg(test)]
pub fn usual() -> Result<Vec<Scaling>, Failure> {
    let lengths = [1024, 2048, 4096, 8192, 16384];
    let networks = measured_networks()?.into_iter();
    networks
        .map(|network| scaling(network, &lengths, &all_ranks(), false))
        .collect()
}

/// Powers of two from 8 to 65,536.
fn all_ranks() -> Vec<usize> {
    (3..=16).map(|power| 1 << power).collect()
}

/// The least number of ranks of a size for which something holds from there on.
pub fn from_ranks(points: &[Point], n: usize, holds: impl Fn(&Point) -> bool) -> Option<usize> {
    let mut of_size: Vec<&Point> = points.iter().filter(|point| point.n == n).collect();
    of_size.sort_by_key(|point| point.ranks);
    let failing = of_size.iter().rposition(|point| !holds(point));
    let first = failing.map_or(0, |place| place + 1);
    of_size.get(first).map(|point| point.ranks)
}

/// Pencils are faster than slabs, or there are more ranks than planes.
pub fn pencils_win(point: &Point) -> bool {
    match (&point.slabs, &point.pencils) {
        (Some(slabs), Some((_, pencils))) => pencils.total() < slabs.total(),
        (None, Some(_)) => true,
        _ => false,
    }
}

/// The exchange takes longer than everything else.
pub fn network_binds(point: &Point) -> bool {
    point.best().binding() != Binding::Local
}

#[derive(Serialize)]
struct Line<'a> {
    network: &'a str,
    n: usize,
    ranks: usize,
    slabs_seconds: Option<f64>,
    pencils_seconds: Option<f64>,
    pencils_grid: Option<[usize; 2]>,
    /// Of the faster division.
    seconds: f64,
    local_seconds: f64,
    copies_seconds: f64,
    exchange_seconds: f64,
    overlapped_seconds: f64,
    binding: &'static str,
    /// By bytes a number: 8, 7, 6, 5, 4.
    seconds_by_word: Vec<f64>,
}

fn lines(scaling: &Scaling) -> impl Iterator<Item = Line<'_>> {
    scaling.points.iter().map(|point| {
        let best = point.best();
        Line {
            network: scaling.network.name.as_str(),
            n: point.n,
            ranks: point.ranks,
            slabs_seconds: point.slabs.map(|time| time.total()),
            pencils_seconds: point.pencils.map(|(_, time)| time.total()),
            pencils_grid: point.pencils.map(|(grid, _)| [grid.rows, grid.columns]),
            seconds: best.total(),
            local_seconds: best.local,
            copies_seconds: best.copies,
            exchange_seconds: best.exchange.total,
            overlapped_seconds: best.overlapped(),
            binding: best.binding().word(),
            seconds_by_word: point.words.iter().map(Time::total).collect(),
        }
    })
}

fn times_table(scaling: &Scaling, natural: bool) -> Table {
    let network = &scaling.network;
    let mut columns = vec!["n", "ranks", "slabs", "pencils", "grid", "binds", "local"];
    let heads = WORDS.map(|(word, accuracy)| format!("{word} bytes ({accuracy})"));
    columns.extend(heads.iter().map(String::as_str));
    let mut table = Table::new(
        "scaling",
        format!(
            "{}: ms of a transform of n³ complex numbers, MODELLED",
            network.title
        ),
        Mode::Corrected,
        &columns,
    );
    let ms = |time: &Time| Cell::number(1e3 * time.total(), 3);
    let none = || Cell::text("-");
    for point in &scaling.points {
        let best = point.best();
        let mut row = vec![
            Cell::count(point.n as f64),
            Cell::count(point.ranks as f64),
            point.slabs.as_ref().map_or_else(none, ms),
            point
                .pencils
                .as_ref()
                .map_or_else(none, |(_, time)| ms(time)),
            point.pencils.map_or_else(none, |(grid, _)| {
                Cell::text(format!("{}x{}", grid.rows, grid.columns))
            }),
            Cell::text(best.binding().word()),
            Cell::number(1e3 * (best.local + best.copies), 3),
        ];
        row.extend(point.words.iter().map(ms));
        table.rows.push(row);
    }
    table.assume(
        scaling
            .sources
            .iter()
            .map(|source| format!("local times, {source}")),
    );
    let order = match natural {
        true => {
            "input and output in natural order: every exchange is made again backwards, for pencils an upper bound"
        }
        false => "output stays divided as the last axis leaves it",
    };
    table.assume([
        order.into(),
        "nothing overlaps; full bisection; no kernel launches; columns of bytes are of the faster division, with the local time of double".into(),
        format!("a rank holds {ARRAYS} arrays; what does not fit into its memory is left out"),
    ]);
    table
}

fn crossover_table(all: &[Scaling]) -> Table {
    let mut table = Table::new(
        "scaling-crossovers",
        "The least number of ranks from which on pencils beat slabs, and the network binds",
        Mode::Corrected,
        &[
            "network",
            "n",
            "pencils beat slabs from",
            "the network binds from",
            "largest gain of 5 bytes",
            "on ranks",
        ],
    );
    for scaling in all {
        let mut lengths: Vec<usize> = scaling.points.iter().map(|point| point.n).collect();
        lengths.dedup();
        for n in lengths {
            let ranks = |holds: fn(&Point) -> bool| {
                let found = from_ranks(&scaling.points, n, holds);
                found.map_or_else(|| Cell::text("never"), |ranks| Cell::count(ranks as f64))
            };
            let gain = |point: &Point| point.best().total() / point.words[3].total();
            let of_size = scaling.points.iter().filter(|point| point.n == n);
            let most = of_size.max_by(|a, b| gain(a).total_cmp(&gain(b)));
            table.rows.push(vec![
                Cell::text(&scaling.network.name),
                Cell::count(n as f64),
                ranks(pencils_win),
                ranks(network_binds),
                Cell::known(most.map(gain), 3),
                most.map_or_else(|| Cell::text("-"), |point| Cell::count(point.ranks as f64)),
            ]);
        }
    }
    table
}

fn published_table() -> Result<Table, Failure> {
    let mut table = Table::new(
        "scaling-published",
        "Published times beside the model of those machines, ms",
        Mode::Corrected,
        &[
            "library",
            "n",
            "ranks",
            "published",
            "model",
            "model over published",
            "conditions",
            "source",
        ],
    );
    for row in published::published()? {
        let model = match &row.network {
            Some(name) => {
                let network = Network::named(name)?;
                let (local, _) = local_times(&network, row.n)?;
                point(&network, local, (row.n, row.ranks), 1)
            }
            None => None,
        };
        let model = model.and_then(|point| point.slabs);
        let model = model.map(|time| time.total());
        let ratio = match model {
            Some(_) if row.calibrates => Cell::text("a figure of the file is derived from it"),
            Some(model) => Cell::number(model / row.seconds, 3),
            None => Cell::text("-"),
        };
        let source = match &row.derived {
            Some(derived) => format!("{}; {derived}", row.source),
            None => row.source.clone(),
        };
        table.rows.push(vec![
            Cell::text(&row.library),
            Cell::count(row.n as f64),
            Cell::count(row.ranks as f64),
            Cell::number(1e3 * row.seconds, 3),
            model.map_or_else(|| Cell::text("-"), |model| Cell::number(1e3 * model, 3)),
            ratio,
            Cell::text(&row.conditions),
            Cell::text(source),
        ]);
    }
    table.assume([
        "local times of the model are here three passes through memory, one for each axis: cuFFT's, not ozfft's".into(),
        "slabs, with the output left in transposed order".into(),
    ]);
    Ok(table)
}

fn figures_table(networks: &[Network]) -> Table {
    let mut table = Table::new(
        "scaling-networks",
        "Figures of networks, for each rank",
        Mode::Corrected,
        &["network", "link", "ranks", "figure", "value", "source"],
    );
    for network in networks {
        for level in &network.levels {
            for (name, figure) in [
                ("bandwidth, each way", &level.bandwidth),
                ("latency", &level.latency),
                ("gap between messages", &level.gap),
            ] {
                let source = match &figure.derived {
                    Some(derived) => format!("{}; {derived}", figure.source),
                    None => figure.source.clone(),
                };
                table.rows.push(vec![
                    Cell::text(&network.name),
                    Cell::text(&level.title),
                    Cell::count(level.ranks as f64),
                    Cell::text(name),
                    Cell::text(format!("{} {}", figure.value, figure.unit)),
                    Cell::text(source),
                ]);
            }
        }
    }
    table
}

fn sizes(numbers: &[u64]) -> Vec<usize> {
    numbers.iter().map(|&number| number as usize).collect()
}

/// Runs the command, with a drawing of what it finds.
pub fn run(
    options: &ScalingOptions,
    draw: impl Fn(&[Scaling]) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let form = Form::of(options.json, options.csv);
    if let Some(path) = &options.check {
        return table(&check::table(&check::Record::read(path)?), form);
    }
    if options.published {
        return table(&published_table()?, form);
    }
    let networks = match options.network.is_empty() {
        true => measured_networks()?,
        false => {
            let named = options.network.iter().map(|name| Network::named(name));
            named.collect::<Result<Vec<Network>, Failure>>()?
        }
    };
    let (lengths, ranks) = (sizes(&options.n), sizes(&options.ranks));
    let of = |ranks: &[usize]| -> Result<Vec<Scaling>, Failure> {
        let networks = networks.iter().cloned();
        networks
            .map(|network| scaling(network, &lengths, ranks, options.natural))
            .collect()
    };
    let all = of(&ranks)?;
    if let Some(path) = &options.plot {
        write_text(path, &draw(&of(&all_ranks())?)?)?;
    }
    let crossovers = crossover_table(&of(&all_ranks())?);
    if let Some(path) = &options.out {
        return write_document(path, &all, &crossovers, options.natural);
    }
    for scaling in &all {
        if options.json {
            for line in lines(scaling) {
                say_json(&line)?;
            }
        } else {
            table(&times_table(scaling, options.natural), form)?;
            say("")?;
        }
    }
    match form {
        Form::Text => table(&crossovers, form),
        _ => Ok(()),
    }
}

fn write_document(
    path: &std::path::Path,
    all: &[Scaling],
    crossovers: &Table,
    natural: bool,
) -> Result<(), Failure> {
    let networks: Vec<Network> = all.iter().map(|scaling| scaling.network.clone()).collect();
    let record = serde_json::from_str(local::RANKS)?;
    let mut tables = vec![crossovers.markdown()];
    let times = all.iter().map(|scaling| times_table(scaling, natural));
    tables.extend(times.map(|table| table.markdown()));
    tables.push(published_table()?.markdown());
    tables.push(check::table(&record).markdown());
    tables.push(figures_table(&networks).markdown());
    write_between_markers(path, &tables.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_lose_to_pencils_when_messages_are_many_and_fewer_bytes_never_cost() {
        for scaling in usual().expect("networks") {
            let (node, all) = scaling.network.ranks();
            for point in &scaling.points {
                assert!(point.ranks <= all);
                let totals = point.words.map(|time| time.total());
                assert!(totals.windows(2).all(|two| two[1] <= two[0]), "{point:?}");
                let best = point.best();
                assert!(
                    best.overlapped() <= best.total() && 2.0 * best.overlapped() >= best.total()
                );
                // Within a node one exchange through one link beats two.
                if point.ranks <= node.min(point.n) {
                    assert!(!pencils_win(point), "{} {point:?}", scaling.network.name);
                }
                assert!(point.ranks <= point.n || (pencils_win(point) && point.slabs.is_none()));
            }
        }
    }

    #[test]
    fn one_exchange_of_slabs_by_hand() {
        // 2048³ in single precision on 8 GPUs of Selene: 1.07e9 points a GPU, 7/8 of 8.6 GB through 300 GB/s, five passes through 2.039 TB/s.
        let network = Network::named("selene").expect("a network");
        let (local, _) = local_times(&network, 2048).expect("times");
        let found = point(&network, local, (2048, 8), 1).expect("it fits");
        let points = 2048f64.powi(3) / 8.0;
        let expected = points * 8.0 * (7.0 / 8.0 / 300e9 + 5.0 * 2.0 / 2039e9);
        let ratio = found.slabs.expect("slabs").total() / expected;
        assert!((1.0..1.001).contains(&ratio), "{ratio}");
        // Twice the exchange, the same lines.
        let natural = point(&network, local, (2048, 8), 2).expect("it fits");
        let (one, two) = (found.best(), natural.best());
        assert_eq!(
            (one.local, 2.0 * one.exchange.total),
            (two.local, two.exchange.total)
        );
        assert_eq!(point(&network, local, (16384, 8), 1), None);
    }

    #[test]
    fn published_times_are_near_the_model_of_their_machines() {
        let mut checked = 0;
        for row in published::published().expect("times") {
            assert!(!row.source.is_empty() && row.seconds > 0.0);
            let Some(name) = &row.network else { continue };
            let network = Network::named(name).expect("a network");
            let (local, _) = local_times(&network, row.n).expect("times");
            let found = point(&network, local, (row.n, row.ranks), 1);
            let slabs = found.expect("it fits").slabs.expect("slabs");
            let ratio = slabs.total() / row.seconds;
            assert!((0.7..1.1).contains(&ratio), "{row:?}: {ratio}");
            assert!(!row.calibrates || (0.99..1.01).contains(&ratio), "{ratio}");
            checked += usize::from(!row.calibrates);
        }
        assert_eq!(checked, 2);
    }

    #[test]
    fn ranks_that_are_no_power_of_two_are_told_of() {
        let network = Network::named("h200-ndr").expect("a network");
        let error = scaling(network, &[1024], &[12], false)
            .err()
            .expect("an error");
        assert!(error.to_string().contains("power of two"), "{error}");
    }
}
