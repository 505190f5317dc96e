//! The paper's Figure 3: where slices of a sum lie in the words of its accumulator, as printed and as built.

use super::{Figure, heads};
use page_model::charts::Kind;
use page_model::svg::{Anchor, Svg};

/// Bits from one slice to the next.
const SPACING: usize = 8;
/// Bits that both pictures show.
const BITS: usize = 160;
const ROW: f64 = 13.0;

struct Layout {
    title: &'static str,
    kind: Kind,
    slices: usize,
    /// Bits of a slice's sum.
    payload: usize,
    /// Bits from one word of 32 to the next.
    radix: usize,
}

/// Section 4.5: eleven slices of twenty bits in five words.
const PRINTED: Layout = Layout {
    title: "As printed: 11 slices of 20 bits, 5 words of 32 bits",
    kind: Kind::Printed,
    slices: 11,
    payload: 20,
    radix: 32,
};
/// `residues::reconstruct`, 16 moduli of int8: sums of 16 products of signed bytes are 19 bits, and a word carries 16 of its 32.
const BUILT: Layout = Layout {
    title: "As built: 16 slices of 19 bits, words that carry 16 of their 32 bits",
    kind: Kind::Measured,
    slices: 16,
    payload: 19,
    radix: 16,
};

impl Layout {
    /// First and last bit of a slice.
    fn bits(&self, slice: usize) -> (usize, usize) {
        let first = SPACING * slice;
        (first, first + self.payload - 1)
    }

    /// Whether a slice fits into the word that it begins in.
    fn fits(&self, slice: usize) -> bool {
        let (first, last) = self.bits(slice);
        last < first / self.radix * self.radix + 32
    }

    fn draw(&self, svg: &mut Svg, top: f64) -> f64 {
        let (left, right) = (34.0, svg.width - 4.0);
        let at = |bit: usize| left + (right - left) * bit.min(BITS) as f64 / BITS as f64;
        let narrow = svg.width < 500.0;
        let (first, second) = match (narrow, self.title.split_once(": ")) {
            (true, Some((kind, rest))) => (format!("{kind}:"), rest),
            _ => (self.title.to_string(), ""),
        };
        svg.text("strong", (0.0, top + 12.0), Anchor::Start, &first);
        let top = if second.is_empty() {
            top
        } else {
            svg.text("", (0.0, top + 28.0), Anchor::Start, second);
            top + 16.0
        };
        let begin = top + 38.0;
        let end = begin + ROW * self.slices as f64;
        for bit in (0..=BITS).step_by(32) {
            svg.text(
                "small quiet",
                (at(bit), top + 30.0),
                if bit == BITS {
                    Anchor::End
                } else {
                    Anchor::Middle
                },
                &bit.to_string(),
            );
            svg.line("grid", (at(bit), begin - 4.0), (at(bit), end + 2.0));
        }
        for slice in 0..self.slices {
            let y = begin + ROW * slice as f64;
            let (first, last) = self.bits(slice);
            let word = first / self.radix * self.radix;
            if self.radix == 16 && slice % 2 == 0 {
                svg.rect(
                    "spare",
                    (at(word), y),
                    (at(word + 32) - at(word), 2.0 * ROW - 1.0),
                );
            }
            svg.text(
                "small quiet",
                (left - 8.0, y + 10.0),
                Anchor::End,
                &format!("P{slice}"),
            );
            let class = self.kind.class();
            svg.rect(
                class,
                (at(first), y + 1.5),
                (at(last + 1) - at(first), ROW - 4.0),
            );
            if !self.fits(slice) {
                svg.text(
                    "small",
                    (at(last + 1) + 4.0, y + 10.5),
                    Anchor::Start,
                    "crosses a word",
                );
            }
        }
        end + 8.0
    }
}

pub fn figure(width: f64) -> Figure {
    let mut svg = Svg::new(width);
    let middle = PRINTED.draw(&mut svg, 0.0);
    svg.height = BUILT.draw(&mut svg, middle + 14.0);
    let rows = [&PRINTED, &BUILT].into_iter().flat_map(|layout| {
        (0..layout.slices).map(move |slice| {
            let (first, last) = layout.bits(slice);
            vec![
                layout.kind_text().into(),
                format!("P{slice}"),
                format!("{first} to {last}"),
                if layout.fits(slice) { "no" } else { "yes" }.into(),
            ]
        })
    });
    Figure {
        title: "Figure 3: slices in the words of a fixed-point accumulator".into(),
        description: "Two layouts over bits 0 to 160. As printed, slices of 20 bits every 8 bits lie over words of 32 bits, and five of eleven cross from one word into the next. As built, two slices \
                      each lie within a word of 32 bits that carries 16, and none crosses."
            .into(),
        caption: "The paper says that P0 to P2 lie wholly in the first word; with 20 bits at bit 16, P2 does not. Built here, every word carries 16 bits and has 16 to spare: two slices are added into it whole, nothing branches, and one carry goes from each word to the next."
            .into(),
        columns: heads(&["layout", "slice", "bits", "crosses a word"]),
        rows: rows.collect(),
        svg,
    }
}

impl Layout {
    fn kind_text(&self) -> &'static str {
        match self.kind {
            Kind::Printed => "as printed",
            _ => "as built",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cross_where_they_do_by_hand() {
        // Bits 16 to 35, 24 to 43; 32 to 51 lies in the second word.
        let crossing: Vec<usize> = (0..11).filter(|slice| !PRINTED.fits(*slice)).collect();
        assert_eq!(crossing, [2, 3, 6, 7, 10]);
        assert!((0..16).all(|slice| BUILT.fits(slice)));
    }
}
