//! The way of an array through a transform: which division every axis is transformed in, and the exchanges between them.
//!
//! The order of the axes is that of one process, whatever the process grid, because it decides about the bits. Divisions do not, so
//! they are chosen for few bytes.

use crate::division::Division;
use crate::index_box::IndexBox;

/// A step of a distributed transform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Lines along an axis, number `number` in the order of axes; elements before and after.
    Axis {
        number: usize,
        axis: usize,
        before: Division,
        after: Division,
    },
    /// Every rank gets what it holds in another division.
    Exchange {
        from: Division,
        to: Division,
        /// The elements are complex.
        complex: bool,
    },
}

/// The array before and after one of the axes.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) axis: usize,
    pub(crate) shape_before: Vec<usize>,
    pub(crate) shape_after: Vec<usize>,
    /// Its elements are complex before and after the axis.
    pub(crate) complex: (bool, bool),
}

/// Where an array is to begin or to end.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// In this division.
    Fixed(Division),
    /// Wherever it costs least.
    Free,
}

/// All ways to give the numbers of a grid to different dimensions, in order of preference: earlier dimensions first.
fn assignments(dimensions: usize, count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = |chosen: &Vec<usize>| {
            let free = (0..dimensions).filter(|dimension| !chosen.contains(dimension));
            let longer = free.map(|dimension| [chosen.as_slice(), &[dimension]].concat());
            longer.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The part of an array, in millionths, that leaves its rank between two divisions by the same grid; all of it from or to
/// boxes that were given.
fn moved(from: &Division, to: &Division) -> u64 {
    const ALL: u64 = 1_000_000;
    match (from, to) {
        (
            Division::Grid {
                grid, dimensions, ..
            },
            Division::Grid {
                dimensions: others, ..
            },
        ) => {
            let pairs = dimensions.iter().zip(others).zip(grid);
            let moved = pairs.filter(|((from, to), _)| from != to);
            let groups: u64 = moved.map(|(_, &parts)| parts as u64).product();
            ALL - ALL / groups
        }
        _ if from == to => 0,
        _ => ALL,
    }
}

/// A grid's divisions along dimensions in which they are whole along the axis.
fn candidates(grid: &[usize], stage: &Stage) -> Vec<Division> {
    assignments(stage.shape_before.len(), grid.len())
        .into_iter()
        .filter(|dimensions| !dimensions.contains(&stage.axis))
        .map(|dimensions| Division::Grid {
            shape: stage.shape_before.clone(),
            grid: grid.to_vec(),
            dimensions,
        })
        .collect()
}

/// The cheapest way: its steps, and its cost in millionths of arrays that are sent. The grid has no ones.
pub(crate) fn route(
    stages: &[Stage],
    grid: &[usize],
    (start, end): (&Place, &Place),
    ranks: usize,
) -> (Vec<Step>, u64) {
    // The best way to every division of a stage: its cost and the divisions so far.
    let mut ways: Vec<(u64, Vec<Division>)> = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        let mut here = candidates(grid, stage);
        // Boxes that were given need not be left where they are whole along the axis.
        let mut keep = |division: &Division| {
            let whole = division.is_whole_along(stage.axis, stage.shape_before[stage.axis]);
            if whole && matches!(division, Division::Boxes(_)) && !here.contains(division) {
                here.push(division.clone());
            }
        };
        if let (0, Place::Fixed(division)) = (number, start) {
            keep(division);
        }
        for (_, way) in &ways {
            way.last().into_iter().for_each(&mut keep);
        }
        let best = |division: Division| {
            let arrivals: Vec<(u64, Vec<Division>)> = match (number, start) {
                (0, Place::Free) => vec![(0, Vec::new())],
                (0, Place::Fixed(from)) => vec![(moved(from, &division), Vec::new())],
                _ => ways
                    .iter()
                    .map(|(cost, way)| {
                        let last = way.last().map_or(0, |last| moved(last, &division));
                        (cost + last, way.clone())
                    })
                    .collect(),
            };
            let cheapest = arrivals.into_iter().min_by_key(|(cost, _)| *cost);
            cheapest.map(|(cost, mut way)| {
                way.push(division);
                (cost, way)
            })
        };
        let n = stage.shape_after[stage.axis];
        let arrived = here.into_iter().filter_map(best);
        // Divisions after the axis, to be compared with those of the next stage.
        ways = arrived
            .map(|(cost, mut way)| {
                if let Some(last) = way.last_mut() {
                    *last = last.with_length(stage.axis, n);
                }
                (cost, way)
            })
            .collect();
    }
    let finished = ways.into_iter().map(|(cost, way)| match (end, way.last()) {
        (Place::Fixed(end), Some(last)) => (cost + moved(last, end), way),
        _ => (cost, way),
    });
    let (cost, way) = finished
        .min_by_key(|(cost, _)| *cost)
        .unwrap_or_else(|| unreachable!("a grid has fewer numbers than the array has dimensions"));
    (steps(stages, &way, (start, end), ranks), cost)
}

/// The steps through these divisions, which have the lengths after their axis.
fn steps(
    stages: &[Stage],
    way: &[Division],
    (start, end): (&Place, &Place),
    ranks: usize,
) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = match start {
        Place::Fixed(division) => Some(division.clone()),
        Place::Free => None,
    };
    let exchange = |steps: &mut Vec<Step>, at: Option<Division>, to: &Division, complex| {
        if let Some(from) = at.filter(|from| !from.is_same(to, ranks)) {
            steps.push(Step::Exchange {
                from,
                to: to.clone(),
                complex,
            });
        }
    };
    for (number, (stage, after)) in stages.iter().zip(way).enumerate() {
        let axis = stage.axis;
        let before = after.with_length(axis, stage.shape_before[axis]);
        exchange(&mut steps, at, &before, stage.complex.0);
        steps.push(Step::Axis {
            number,
            axis,
            before,
            after: after.clone(),
        });
        at = Some(after.clone());
    }
    if let (Place::Fixed(end), Some(last)) = (end, stages.last()) {
        exchange(&mut steps, at, end, last.complex.1);
    }
    steps
}

