//! The rotation of docs/numerics.md by products of 32 bits, as `stages/twiddle.rs` has it, and by the products of 52 bits of AVX-512 IFMA: the same
//! integers, and the time of both.
//!
//!     cargo run --release -p ozfft --example rotations
//!
//! Both are written over a few operations on eight words, which are registers of AVX-512, or arrays where tests run on processors without them.

/// Eight words of 64 bits. Integers wrap.
trait Lanes: Copy {
    fn load(words: &[i64; 8]) -> Self;
    fn store(self, words: &mut [i64; 8]);
    fn splat(word: i64) -> Self;
    /// In the lower 32 bits of every word; what is above is undefined.
    fn splat_low(half: i32) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn shift_left<const COUNT: u32>(self) -> Self;
    /// Arithmetic.
    fn shift_right<const COUNT: u32>(self) -> Self;
    /// Filling with zeros.
    fn shift_right_zero<const COUNT: u32>(self) -> Self;
    /// The product of the lower 32 bits, signed: `vpmuldq`.
    fn product(self, other: Self) -> Self;
    /// This and the lower 52 bits of the product of the lower 52 bits, unsigned: `vpmadd52luq`.
    fn plus_low(self, a: Self, b: Self) -> Self;
    /// This and the upper 52 bits of that product: `vpmadd52huq`.
    fn plus_high(self, a: Self, b: Self) -> Self;
}

/// A table entry scaled by 2^62.
type Entry = (i64, i64);

/// The low half is the nearest remainder.
fn halves(x: i64) -> (i64, i64) {
    let low = i64::from(x as i32);
    ((x - low) >> 32, low)
}

/// As `Twiddle`: four halves.
#[derive(Clone, Copy)]
struct Halves {
    real: (i32, i32),
    imaginary: (i32, i32),
}

impl Halves {
    fn new((re, im): Entry) -> Self {
        let narrow = |(high, low): (i64, i64)| (high as i32, low as i32);
        Halves {
            real: narrow(halves(re)),
            imaginary: narrow(halves(im)),
        }
    }

    /// 32 instructions: 12 products, 12 sums and differences, 6 shifts, 2 sums of the last line.
    #[inline(always)]
    fn rotate<L: Lanes>(&self, re: L, im: L) -> (L, L) {
        let high = |x: L| x.add(L::splat(1 << 31)).shift_right::<32>();
        let (re_high, im_high) = (high(re), high(im));
        let both = |(high, low): (i32, i32)| (L::splat_low(high), L::splat_low(low));
        let ((tr_high, tr_low), (ti_high, ti_low)) = (both(self.real), both(self.imaginary));
        let join = |high: L, cross: L| {
            let cross = cross.add(L::splat(1 << 29)).shift_right::<30>();
            high.shift_left::<2>().add(cross)
        };
        let high_re = re_high.product(tr_high).subtract(im_high.product(ti_high));
        let high_im = re_high.product(ti_high).add(im_high.product(tr_high));
        let from_re = re_high.product(tr_low).add(re.product(tr_high));
        let from_im = im_high.product(ti_low).add(im.product(ti_high));
        let cross_re = from_re.subtract(from_im);
        let from_re = re_high.product(ti_low).add(re.product(ti_high));
        let from_im = im_high.product(tr_low).add(im.product(tr_high));
        let cross_im = from_re.add(from_im);
        (join(high_re, cross_re), join(high_im, cross_im))
    }
}

/// The same entry as 52-bit products want it. With `y = y_h 2^32 + y_l` and `t = t_h 2^32 + t_l` in signed halves the definition is
/// `⌊(Σ (y_h t + y_l t_h) + 2^29) / 2^30⌋`, a sum over two products of the kind. `y_h` is made positive by 2^30, whose share `2^30 Σ t` and the 2^29
/// are what sums begin with; `t` is cut after 52 bits, of which the upper ones are signed, so that `y_h t` takes three products. Sums are
/// `high 2^52 + low`; `high` counts modulo 2^42 only, since the result has 64 bits.
#[derive(Clone, Copy)]
struct Limbs {
    /// Lower 52 bits, and what is above, of the real part, of the imaginary one, and of its negative.
    real: (i64, i64),
    imaginary: (i64, i64),
    negative: (i64, i64),
    /// Signed high halves.
    real_high: i32,
    imaginary_high: i32,
    /// What sums begin with: lower 52 bits, and what is above.
    begin_re: (i64, i64),
    begin_im: (i64, i64),
}

