//! `ozfft multiply`: the product of two integers of any length, exact.

use clap::Args;
use ozfft::Device;
use ozfft::convolution::{Multiplier, ProductSeconds, decimal, decimal_proof};
use ozfft_measure::failure::Failure;
use ozfft_measure::memory;
use ozfft_measure::options::parse_device;
use ozfft_measure::report::{say, say_json};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Bytes for each digit of the product: its text, its digits to the base 10^9, and their residues in transforms.
const BYTES_A_DIGIT: u128 = 16;

/// Options of `ozfft multiply`.
#[derive(Debug, Args)]
pub struct MultiplyArguments {
    /// A decimal integer, a hexadecimal one after 0x, or @FILE that contains one
    #[arg(allow_hyphen_values = true)]
    first: String,
    /// The other factor
    #[arg(allow_hyphen_values = true)]
    second: String,
    /// Where to multiply: cpu, cuda, cuda:1, or auto for a GPU where there is one
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    device: Device,
    /// Print route, proof, device, time and SHA-256 as one JSON object instead of the product
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    /// Decimal digits of the product, without its sign.
    digits: usize,
    route: String,
    /// Why the product is exact.
    proof: String,
    /// Where it was multiplied.
    device: String,
    /// The GPU, or why it was the processor.
    why: String,
    /// Of the multiplication alone, without reading and printing.
    seconds: f64,
    /// Of it, on a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_device: Option<DeviceSeconds>,
    /// Of the product as it is printed: decimal, without a line end.
    sha256: String,
}

/// Where a GPU's time went.
#[derive(Serialize)]
struct DeviceSeconds {
    upload_seconds: f64,
    kernel_seconds: f64,
    download_seconds: f64,
}

impl DeviceSeconds {
    fn new(seconds: ProductSeconds) -> Self {
        DeviceSeconds {
            upload_seconds: seconds.upload,
            kernel_seconds: seconds.kernels,
            download_seconds: seconds.download,
        }
    }
}

/// The text of an argument: its own, or that of the file that it names.
fn text_of(argument: &str) -> Result<String, Failure> {
    match argument.strip_prefix('@') {
        None => Ok(argument.to_string()),
        Some(name) => {
            let path = Path::new(name);
            let read = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
            Ok(read.trim().to_string())
        }
    }
}

/// Digits to the base 10^9, and whether there is a minus sign.
fn parsed(argument: &str, text: &str) -> Result<(Vec<u32>, bool), Failure> {
    decimal::parse(text).map_err(|error| match argument.strip_prefix('@') {
        Some(name) => Failure::Content {
            path: name.into(),
            reason: error.to_string(),
        },
        // A long argument would fill the screen.
        None => Failure::Usage(format!(
            "{:?} is not an integer: {error}",
            argument.chars().take(40).collect::<String>()
        )),
    })
}

/// Multiplies, and prints the product.
pub fn run(arguments: &MultiplyArguments) -> Result<(), Failure> {
    let texts = (text_of(&arguments.first)?, text_of(&arguments.second)?);
    let digits = texts.0.len() + texts.1.len();
    memory::expect_points("the product", &[digits], BYTES_A_DIGIT)?;
    let (a, minus_a) = parsed(&arguments.first, &texts.0)?;
    let (b, minus_b) = parsed(&arguments.second, &texts.1)?;
    let multiplier = Multiplier::new(arguments.device)?;
    let product = multiplier.multiply_decimal(&a, &b)?;
    let (route, proof) = decimal_proof(a.len(), b.len());
    let magnitude = decimal::text(&product.digits);
    let digits = magnitude.len();
    let text = match minus_a != minus_b && magnitude != "0" {
        true => format!("-{magnitude}"),
        false => magnitude,
    };
    if !arguments.json {
        return say(&text);
    }
    let hash = Sha256::digest(text.as_bytes());
    say_json(&Report {
        digits,
        route: route.to_string(),
        proof: format!("digits to the base 10^9: {proof}"),
        device: product.device.to_string(),
        why: product.why,
        seconds: product.seconds.total,
        on_device: matches!(product.device, Device::Cuda(_))
            .then(|| DeviceSeconds::new(product.seconds)),
        sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}