/// A route, and the grid that it is on.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) steps: Vec<Step>,
    pub(crate) grid: Vec<usize>,
    /// Where the array begins and ends.
    pub(crate) input: Division,
    pub(crate) output: Division,
}

/// The factors of a number of ranks in so many numbers above 1, in any order.
fn factorisations(ranks: usize, count: usize) -> Vec<Vec<usize>> {
    if count == 1 {
        return vec![vec![ranks]];
    }
    let first = (2..=ranks / 2).filter(|first| ranks.is_multiple_of(*first));
    let with_rest = |first: usize| {
        let rest = factorisations(ranks / first, count - 1).into_iter();
        let rest = rest.filter(|rest| !rest.contains(&1));
        rest.map(move |rest| [&[first], rest.as_slice()].concat())
    };
    first.flat_map(with_rest).collect()
}

/// The largest part of an array that a rank transforms, in millionths of all.
fn largest_part(division: &Division) -> u64 {
    match division {
        Division::Boxes(_) => 0,
        Division::Grid {
            shape,
            grid,
            dimensions,
        } => {
            let parts = dimensions.iter().zip(grid).map(|(&dimension, &parts)| {
                let n = shape[dimension];
                n.div_ceil(parts) as f64 / n as f64
            });
            (parts.product::<f64>() * 1e6).round() as u64
        }
    }
}

/// The wishes of a problem for the ends of its way.
pub(crate) struct Ends {
    pub(crate) input: End,
    pub(crate) output: End,
}

/// One end.
pub(crate) enum End {
    /// The dimensions from this one on are divided, in order.
    Natural(usize),
    /// Wherever it costs least.
    Free,
    /// These boxes.
    Boxes(Vec<IndexBox>),
}

impl End {
    fn place(&self, shape: &[usize], grid: &[usize], ranks: usize) -> Place {
        let on_grid = |dimensions: Vec<usize>| Division::Grid {
            shape: shape.to_vec(),
            grid: grid.to_vec(),
            dimensions,
        };
        match self {
            End::Natural(first) => Place::Fixed(on_grid((*first..first + grid.len()).collect())),
            End::Free => Place::Free,
            End::Boxes(boxes) => {
                let given = Division::Boxes(boxes.clone());
                // Boxes of the grid are exchanged in its rows and columns.
                let mut known = assignments(shape.len(), grid.len())
                    .into_iter()
                    .map(on_grid);
                let known = known.find(|division| division.is_same(&given, ranks));
                Place::Fixed(known.unwrap_or(given))
            }
        }
    }
}

