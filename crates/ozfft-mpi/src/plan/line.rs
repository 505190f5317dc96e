//! One long line on several ranks: columns of its passes, an exchange of words, rows of its last pass.
//!
//! A rank's columns are cut into pieces, and so are its rows: while the numbers of one piece of columns arrive, and the words of another one leave, a third one
//! is transformed; and while a piece of rows is transformed, the one before it leaves.

use super::ExchangeSummary;
use super::clock::{Clock, Doing};
use super::run::{view, view_mut, words_of};
use super::transfer::{Slot, Transfer};
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
    /// Every piece of columns: from parts of the line, and to words of rows.
    column_pieces: Vec<ColumnPiece>,
    /// Every piece of rows, and where it goes.
    row_pieces: Vec<(Range<usize>, Exchange)>,
}

/// Some of this rank's columns.
struct ColumnPiece {
    columns: Range<usize>,
    arrive: Exchange,
    leave: Exchange,
}

/// 32-bit words of a complex number of integers.
const WORDS: usize = 4;

/// A share of indices for every rank.
fn shares(n: usize, ranks: usize) -> Vec<Range<usize>> {
    (0..ranks)
        .map(|rank| n * rank / ranks..n * (rank + 1) / ranks)
        .collect()
}

/// A piece of a share.
fn piece(share: &Range<usize>, number: usize, pieces: usize) -> Range<usize> {
    let (first, len) = (share.start, share.len());
    first + len * number / pieces..first + len * (number + 1) / pieces
}

impl<T: Real> LongLine<T> {
    /// Given the boxes of all ranks, of one dimension.
    pub(super) fn new(
        parts: LineParts<T>,
        (input, output): (&[IndexBox], &[IndexBox]),
        rank: usize,
        pieces: usize,
    ) -> LongLine<T> {
        let (n, ranks) = (parts.len(), input.len());
        let (all_columns, all_rows) = (parts.columns(), parts.rows());
        let (columns, rows) = (shares(all_columns, ranks), shares(all_rows, ranks));
        let ranges = |boxes: &[IndexBox], width: usize| -> Vec<Pieces> {
            let range = |part: &IndexBox| Pieces::of_range(part.low()[0]..part.high()[0], width);
            boxes.iter().map(range).collect()
        };
        // Some columns of a matrix that has so many.
        let matrices = |width: usize, shares: &[Range<usize>]| -> Vec<Pieces> {
            let part = |range: &Range<usize>| {
                Pieces::of_box(&IndexBox::new(&[0, range.start], &[n / width, range.end]))
            };
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
        let (held, wanted) = (ranges(input, all_columns), ranges(output, all_rows));
        let all_words = cut(0, &rows);
        let of_shares = |shares: &[Range<usize>], number: usize, pieces: usize| -> Vec<_> {
            let part = |share| piece(share, number, pieces);
            shares.iter().map(part).collect()
        };
        // No rank has more of them than it has columns, or rows: the same number on all ranks.
        let most = |shares: &[Range<usize>]| {
            let longest = shares.iter().map(Range::len).max().unwrap_or(1);
            pieces.clamp(1, longest.max(1))
        };
        let column_piece = |number| {
            let own = of_shares(&columns, number, most(&columns));
            ColumnPiece {
                arrive: Exchange::new(&held, &matrices(all_columns, &own), rank, input_words),
                leave: Exchange::new(&cut(2, &own), &all_words, rank, WORDS),
                columns: own[rank].clone(),
            }
        };
        let row_piece = |number| {
            let own = of_shares(&rows, number, most(&rows));
            let leave = Exchange::new(
                &matrices(all_rows, &own),
                &wanted,
                rank,
                words_of::<T>(true),
            );
            (own[rank].clone(), leave)
        };
        LongLine {
            column_pieces: (0..most(&columns)).map(column_piece).collect(),
            row_pieces: (0..most(&rows)).map(row_piece).collect(),
            parts,
            columns,
            rows,
            rank,
        }
    }

    fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        let columns = self.column_pieces.iter();
        let columns = columns.flat_map(|piece| [&piece.arrive, &piece.leave]);
        columns.chain(self.row_pieces.iter().map(|(_, leave)| leave))
    }

    /// The most elements of an exchange.
    pub(super) fn most_elements(&self) -> usize {
        let both = |exchange: &Exchange| exchange.elements_sent().max(exchange.elements_received());
        self.exchanges().map(both).max().unwrap_or(0)
    }

    /// 64-bit words of all rows of this rank.
    fn row_words(&self) -> usize {
        2 * self.parts.len() / self.parts.rows() * self.rows[self.rank].len()
    }

