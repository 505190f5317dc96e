//! Cyclic products of polynomials modulo one prime, of any number of rows up to 2^22.

use crate::modular::prime::{Factor, ORDER, PRIMES, Prime};
use crate::modular::roots::{Table, roots};
use crate::modular::rows::Rows;
use crate::modular::unit::Unit;
use crate::parallel::{DIVIDED, for_each_piece, join};

/// Numbers that stay in the first cache (32 KB) while all levels below a node run.
const BLOCK: usize = 1 << 13;

/// A node of the tree of remainders: rows modulo `y^rows - s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    rows: usize,
    /// Its number among the nodes of its level.
    node: usize,
    /// Rows of the parts before it.
    offset: usize,
}

/// The ring in which products are formed: modulo `y^rows - 1` for a power of two; else modulo the product of the first nodes of such a tree,
/// so that a product that is a little longer than a power of two does not take twice the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ring {
    unit: Unit,
    rows: usize,
    parts: Vec<Part>,
    /// Whether its products are worth several threads.
    divided: bool,
}

/// What enters a product: writes its residues into rows that are zero, and says how long it is.
pub(crate) struct Operand<'a> {
    pub(crate) length: usize,
    pub(crate) residues: &'a (dyn Fn(usize, &mut [u32]) + Send + Sync),
}

impl Ring {
    /// The longest products in one piece.
    pub(crate) fn most_numbers(unit: Unit) -> usize {
        unit.lanes() << ORDER
    }

    /// A ring that holds polynomials of so many coefficients: nothing wraps around.
    pub(crate) fn linear(unit: Unit, length: usize) -> Ring {
        assert!(length <= Ring::most_numbers(unit));
        let needed = length.div_ceil(unit.lanes()).max(1);
        let tree = needed.next_power_of_two();
        let eighth = tree / 8;
        let eighths = match eighth {
            0 => 8,
            _ => needed.div_ceil(eighth),
        };
        let mut parts = Vec::new();
        let mut offset = 0;
        for bit in [8, 4, 2, 1] {
            if eighths & bit != 0 {
                let rows = match bit {
                    8 => tree,
                    _ => eighth * bit,
                };
                let node = offset / rows;
                parts.push(Part { rows, node, offset });
                offset += rows;
            }
        }
        let rows = offset;
        Ring {
            unit,
            rows,
            parts,
            divided: rows * unit.lanes() >= DIVIDED,
        }
    }

    /// The same, whose transforms stay on the thread that calls.
    pub(crate) fn undivided(self) -> Ring {
        Ring {
            divided: false,
            ..self
        }
    }

    /// The ring of cyclic convolutions of this length, where it is one.
    pub(crate) fn cyclic(unit: Unit, length: usize) -> Option<Ring> {
        let lanes = unit.lanes();
        let fits = length.is_power_of_two() && length >= lanes;
        (fits && length <= Ring::most_numbers(unit)).then(|| Ring::linear(unit, length))
    }

    /// Whether its products are divided among threads.
    pub(crate) fn is_divided(&self) -> bool {
        self.divided
    }

    /// Coefficients of its elements.
    pub(crate) fn length(&self) -> usize {
        self.rows * self.unit.lanes()
    }

    /// The roots that its transforms take modulo a prime.
    pub(crate) fn roots(&self, number: usize) -> Table {
        let last = self.parts[self.parts.len() - 1];
        roots(number, ((last.node + 1) * last.rows).div_ceil(2))
    }

    fn task<'a>(&'a self, number: usize, roots: &'a Table) -> Task<'a> {
        Task {
            ring: self,
            number,
            prime: &PRIMES[number],
            roots,
        }
    }

    /// The spectrum of `length` residues, which zeros follow, in their place. `spare` is as long as the ring where that has several parts.
    pub(crate) fn forward(
        &self,
        number: usize,
        roots: &Table,
        residues: &mut [u32],
        length: usize,
        spare: &mut [u32],
    ) {
        let task = self.task(number, roots);
        if self.parts.len() > 1 {
            task.remainders(residues, length, spare);
            residues.copy_from_slice(spare);
        }
        task.spectra(residues);
    }

