//! numpy's array files: f32, f64 and their complex numbers, either byte order, C and Fortran order.

mod header;

use bytemuck::Pod;
use header::{HeaderError, Number};
use num_complex::Complex;
use ozfft_measure::arrays::Order;
use ozfft_measure::failure::Failure;
use ozfft_measure::inputs;
use ozfft_measure::memory;
use ozfft_measure::outputs;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

/// Numbers of a stream that memory is taken for at a time, because a header may promise anything.
const AT_A_TIME: usize = 1 << 20;

/// The numbers of an array.
#[derive(Debug)]
pub enum Data<T> {
    Real(Vec<T>),
    Complex(Vec<Complex<T>>),
}

/// An array with its shape and order.
#[derive(Debug)]
pub struct Array<T> {
    pub shape: Vec<usize>,
    pub order: Order,
    pub data: Data<T>,
}

/// An array of either precision.
#[derive(Debug)]
pub enum AnyArray {
    Double(Array<f64>),
    Single(Array<f32>),
}

/// Reads a whole array, from a file or from a stream such as a pipe.
pub fn read(path: &Path) -> Result<AnyArray, Failure> {
    inputs::expect_no_dash(path, "input")?;
    let file = File::open(path).map_err(Failure::file("open", path))?;
    let metadata = file.metadata().map_err(Failure::file("read", path))?;
    // How long a stream is shows when it ends.
    let file_bytes = metadata.is_file().then_some(metadata.len());
    read_from(BufReader::new(file), file_bytes, path)
}

fn read_from(
    mut file: impl Read,
    file_bytes: Option<u64>,
    path: &Path,
) -> Result<AnyArray, Failure> {
    let unreadable = Failure::content(path);
    let header = header::read(&mut file).map_err(|error| match error {
        HeaderError::Unreadable(source) => Failure::file("read", path)(source),
        _ => unreadable(error.to_string()),
    })?;
    let (number_bytes, part_bytes) = match header.number {
        Number::Single => (4, 4),
        Number::Double => (8, 8),
        Number::ComplexSingle => (8, 4),
        Number::ComplexDouble => (16, 8),
    };
    let mut shape = Vec::new();
    let mut values = Some(1usize);
    for &length in &header.shape {
        let length = usize::try_from(length).ok();
        values = values.zip(length).and_then(|(v, n)| v.checked_mul(n));
        shape.extend(length);
    }
    let bytes = values.and_then(|values| values.checked_mul(number_bytes));
    let promises = format!("its header promises shape {:?}", header.shape);
    let (Some(values), Some(bytes)) = (values, bytes) else {
        let reason = format!("{promises}, which is larger than this machine can address");
        return Err(unreadable(reason));
    };
    // Compared before any memory is taken, because the header alone may promise anything.
    if let Some(file_bytes) = file_bytes
        && file_bytes.saturating_sub(header.bytes) < bytes as u64
    {
        return Err(unreadable(format!(
            "{promises} of {}, but the file has only {file_bytes} bytes",
            header.description
        )));
    }
    if file_bytes.is_some() {
        memory::expect(&format!("the array in {}", path.display()), bytes as u128)?;
    }
    let mut numbers = Numbers {
        file,
        values,
        // A file has been seen to be long enough.
        at_a_time: file_bytes.map_or(AT_A_TIME, |_| values),
        swapped: (header.big_endian != cfg!(target_endian = "big")).then_some(part_bytes),
        path,
    };
    let order = match header.fortran_order {
        false => Order::C,
        true => Order::Fortran,
    };
    Ok(match header.number {
        Number::Double => AnyArray::Double(Array {
            data: Data::Real(numbers.read()?),
            shape,
            order,
        }),
        Number::ComplexDouble => AnyArray::Double(Array {
            data: Data::Complex(numbers.read()?),
            shape,
            order,
        }),
        Number::Single => AnyArray::Single(Array {
            data: Data::Real(numbers.read()?),
            shape,
            order,
        }),
        Number::ComplexSingle => AnyArray::Single(Array {
            data: Data::Complex(numbers.read()?),
            shape,
            order,
        }),
    })
}

/// The numbers behind a header.
struct Numbers<'a, R> {
    file: R,
    values: usize,
    at_a_time: usize,
    /// Bytes of a real number, where they are in the order of other machines.
    swapped: Option<usize>,
    path: &'a Path,
}

impl<R: Read> Numbers<'_, R> {
    fn read<V: Pod>(&mut self) -> Result<Vec<V>, Failure> {
        let mut values: Vec<V> = Vec::new();
        while values.len() < self.values {
            let start = values.len();
            let more = self.at_a_time.min(self.values - start);
            values.try_reserve(more).map_err(|_| Failure::Memory {
                what: format!("the array in {}", self.path.display()),
                needed: (self.values * size_of::<V>()) as u128,
                available: None,
            })?;
            values.resize(start + more, V::zeroed());
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values[start..]);
            self.file
                .read_exact(bytes)
                .map_err(|error| match error.kind() {
                    ErrorKind::UnexpectedEof => Failure::Content {
                        path: self.path.to_path_buf(),
                        reason: format!(
                            "its header promises {} numbers, and it ends after fewer",
                            self.values
                        ),
                    },
                    _ => Failure::file("read", self.path)(error),
                })?;
            if let Some(length) = self.swapped {
                bytes.chunks_exact_mut(length).for_each(<[u8]>::reverse);
            }
        }
        Ok(values)
    }
}

/// A number as npy files name it.
pub trait Described: Pod {
    /// Kind and bytes, such as `f8`.
    const KIND: &'static str;
}

impl Described for f32 {
    const KIND: &'static str = "f4";
}

impl Described for f64 {
    const KIND: &'static str = "f8";
}

impl Described for Complex<f32> {
    const KIND: &'static str = "c8";
}

impl Described for Complex<f64> {
    const KIND: &'static str = "c16";
}

/// Writes an array, as [`outputs::write`] does.
pub fn write<T>(path: &Path, array: &Array<T>) -> Result<(), Failure>
where
    T: Described,
    Complex<T>: Described,
{
    outputs::write(path, |file| match &array.data {
        Data::Real(values) => write_values(file, array, values),
        Data::Complex(values) => write_values(file, array, values),
    })
}

fn write_values<T, V: Described>(
    file: &mut BufWriter<File>,
    array: &Array<T>,
    values: &[V],
) -> std::io::Result<()> {
    let fortran_order = array.order == Order::Fortran;
    file.write_all(&header::written(V::KIND, fortran_order, &array.shape))?;
    file.write_all(bytemuck::cast_slice(values))
}