    /// 64-bit words of scratch memory, of the arrays, and of the two sides of a slot.
    pub(super) fn lengths(&self) -> (usize, [usize; 4], [usize; 2]) {
        let words = |elements: usize, words: usize| (elements * words).div_ceil(2);
        let (mut scratch, mut arrays) = (0, [0, 0, self.row_words(), 0]);
        let mut grow = |place: usize, elements: usize, of: usize| {
            arrays[place] = arrays[place].max(words(elements, of));
            scratch = scratch.max(self.parts.workspace_len(elements));
        };
        for piece in &self.column_pieces {
            let elements = piece.arrive.receive.len();
            grow(0, elements, piece.arrive.words);
            grow(1, elements, WORDS);
        }
        for (_, leave) in &self.row_pieces {
            grow(3, leave.send.len(), leave.words);
        }
        let mut slot = [0; 2];
        for exchange in self.exchanges() {
            let elements = [exchange.elements_sent(), exchange.elements_received()];
            for (slot, elements) in slot.iter_mut().zip(elements) {
                *slot = (*slot).max((elements * exchange.bytes()).div_ceil(8));
            }
        }
        (scratch, arrays, slot)
    }

    /// Messages that are on their way at a time.
    pub(super) const SLOTS: usize = 3;

    /// Bytes of exponents that this rank sends to all others.
    fn exponent_bytes(&self) -> u64 {
        let own = self.parts.exponents_of_a_column() * self.columns[self.rank].len();
        (4 * own * (self.columns.len() - 1)) as u64
    }

    pub(super) fn summaries(&self) -> Vec<ExchangeSummary> {
        let summary = |ends: [&str; 2], pieces, bytes_of_a_real, bytes_sent| ExchangeSummary {
            from: ends[0].into(),
            to: ends[1].into(),
            group: self.columns.len(),
            pieces,
            bytes_of_a_real,
            bytes_sent,
            bytes_of_all: 0,
        };
        let columns = self.column_pieces.iter();
        let [arrive, leave] = columns.fold([0; 2], |[arrive, leave], piece| {
            [
                arrive + piece.arrive.bytes_sent(),
                leave + piece.leave.bytes_sent(),
            ]
        });
        let last = self.row_pieces.iter().map(|(_, leave)| leave.bytes_sent());
        let pieces = [self.column_pieces.len(), self.row_pieces.len()];
        vec![
            summary(
                ["parts of the line", "columns of its passes"],
                pieces[0],
                size_of::<T>(),
                arrive,
            ),
            summary(
                ["words of columns", "words of rows"],
                pieces[0],
                2 * WORDS,
                leave,
            ),
            summary(
                ["exponents of columns", "all exponents on every rank"],
                1,
                4,
                self.exponent_bytes(),
            ),
            summary(
                ["rows of its last pass", "parts of the line"],
                pieces[1],
                size_of::<T>(),
                last.sum(),
            ),
        ]
    }

