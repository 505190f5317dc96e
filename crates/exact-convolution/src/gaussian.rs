//! Convolutions of Gaussian integers (complex numbers with integer parts) with one operand that stays the same.
//!
//! All primes of the list are 1 modulo 4, so that each has a number ι with `ι² = -1`. Modulo such a prime `a + b·i` is determined by its images
//! `a + ι·b` and `a - ι·b`, and products of numbers are products of their images: two transforms forth and two back do what complex
//! numbers otherwise take three or four products for. The operand that stays is transformed once.
//!
//! Parts of the operands are integers of up to 95 bits, those of the results of up to 177: [`LongInteger`].

use crate::error::{ConvolutionError, Which};
use crate::modular::chinese::{bits_of_primes, garner};
use crate::modular::kernels::GaussianLimbs;
use crate::modular::prime::{Factor, PRIMES, Prime};
use crate::modular::roots::Table;
use crate::modular::rows::Rows;
use crate::modular::transform::Ring;
use crate::modular::unit::Unit;
use crate::parallel::for_each_piece;

/// What becomes of indices beyond the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// They begin anew.
    Cyclic,
    /// They begin anew, with the other sign.
    Negacyclic,
}

/// An integer of 192 bits, sign included: the lowest 64 bits first, as a two's complement.
///
/// ```
/// use exact_convolution::LongInteger;
/// let number = LongInteger { low: u64::MAX, middle: u64::MAX, high: -1 };
/// assert_eq!(number, LongInteger::from(-1i128));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LongInteger {
    /// Bits 0 to 63.
    pub low: u64,
    /// Bits 64 to 127.
    pub middle: u64,
    /// Bits 128 to 191.
    pub high: i64,
}

impl From<i128> for LongInteger {
    fn from(number: i128) -> LongInteger {
        LongInteger {
            low: number as u64,
            middle: (number >> 64) as u64,
            high: (number >> 127) as i64,
        }
    }
}

/// Limbs of a part: 2^95 is added to it.
const LIMBS: usize = 3;
const BIAS_BITS: u32 = 32 * LIMBS as u32 - 1;
/// Results that are put together at a time: their residues stay in the second cache.
const PIECE: usize = 1 << 12;

/// What a prime contributes.
#[derive(Debug, Clone)]
struct Channel {
    number: usize,
    roots: Table,
    limbs: GaussianLimbs,
    /// 1/ι.
    turned: Factor,
    /// Halves of both images of the fixed operand, transformed.
    spectra: [Rows; 2],
}

/// Convolves Gaussian integers with fixed ones: `c[k] = Σ a[j]·b[k - j]` over all j below the length, indices of `b` wrapped around.
///
/// Exact: a part of a result is at most the sum of the magnitudes of all parts of `a`, times the largest magnitude of a part of `b`. The sum is
/// formed while `a` is read, and held against what the primes determine ([`GaussianConvolution::most_sum_bits`]) before anything is computed.
///
/// ```
/// use exact_convolution::{GaussianConvolution, LongInteger, Unit, Wrap};
/// // (1 + 2i, 3) with (i, 1): the first result is (1 + 2i)·i + 3·1.
/// let fixed = GaussianConvolution::new(Unit::best(), 2, Wrap::Cyclic, &[(0, 1), (1, 0)])?;
/// let operand = [(1, 2), (3, 0)];
/// let mut workspace = fixed.workspace();
/// fixed.process(&mut workspace, 1, |place| operand[place])?;
/// assert_eq!(workspace.results().get(0), [LongInteger::from(1), LongInteger::from(1)]);
/// # Ok::<(), exact_convolution::ConvolutionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaussianConvolution {
    length: usize,
    unit: Unit,
    wrap: Wrap,
    ring: Ring,
    /// Whether results beyond the length are yet to be wrapped around.
    folded: bool,
    channels: Vec<Channel>,
    most_sum_bits: u32,
}

/// Operand, results, and everything in between of one call.
#[derive(Debug)]
pub struct GaussianWorkspace {
    length: usize,
    /// Of the operand: the real part's limbs, then the imaginary part's.
    limbs: [Rows; 2 * LIMBS],
    channels: Vec<ChannelMemory>,
}

/// Residues of both images, then of both parts, then digits of these.
#[derive(Debug)]
struct ChannelMemory {
    images: [Rows; 2],
    spare: Rows,
}

impl GaussianConvolution {
    /// Transforms of every unit hold operands of so many elements.
    pub const LONGEST: usize = 1 << 24;

    /// Bits that the results' parts may have, so that `primes` primes determine them and their signs; none for a number of primes that there is not.
    pub fn result_bits(primes: usize) -> Option<u32> {
        (1..=PRIMES.len())
            .contains(&primes)
            .then(|| bits_of_primes(primes) - 2)
    }