const LOW: i64 = (1 << 52) - 1;

impl Limbs {
    fn new((re, im): Entry) -> Self {
        let cut = |x: i64| (x & LOW, x >> 52);
        let begin = |sum: i128| {
            let value = (1i128 << 29) - (sum << 30);
            ((value as i64) & LOW, (value >> 52) as i64)
        };
        let (wide_re, wide_im) = (i128::from(re), i128::from(im));
        Limbs {
            real: cut(re),
            imaginary: cut(im),
            negative: cut(-im),
            real_high: halves(re).0 as i32,
            imaginary_high: halves(im).0 as i32,
            begin_re: begin(wide_re - wide_im),
            begin_im: begin(wide_re + wide_im),
        }
    }

    /// 30 instructions: 12 products with sums, 4 products, 4 sums and differences of those, 4 and 6 before and after.
    #[inline(always)]
    fn rotate<L: Lanes>(&self, re: L, im: L) -> (L, L) {
        let positive = |x: L| {
            let shifted = x.add(L::splat((1 << 62) + (1 << 31)));
            shifted.shift_right_zero::<32>()
        };
        let (re_high, im_high) = (positive(re), positive(im));
        let real_high = L::splat_low(self.real_high);
        let imaginary_high = L::splat_low(self.imaginary_high);
        let pair = |(low, high): (i64, i64)| (L::splat(low), L::splat(high));
        let both = |begin: (i64, i64), for_re: (i64, i64), for_im: (i64, i64)| {
            let (mut low, mut high) = pair(begin);
            for (y, limbs) in [(re_high, for_re), (im_high, for_im)] {
                let (t_low, t_high) = pair(limbs);
                low = low.plus_low(y, t_low);
                high = high.plus_high(y, t_low).plus_low(y, t_high);
            }
            (low, high)
        };
        let join = |low: L, high: L| high.shift_left::<22>().add(low.shift_right::<30>());
        let (low, high) = both(self.begin_re, self.real, self.negative);
        let low = low
            .add(re.product(real_high))
            .subtract(im.product(imaginary_high));
        let rotated_re = join(low, high);
        let (low, high) = both(self.begin_im, self.imaginary, self.real);
        let low = low
            .add(re.product(imaginary_high))
            .add(im.product(real_high));
        (rotated_re, join(low, high))
    }
}

/// Eight complex words.
type Row = [[i64; 8]; 2];

/// Roots of unity are what tables have; times do not depend on it.
fn entries(count: usize) -> Vec<Entry> {
    let scale = 62f64.exp2();
    let angle = |k: usize| std::f64::consts::TAU * (k as f64 + 0.25) / count as f64;
    (0..count)
        .map(|k| {
            (
                (angle(k).cos() * scale) as i64,
                (angle(k).sin() * scale) as i64,
            )
        })
        .collect()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as i64
    }

    fn row(&mut self) -> Row {
        // Words of 62 bits.
        [0, 1].map(|_| std::array::from_fn(|_| self.next() >> 2))
    }
}

