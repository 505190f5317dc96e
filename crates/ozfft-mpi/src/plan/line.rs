//! One long line on several ranks: columns of its passes, an exchange of words, rows of its last pass.

use super::ExchangeSummary;
use super::clock::{Clock, Doing};
use super::run::{all_to_all, view, view_mut, words_of};
use crate::agreement;
use crate::exchange::Exchange;
use crate::index_box::IndexBox;
use crate::pieces::Pieces;
use mpi::Count;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{FftError, Kind, LineParts, Real};
use std::ops::Range;

/// A line's steps on this rank. The input is a matrix whose columns are dealt out, and the output one as well; in between words are a matrix whose rows
/// are.
pub(super) struct LongLine<T: Real> {
    parts: LineParts<T>,
    columns: Vec<Range<usize>>,
    rows: Vec<Range<usize>>,
    rank: usize,
    into_columns: Exchange,
    into_rows: Exchange,
    into_output: Exchange,
}

/// 32-bit words of a complex number of integers.
const WORDS: usize = 4;

/// A share of indices for every rank.
fn shares(n: usize, ranks: usize) -> Vec<Range<usize>> {
    (0..ranks)
        .map(|rank| n * rank / ranks..n * (rank + 1) / ranks)
        .collect()
}

impl<T: Real> LongLine<T> {
    /// Given the boxes of all ranks, of one dimension.
    pub(super) fn new(
        parts: LineParts<T>,
        (input, output): (&[IndexBox], &[IndexBox]),
        rank: usize,
    ) -> LongLine<T> {
        let (n, ranks) = (parts.len(), input.len());
        let (all_columns, all_rows) = (parts.columns(), parts.rows());
        let (columns, rows) = (shares(all_columns, ranks), shares(all_rows, ranks));
        let ranges = |boxes: &[IndexBox], width: usize| -> Vec<Pieces> {
            let range = |part: &IndexBox| Pieces::of_range(part.low()[0]..part.high()[0], width);
            boxes.iter().map(range).collect()
        };
        let part_of_matrix = |height: usize, range: &Range<usize>| {
            Pieces::of_box(&IndexBox::new(&[0, range.start], &[height, range.end]))
        };
        let matrices = |width: usize, shares: &[Range<usize>]| -> Vec<Pieces> {
            let part = |range| part_of_matrix(n / width, range);
            shares.iter().map(part).collect()
        };
        // Words between the halves: first digit, those in between, last digit.
        let shape = [all_rows, n / all_rows / all_columns, all_columns];
        let cut = |dimension: usize, shares: &[Range<usize>]| -> Vec<Pieces> {
            let part = |range: &Range<usize>| {
                let (mut low, mut high) = ([0; 3], shape);
                (low[dimension], high[dimension]) = (range.start, range.end);
                Pieces::of_box(&IndexBox::new(&low, &high))
            };
            shares.iter().map(part).collect()
        };
        let input_words = words_of::<T>(parts.kind() != Kind::RealToComplex);
        LongLine {
            into_columns: Exchange::new(
                &ranges(input, all_columns),
                &matrices(all_columns, &columns),
                rank,
                input_words,
            ),
            into_rows: Exchange::new(&cut(2, &columns), &cut(0, &rows), rank, WORDS),
            into_output: Exchange::new(
                &matrices(all_rows, &rows),
                &ranges(output, all_rows),
                rank,
                words_of::<T>(true),
            ),
            parts,
            columns,
            rows,
            rank,
        }
    }

    fn exchanges(&self) -> [&Exchange; 3] {
        [&self.into_columns, &self.into_rows, &self.into_output]
    }

    /// The most elements of an exchange.
    pub(super) fn most_elements(&self) -> usize {
        let both = |exchange: &&Exchange| exchange.send.len().max(exchange.receive.len());
        self.exchanges().iter().map(both).max().unwrap_or(0)
    }

    /// 64-bit words of scratch memory, and of both work arrays.
    pub(super) fn lengths(&self) -> [usize; 3] {
        let array = self.exchanges().map(|exchange| {
            (exchange.send.len().max(exchange.receive.len()) * exchange.words).div_ceil(2)
        });
        let array = array.into_iter().max().unwrap_or(0);
        let scratch = [&self.into_columns.receive, &self.into_rows.receive]
            .map(|part| self.parts.workspace_len(part.len()));
        [scratch[0].max(scratch[1]), array, array]
    }

    /// Bytes of exponents that this rank sends to all others.
    fn exponent_bytes(&self) -> u64 {
        let own = self.parts.exponents_of_a_column() * self.columns[self.rank].len();
        (4 * own * (self.columns.len() - 1)) as u64
    }

    pub(super) fn summaries(&self) -> Vec<ExchangeSummary> {
        let summary = |from: &str, to: &str, bytes_of_a_real, bytes_sent| ExchangeSummary {
            from: from.into(),
            to: to.into(),
            group: self.columns.len(),
            pieces: 1,
            bytes_of_a_real,
            bytes_sent,
            bytes_of_all: 0,
        };
        let [first, second, third] = self.exchanges().map(Exchange::bytes_sent);
        vec![
            summary(
                "parts of the line",
                "columns of its passes",
                size_of::<T>(),
                first,
            ),
            summary("words of columns", "words of rows", 2 * WORDS, second),
            summary(
                "exponents of columns",
                "all exponents on every rank",
                4,
                self.exponent_bytes(),
            ),
            summary(
                "rows of its last pass",
                "parts of the line",
                size_of::<T>(),
                third,
            ),
        ]
    }

