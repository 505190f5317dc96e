//! Loads and stores of floating-point numbers: exact positions, nothing beside them, bits as they are.

use super::*;
use ozfft_testkit::oracle::inputs::Generator;

/// Numbers that a store must leave alone.
const GUARD: u64 = 0x7ff8_dead_beef_0001;

/// Any bits, signalling NaNs included: moving is not computing.
fn any_bits(generator: &mut Generator) -> u64 {
    match generator.below(4) {
        0 => f64::INFINITY.to_bits() | generator.next_u64() >> generator.below(64),
        _ => generator.next_u64(),
    }
}

fn floats(count: usize, mut bits: impl FnMut(usize) -> u64) -> Vec<f64> {
    (0..count).map(|i| f64::from_bits(bits(i))).collect()
}

fn bits_of(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Real and imaginary parts that alternate, at every alignment.
#[inline(always)]
fn neighbours<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    for round in 0..200 {
        let start = round % 9;
        let memory = floats(start + 2 * L + 3, |_| any_bits(generator));
        // SAFETY: 2L numbers follow the start.
        let (re, im) = unsafe { V::load_neighbours(memory[start..].as_ptr()) };
        let (re_lanes, im_lanes) = (lanes_of::<L, V>(re), lanes_of::<L, V>(im));
        for lane in 0..L {
            assert_eq!(re_lanes[lane] as u64, memory[start + 2 * lane].to_bits());
            assert_eq!(
                im_lanes[lane] as u64,
                memory[start + 2 * lane + 1].to_bits()
            );
        }
        let mut written = floats(memory.len(), |_| GUARD);
        // SAFETY: as above.
        unsafe { V::store_neighbours(written[start..].as_mut_ptr(), re, im) };
        let mut right = vec![GUARD; memory.len()];
        right[start..start + 2 * L].copy_from_slice(&bits_of(&memory[start..start + 2 * L]));
        assert_eq!(bits_of(&written), right, "start {start}");
    }
}

/// The same for some of the lanes, with nothing readable or written after them: memory ends there.
#[inline(always)]
fn some_neighbours<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    for round in 0..200 {
        let (start, count) = (round % 9, 1 + round % L);
        let memory = floats(start + 2 * count, |_| any_bits(generator));
        // SAFETY: 2·count numbers follow the start.
        let (re, im) = unsafe { V::load_some_neighbours(memory[start..].as_ptr(), count) };
        let (re_lanes, im_lanes) = (lanes_of::<L, V>(re), lanes_of::<L, V>(im));
        for lane in 0..L {
            // The others repeat the first.
            let number = start + 2 * if lane < count { lane } else { 0 };
            assert_eq!(re_lanes[lane] as u64, memory[number].to_bits());
            assert_eq!(im_lanes[lane] as u64, memory[number + 1].to_bits());
        }
        let mut written = floats(start + 2 * L + 3, |_| GUARD);
        // SAFETY: as above.
        unsafe { V::store_some_neighbours(written[start..].as_mut_ptr(), count, re, im) };
        let mut right = vec![GUARD; written.len()];
        right[start..start + 2 * count].copy_from_slice(&bits_of(&memory[start..]));
        assert_eq!(bits_of(&written), right, "start {start}, {count} lanes");
    }
}

/// Lines anywhere in memory, in any order.
#[inline(always)]
fn lines<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    for _ in 0..200 {
        // Lines follow each other with gaps; lanes take them in a random order.
        let mut places = Vec::new();
        let mut end = 0;
        for _ in 0..L {
            end += generator.below(4);
            places.push(end);
            end += L;
        }
        for last in (1..L).rev() {
            places.swap(last, generator.below(last + 1));
        }
        let memory = floats(end + generator.below(3), |_| any_bits(generator));
        let starts: [*const f64; L] = std::array::from_fn(|lane| memory[places[lane]..].as_ptr());
        let mut elements = Vec::new();
        // SAFETY: every line has L numbers.
        unsafe {
            V::load_lines(
                &starts,
                #[inline(always)]
                |number, words| {
                    assert_eq!(number, elements.len(), "element after element");
                    elements.push(lanes_of::<L, V>(words));
                },
            );
        }
        assert_eq!(elements.len(), L);
        for (number, element) in elements.iter().enumerate() {
            for lane in 0..L {
                let right = memory[places[lane] + number].to_bits();
                assert_eq!(element[lane] as u64, right, "element {number}, lane {lane}");
            }
        }

        let mut written = floats(memory.len(), |_| GUARD);
        let base = written.as_mut_ptr();
        // SAFETY: the places are within the memory.
        let starts: [*mut f64; L] = std::array::from_fn(|lane| unsafe { base.add(places[lane]) });
        // SAFETY: as above, and the lines do not overlap.
        unsafe {
            V::store_lines(
                &starts,
                #[inline(always)]
                |number| V::load(&elements[number]),
            );
        }
        let mut right = vec![GUARD; memory.len()];
        for &place in &places {
            right[place..place + L].copy_from_slice(&bits_of(&memory[place..place + L]));
        }
        assert_eq!(bits_of(&written), right, "places {places:?}");
    }
}

#[inline(always)]
pub(super) fn suite<const L: usize, V: Vectors<L>>(generator: &mut Generator) {
    neighbours::<L, V>(generator);
    some_neighbours::<L, V>(generator);
    lines::<L, V>(generator);
}
