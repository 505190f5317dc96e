//! One long line on several ranks: columns of its passes, an exchange of words, rows of its last pass; of a convolution twice.
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
use crate::line_pieces::{LineMatrix, common_period, piece, shares};
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
    /// Of a convolution: every piece of rows of its first transform, and where products go.
    product_pieces: Vec<RowPiece>,
    /// Every piece of rows, and where it goes.
    row_pieces: Vec<RowPiece>,
}

/// Some of this rank's columns.
struct ColumnPiece {
    columns: Range<usize>,
    arrive: Exchange,
    leave: Exchange,
    /// Words that columns leave.
    words: usize,
}

/// Some of this rank's rows.
struct RowPiece {
    rows: Range<usize>,
    leave: Exchange,
    /// Words that they are made of.
    words: usize,
}

/// 32-bit words of a complex number of integers.
const WORDS: usize = 4;

impl<T: Real> LongLine<T> {
    /// Given the boxes of all ranks, of one dimension.
    pub(super) fn new(
        parts: LineParts<T>,
        (input, output): (&[IndexBox], &[IndexBox]),
        rank: usize,
        pieces: usize,
    ) -> LongLine<T> {
        let (len, ranks) = (parts.transform_len(), input.len());
        let (all_columns, all_rows) = (parts.columns(), parts.rows());
        let (columns, rows) = (shares(all_columns, ranks), shares(all_rows, ranks));
        let matrix = |n, width| LineMatrix { n, width };
        let (read, written) = (
            matrix(parts.len(), all_columns),
            matrix(parts.len(), all_rows),
        );
        // Words between the halves: first digit, those in between, last digit.
        let shape = [all_rows, len / all_rows / all_columns, all_columns];
        let cut = |dimension: usize, shares: &[Range<usize>]| -> Vec<Pieces> {
            let part = |range: &Range<usize>| {
                let (mut low, mut high) = ([0; 3], shape);
                (low[dimension], high[dimension]) = (range.start, range.end);
                Pieces::of_box(&IndexBox::new(&low, &high))
            };
            shares.iter().map(part).collect()
        };
        let kind = parts.kind();
        let (from_reals, to_reals) = (kind == Kind::RealToComplex, kind == Kind::ComplexToReal);
        let held: Vec<Pieces> = match to_reals {
            true => input.iter().map(|part| read.half_range(part)).collect(),
            false => input.iter().map(|part| read.range(part)).collect(),
        };
        let wanted: Vec<Pieces> = output.iter().map(|part| written.range(part)).collect();
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
            let arriving: Vec<Pieces> = match to_reals {
                true => own.iter().map(|part| read.half_columns(part)).collect(),
                false => own.iter().map(|part| read.columns(part)).collect(),
            };
            ColumnPiece {
                arrive: Exchange::new(&held, &arriving, rank, words_of::<T>(!from_reals)),
                leave: Exchange::new(&cut(2, &own), &all_words, rank, WORDS),
                words: len / all_columns * own[rank].len(),
                columns: own[rank].clone(),
            }
        };
        let of_rows = |number| of_shares(&rows, number, most(&rows));
        let row_piece = |own: &[Range<usize>], leave| RowPiece {
            leave,
            words: len / all_rows * own[rank].len(),
            rows: own[rank].clone(),
        };
        let last_piece = |number| {
            let own = of_rows(number);
            let leaving: Vec<Pieces> = own.iter().map(|part| written.columns(part)).collect();
            let words = words_of::<T>(!to_reals);
            row_piece(&own, Exchange::new(&leaving, &wanted, rank, words))
        };
        // Products are columns of one matrix, and become those of another: pieces of them, as the second transform takes them.
        let period = common_period(all_rows, all_columns);
        let products: Vec<Pieces> = match parts.is_convolution() {
            true => columns
                .iter()
                .map(|share| {
                    let count = most(&columns);
                    let own: Vec<_> = (0..count).map(|n| piece(share, n, count)).collect();
                    matrix(len, all_columns).folded(period, &own)
                })
                .collect(),
            false => Vec::new(),
        };
        let product_piece = |number| {
            let own = of_rows(number);
            let leaving: Vec<Pieces> = own
                .iter()
                .map(|part| matrix(len, all_rows).folded(period, std::slice::from_ref(part)))
                .collect();
            row_piece(&own, Exchange::new(&leaving, &products, rank, WORDS))
        };
        let product_pieces = match parts.is_convolution() {
            true => (0..most(&rows)).map(product_piece).collect(),
            false => Vec::new(),
        };
        LongLine {
            column_pieces: (0..most(&columns)).map(column_piece).collect(),
            product_pieces,
            row_pieces: (0..most(&rows)).map(last_piece).collect(),
            parts,
            columns,
            rows,
            rank,
        }
    }

    fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        let columns = self.column_pieces.iter();
        let columns = columns.flat_map(|piece| [&piece.arrive, &piece.leave]);
        let rows = self.product_pieces.iter().chain(&self.row_pieces);
        columns.chain(rows.map(|piece| &piece.leave))
    }

    /// The most elements of an exchange.
    pub(super) fn most_elements(&self) -> usize {
        let both = |exchange: &Exchange| exchange.elements_sent().max(exchange.elements_received());
        self.exchanges().map(both).max().unwrap_or(0)
    }

    /// 64-bit words of all rows of this rank, and of all products of its columns.
    fn stored_words(&self) -> [usize; 2] {
        let len = self.parts.transform_len();
        let rows = 2 * len / self.parts.rows() * self.rows[self.rank].len();
        let columns = 2 * len / self.parts.columns() * self.columns[self.rank].len();
        [rows, columns * usize::from(self.parts.is_convolution())]
    }

    /// 64-bit words of scratch memory, of the arrays, and of the two sides of a slot.
    pub(super) fn lengths(&self) -> (usize, [usize; 4], [usize; 2]) {
        let words = |elements: usize, words: usize| (elements * words).div_ceil(2);
        let stored = self.stored_words().iter().sum();
        let (mut scratch, mut arrays) = (0, [0, 0, stored, 0]);
        let mut grow = |place: usize, elements: usize, of: usize, stored: usize| {
            arrays[place] = arrays[place].max(words(elements, of));
            scratch = scratch.max(self.parts.workspace_len(stored));
        };
        for piece in &self.column_pieces {
            let numbers = piece.arrive.receive.len();
            grow(0, numbers, piece.arrive.words, piece.words);
            grow(1, piece.words, WORDS, piece.words);
        }
        for piece in &self.product_pieces {
            grow(1, piece.words, WORDS, piece.words);
        }
        for RowPiece { leave, words, .. } in &self.row_pieces {
            grow(3, leave.send.len(), leave.words, *words);
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

    /// Bytes of exponents that this rank sends to all others: of its columns, after the first transform and the second one, and of its rows.
    fn exponent_bytes(&self) -> u64 {
        let columns = self.parts.exponents_of_a_column() * self.columns[self.rank].len();
        let rows = self.parts.exponents_of_a_row() * self.rows[self.rank].len();
        let own = match self.parts.is_convolution() {
            true => 2 * columns + rows,
            false => columns,
        };
        (4 * own * (self.columns.len() - 1)) as u64
    }

    pub(super) fn summaries(&self) -> Vec<ExchangeSummary> {
        let summary = |from: &str, to: &str, pieces, bytes_of_a_real, bytes_sent| ExchangeSummary {
            from: from.into(),
            to: to.into(),
            group: self.columns.len(),
            pieces,
            bytes_of_a_real,
            bytes_sent,
            bytes_of_all: 0,
        };
        let arrive = self.column_pieces.iter().map(|piece| &piece.arrive);
        let arrive: u64 = arrive.map(Exchange::bytes_sent).sum();
        let leave = self.column_pieces.iter().map(|piece| &piece.leave);
        let leave: u64 = leave.map(Exchange::bytes_sent).sum();
        let of_rows = |pieces: &[RowPiece]| -> u64 {
            pieces.iter().map(|piece| piece.leave.bytes_sent()).sum()
        };
        let (columns, rows) = (self.column_pieces.len(), self.row_pieces.len());
        let (number, word) = (size_of::<T>(), 2 * WORDS);
        let mut summaries = vec![
            summary(
                "parts of the line",
                "columns of its passes",
                columns,
                number,
                arrive,
            ),
            summary("words of columns", "words of rows", columns, word, leave),
        ];
        if self.parts.is_convolution() {
            let products = of_rows(&self.product_pieces);
            summaries.extend([
                summary(
                    "products of rows",
                    "products of columns",
                    rows,
                    word,
                    products,
                ),
                summary("words of columns", "words of rows", columns, word, leave),
            ]);
        }
        summaries.extend([
            summary(
                "exponents of columns",
                "all exponents on every rank",
                1,
                4,
                self.exponent_bytes(),
            ),
            summary(
                "rows of its last pass",
                "parts of the line",
                rows,
                number,
                of_rows(&self.row_pieces),
            ),
        ]);
        summaries
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
        let (words, products) = words.split_at_mut(2 * self.stored_words()[0]);
        let mut messages = Messages {
            all,
            clock,
            slots,
            sent: self.exponent_bytes(),
        };
        let pieces = (numbers, &mut *piece_words);
        // In place the output is read until the last piece has left.
        let held = input.unwrap_or(output);
        let (exponents, properties) =
            self.columns_of_numbers(&mut messages, held, pieces, words, scratch)?;
        let (mut exponents, properties) = clock.time(Doing::Exchange, || {
            let lines = self.parts.exponents_of_a_column();
            (
                gathered(all, &self.columns, lines, &exponents),
                agreed(all, properties),
            )
        });
        if self.parts.is_convolution() {
            let of_rows = self.products(
                &mut messages,
                (words, &exponents),
                (piece_words, products),
                scratch,
            )?;
            exponents = self.columns_of_products(
                &mut messages,
                (products, &of_rows),
                (piece_words, words),
                scratch,
            )?;
        }
        let stored = (words, &exponents[..], properties);
        self.last_rows(&mut messages, stored, (results, output), scratch)?;
        Ok(messages.sent)
    }

    /// The columns of the line's numbers, to words of rows: this rank's exponents, and what its numbers have in common.
    fn columns_of_numbers(
        &self,
        messages: &mut Messages<'_, '_>,
        held: &[u32],
        (numbers, piece_words): (&mut [u32], &mut [u32]),
        words: &mut [u32],
        scratch: &mut [u64],
    ) -> Result<(Vec<i32>, u8), FftError> {
        let mut exponents = self.own_exponents();
        let mut properties = 0;
        let mut arriving = messages.start(&self.column_pieces[0].arrive, held);
        let mut leaving = Leaving::default();
        for (number, piece) in self.column_pieces.iter().enumerate() {
            let next = self.column_pieces.get(number + 1);
            let mut next = next.map(|next| messages.start(&next.arrive, held));
            messages.copy_own(&piece.arrive, held, numbers);
            messages.finish(&piece.arrive, arriving, numbers);
            messages.move_on(next.iter_mut().chain(leaving.transfer()));
            let own = (&mut *numbers, &mut *piece_words);
            let (found, of_piece) = self.transform(piece, own, scratch, messages.clock)?;
            properties |= found;
            put_exponents(
                (&piece.columns, &of_piece),
                &self.columns[self.rank],
                &mut exponents,
            );
            leaving.send(messages, &piece.leave, piece_words, words);
            match next {
                Some(next) => arriving = next,
                None => break,
            }
        }
        leaving.end(messages, words);
        Ok((exponents, properties))
    }

    /// Room for the exponents of this rank's columns.
    fn own_exponents(&self) -> Vec<i32> {
        vec![0; self.parts.exponents_of_a_column() * self.columns[self.rank].len()]
    }

    /// Transforms a piece of columns: what its numbers have in common, and its exponents.
    fn transform(
        &self,
        piece: &ColumnPiece,
        (numbers, words): (&mut [u32], &mut [u32]),
        scratch: &mut [u64],
        clock: &Clock,
    ) -> Result<(u8, Vec<i32>), FftError> {
        let parts = &self.parts;
        let (len, columns) = (piece.arrive.receive.len(), piece.columns.clone());
        let mut exponents = vec![0; parts.exponents_of_a_column() * columns.len()];
        let stored = (view_mut(words, piece.words), &mut exponents[..]);
        let workspace = &mut scratch[..parts.workspace_len(piece.words)];
        let found = clock.time(Doing::Transforms, || match parts.kind() {
            Kind::RealToComplex => {
                parts.transform_columns_of_reals(view(numbers, len), columns, stored, workspace)
            }
            Kind::ComplexToReal => {
                let numbers: &mut [Complex<T>] = view_mut(numbers, len);
                // They arrive in the order of the numbers that they mirror.
                numbers[parts.numbers_of_half(&columns)..].reverse();
                parts.transform_columns_of_half_spectrum(numbers, columns, stored, workspace)
            }
            Kind::ComplexToComplex => {
                parts.transform_columns(view(numbers, len), columns, stored, workspace)
            }
        })?;
        Ok((found, exponents))
    }

    /// The rows of a convolution's first transform, to products of columns: the exponents of all rows.
    fn products(
        &self,
        messages: &mut Messages<'_, '_>,
        (words, exponents): (&mut [u32], &[i32]),
        (piece_words, products): (&mut [u32], &mut [u32]),
        scratch: &mut [u64],
    ) -> Result<Vec<i32>, FftError> {
        let lines = self.parts.exponents_of_a_row();
        let mut own = vec![0; lines * self.rows[self.rank].len()];
        let mut leaving = Leaving::default();
        let mut first = 0;
        for piece in &self.product_pieces {
            let of_piece = &mut words[first..first + WORDS * piece.words];
            first += WORDS * piece.words;
            let mut found = vec![0; lines * piece.rows.len()];
            messages.clock.time(Doing::Transforms, || {
                self.parts.transform_rows_to_products(
                    // A pass may change exponents, which all pieces need.
                    (view_mut(of_piece, piece.words), &mut exponents.to_vec()),
                    piece.rows.clone(),
                    (view_mut(piece_words, piece.words), &mut found),
                    &mut scratch[..self.parts.workspace_len(piece.words)],
                )
            })?;
            put_exponents((&piece.rows, &found), &self.rows[self.rank], &mut own);
            messages.move_on(leaving.transfer());
            leaving.send(messages, &piece.leave, piece_words, products);
        }
        leaving.end(messages, products);
        let (all, clock) = (messages.all, messages.clock);
        Ok(clock.time(Doing::Exchange, || gathered(all, &self.rows, lines, &own)))
    }

    /// The columns of a convolution's second transform, from products to words of rows: the exponents of all columns.
    fn columns_of_products(
        &self,
        messages: &mut Messages<'_, '_>,
        (products, of_rows): (&[u32], &[i32]),
        (piece_words, words): (&mut [u32], &mut [u32]),
        scratch: &mut [u64],
    ) -> Result<Vec<i32>, FftError> {
        let lines = self.parts.exponents_of_a_column();
        let mut own = self.own_exponents();
        let mut leaving = Leaving::default();
        let mut first = 0;
        for piece in &self.column_pieces {
            let of_piece = view::<Complex<i64>>(&products[first..], piece.words);
            first += WORDS * piece.words;
            let mut found = vec![0; lines * piece.columns.len()];
            messages.clock.time(Doing::Transforms, || {
                self.parts.transform_columns_of_products(
                    (of_piece, of_rows),
                    piece.columns.clone(),
                    (view_mut(piece_words, piece.words), &mut found),
                    &mut scratch[..self.parts.workspace_len(piece.words)],
                )
            })?;
            put_exponents((&piece.columns, &found), &self.columns[self.rank], &mut own);
            messages.move_on(leaving.transfer());
            leaving.send(messages, &piece.leave, piece_words, words);
        }
        leaving.end(messages, words);
        let (all, clock) = (messages.all, messages.clock);
        Ok(clock.time(Doing::Exchange, || {
            gathered(all, &self.columns, lines, &own)
        }))
    }

    /// The rows of the last pass, to parts of the line.
    fn last_rows(
        &self,
        messages: &mut Messages<'_, '_>,
        (words, exponents, properties): (&mut [u32], &[i32], u8),
        (results, output): (&mut [u32], &mut [u32]),
        scratch: &mut [u64],
    ) -> Result<(), FftError> {
        let mut leaving = Leaving::default();
        let mut first = 0;
        for piece in &self.row_pieces {
            let of_piece = &mut words[first..first + WORDS * piece.words];
            first += WORDS * piece.words;
            let len = piece.leave.send.len();
            messages.clock.time(Doing::Transforms, || {
                // A pass may change exponents, which all pieces need.
                let exponents = &mut exponents.to_vec()[..];
                let stored = (view_mut(of_piece, piece.words), exponents);
                let workspace = &mut scratch[..self.parts.workspace_len(piece.words)];
                let rows = piece.rows.clone();
                match self.parts.kind() {
                    Kind::ComplexToReal => {
                        let reals = view_mut(results, len);
                        self.parts
                            .transform_rows_to_reals(stored, rows, properties, reals, workspace)
                    }
                    _ => {
                        let numbers = view_mut(results, len);
                        self.parts
                            .transform_rows(stored, rows, properties, numbers, workspace)
                    }
                }
            })?;
            messages.move_on(leaving.transfer());
            leaving.send(messages, &piece.leave, results, output);
        }
        leaving.end(messages, output);
        Ok(())
    }
}

/// Puts the exponents of a piece of columns, or of rows, among those of all of this rank's: for every line, column after column.
fn put_exponents((piece, from): (&Range<usize>, &[i32]), own: &Range<usize>, to: &mut [i32]) {
    let count = piece.len();
    if count == 0 {
        return;
    }
    for (line, from) in from.chunks(count).enumerate() {
        let place = line * own.len() + piece.start - own.start;
        to[place..place + count].copy_from_slice(from);
    }
}

/// The exponents of all columns, or rows, as one process has them: for every line of the pass before, column after column.
fn gathered(
    all: &SimpleCommunicator,
    shares: &[Range<usize>],
    lines: usize,
    own: &[i32],
) -> Vec<i32> {
    let counts: Vec<Count> = shares
        .iter()
        .map(|share| (lines * share.len()) as Count)
        .collect();
    let mut next = 0;
    let places = counts.iter().map(|count| {
        next += count;
        next - count
    });
    let places: Vec<Count> = places.collect();
    let width: usize = shares.iter().map(Range::len).sum();
    let mut gathered = vec![0i32; lines * width];
    {
        let mut parts = PartitionMut::new(&mut gathered[..], &counts[..], &places[..]);
        all.all_gather_varcount_into(own, &mut parts);
    }
    let mut found = vec![0; gathered.len()];
    let mut from = 0;
    for share in shares {
        for line in 0..lines {
            let to = line * width + share.start;
            found[to..to + share.len()].copy_from_slice(&gathered[from..from + share.len()]);
            from += share.len();
        }
    }
    found
}

/// A piece that leaves, at most one at a time.
#[derive(Default)]
struct Leaving<'l, 'a>(Option<(&'l Exchange, Transfer<Slot<'a>>)>);

impl<'l, 'a> Leaving<'l, 'a> {
    fn transfer(&mut self) -> impl Iterator<Item = &mut Transfer<Slot<'a>>> {
        self.0.iter_mut().map(|(_, transfer)| transfer)
    }

    /// Sends a piece, once the one before it has arrived.
    fn send(
        &mut self,
        messages: &mut Messages<'_, 'a>,
        exchange: &'l Exchange,
        from: &[u32],
        to: &mut [u32],
    ) {
        messages.copy_own(exchange, from, to);
        self.end(messages, to);
        self.0 = Some((exchange, messages.start(exchange, from)));
    }

    /// Waits for what leaves, and puts what has come to its place.
    fn end(&mut self, messages: &mut Messages<'_, 'a>, to: &mut [u32]) {
        if let Some((exchange, transfer)) = self.0.take() {
            messages.finish(exchange, transfer, to);
        }
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
