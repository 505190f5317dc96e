//! How an array is divided among ranks.

use crate::index_box::IndexBox;

/// The boxes of all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Division {
    /// Some dimensions are cut into about equal parts: dimension `dimensions[i]` into `grid[i]` of them. The last number of
    /// the grid runs fastest with the rank.
    Grid {
        shape: Vec<usize>,
        grid: Vec<usize>,
        dimensions: Vec<usize>,
    },
    /// As they were given.
    Boxes(Vec<IndexBox>),
}

/// Coordinates of a rank in a grid.
pub(crate) fn coordinates(grid: &[usize], rank: usize) -> Vec<usize> {
    let mut rest = rank;
    let mut found = vec![0; grid.len()];
    for (coordinate, &n) in found.iter_mut().zip(grid).rev() {
        *coordinate = rest % n;
        rest /= n;
    }
    found
}

impl Division {
    /// What a rank holds.
    pub(crate) fn box_of(&self, rank: usize) -> IndexBox {
        match self {
            Division::Boxes(boxes) => boxes[rank].clone(),
            Division::Grid {
                shape,
                grid,
                dimensions,
            } => {
                let (mut low, mut high) = (vec![0; shape.len()], shape.clone());
                let places = coordinates(grid, rank);
                for ((place, &parts), &dimension) in places.iter().zip(grid).zip(dimensions) {
                    let n = shape[dimension];
                    low[dimension] = n * place / parts;
                    high[dimension] = n * (place + 1) / parts;
                }
                IndexBox::new(&low, &high)
            }
        }
    }

    /// Whether every rank has whole lines along an axis of so many elements, or nothing.
    pub(crate) fn is_whole_along(&self, axis: usize, n: usize) -> bool {
        match self {
            Division::Grid {
                grid, dimensions, ..
            } => dimensions
                .iter()
                .zip(grid)
                .all(|(&dimension, &parts)| dimension != axis || parts == 1),
            Division::Boxes(boxes) => boxes
                .iter()
                .all(|part| part.is_empty() || part.shape()[axis] == n),
        }
    }

    /// The same where one dimension, which is not divided, has another length.
    pub(crate) fn with_length(&self, axis: usize, n: usize) -> Division {
        match self {
            Division::Grid {
                shape,
                grid,
                dimensions,
            } => {
                let mut shape = shape.clone();
                shape[axis] = n;
                Division::Grid {
                    shape,
                    grid: grid.clone(),
                    dimensions: dimensions.clone(),
                }
            }
            Division::Boxes(boxes) => {
                Division::Boxes(boxes.iter().map(|part| part.with_length(axis, n)).collect())
            }
        }
    }

    /// Whether every rank holds the same in both.
    pub(crate) fn is_same(&self, other: &Division, ranks: usize) -> bool {
        self == other || (0..ranks).all(|rank| self.box_of(rank) == other.box_of(rank))
    }

    /// The only coordinate of the grid that another division gives to another dimension, if there is just one.
    pub(crate) fn moved_coordinate(&self, to: &Division) -> Option<usize> {
        let (
            Division::Grid {
                grid, dimensions, ..
            },
            Division::Grid {
                grid: to_grid,
                dimensions: to_dimensions,
                ..
            },
        ) = (self, to)
        else {
            return None;
        };
        let mut moved = (0..grid.len()).filter(|&i| dimensions[i] != to_dimensions[i]);
        match (moved.next(), moved.next()) {
            (Some(coordinate), None) if grid == to_grid => Some(coordinate),
            _ => None,
        }
    }

    /// The number of the group of ranks that a rank exchanges with on the way to another division: those that differ in the
    /// coordinate that is moved; where there is not just one, all ranks are one group.
    pub(crate) fn group(&self, to: &Division, rank: usize) -> usize {
        let (Division::Grid { grid, .. }, Some(moved)) = (self, self.moved_coordinate(to)) else {
            return 0;
        };
        let places = coordinates(grid, rank);
        (0..grid.len())
            .filter(|&i| i != moved)
            .fold(0, |group, i| group * grid[i] + places[i])
    }
}

impl std::fmt::Display for Division {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Division::Boxes(_) => f.write_str("the boxes given"),
            Division::Grid {
                grid, dimensions, ..
            } => {
                let parts = dimensions.iter().zip(grid).filter(|(_, parts)| **parts > 1);
                let parts: Vec<String> = parts
                    .map(|(dimension, parts)| format!("dimension {dimension} in {parts} parts"))
                    .collect();
                match parts.is_empty() {
                    true => f.write_str("undivided"),
                    false => f.write_str(&parts.join(", ")),
                }
            }
        }
    }
}
