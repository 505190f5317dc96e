//! numpy's array files: f32, f64 and their complex numbers, either byte order, C and Fortran order.

use crate::arrays::Order;
use crate::failure::Failure;
use npyz::{AutoSerialize, DType, Deserialize, NpyFile, TypeChar, WriterBuilder};
use num_complex::Complex;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The numbers of an array.
pub enum Data<T> {
    Real(Vec<T>),
    Complex(Vec<Complex<T>>),
}

/// An array with its shape and order.
pub struct Array<T> {
    pub shape: Vec<usize>,
    pub order: Order,
    pub data: Data<T>,
}

/// An array of either precision.
pub enum AnyArray {
    Double(Array<f64>),
    Single(Array<f32>),
}

/// Reads a whole array.
pub fn read(path: &Path) -> Result<AnyArray, Failure> {
    let unreadable = |reason: String| Failure::Content {
        path: path.to_path_buf(),
        reason,
    };
    let file = File::open(path).map_err(Failure::file("open", path))?;
    let file_bytes = file.metadata().map_err(Failure::file("read", path))?.len();
    let npy = NpyFile::new(BufReader::new(file)).map_err(|error| {
        unreadable(format!("this is not an npy file that can be read: {error}"))
    })?;
    let descriptor = npy.dtype().descr();
    let unsupported = || {
        unreadable(format!(
            "it holds numbers of type {descriptor}; ozfft reads f4, f8, c8 and c16, so convert it first, with \
             astype('complex128') for example"
        ))
    };
    let DType::Plain(number) = npy.dtype() else {
        return Err(unsupported());
    };
    let shape = npy
        .shape()
        .iter()
        .map(|&length| usize::try_from(length))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| unreadable("its shape is larger than this machine can address".into()))?;
    // Compared before any memory is taken, because the header alone may promise anything.
    let promised = shape
        .iter()
        .try_fold(number.size_field(), |bytes, &length| {
            bytes.checked_mul(length as u64)
        });
    if promised.is_none_or(|bytes| bytes > file_bytes) {
        return Err(unreadable(format!(
            "its header promises shape {shape:?} of {descriptor}, but the file has only {file_bytes} bytes"
        )));
    }
    let order = match npy.order() {
        npyz::Order::C => Order::C,
        npyz::Order::Fortran => Order::Fortran,
    };
    match (number.type_char(), number.size_field()) {
        (TypeChar::Float, 8) => {
            read_data(npy, Data::Real).map(|data| AnyArray::Double(Array { shape, order, data }))
        }
        (TypeChar::Complex, 16) => {
            read_data(npy, Data::Complex).map(|data| AnyArray::Double(Array { shape, order, data }))
        }
        (TypeChar::Float, 4) => {
            read_data(npy, Data::Real).map(|data| AnyArray::Single(Array { shape, order, data }))
        }
        (TypeChar::Complex, 8) => {
            read_data(npy, Data::Complex).map(|data| AnyArray::Single(Array { shape, order, data }))
        }
        _ => return Err(unsupported()),
    }
    .map_err(Failure::file("read", path))
}

fn read_data<V: Deserialize, T>(
    npy: NpyFile<BufReader<File>>,
    kind: impl FnOnce(Vec<V>) -> Data<T>,
) -> std::io::Result<Data<T>> {
    npy.into_vec().map(kind)
}

/// Writes an array to a file of another name beside `path` and renames it, so that `path` is either complete or
/// untouched.
pub fn write<T>(path: &Path, array: &Array<T>) -> Result<(), Failure>
where
    T: AutoSerialize + Copy,
    Complex<T>: AutoSerialize,
{
    write_beside(path, |file| match &array.data {
        Data::Real(values) => write_values(file, array, values),
        Data::Complex(values) => write_values(file, array, values),
    })
}

fn write_values<T, V: AutoSerialize + Copy>(
    file: &mut BufWriter<File>,
    array: &Array<T>,
    values: &[V],
) -> std::io::Result<()> {
    let shape: Vec<u64> = array.shape.iter().map(|&length| length as u64).collect();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&shape)
        .order(match array.order {
            Order::C => npyz::Order::C,
            Order::Fortran => npyz::Order::Fortran,
        })
        .writer(file)
        .begin_nd()?;
    writer.extend(values.iter().copied())?;
    writer.finish()
}

/// Fills a new file beside `path` and puts it in the place of `path` when it is complete.
pub fn write_beside(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let partial = partial_name(path)?;
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&partial)
        .map_err(Failure::file("create", &partial))?;
    let mut writer = BufWriter::new(file);
    let outcome = fill(&mut writer)
        .and_then(|()| writer.flush())
        .map_err(Failure::file("write", &partial))
        .and_then(|()| std::fs::rename(&partial, path).map_err(Failure::file("write", path)));
    if outcome.is_err() {
        // The first error is the one to tell; a left-over partial file is named by it or by the next run.
        let _ = std::fs::remove_file(&partial);
    }
    outcome
}

fn partial_name(path: &Path) -> Result<PathBuf, Failure> {
    let Some(name) = path.file_name() else {
        return Err(Failure::Usage(format!(
            "{} does not name a file to write",
            path.display()
        )));
    };
    let mut partial = name.to_os_string();
    partial.push(format!(".{}.partial", std::process::id()));
    Ok(path.with_file_name(partial))
}