/// Docs/numerics.md: products of high halves and cross products of halves, exactly, to nearest, halves upwards.
fn by_definition(y: (i64, i64), t: Entry) -> (i64, i64) {
    let real = |a: i64, b: i64| {
        let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
        let wide = |x: i64, y: i64| i128::from(x) * i128::from(y);
        (wide(a_high, b_high) << 32) + wide(a_high, b_low) + wide(a_low, b_high)
    };
    let rounded = |sum: i128| ((sum + (1 << 29)) >> 30) as i64;
    (
        rounded(real(y.0, t.0) - real(y.1, t.1)),
        rounded(real(y.0, t.1) + real(y.1, t.0)),
    )
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use super::{Halves, Lanes, Limbs, Row};
    use std::arch::x86_64::*;

    /// A register of AVX-512. Used by the two functions below alone.
    #[derive(Clone, Copy)]
    struct Register(__m512i);

    // SAFETY of all of them: the functions that use them have the features, and their caller has looked for these.
    impl Lanes for Register {
        #[inline(always)]
        fn load(words: &[i64; 8]) -> Self {
            Register(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
        }
        #[inline(always)]
        fn store(self, words: &mut [i64; 8]) {
            unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) }
        }
        #[inline(always)]
        fn splat(word: i64) -> Self {
            Register(unsafe { _mm512_set1_epi64(word) })
        }
        #[inline(always)]
        fn splat_low(half: i32) -> Self {
            Register(unsafe { _mm512_set1_epi32(half) })
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Register(unsafe { _mm512_add_epi64(self.0, other.0) })
        }
        #[inline(always)]
        fn subtract(self, other: Self) -> Self {
            Register(unsafe { _mm512_sub_epi64(self.0, other.0) })
        }
        #[inline(always)]
        fn shift_left<const COUNT: u32>(self) -> Self {
            Register(unsafe { _mm512_slli_epi64::<COUNT>(self.0) })
        }
        #[inline(always)]
        fn shift_right<const COUNT: u32>(self) -> Self {
            Register(unsafe { _mm512_srai_epi64::<COUNT>(self.0) })
        }
        #[inline(always)]
        fn shift_right_zero<const COUNT: u32>(self) -> Self {
            Register(unsafe { _mm512_srli_epi64::<COUNT>(self.0) })
        }
        #[inline(always)]
        fn product(self, other: Self) -> Self {
            Register(unsafe { _mm512_mul_epi32(self.0, other.0) })
        }
        #[inline(always)]
        fn plus_low(self, a: Self, b: Self) -> Self {
            Register(unsafe { _mm512_madd52lo_epu64(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn plus_high(self, a: Self, b: Self) -> Self {
            Register(unsafe { _mm512_madd52hi_epu64(self.0, a.0, b.0) })
        }
    }

    /// Every row by its entry.
    ///
    /// # Safety
    /// The processor has AVX-512 F.
    #[target_feature(enable = "avx512f")]
    #[inline(never)]
    pub unsafe fn by_32_bits(rows: &[Row], table: &[Halves], rotated: &mut [Row]) {
        for ((row, entry), rotated) in rows.iter().zip(table).zip(rotated) {
            let (re, im) = entry.rotate(Register::load(&row[0]), Register::load(&row[1]));
            re.store(&mut rotated[0]);
            im.store(&mut rotated[1]);
        }
    }

    /// Every row by its entry.
    ///
    /// # Safety
    /// The processor has AVX-512 F and IFMA.
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    pub unsafe fn by_52_bits(rows: &[Row], table: &[Limbs], rotated: &mut [Row]) {
        for ((row, entry), rotated) in rows.iter().zip(table).zip(rotated) {
            let (re, im) = entry.rotate(Register::load(&row[0]), Register::load(&row[1]));
            re.store(&mut rotated[0]);
            im.store(&mut rotated[1]);
        }
    }
}

/// Rows that fit the first-level cache with their results and either table.
#[cfg(target_arch = "x86_64")]
const ROWS: usize = 64;
/// Passes over the rows that are timed at once.
#[cfg(target_arch = "x86_64")]
const PASSES: usize = 2000;
/// Both ways in turn, so often.
#[cfg(target_arch = "x86_64")]
const ROUNDS: usize = 60;

#[cfg(target_arch = "x86_64")]
fn main() {
    use std::hint::black_box;
    use std::time::Instant;
    if !is_x86_feature_detected!("avx512f") {
        println!("this processor has no AVX-512: nothing is timed");
        return;
    }
    let has_ifma = is_x86_feature_detected!("avx512ifma");
    let mut random = Random(1);
    let rows: Vec<Row> = (0..ROWS).map(|_| random.row()).collect();
    let entries = entries(ROWS);
    let halves: Vec<Halves> = entries.iter().copied().map(Halves::new).collect();
    let limbs: Vec<Limbs> = entries.iter().copied().map(Limbs::new).collect();
    let mut rotated: Vec<Row> = rows.clone();

    let wrong = |rotated: &[Row]| {
        let places = (0..ROWS).flat_map(|row| (0..8).map(move |lane| (row, lane)));
        let differ = |&(row, lane): &(usize, usize)| {
            let right = by_definition((rows[row][0][lane], rows[row][1][lane]), entries[row]);
            (rotated[row][0][lane], rotated[row][1][lane]) != right
        };
        places.filter(differ).count()
    };
    // SAFETY: AVX-512 F was looked for above, IFMA where it is needed.
    let by_32_bits = |rotated: &mut [Row]| unsafe {
        registers::by_32_bits(black_box(&rows), black_box(&halves), rotated);
    };
    let by_52_bits = |rotated: &mut [Row]| unsafe {
        registers::by_52_bits(black_box(&rows), black_box(&limbs), rotated);
    };
    by_32_bits(&mut rotated);
    println!(
        "32 bits: {} of {} rotations differ from the definition",
        wrong(&rotated),
        8 * ROWS
    );
    if has_ifma {
        by_52_bits(&mut rotated);
        println!(
            "52 bits: {} of {} rotations differ from the definition",
            wrong(&rotated),
            8 * ROWS
        );
    } else {
        println!("52 bits: this processor has no AVX-512 IFMA");
    }

    let time = |rotate: &dyn Fn(&mut [Row]), rotated: &mut [Row]| {
        let begin = Instant::now();
        for _ in 0..PASSES {
            rotate(rotated);
            black_box(&rotated);
        }
        begin.elapsed().as_secs_f64() * 1e9 / (PASSES * ROWS) as f64
    };
    let mut times: [Vec<f64>; 2] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(time(&by_32_bits, &mut rotated));
        if has_ifma {
            times[1].push(time(&by_52_bits, &mut rotated));
        }
    }
    println!("nanoseconds for a row of eight rotations: shortest, median");
    for (name, times) in ["32 bits", "52 bits"].iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        if let (Some(shortest), Some(median)) = (times.first(), times.get(times.len() / 2)) {
            println!("{name}  {shortest:.2}  {median:.2}");
        }
    }
    if let (Some(old), Some(new)) = (times[0].first(), times[1].first()) {
        println!("52 over 32 bits, shortest: {:.3}", new / old);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    let row = Random(1).row();
    let entry = entries(1)[0];
    println!("nothing is timed on this processor: AVX-512 is x86-64's");
    println!("{:?}", by_definition((row[0][0], row[1][0]), entry));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The instructions by their definition.
    #[derive(Clone, Copy)]
    struct Emulated([i64; 8]);

    impl Emulated {
        fn each(self, other: Self, of: impl Fn(i64, i64) -> i64) -> Self {
            Emulated(std::array::from_fn(|lane| of(self.0[lane], other.0[lane])))
        }
    }

    fn product_of_52_bits(a: i64, b: i64) -> u128 {
        u128::from(a as u64 & LOW as u64) * u128::from(b as u64 & LOW as u64)
    }

    impl Lanes for Emulated {
        fn load(words: &[i64; 8]) -> Self {
            Emulated(*words)
        }
        fn store(self, words: &mut [i64; 8]) {
            *words = self.0;
        }
        fn splat(word: i64) -> Self {
            Emulated([word; 8])
        }
        fn splat_low(half: i32) -> Self {
            // Above it is anything.
            Emulated([i64::from(half) ^ (0x5a5a_5a5a << 32); 8])
        }
        fn add(self, other: Self) -> Self {
            self.each(other, i64::wrapping_add)
        }
        fn subtract(self, other: Self) -> Self {
            self.each(other, i64::wrapping_sub)
        }
        fn shift_left<const COUNT: u32>(self) -> Self {
            self.each(self, |x, _| x << COUNT)
        }
        fn shift_right<const COUNT: u32>(self) -> Self {
            self.each(self, |x, _| x >> COUNT)
        }
        fn shift_right_zero<const COUNT: u32>(self) -> Self {
            self.each(self, |x, _| (x as u64 >> COUNT) as i64)
        }
        fn product(self, other: Self) -> Self {
            self.each(other, |x, y| i64::from(x as i32) * i64::from(y as i32))
        }
        fn plus_low(self, a: Self, b: Self) -> Self {
            let product = a.each(b, |a, b| product_of_52_bits(a, b) as i64 & LOW);
            self.add(product)
        }
        fn plus_high(self, a: Self, b: Self) -> Self {
            self.add(a.each(b, |a, b| (product_of_52_bits(a, b) >> 52) as i64))
        }
    }

    /// Both ways and the definition, for eight words at once.
    fn check(row: &Row, entry: Entry) {
        let (re, im) = (Emulated::load(&row[0]), Emulated::load(&row[1]));
        let by_32 = Halves::new(entry).rotate(re, im);
        let by_52 = Limbs::new(entry).rotate(re, im);
        for lane in 0..8 {
            let right = by_definition((row[0][lane], row[1][lane]), entry);
            let found = (by_32.0.0[lane], by_32.1.0[lane]);
            assert_eq!(found, right, "32 bits: {row:x?} by {entry:x?}");
            let found = (by_52.0.0[lane], by_52.1.0[lane]);
            assert_eq!(found, right, "52 bits: {row:x?} by {entry:x?}");
        }
    }

    #[test]
    fn products_of_52_bits_have_the_definitions_integers_for_random_words() {
        let mut random = Random(2);
        for _ in 0..20_000 {
            let mut row = random.row();
            // Of all lengths.
            let shift = random.next() as u32 % 62;
            row[1] = row[1].map(|word| word >> shift);
            check(&row, (random.next() >> 2, random.next() >> 2));
        }
        for entry in entries(360) {
            check(&random.row(), entry);
        }
    }

    #[test]
    fn products_of_52_bits_have_the_definitions_integers_at_every_corner() {
        // Halves and limbs at the ends of their ranges, and whole words at theirs; entries of modulus up to √2, as kernels of convolutions have.
        let mut words = vec![1i64 << 62, -(1 << 62)];
        for high in [-(1i64 << 30), 1 - (1 << 30), -1, 0, 1, (1 << 30) - 1] {
            for low in [-(1i64 << 31), 1 - (1 << 31), -1, 0, 1, (1 << 31) - 1] {
                words.push((high << 32) + low);
            }
        }
        for limb in [1i64 << 52, -(1 << 52), 1023 << 52] {
            words.extend([limb - 1, limb, limb + 1]);
        }
        words.retain(|word| word.unsigned_abs() <= 1 << 62);
        words.resize(words.len().next_multiple_of(8), 0);
        // The longest words meet roots of unity and a little more.
        for &re in &words {
            for eight in words.chunks_exact(8) {
                let row = [[re; 8], std::array::from_fn(|lane| eight[lane])];
                for (re, im) in entries(24) {
                    check(&row, (re + re / 11, im + im / 11));
                }
            }
        }
        // The definition's own sums have room for words below 2^61 by any such entry (twiddle.rs).
        let shorter: Vec<i64> = words.iter().map(|word| word >> 1).collect();
        for &re in &shorter {
            for eight in words.chunks_exact(8) {
                let row = [[re; 8], std::array::from_fn(|lane| eight[lane] >> 1)];
                for &entry in &words {
                    for other in [-(1i64 << 62), 1 - (1 << 31), 0, 1 << 52, 1 << 62] {
                        check(&row, (entry, other));
                    }
                }
            }
        }
    }
}