impl Route {
    /// The cheapest way over a grid; over all grids of one or two numbers where none is asked for. The cost is what the busiest rank transforms
    /// and what ranks send, both in parts of an array.
    pub(crate) fn new(
        stages: &[Stage],
        ends: &Ends,
        grid: Option<&[usize]>,
        ranks: usize,
    ) -> Route {
        let on = |grid: Vec<usize>| {
            let (first, last) = (&stages[0], &stages[stages.len() - 1]);
            let start = ends.input.place(&first.shape_before, &grid, ranks);
            let end = ends.output.place(&last.shape_after, &grid, ranks);
            let (steps, sent) = route(stages, &grid, (&start, &end), ranks);
            let axes = steps.iter().filter_map(|step| match step {
                Step::Axis { before, after, .. } => Some((before, after)),
                Step::Exchange { .. } => None,
            });
            let transformed: u64 = axes.clone().map(|(before, _)| largest_part(before)).sum();
            let input = match start {
                Place::Fixed(start) => Some(start),
                Place::Free => axes.clone().map(|(before, _)| before.clone()).next(),
            };
            let output = match end {
                Place::Fixed(end) => Some(end),
                Place::Free => axes.map(|(_, after)| after.clone()).next_back(),
            };
            let (Some(input), Some(output)) = (input, output) else {
                unreachable!("a transform has an axis");
            };
            let cost = transformed * ranks as u64 + sent;
            let route = Route {
                steps,
                grid,
                input,
                output,
            };
            (cost, route)
        };
        let dimensions = stages[0].shape_before.len();
        let grids: Vec<Vec<usize>> = match grid {
            Some(grid) => vec![grid.iter().copied().filter(|parts| *parts > 1).collect()],
            None if ranks == 1 => vec![Vec::new()],
            None => (1..=2.min(dimensions - 1))
                .flat_map(|count| factorisations(ranks, count))
                .collect(),
        };
        let best = grids.into_iter().map(on).min_by_key(|(cost, _)| *cost);
        best.map(|(_, route)| route)
            .unwrap_or_else(|| unreachable!("there is a grid of one number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(shape: &[usize], order: &[usize]) -> Vec<Stage> {
        let stage = |&axis| Stage {
            axis,
            shape_before: shape.to_vec(),
            shape_after: shape.to_vec(),
            complex: (true, true),
        };
        order.iter().map(stage).collect()
    }

    fn exchanges(route: &Route) -> Vec<String> {
        let text = |step: &Step| match step {
            Step::Exchange { from, to, .. } => Some(format!("{from} -> {to}")),
            Step::Axis { .. } => None,
        };
        route.steps.iter().filter_map(text).collect()
    }

    #[test]
    fn slabs_and_pencils_take_the_usual_exchanges() {
        let stages = stages(&[8, 8, 8], &[2, 1, 0]);
        let new = |output, grid: &[usize]| {
            let ends = Ends {
                input: End::Natural(0),
                output,
            };
            exchanges(&Route::new(
                &stages,
                &ends,
                Some(grid),
                grid.iter().product(),
            ))
        };
        assert_eq!(
            new(End::Free, &[4]),
            ["dimension 0 in 4 parts -> dimension 1 in 4 parts"]
        );
        assert_eq!(new(End::Natural(0), &[4]).len(), 2);
        assert_eq!(
            new(End::Free, &[2, 4]),
            [
                "dimension 0 in 2 parts, dimension 1 in 4 parts -> dimension 0 in 2 parts, dimension 2 in 4 parts",
                "dimension 0 in 2 parts, dimension 2 in 4 parts -> dimension 1 in 2 parts, dimension 2 in 4 parts"
            ]
        );
        assert_eq!(new(End::Natural(0), &[2, 4]).len(), 3);
        assert_eq!(new(End::Natural(0), &[1]).len(), 0);
    }

    #[test]
    fn pencils_are_chosen_where_slabs_leave_ranks_idle() {
        let cube = stages(&[8, 8, 8], &[2, 1, 0]);
        let ends = Ends {
            input: End::Natural(0),
            output: End::Natural(0),
        };
        assert_eq!(Route::new(&cube, &ends, None, 4).grid, [4]);
        assert_eq!(Route::new(&cube, &ends, None, 16).grid.len(), 2);
        let flat = stages(&[8, 8], &[1, 0]);
        assert_eq!(Route::new(&flat, &ends, None, 16).grid, [16]);
    }

    #[test]
    fn from_a_permuted_array_one_exchange_is_enough() {
        let cube = stages(&[8, 8, 8], &[2, 1, 0]);
        let given = Division::Grid {
            shape: vec![8; 3],
            grid: vec![4],
            dimensions: vec![1],
        };
        let boxes = (0..4).map(|rank| given.box_of(rank)).collect();
        let ends = Ends {
            input: End::Boxes(boxes),
            output: End::Free,
        };
        let route = Route::new(&cube, &ends, Some(&[4]), 4);
        assert_eq!(
            exchanges(&route),
            ["dimension 1 in 4 parts -> dimension 2 in 4 parts"]
        );
    }
}