    /// Transforms; collective. Returns the bytes sent.
    pub(super) fn run(
        &self,
        all: &SimpleCommunicator,
        (input, output): (Option<&[u32]>, &mut [u32]),
        [scratch, first, second]: [&mut [u64]; 3],
        clock: &Clock,
    ) -> Result<u64, FftError> {
        let (x, y): (&mut [u32], &mut [u32]) = (
            bytemuck::cast_slice_mut(first),
            bytemuck::cast_slice_mut(second),
        );
        let mut sent = self.exponent_bytes();
        let own = input.unwrap_or(output);
        sent += moved((all, clock), &self.into_columns, own, x, y);
        clock.time(Doing::Packing, || {
            let exchange = &self.into_columns;
            exchange.receive.unpack(None, exchange.words, y, x);
        });
        let (columns, rows) = (
            self.columns[self.rank].clone(),
            self.rows[self.rank].clone(),
        );
        let mut exponents = vec![0; self.parts.exponents_of_a_column() * columns.len()];
        let len = self.into_columns.receive.len();
        let workspace = &mut scratch[..self.parts.workspace_len(len)];
        let stored = (view_mut::<Complex<i64>>(y, len), &mut exponents[..]);
        let properties = clock.time(Doing::Transforms, || match self.parts.kind() {
            Kind::RealToComplex => {
                let reals = view(x, len);
                self.parts
                    .transform_columns_of_reals(reals, columns, stored, workspace)
            }
            _ => self
                .parts
                .transform_columns(view(x, len), columns, stored, workspace),
        })?;
        let (mut exponents, properties) = clock.time(Doing::Exchange, || {
            (self.all_exponents(all, &exponents), agreed(all, properties))
        });
        // What is packed is read from y, and y is then free to receive.
        clock.time(Doing::Packing, || {
            self.into_rows.send.pack(None, WORDS, y, x);
        });
        sent += exchanged((all, clock), &self.into_rows, x, y);
        clock.time(Doing::Packing, || {
            self.into_rows.receive.unpack(None, WORDS, y, x);
        });
        let len = self.into_rows.receive.len();
        clock.time(Doing::Transforms, || {
            self.parts.transform_rows(
                (view_mut(x, len), &mut exponents),
                rows,
                properties,
                view_mut(y, len),
                &mut scratch[..self.parts.workspace_len(len)],
            )
        })?;
        let exchange = &self.into_output;
        clock.time(Doing::Packing, || {
            exchange.send.pack(None, exchange.words, y, x);
        });
        sent += exchanged((all, clock), exchange, x, y);
        clock.time(Doing::Packing, || {
            exchange.receive.unpack(None, exchange.words, y, output);
        });
        Ok(sent)
    }

    /// The exponents of all columns, as one process has them: for every line of the pass before, column after column.
    fn all_exponents(&self, all: &SimpleCommunicator, own: &[i32]) -> Vec<i32> {
        let lines = self.parts.exponents_of_a_column();
        let counts: Vec<Count> = self
            .columns
            .iter()
            .map(|columns| (lines * columns.len()) as Count)
            .collect();
        let mut next = 0;
        let places = counts.iter().map(|count| {
            next += count;
            next - count
        });
        let places: Vec<Count> = places.collect();
        let width = self.parts.columns();
        let mut gathered = vec![0i32; lines * width];
        {
            let mut parts = PartitionMut::new(&mut gathered[..], &counts[..], &places[..]);
            all.all_gather_varcount_into(own, &mut parts);
        }
        let mut found = vec![0; gathered.len()];
        let mut from = 0;
        for columns in &self.columns {
            for line in 0..lines {
                let to = line * width + columns.start;
                found[to..to + columns.len()]
                    .copy_from_slice(&gathered[from..from + columns.len()]);
                from += columns.len();
            }
        }
        found
    }
}

/// The bitwise or of all ranks' properties.
fn agreed(all: &SimpleCommunicator, own: u8) -> u8 {
    let mut bits: [i32; 8] = std::array::from_fn(|bit| i32::from(own >> bit & 1));
    agreement::maxima(all, &mut bits);
    let bits = bits.iter().enumerate();
    bits.fold(0, |found, (bit, &set)| found | (set as u8) << bit)
}

/// Packs from an array, and exchanges; bytes sent.
fn moved(
    (all, clock): (&SimpleCommunicator, &Clock),
    exchange: &Exchange,
    array: &[u32],
    packed: &mut [u32],
    received: &mut [u32],
) -> u64 {
    clock.time(Doing::Packing, || {
        exchange.send.pack(None, exchange.words, array, packed);
    });
    exchanged((all, clock), exchange, packed, received)
}

fn exchanged(
    (all, clock): (&SimpleCommunicator, &Clock),
    exchange: &Exchange,
    packed: &[u32],
    received: &mut [u32],
) -> u64 {
    let (send, receive) = (exchange.send.counts(None), exchange.receive.counts(None));
    clock.time(Doing::Exchange, || {
        all_to_all(all, (&send, packed), (&receive, received), exchange.words);
    });
    exchange.bytes_sent()
}