    /// Transforms the fixed operand, real and imaginary parts.
    pub fn new(
        unit: Unit,
        primes: usize,
        wrap: Wrap,
        fixed: &[(i128, i128)],
    ) -> Result<GaussianConvolution, ConvolutionError> {
        let length = fixed.len();
        if length == 0 {
            return Err(ConvolutionError::Empty {
                which: Which::Second,
            });
        }
        if length > Self::LONGEST {
            return Err(ConvolutionError::Shape(format!(
                "a convolution of {length} Gaussian integers is longer than the {} that transforms of every unit hold; convolve parts",
                Self::LONGEST
            )));
        }
        if !unit.is_available() {
            return Err(ConvolutionError::NoSuchUnit(unit));
        }
        let Some(result_bits) = GaussianConvolution::result_bits(primes) else {
            return Err(ConvolutionError::Route(format!(
                "{primes} primes were asked for; there are 1 to {}",
                PRIMES.len()
            )));
        };
        let largest = fixed
            .iter()
            .map(|(re, im)| re.unsigned_abs().max(im.unsigned_abs()));
        // The smallest power of two that none exceeds.
        let fixed_bits = match largest.max().unwrap_or(0) {
            0 | 1 => 0,
            largest => u128::BITS - (largest - 1).leading_zeros(),
        };
        if fixed_bits >= BIAS_BITS || fixed_bits > result_bits {
            return Err(ConvolutionError::TooManyBits {
                bits: fixed_bits,
                most: result_bits.min(BIAS_BITS - 1),
            });
        }
        // Products of power-of-two length wrap around by themselves.
        let whole = match wrap {
            Wrap::Cyclic => Ring::cyclic(unit, length),
            Wrap::Negacyclic => None,
        };
        let folded = whole.is_none();
        let ring = whole
            .unwrap_or_else(|| Ring::linear(unit, 2 * length - 1))
            .undivided();
        let mut convolution = GaussianConvolution {
            length,
            unit,
            wrap,
            ring,
            folded,
            channels: Vec::new(),
            most_sum_bits: (result_bits - fixed_bits).min(BIAS_BITS - 1),
        };
        let mut limbs = no_limbs(length);
        for (place, &(re, im)) in fixed.iter().enumerate() {
            set_limbs(&mut slices(&mut limbs), place, re, im);
        }
        convolution.channels = (0..primes)
            .map(|number| convolution.channel(number, &limbs))
            .collect();
        Ok(convolution)
    }

    fn channel(&self, number: usize, limbs: &[Rows; 2 * LIMBS]) -> Channel {
        let prime = &PRIMES[number];
        let root = prime.root(2);
        let mut channel = Channel {
            number,
            roots: self.ring.roots(number),
            limbs: limbs_of(prime, root),
            turned: prime.factor(prime.negate(root)),
            spectra: [self.ring_rows(), self.ring_rows()],
        };
        let mut spectra = [self.ring_rows(), self.ring_rows()];
        self.spectra(&channel, limbs, &mut spectra, &mut self.spare_rows());
        let half = prime.factor(prime.value.div_ceil(2));
        for spectrum in &mut spectra {
            self.unit.scale(prime, half, spectrum);
        }
        channel.spectra = spectra;
        channel
    }

    fn ring_rows(&self) -> Rows {
        Rows::zeros(self.ring.length())
    }

    fn spare_rows(&self) -> Rows {
        match self.ring.has_parts() {
            true => self.ring_rows(),
            false => Rows::zeros(0),
        }
    }

    /// Both images of an operand, transformed.
    fn spectra(
        &self,
        channel: &Channel,
        limbs: &[Rows; 2 * LIMBS],
        images: &mut [Rows; 2],
        spare: &mut Rows,
    ) {
        let [plus, minus] = images;
        // Whole rows of the unit: what stands behind the operand there is zero.
        let whole = self.length.next_multiple_of(self.unit.lanes());
        plus[whole..].fill(0);
        minus[whole..].fill(0);
        let prime = &PRIMES[channel.number];
        let numbers = limbs.each_ref().map(|limb| &limb[..whole]);
        self.unit.gaussian_images(
            prime,
            &channel.limbs,
            numbers,
            &mut plus[..whole],
            &mut minus[..whole],
        );
        for image in [plus, minus] {
            self.ring
                .forward(channel.number, &channel.roots, image, self.length, spare);
        }
    }