    /// The product with a spectrum, of a spectrum in its place; residues below the prime.
    pub(crate) fn product_back(
        &self,
        number: usize,
        roots: &Table,
        spectrum: &mut [u32],
        factor: &[u32],
    ) {
        let task = self.task(number, roots);
        task.row_products(spectrum, Some(factor));
        task.back(spectrum);
    }

    /// Whether its transforms need spare memory.
    pub(crate) fn has_parts(&self) -> bool {
        self.parts.len() > 1
    }

    /// The product (without a second factor: the square) modulo a prime, by its number in the list; residues below the prime.
    pub(crate) fn product(&self, number: usize, a: &Operand, b: Option<&Operand>) -> Rows {
        let table = self.roots(number);
        let task = self.task(number, &table);
        let mut product = match b {
            None => {
                let mut spectrum = task.spectrum(a);
                task.row_products(&mut spectrum, None);
                spectrum
            }
            Some(b) => {
                let (mut first, second) =
                    join(self.is_divided(), || task.spectrum(a), || task.spectrum(b));
                task.row_products(&mut first, Some(&second));
                first
            }
        };
        task.back(&mut product);
        product
    }
}

/// One prime.
struct Task<'a> {
    ring: &'a Ring,
    number: usize,
    prime: &'a Prime,
    roots: &'a [Factor],
}

