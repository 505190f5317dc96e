//! Several lines transformed side by side, one per vector lane.
//!
//! The transform is Stockham's: every pass reads one buffer and writes the other, and the output comes out in
//! natural order with no bit reversal. Its element is not one number but one number of each of [`LANES`] lines,
//! so that the innermost loop is always the same short one, which the compiler turns into vector code.

use crate::oracle::bluestein::LaneBluestein;
use crate::oracle::dispatch::{Kernel, dispatch};
use crate::oracle::double_double::{ComplexDoubleDouble, DoubleDouble, ExactProduct};
use crate::oracle::factor::prime_factors;
use crate::oracle::roots::Roots;

/// Lines side by side.
pub(crate) const LANES: usize = 8;

/// Prime factors up to this are summed directly; larger ones become convolutions.
pub(crate) const LARGEST_DIRECT_PRIME: usize = 67;

/// One element of each of [`LANES`] lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct ComplexLanes {
    re_hi: [f64; LANES],
    re_lo: [f64; LANES],
    im_hi: [f64; LANES],
    im_lo: [f64; LANES],
}

impl ComplexLanes {
    pub(crate) const ZERO: Self = Self {
        re_hi: [0.0; LANES],
        re_lo: [0.0; LANES],
        im_hi: [0.0; LANES],
        im_lo: [0.0; LANES],
    };

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> ComplexDoubleDouble {
        ComplexDoubleDouble {
            re: DoubleDouble {
                hi: self.re_hi[lane],
                lo: self.re_lo[lane],
            },
            im: DoubleDouble {
                hi: self.im_hi[lane],
                lo: self.im_lo[lane],
            },
        }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, value: ComplexDoubleDouble) {
        self.re_hi[lane] = value.re.hi;
        self.re_lo[lane] = value.re.lo;
        self.im_hi[lane] = value.im.hi;
        self.im_lo[lane] = value.im.lo;
    }
}

/// How one factor of the length is transformed.
enum Radix {
    Two,
    Four,
    /// An odd prime, or any factor, by its definition folded to half the work.
    Odd(usize),
    Convolution(LaneBluestein),
}

impl Radix {
    fn size(&self) -> usize {
        match self {
            Self::Two => 2,
            Self::Four => 4,
            Self::Odd(size) => *size,
            Self::Convolution(convolution) => convolution.length(),
        }
    }
}

/// A forward transform of a fixed length, for [`LANES`] lines at once.
pub(crate) struct LanePlan {
    length: usize,
    roots: Roots,
    radices: Vec<Radix>,
}

/// Working memory of a [`LanePlan`], kept by the caller to be used again.
#[derive(Default)]
pub(crate) struct LaneScratch {
    other: Vec<ComplexLanes>,
    column: Vec<ComplexLanes>,
    convolution: Vec<ComplexLanes>,
    inner: Option<Box<LaneScratch>>,
}

impl LanePlan {
    pub(crate) fn new(length: usize) -> Self {
        let mut factors = prime_factors(length);
        let twos = factors.iter().take_while(|&&factor| factor == 2).count();
        factors.drain(..twos);
        let mut radices: Vec<Radix> = (0..twos / 2).map(|_| Radix::Four).collect();
        radices.extend((twos % 2 == 1).then_some(Radix::Two));
        radices.extend(factors.into_iter().map(|factor| {
            if factor <= LARGEST_DIRECT_PRIME {
                Radix::Odd(factor)
            } else {
                Radix::Convolution(LaneBluestein::new(factor))
            }
        }));
        Self {
            length,
            roots: Roots::new(length),
            radices,
        }
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Transforms `data` in place.
    pub(crate) fn run(&self, data: &mut [ComplexLanes], scratch: &mut LaneScratch) {
        assert_eq!(data.len(), self.length);
        scratch.other.resize(self.length, ComplexLanes::ZERO);
        let mut other = std::mem::take(&mut scratch.other);
        let (mut source, mut target): (&mut [ComplexLanes], &mut [ComplexLanes]) =
            (data, &mut other);
        let mut stride = 1;
        for radix in &self.radices {
            let groups = self.length / (stride * radix.size());
            let pass = Pass {
                source,
                target,
                groups,
                stride,
                roots: self.roots.table(),
            };
            match radix {
                Radix::Two => dispatch(RadixTwo(pass)),
                Radix::Four => dispatch(RadixFour(pass)),
                Radix::Odd(size) => {
                    dispatch(RadixOdd {
                        pass,
                        size: *size,
                        folded: &mut scratch.column,
                    });
                }
                Radix::Convolution(convolution) => pass_by_convolution(pass, convolution, scratch),
            }
            stride *= radix.size();
            std::mem::swap(&mut source, &mut target);
        }
        if !self.radices.len().is_multiple_of(2) {
            target.copy_from_slice(source);
        }
        scratch.other = other;
    }
}

/// One pass: `source` seen as `[input of the small DFT][group][stride]`, `target` as `[group][output][stride]`;
/// output `o` of group `g` is multiplied by the root with exponent `g * o * stride`.
struct Pass<'a> {
    source: &'a [ComplexLanes],
    target: &'a mut [ComplexLanes],
    groups: usize,
    stride: usize,
    roots: &'a [ComplexDoubleDouble],
}

