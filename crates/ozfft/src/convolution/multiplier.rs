//! Products of long integers on a GPU, or on the processor with the reason why.

use crate::error::FftError;
use crate::executor::cuda::{self, Base, IntegerProducts, levels_for};
use crate::problem::Device;
use exact_convolution::{Route, decimal_proof, limbs_proof, multiply_decimal, multiply_limbs};
use std::time::Instant;

/// Multiplies long integers on one device. The digits are those of [`multiply_limbs`] and [`multiply_decimal`], for the same reason: primes, lengths
/// and proofs ([`limbs_proof`], [`decimal_proof`]) are the same.
///
/// A GPU's memory is kept from product to product, 24 bytes for each digit of the transform and more; products of one multiplier take turns.
///
/// ```
/// use ozfft::{Device, convolution::Multiplier};
///
/// let multiplier = Multiplier::new(Device::Auto)?;
/// let product = multiplier.multiply_limbs(&[u64::MAX], &[u64::MAX])?;
/// assert_eq!(product.digits, [1, u64::MAX - 1]);
/// println!("{}: {}", product.device, product.why);
/// # Ok::<(), ozfft::FftError>(())
/// ```
pub struct Multiplier {
    gpu: Option<(usize, IntegerProducts)>,
    /// Why there is none.
    why: String,
}

/// A product, and how it was made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Product<D> {
    /// Digits, the lowest first: as many as both operands have.
    pub digits: Vec<D>,
    /// Where it was computed: a processor or a GPU.
    pub device: Device,
    /// The device in words, or the reason why it was the processor.
    pub why: String,
    /// Where the time went.
    pub seconds: ProductSeconds,
}

/// Where the time of a product went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ProductSeconds {
    /// All of it, from digits in the caller's memory to those of the product there.
    pub total: f64,
    /// To the device.
    pub upload: f64,
    /// Kernels on the device.
    pub kernels: f64,
    /// From the device.
    pub download: f64,
}

impl std::fmt::Debug for Multiplier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let device = self
            .gpu
            .as_ref()
            .map_or(Device::Cpu, |gpu| Device::Cuda(gpu.0));
        f.debug_struct("Multiplier")
            .field("device", &device)
            .field("why", &self.why)
            .finish()
    }
}

/// Digits of 32 bits, or two of them.
trait Digit: bytemuck::Pod + PartialEq {
    const BASE: Base;
    /// Digits of 32 bits in one.
    const WORDS: usize;
    const NAME: &'static str;
    fn route(first: usize, second: usize) -> Route;
    fn on_processor(a: &[Self], b: &[Self]) -> Vec<Self>;
}

impl Digit for u64 {
    const BASE: Base = Base::Binary;
    const WORDS: usize = 2;
    const NAME: &'static str = "limbs";
    fn route(first: usize, second: usize) -> Route {
        limbs_proof(first, second).0
    }
    fn on_processor(a: &[u64], b: &[u64]) -> Vec<u64> {
        multiply_limbs(a, b)
    }
}

impl Digit for u32 {
    const BASE: Base = Base::Decimal;
    const WORDS: usize = 1;
    const NAME: &'static str = "digits to the base 10^9";
    fn route(first: usize, second: usize) -> Route {
        decimal_proof(first, second).0
    }
    fn on_processor(a: &[u32], b: &[u32]) -> Vec<u32> {
        multiply_decimal(a, b)
    }
}

impl Multiplier {
    /// For a device. [`Device::Auto`] is the first GPU where there is one, else the processor.
    ///
    /// # Errors
    ///
    /// Where a GPU is asked for and cannot be had.
    pub fn new(device: Device) -> Result<Multiplier, FftError> {
        let opened = match device {
            Device::Cpu => Err("on the processor, as asked for".to_string()),
            Device::Cuda(ordinal) => Ok((ordinal, cuda::open(ordinal)?)),
            Device::Auto => match cuda::open(0) {
                Ok(machine) => Ok((0, machine)),
                Err(error) => Err(format!("on the processor: {error}")),
            },
        };
        Ok(match opened {
            Ok((ordinal, machine)) => Multiplier {
                gpu: Some((ordinal, IntegerProducts::new(machine))),
                why: String::new(),
            },
            Err(why) => Multiplier { gpu: None, why },
        })
    }

    /// The product of two integers, 64 bits a limb, the lowest first: as many limbs as both together.
    ///
    /// # Errors
    ///
    /// Where the GPU has too little memory, or fails.
    pub fn multiply_limbs(&self, a: &[u64], b: &[u64]) -> Result<Product<u64>, FftError> {
        self.multiply(a, b)
    }

    /// The product of two integers in digits to the base 10^9, the lowest first: as many digits as both together.
    ///
    /// # Errors
    ///
    /// Where the GPU has too little memory, or fails.
    ///
    /// # Panics
    ///
    /// If a digit is 10^9 or more.
    pub fn multiply_decimal(&self, a: &[u32], b: &[u32]) -> Result<Product<u32>, FftError> {
        let fits = |digits: &[u32]| digits.iter().all(|&digit| digit < 1_000_000_000);
        assert!(fits(a) && fits(b), "digits to the base 10^9 are below it");
        self.multiply(a, b)
    }

    /// The GPU for operands of so many digits, or why it is the processor.
    fn gpu_for<D: Digit>(
        &self,
        first: usize,
        second: usize,
    ) -> Result<&(usize, IntegerProducts), String> {
        let gpu = self.gpu.as_ref().ok_or_else(|| self.why.clone())?;
        if D::route(first, second) == Route::Direct {
            return Err(format!(
                "on the processor: the shorter number has {} {}, and is multiplied digit by digit",
                first.min(second),
                D::NAME
            ));
        }
        match levels_for((first + second).saturating_mul(D::WORDS)) {
            Some(_) => Ok(gpu),
            None => Err(format!(
                "on the processor: a product of {} {} is longer than the largest transform on a GPU",
                first + second,
                D::NAME
            )),
        }
    }

    fn multiply<D: Digit>(&self, a: &[D], b: &[D]) -> Result<Product<D>, FftError> {
        let start = Instant::now();
        let (ordinal, gpu) = match self.gpu_for::<D>(a.len(), b.len()) {
            Ok(gpu) => gpu,
            Err(why) => {
                let digits = D::on_processor(a, b);
                let total = start.elapsed().as_secs_f64();
                return Ok(Product {
                    digits,
                    device: Device::Cpu,
                    why,
                    seconds: ProductSeconds {
                        total,
                        ..ProductSeconds::default()
                    },
                });
            }
        };
        let same = std::ptr::eq(a, b) || a == b;
        let mut digits = vec![D::zeroed(); a.len() + b.len()];
        let spent = gpu.multiply(
            D::BASE,
            bytemuck::cast_slice(a),
            (!same).then(|| bytemuck::cast_slice(b)),
            bytemuck::cast_slice_mut(&mut digits),
        )?;
        Ok(Product {
            digits,
            device: Device::Cuda(*ordinal),
            why: gpu.device_name(),
            seconds: ProductSeconds {
                total: start.elapsed().as_secs_f64(),
                upload: spent.upload,
                kernels: spent.kernels,
                download: spent.download,
            },
        })
    }
}