    /// The parts of all results modulo one prime.
    fn run(&self, channel: &Channel, limbs: &[Rows; 2 * LIMBS], memory: &mut ChannelMemory) {
        let ChannelMemory { images, spare } = memory;
        self.spectra(channel, limbs, images, spare);
        let prime = &PRIMES[channel.number];
        for (image, factor) in images.iter_mut().zip(&channel.spectra) {
            self.ring
                .product_back(channel.number, &channel.roots, image, factor);
            if self.folded {
                self.fold(prime, image);
            }
        }
        let whole = self.length.next_multiple_of(self.unit.lanes());
        let [plus, minus] = images;
        self.unit.gaussian_parts(
            prime,
            channel.turned,
            &mut plus[..whole],
            &mut minus[..whole],
        );
    }

    /// Adds what lies beyond the length to the beginning, or subtracts it.
    fn fold(&self, prime: &Prime, residues: &mut [u32]) {
        let (kept, rest) = residues.split_at_mut(self.length);
        for (target, &beyond) in kept.iter_mut().zip(&rest[..self.length - 1]) {
            let beyond = match self.wrap {
                Wrap::Cyclic => beyond,
                Wrap::Negacyclic => prime.value - beyond,
            };
            let sum = *target + beyond;
            *target = sum.min(sum.wrapping_sub(prime.value));
        }
    }

    /// Elements of the operands and results.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The magnitudes of all parts of an operand may add up to 2 to this power.
    pub fn most_sum_bits(&self) -> u32 {
        self.most_sum_bits
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> usize {
        self.channels.len() * 2 * 4 * self.ring.length()
    }

    /// Memory for calls.
    pub fn workspace(&self) -> GaussianWorkspace {
        let memory = |_: &Channel| ChannelMemory {
            images: [self.ring_rows(), self.ring_rows()],
            spare: self.spare_rows(),
        };
        GaussianWorkspace {
            length: self.length,
            limbs: no_limbs(self.length),
            channels: self.channels.iter().map(memory).collect(),
        }
    }

    /// Convolves an operand, given element by element. At most so many threads compute; results do not depend on it.
    pub fn process(
        &self,
        workspace: &mut GaussianWorkspace,
        threads: usize,
        mut operand: impl FnMut(usize) -> (i128, i128),
    ) -> Result<(), ConvolutionError> {
        let same = |given: usize, expected: usize| match given == expected {
            true => Ok(()),
            false => Err(ConvolutionError::Length {
                what: "workspace",
                given,
                expected,
            }),
        };
        same(workspace.length, self.length)?;
        same(workspace.channels.len(), self.channels.len())?;
        same(workspace.channels[0].images[0].len(), self.ring.length())?;
        let mut sum = 0u128;
        let mut limbs = slices(&mut workspace.limbs);
        for place in 0..self.length {
            let (re, im) = operand(place);
            set_limbs(&mut limbs, place, re, im);
            let magnitude = re.unsigned_abs().saturating_add(im.unsigned_abs());
            sum = sum.saturating_add(magnitude);
        }
        if sum > 1 << self.most_sum_bits {
            return Err(ConvolutionError::SumTooLarge {
                bits: u128::BITS - sum.leading_zeros(),
                most: self.most_sum_bits,
            });
        }
        let limbs = &workspace.limbs;
        let piece = self.channels.len().div_ceil(threads.max(1));
        for_each_piece(
            threads > 1,
            &mut workspace.channels,
            piece,
            |first, memories| {
                let channels = &self.channels[first * piece..];
                for (channel, memory) in channels.iter().zip(memories) {
                    self.run(channel, limbs, memory);
                }
            },
        );
        self.put_together(workspace, threads);
        Ok(())
    }

    /// Digits in mixed radix in place of residues.
    fn put_together(&self, workspace: &mut GaussianWorkspace, threads: usize) {
        let whole = self.length.next_multiple_of(self.unit.lanes());
        let mut pieces: Vec<Vec<&mut [u32]>> = Vec::new();
        pieces.resize_with(2 * whole.div_ceil(PIECE), Vec::new);
        for memory in &mut workspace.channels {
            let parts = memory.images.iter_mut();
            let all = parts.flat_map(|part| part[..whole].chunks_mut(PIECE));
            for (piece, part) in pieces.iter_mut().zip(all) {
                piece.push(part);
            }
        }
        let share = pieces.len().div_ceil(threads.max(1));
        for_each_piece(threads > 1, &mut pieces, share, |_, pieces| {
            for piece in pieces {
                garner(self.unit, piece);
            }
        });
    }
}

impl GaussianWorkspace {
    /// The results of the last call.
    pub fn results(&self) -> GaussianResults<'_> {
        let digits = |part: usize| {
            let mut digits = [&[][..]; PRIMES.len()];
            for (digit, memory) in digits.iter_mut().zip(&self.channels) {
                *digit = &memory.images[part][..self.length];
            }
            digits
        };
        GaussianResults {
            digits: [digits(0), digits(1)],
            primes: self.channels.len(),
        }
    }
}