    /// Transforms; collective. Returns the bytes sent.
    pub(super) fn run<'a>(
        &self,
        all: &SimpleCommunicator,
        (input, output): (Option<&[u32]>, &mut [u32]),
        (scratch, arrays): (&mut [u64], [&mut [u64]; 4]),
        slots: &mut Vec<Slot<'a>>,
        clock: &Clock,
    ) -> Result<u64, FftError> {
        let [numbers, piece_words, words, results]: [&mut [u32]; 4] =
            arrays.map(bytemuck::cast_slice_mut);
        let mut messages = Messages {
            all,
            clock,
            slots,
            sent: self.exponent_bytes(),
        };
        let lines = self.parts.exponents_of_a_column();
        let mut exponents = vec![0; lines * self.columns[self.rank].len()];
        let mut properties = 0;
        {
            // In place the output is read until the last piece has left.
            let held = input.unwrap_or(output);
            let mut arriving = messages.start(&self.column_pieces[0].arrive, held);
            let mut leaving: Option<(&Exchange, Transfer<Slot<'a>>)> = None;
            for (number, piece) in self.column_pieces.iter().enumerate() {
                let next = self.column_pieces.get(number + 1);
                let mut next = next.map(|next| messages.start(&next.arrive, held));
                messages.copy_own(&piece.arrive, held, numbers);
                messages.finish(&piece.arrive, arriving, numbers);
                let leave = leaving.as_mut().map(|(_, transfer)| transfer);
                messages.move_on(next.iter_mut().chain(leave));
                let own = (numbers as &[u32], &mut *piece_words);
                let (found, piece_exponents) = self.transform(piece, own, scratch, clock)?;
                properties |= found;
                self.put_exponents(piece, &piece_exponents, &mut exponents);
                messages.copy_own(&piece.leave, piece_words, words);
                if let Some((exchange, transfer)) = leaving.take() {
                    messages.finish(exchange, transfer, words);
                }
                leaving = Some((&piece.leave, messages.start(&piece.leave, piece_words)));
                match next {
                    Some(next) => arriving = next,
                    None => break,
                }
            }
            if let Some((exchange, transfer)) = leaving {
                messages.finish(exchange, transfer, words);
            }
        }
        let (exponents, properties) = clock.time(Doing::Exchange, || {
            (self.all_exponents(all, &exponents), agreed(all, properties))
        });
        let mut leaving: Option<(&Exchange, Transfer<Slot<'a>>)> = None;
        let (mut first, of_a_row) = (0, WORDS * self.parts.len() / self.parts.rows());
        for (rows, leave) in &self.row_pieces {
            let own = &mut words[first..first + of_a_row * rows.len()];
            first += of_a_row * rows.len();
            let len = leave.send.len();
            clock.time(Doing::Transforms, || {
                self.parts.transform_rows(
                    // A pass may change exponents, which all pieces need.
                    (view_mut(own, len), &mut exponents.clone()),
                    rows.clone(),
                    properties,
                    view_mut(results, len),
                    &mut scratch[..self.parts.workspace_len(len)],
                )
            })?;
            messages.move_on(leaving.iter_mut().map(|(_, transfer)| transfer));
            messages.copy_own(leave, results, output);
            if let Some((exchange, transfer)) = leaving.take() {
                messages.finish(exchange, transfer, output);
            }
            leaving = Some((leave, messages.start(leave, results)));
        }
        if let Some((exchange, transfer)) = leaving {
            messages.finish(exchange, transfer, output);
        }
        Ok(messages.sent)
    }

    /// Transforms a piece of columns: what its numbers have in common, and its exponents.
    fn transform(
        &self,
        piece: &ColumnPiece,
        (numbers, words): (&[u32], &mut [u32]),
        scratch: &mut [u64],
        clock: &Clock,
    ) -> Result<(u8, Vec<i32>), FftError> {
        let len = piece.arrive.receive.len();
        let columns = piece.columns.clone();
        let mut exponents = vec![0; self.parts.exponents_of_a_column() * columns.len()];
        let stored = (view_mut::<Complex<i64>>(words, len), &mut exponents[..]);
        let workspace = &mut scratch[..self.parts.workspace_len(len)];
        let found = clock.time(Doing::Transforms, || match self.parts.kind() {
            Kind::RealToComplex => {
                let reals = view(numbers, len);
                self.parts
                    .transform_columns_of_reals(reals, columns, stored, workspace)
            }
            _ => self
                .parts
                .transform_columns(view(numbers, len), columns, stored, workspace),
        })?;
        Ok((found, exponents))
    }

    /// Puts the exponents of a piece among those of all of this rank's columns: for every line, column after column.
    fn put_exponents(&self, piece: &ColumnPiece, from: &[i32], to: &mut [i32]) {
        let (own, count) = (&self.columns[self.rank], piece.columns.len());
        if count == 0 {
            return;
        }
        for (line, from) in from.chunks(count).enumerate() {
            let place = line * own.len() + piece.columns.start - own.start;
            to[place..place + count].copy_from_slice(from);
        }
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

/// Messages of a call.
struct Messages<'c, 'a> {
    all: &'c SimpleCommunicator,
    clock: &'c Clock,
    slots: &'c mut Vec<Slot<'a>>,
    sent: u64,
}

impl<'a> Messages<'_, 'a> {
    /// Packs what goes to others, and starts to send it.
    fn start(&mut self, exchange: &Exchange, array: &[u32]) -> Transfer<Slot<'a>> {
        let Some(slot) = self.slots.pop() else {
            unreachable!("no more messages are on their way than there are slots");
        };
        self.clock.time(Doing::Packing, || {
            exchange.pack_for_others(array, slot.send);
        });
        let counts = exchange.counts();
        self.sent += exchange.bytes_sent();
        self.clock.time(Doing::Exchange, || {
            Transfer::start(self.all, slot, (&counts.0, &counts.1), exchange.bytes())
        })
    }

    /// Most installations move messages only while they are called.
    fn move_on<'t>(&self, transfers: impl Iterator<Item = &'t mut Transfer<Slot<'a>>>)
    where
        'a: 't,
    {
        self.clock
            .time(Doing::Exchange, || transfers.for_each(Transfer::progress));
    }

    /// Copies what stays on this rank.
    fn copy_own(&self, exchange: &Exchange, from: &[u32], to: &mut [u32]) {
        self.clock
            .time(Doing::Packing, || exchange.copy_own(from, to));
    }

    /// Waits for a message, and puts it to its place.
    fn finish(&mut self, exchange: &Exchange, transfer: Transfer<Slot<'a>>, array: &mut [u32]) {
        let slot = self.clock.time(Doing::Exchange, || transfer.wait());
        self.clock.time(Doing::Packing, || {
            exchange.unpack_from_others(slot.receive, array);
        });
        self.slots.push(slot);
    }
}