struct RadixTwo<'a>(Pass<'a>);

impl Kernel for RadixTwo<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        let Pass {
            source,
            target,
            groups,
            stride,
            roots,
        } = self.0;
        let (first, second) = source.split_at(groups * stride);
        for (group, outputs) in target.chunks_exact_mut(2 * stride).enumerate() {
            let root = roots[group * stride];
            let (output_0, output_1) = outputs.split_at_mut(stride);
            let inputs = group * stride..(group + 1) * stride;
            let (first, second) = (&first[inputs.clone()], &second[inputs]);
            for index in 0..stride {
                let (a, b) = (&first[index], &second[index]);
                let (x, y) = (&mut output_0[index], &mut output_1[index]);
                for lane in 0..LANES {
                    let (a, b) = (a.get(lane), b.get(lane));
                    x.set(lane, a.plus(b));
                    y.set(lane, a.minus(b).times::<P>(root));
                }
            }
        }
    }
}

struct RadixFour<'a>(Pass<'a>);

impl Kernel for RadixFour<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        let Pass {
            source,
            target,
            groups,
            stride,
            roots,
        } = self.0;
        let quarter = groups * stride;
        for (group, outputs) in target.chunks_exact_mut(4 * stride).enumerate() {
            let exponent = group * stride;
            let root_1 = roots[exponent];
            let root_2 = roots[2 * exponent];
            let root_3 = roots[3 * exponent];
            let (output_01, output_23) = outputs.split_at_mut(2 * stride);
            let (output_0, output_1) = output_01.split_at_mut(stride);
            let (output_2, output_3) = output_23.split_at_mut(stride);
            let input = |quarter_index: usize| {
                let start = quarter_index * quarter + group * stride;
                &source[start..start + stride]
            };
            let (input_0, input_1, input_2, input_3) = (input(0), input(1), input(2), input(3));
            for index in 0..stride {
                let (a, b, c, d) = (
                    &input_0[index],
                    &input_1[index],
                    &input_2[index],
                    &input_3[index],
                );
                let (w, x) = (&mut output_0[index], &mut output_1[index]);
                let (y, z) = (&mut output_2[index], &mut output_3[index]);
                for lane in 0..LANES {
                    let (a, b, c, d) = (a.get(lane), b.get(lane), c.get(lane), d.get(lane));
                    let even_sum = a.plus(c);
                    let even_difference = a.minus(c);
                    let odd_sum = b.plus(d);
                    let odd_difference = b.minus(d).times_minus_i();
                    w.set(lane, even_sum.plus(odd_sum));
                    x.set(
                        lane,
                        even_difference.plus(odd_difference).times::<P>(root_1),
                    );
                    y.set(lane, even_sum.minus(odd_sum).times::<P>(root_2));
                    z.set(
                        lane,
                        even_difference.minus(odd_difference).times::<P>(root_3),
                    );
                }
            }
        }
    }
}

/// An odd size by its definition: inputs `j` and `size - j` meet the same cosine and opposite sines, so their sum
/// and difference meet real factors only, and outputs `k` and `size - k` share the products.
struct RadixOdd<'a> {
    pass: Pass<'a>,
    size: usize,
    folded: &'a mut Vec<ComplexLanes>,
}