/// Results of a convolution.
#[derive(Debug, Clone, Copy)]
pub struct GaussianResults<'a> {
    /// Of both parts, in mixed radix.
    digits: [[&'a [u32]; PRIMES.len()]; 2],
    primes: usize,
}

impl GaussianResults<'_> {
    /// Real and imaginary part of a result.
    ///
    /// # Panics
    ///
    /// Beyond the length.
    #[inline]
    pub fn get(&self, place: usize) -> [LongInteger; 2] {
        self.digits.map(|arrays| {
            let mut digits = [0; PRIMES.len()];
            for (digit, array) in digits[..self.primes].iter_mut().zip(arrays) {
                *digit = array[place];
            }
            signed(&digits, self.primes)
        })
    }
}

/// Limbs of zeros.
fn no_limbs(length: usize) -> [Rows; 2 * LIMBS] {
    // Rows of the widest vector.
    let mut limbs: [Rows; 2 * LIMBS] =
        std::array::from_fn(|_| Rows::zeros(length.next_multiple_of(16)));
    for part in limbs.chunks_exact_mut(LIMBS) {
        part[LIMBS - 1].fill(1 << (BIAS_BITS % 32));
    }
    limbs
}

fn slices(limbs: &mut [Rows; 2 * LIMBS]) -> [&mut [u32]; 2 * LIMBS] {
    limbs.each_mut().map(|limb| &mut limb[..])
}

#[inline]
fn set_limbs(limbs: &mut [&mut [u32]; 2 * LIMBS], place: usize, re: i128, im: i128) {
    for (part, number) in [re, im].into_iter().enumerate() {
        let biased = number.wrapping_add(1 << BIAS_BITS);
        for limb in 0..LIMBS {
            limbs[part * LIMBS + limb][place] = (biased >> (32 * limb)) as u32;
        }
    }
}

/// Factors and biases modulo a prime, with a root of -1.
fn limbs_of(prime: &Prime, root: u32) -> GaussianLimbs {
    let power = |bits: u32| prime.power(2, bits);
    let turned = |number: u32| prime.multiply(number, prime.factor(root));
    GaussianLimbs {
        real: [32, 64].map(|bits| prime.factor(power(bits))),
        imaginary: [0, 32, 64].map(|bits| prime.factor(turned(power(bits)))),
        biases: [power(BIAS_BITS), turned(power(BIAS_BITS))],
    }
}

/// The product of the first primes, where there are so many.
const fn product(from: usize, to: usize) -> u64 {
    let mut product = 1;
    let mut number = from;
    while number < to {
        product *= PRIMES[number].value as u64;
        number += 1;
    }
    product
}

/// Products of two primes each.
const PAIRS: [u64; 2] = [product(0, 2), product(2, 4)];

/// `v0 + p0·(v1 + p1·(v2 + …))` of all digits; missing ones are zero.
fn unsigned(digits: &[u32; PRIMES.len()]) -> LongInteger {
    let pair = |number: usize| {
        let prime = u64::from(PRIMES[number].value);
        u64::from(digits[number]) + prime * u64::from(digits[number + 1])
    };
    // Three digits to the base of pairs of primes, each below 2^60.
    let upper = u128::from(pair(2)) + u128::from(PAIRS[1]) * u128::from(pair(4));
    let low = u128::from(upper as u64) * u128::from(PAIRS[0]) + u128::from(pair(0));
    let high = (upper >> 64) * u128::from(PAIRS[0]) + (low >> 64);
    LongInteger {
        low: low as u64,
        middle: high as u64,
        high: (high >> 64) as i64,
    }
}

/// The products of all primes up to each.
const MODULI: [[u64; 3]; PRIMES.len() + 1] = {
    let mut moduli = [[1, 0, 0]; PRIMES.len() + 1];
    let mut count = 0;
    while count < PRIMES.len() {
        let mut carry = 0u128;
        let mut limb = 0;
        while limb < 3 {
            carry += moduli[count][limb] as u128 * PRIMES[count].value as u128;
            moduli[count + 1][limb] = carry as u64;
            carry >>= 64;
            limb += 1;
        }
        count += 1;
    }
    moduli
};

/// Of an integer whose magnitude is below a quarter of the product of `count` primes: in the upper half are the negative ones, and the highest
/// digit of the numbers in between is far from those of both.
fn signed(digits: &[u32; PRIMES.len()], count: usize) -> LongInteger {
    let number = unsigned(digits);
    if digits[count - 1] <= PRIMES[count - 1].value / 2 {
        return number;
    }
    let [low, middle, high] = MODULI[count];
    let (low, borrow) = number.low.overflowing_sub(low);
    let (middle, first) = number.middle.overflowing_sub(middle);
    let (middle, second) = middle.overflowing_sub(u64::from(borrow));
    LongInteger {
        low,
        middle,
        high: number.high - high as i64 - i64::from(first | second),
    }
}
