//! Where the elements of lines lie: in the caller's array, and in a panel of several lines.

/// Where the elements of a line lie in a panel: in rows, with a gap after each where columns would otherwise fall on
/// the same few places of the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) pitch: usize,
}

impl Grid {
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        let gap = usize::from(rows > 1 && columns.is_multiple_of(8));
        Grid {
            rows,
            columns,
            pitch: columns + gap,
        }
    }

    /// Elements of the panel, gaps included.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.pitch
    }

    /// The same places in as few rows as there can be: rows without gaps are one.
    #[inline(always)]
    pub(crate) fn flattened(&self) -> Grid {
        if self.pitch != self.columns {
            return *self;
        }
        Grid {
            rows: 1,
            columns: self.len(),
            pitch: self.len(),
        }
    }

    /// Every element with its place, in order, without dividing for it.
    #[inline(always)]
    pub(crate) fn places(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.rows).flat_map(move |row| {
            let (element, place) = (row * self.columns, row * self.pitch);
            (0..self.columns).map(move |column| (element + column, place + column))
        })
    }

    /// Place of element `i`.
    #[inline(always)]
    pub(crate) fn place(&self, i: usize) -> usize {
        i / self.columns * self.pitch + i % self.columns
    }
}

/// Elements `start, start + step, …` of every lane. Lanes from `active` on repeat the first one and are not stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<const L: usize> {
    pub(crate) starts: [usize; L],
    pub(crate) step: usize,
    pub(crate) active: usize,
}

impl<const L: usize> Lines<L> {
    #[inline(always)]
    pub(crate) fn at(&self, lane: usize, i: usize) -> usize {
        self.starts[lane] + i * self.step
    }

    /// All elements of `active` separate lines.
    pub(crate) fn whole(active: usize) -> Self {
        Lines {
            starts: [0; L],
            step: 1,
            active,
        }
    }

    /// Whether these are all elements of lines of `n` points, which fill the panel.
    pub(crate) fn are_whole(&self, grid: Grid, n: usize) -> bool {
        self.step == 1 && self.starts == [0; L] && grid.rows * grid.columns == n
    }

    /// Whether every active line begins one element after the line before.
    #[inline(always)]
    pub(crate) fn are_neighbours(&self) -> bool {
        let mut starts = self.starts[..self.active].iter().enumerate();
        starts.all(|(lane, &at)| at == self.starts[0] + lane)
    }

    pub(crate) fn new(active: usize, step: usize, start: impl Fn(usize) -> usize) -> Self {
        Lines {
            starts: std::array::from_fn(|lane| start(if lane < active { lane } else { 0 })),
            step,
            active,
        }
    }
}

/// A part of a line's indices, where the line is a matrix of `whole` columns, row after row: `width` columns from `first` on, in an array of
/// their own.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    pub(crate) first: usize,
    pub(crate) width: usize,
    pub(crate) whole: usize,
}

impl Cut {
    /// The place in the line of a place in the part.
    #[inline(always)]
    pub(crate) fn whole_place(&self, place: usize) -> usize {
        place / self.width * self.whole + self.first + place % self.width
    }

    /// The same lines by their places in the line. Their step is a number of rows.
    #[inline(always)]
    pub(crate) fn whole_lines<const L: usize>(&self, lines: &Lines<L>) -> Lines<L> {
        Lines {
            starts: lines.starts.map(|start| self.whole_place(start)),
            step: lines.step / self.width * self.whole,
            active: lines.active,
        }
    }

    /// Places of the part whose places in the line are below `limit`; they are the first ones.
    pub fn count_below(&self, limit: usize) -> usize {
        let of_the_last_row = (limit % self.whole).saturating_sub(self.first);
        limit / self.whole * self.width + of_the_last_row.min(self.width)
    }
}