impl Task<'_> {
    /// `s` of a part.
    fn root(&self, part: Part) -> u32 {
        let root = self.prime.multiply(1, self.roots[part.node / 2]);
        match part.node % 2 {
            0 => root,
            _ => self.prime.negate(root),
        }
    }

    fn range(&self, part: Part) -> std::ops::Range<usize> {
        let lanes = self.ring.unit.lanes();
        part.offset * lanes..(part.offset + part.rows) * lanes
    }

    /// Remainders of an operand modulo all parts, transformed.
    fn spectrum(&self, operand: &Operand) -> Rows {
        let mut spectrum = Rows::zeros(self.ring.length());
        (operand.residues)(self.number, &mut spectrum);
        if self.ring.parts.len() > 1 {
            let mut parts = Rows::zeros(spectrum.len());
            self.remainders(&spectrum, operand.length, &mut parts);
            spectrum = parts;
        }
        self.spectra(&mut spectrum);
        spectrum
    }

    /// Transforms remainders modulo all parts.
    fn spectra(&self, remainders: &mut [u32]) {
        for &part in &self.ring.parts {
            let range = self.range(part);
            self.forward(part.node, &mut remainders[range]);
        }
    }

    /// `length` numbers of a polynomial modulo every part.
    fn remainders(&self, whole: &[u32], length: usize, parts: &mut [u32]) {
        parts.fill(0);
        let lanes = self.ring.unit.lanes();
        let whole = &whole[..length.next_multiple_of(lanes)];
        for &part in &self.ring.parts {
            let target = &mut parts[self.range(part)];
            let root = self.root(part);
            let mut power = 1;
            for piece in whole.chunks(target.len()) {
                match power {
                    1 if piece.as_ptr() == whole.as_ptr() => {
                        target[..piece.len()].copy_from_slice(piece);
                    }
                    _ => {
                        let factor = self.prime.factor(power);
                        let target = &mut target[..piece.len()];
                        let unit = self.ring.unit;
                        unit.add_multiple(self.prime, factor, target, piece);
                    }
                }
                power = self.prime.multiply(power, self.prime.factor(root));
            }
        }
    }

    /// Whether a part of the data is worth several threads.
    fn is_divided(&self, data: &[u32]) -> bool {
        self.ring.divided && data.len() >= DIVIDED
    }

    fn forward(&self, node: usize, data: &mut [u32]) {
        let unit = self.ring.unit;
        if data.len() <= BLOCK {
            return unit.forward_block(self.prime, self.roots, node, data);
        }
        unit.forward_node(self.prime, self.roots, node, data);
        let quarter = data.len() / 4;
        let below = |k: usize, data: &mut [u32]| self.forward(4 * node + k, data);
        for_each_piece(self.is_divided(data), data, quarter, below);
    }

    fn inverse(&self, node: usize, data: &mut [u32]) {
        let unit = self.ring.unit;
        if data.len() <= BLOCK {
            return unit.inverse_block(self.prime, self.roots, node, data);
        }
        let quarter = data.len() / 4;
        let below = |k: usize, data: &mut [u32]| self.inverse(4 * node + k, data);
        for_each_piece(self.is_divided(data), data, quarter, below);
        unit.inverse_node(self.prime, self.roots, node, data);
    }

    fn row_products(&self, a: &mut [u32], b: Option<&[u32]>) {
        let unit = self.ring.unit;
        for &part in &self.ring.parts {
            let range = self.range(part);
            let b = b.map(|b| &b[range.clone()]);
            let leaf = part.node * part.rows;
            for_each_piece(
                self.ring.is_divided(),
                &mut a[range],
                DIVIDED,
                |number, a| {
                    let start = number * DIVIDED;
                    let b = b.map(|b| &b[start..][..a.len()]);
                    let leaf = leaf + start / unit.lanes();
                    unit.row_products(self.prime, self.roots, leaf, a, b);
                },
            );
        }
    }

    /// From the spectra of all parts to the polynomial.
    fn back(&self, data: &mut [u32]) {
        for &part in &self.ring.parts {
            let range = self.range(part);
            self.inverse(part.node, &mut data[range.clone()]);
            let factor = self.prime.back(part.rows as u32);
            self.ring.unit.scale(self.prime, factor, &mut data[range]);
        }
        for count in 1..self.ring.parts.len() {
            self.combine(data, count);
        }
    }

    /// Chinese remainders: the polynomial modulo the first `count` parts, and modulo the next, make it modulo all of these.
    ///
    /// With A the product of the moduli before and `y^h - s` the next one, in which A is a number (h divides all rows before), it is `c + A·q` with
    /// `q = (v - c)/A` modulo `y^h - s`.
    fn combine(&self, data: &mut [u32], count: usize) {
        let (unit, prime) = (self.ring.unit, self.prime);
        let lanes = unit.lanes();
        let part = self.ring.parts[count];
        let root = self.root(part);
        let (known, rest) = data.split_at_mut(part.offset * lanes);
        let next = &mut rest[..part.rows * lanes];
        let minus_one = prime.negate(1);
        // v - c modulo y^h - s.
        let mut power = minus_one;
        for piece in known.chunks_exact(next.len()) {
            unit.add_multiple(prime, prime.factor(power), next, piece);
            power = prime.multiply(power, prime.factor(root));
        }
        // A as a number, and as powers of y with their coefficients.
        let mut value = 1;
        let mut terms = vec![(0, 1)];
        for &before in &self.ring.parts[..count] {
            let s = self.root(before);
            let power = prime.power(root, (before.rows / part.rows) as u32);
            value = prime.multiply(value, prime.factor(prime.subtract(power, s)));
            let minus = prime.factor(prime.negate(s));
            let constant = terms
                .iter()
                .map(|&(rows, c)| (rows, prime.multiply(c, minus)));
            let leading = terms.iter().map(|&(rows, c)| (rows + before.rows, c));
            terms = constant.chain(leading).collect();
        }
        unit.scale(prime, prime.factor(prime.invert(value)), next);
        for (rows, coefficient) in terms {
            // The highest term is 1 times q, which stands where it belongs.
            if rows == part.offset {
                assert_eq!(coefficient, 1);
                continue;
            }
            let target = &mut known[rows * lanes..][..next.len()];
            unit.add_multiple(prime, prime.factor(coefficient), target, next);
        }
    }
}