impl Kernel for RadixOdd<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        let Pass {
            source,
            target,
            groups,
            stride,
            roots,
        } = self.pass;
        let size = self.size;
        let half = size / 2;
        let length = source.len();
        self.folded.resize(2 * half, ComplexLanes::ZERO);
        let (sums, differences) = self.folded.split_at_mut(half);
        let input_step = groups * stride;
        let root_step = length / size;
        for group in 0..groups {
            for offset in 0..stride {
                let input = group * stride + offset;
                let output = group * stride * size + offset;
                let first = source[input];
                let mut total = first;
                for pair in 0..half {
                    let a = &source[input + (pair + 1) * input_step];
                    let b = &source[input + (size - 1 - pair) * input_step];
                    let (sum, difference) = (&mut sums[pair], &mut differences[pair]);
                    for lane in 0..LANES {
                        let (a, b) = (a.get(lane), b.get(lane));
                        let both = a.plus(b);
                        sum.set(lane, both);
                        difference.set(lane, a.minus(b));
                        total.set(lane, total.get(lane).plus(both));
                    }
                }
                target[output] = total;
                for frequency in 1..=half {
                    let mut cosines = first;
                    let mut sines = ComplexLanes::ZERO;
                    let mut exponent = 0;
                    for (sum, difference) in sums.iter().zip(differences.iter()) {
                        exponent += frequency;
                        if exponent >= size {
                            exponent -= size;
                        }
                        let root = roots[exponent * root_step];
                        for lane in 0..LANES {
                            let (s, d) = (sum.get(lane), difference.get(lane));
                            let (c, t) = (cosines.get(lane), sines.get(lane));
                            cosines.set(
                                lane,
                                ComplexDoubleDouble {
                                    re: c.re.plus(s.re.times::<P>(root.re)),
                                    im: c.im.plus(s.im.times::<P>(root.re)),
                                },
                            );
                            // i * root.im * (re + i im)
                            sines.set(
                                lane,
                                ComplexDoubleDouble {
                                    re: t.re.minus(d.im.times::<P>(root.im)),
                                    im: t.im.plus(d.re.times::<P>(root.im)),
                                },
                            );
                        }
                    }
                    let low_root = roots[group * stride * frequency];
                    let high_root = roots[group * stride * (size - frequency)];
                    for lane in 0..LANES {
                        let (c, s) = (cosines.get(lane), sines.get(lane));
                        target[output + frequency * stride]
                            .set(lane, c.plus(s).times::<P>(low_root));
                        target[output + (size - frequency) * stride]
                            .set(lane, c.minus(s).times::<P>(high_root));
                    }
                }
            }
        }
    }
}

/// A factor too large for its definition: each of its small DFTs is gathered, convolved and scattered.
fn pass_by_convolution(pass: Pass<'_>, convolution: &LaneBluestein, scratch: &mut LaneScratch) {
    let Pass {
        source,
        target,
        groups,
        stride,
        roots,
    } = pass;
    let size = convolution.length();
    let mut column = std::mem::take(&mut scratch.column);
    column.resize(size, ComplexLanes::ZERO);
    let mut inner = scratch.inner.take().unwrap_or_default();
    for group in 0..groups {
        for offset in 0..stride {
            for (index, value) in column.iter_mut().enumerate() {
                *value = source[offset + stride * (group + groups * index)];
            }
            convolution.run(&mut column, &mut scratch.convolution, &mut inner);
            if group > 0 {
                let step = group * stride;
                dispatch(MultiplyByRoots {
                    data: &mut column,
                    root_of: |index| roots[index * step],
                });
            }
            for (index, value) in column.iter().enumerate() {
                target[offset + stride * (group * size + index)] = *value;
            }
        }
    }
    scratch.inner = Some(inner);
    scratch.column = column;
}

/// Multiplies every element by a root that is the same for all lanes.
pub(crate) struct MultiplyByRoots<'a, F> {
    pub(crate) data: &'a mut [ComplexLanes],
    pub(crate) root_of: F,
}

impl<F: Fn(usize) -> ComplexDoubleDouble> Kernel for MultiplyByRoots<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        for (index, value) in self.data.iter_mut().enumerate() {
            let root = (self.root_of)(index);
            for lane in 0..LANES {
                value.set(lane, value.get(lane).times::<P>(root));
            }
        }
    }
}
