//! The header's struct, and the problem that it describes.

use distributed::{DistributedProblem, IndexBox};
use ozfft::{Accuracy, Device, Direction, FftError, Norm};
use std::ffi::c_int;

/// `ozfft_mpi_problem` of the header.
#[repr(C)]
pub struct CProblem {
    size: usize,
    kind: c_int,
    bytes: c_int,
    inverse: c_int,
    norm: c_int,
    accuracy: f64,
    dimensions: usize,
    shape: *const usize,
    axes_count: usize,
    axes: *const usize,
    batch: usize,
    grid_count: usize,
    grid: *const usize,
    input_low: *const usize,
    input_high: *const usize,
    output_low: *const usize,
    output_high: *const usize,
    permuted_input: c_int,
    permuted_output: c_int,
    strict: c_int,
    threads: c_int,
    memory_limit: u64,
    device: c_int,
    staged: c_int,
}

/// Bytes of the struct of earlier headers, which ends before `device`.
const SIZE_WITHOUT_DEVICE: usize = std::mem::offset_of!(CProblem, device);

/// Sets the defaults for a shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ozfft_mpi_defaults(
    problem: *mut CProblem,
    dimensions: usize,
    shape: *const usize,
) {
    if problem.is_null() {
        return;
    }
    // SAFETY: the header asks for a struct.
    unsafe { problem.write(CProblem::new(dimensions, shape)) };
}

impl CProblem {
    fn new(dimensions: usize, shape: *const usize) -> CProblem {
        let none = std::ptr::null();
        CProblem {
            size: size_of::<CProblem>(),
            kind: 0,
            bytes: 8,
            inverse: 0,
            norm: 0,
            accuracy: DOUBLE,
            dimensions,
            shape,
            axes_count: 0,
            axes: none,
            batch: 1,
            grid_count: 0,
            grid: none,
            input_low: none,
            input_high: none,
            output_low: none,
            output_high: none,
            permuted_input: 0,
            permuted_output: 0,
            strict: 0,
            threads: 1,
            memory_limit: 0,
            device: PROCESSOR,
            staged: 0,
        }
    }

    /// What a caller has given, which may be the shorter struct of an earlier header; none for a null pointer. A struct of another size is not read beyond its size.
    ///
    /// # Safety
    /// It is null, or begins with its size and is as long.
    pub(crate) unsafe fn read(given: *const CProblem) -> Option<CProblem> {
        if given.is_null() {
            return None;
        }
        let mut problem = CProblem::new(0, std::ptr::null());
        // SAFETY: the caller's promise.
        let size = unsafe { given.cast::<usize>().read_unaligned() };
        let known = size_of::<CProblem>();
        if size != known && size != SIZE_WITHOUT_DEVICE {
            problem.size = size;
            return Some(problem);
        }
        // SAFETY: both have so many bytes, of numbers and pointers.
        unsafe {
            let to = std::ptr::from_mut(&mut problem).cast::<u8>();
            given.cast::<u8>().copy_to_nonoverlapping(to, size);
        }
        problem.size = known;
        Some(problem)
    }
}

/// What is wrong with an argument, as an error of the library.
pub(crate) fn rejected(what: &str) -> FftError {
    FftError::Unsupported(what.into())
}

/// # Safety
/// So many numbers lie there, or the pointer is null.
unsafe fn list<'a>(start: *const usize, count: usize, name: &str) -> Result<&'a [usize], FftError> {
    match (count, start.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(rejected(&format!(
            "{name} is null, and {count} numbers of it were announced; give them"
        ))),
        _ if !start.is_aligned() => Err(rejected(&format!(
            "{name} begins at {start:?}, and numbers of {} bytes are at multiples of it; give an aligned list",
            size_of::<usize>()
        ))),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { std::slice::from_raw_parts(start, count) }),
    }
}

/// `OZFFT_MPI_DOUBLE` and `OZFFT_MPI_SINGLE` of the header, which are no errors that anybody could ask for.
const DOUBLE: f64 = 0.0;
const SINGLE: f64 = -1.0;

/// `OZFFT_MPI_PROCESSOR` of the header.
const PROCESSOR: c_int = -1;

/// More dimensions than any array has: numbers that were not initialised are told from others.
const MOST_DIMENSIONS: usize = 64;

impl CProblem {
    /// Whether numbers are doubles.
    pub(crate) fn is_double(&self) -> bool {
        self.bytes != 4
    }

    /// # Safety
    /// Pointers are null, or lead to as many numbers as the header asks for.
    pub(crate) unsafe fn problem(&self) -> Result<DistributedProblem, FftError> {
        if self.size != size_of::<CProblem>() {
            return Err(rejected(
                "the size of the problem is not that of this library; begin with ozfft_mpi_defaults, and compile with this library's header",
            ));
        }
        if self.dimensions == 0 || self.dimensions > MOST_DIMENSIONS {
            let message = format!(
                "{} dimensions; give 1 to {MOST_DIMENSIONS}",
                self.dimensions
            );
            return Err(rejected(&message));
        }
        let unknown = |name: &str, value: c_int| {
            rejected(&format!(
                "{name} is {value}, which the header does not name"
            ))
        };
        if self.bytes != 8 && self.bytes != 4 {
            return Err(unknown("bytes", self.bytes));
        }
        // SAFETY: the caller's promise, here and below.
        let shape = unsafe { list(self.shape, self.dimensions, "shape") }?;
        let mut problem = match self.kind {
            0 => DistributedProblem::complex(shape),
            1 => DistributedProblem::real_to_complex(shape),
            2 => DistributedProblem::complex_to_real(shape),
            other => return Err(unknown("kind", other)),
        };
        problem = match (self.kind, self.inverse) {
            (0 | 1, 0) => problem.direction(Direction::Forward),
            (0, _) => problem.direction(Direction::Inverse),
            (1, _) => {
                return Err(rejected(
                    "real-to-complex transforms are forward; leave inverse 0",
                ));
            }
            _ => problem,
        };
        problem = problem.norm(match self.norm {
            0 => Norm::Backward,
            1 => Norm::Ortho,
            2 => Norm::Forward,
            3 => Norm::Unscaled,
            other => return Err(unknown("norm", other)),
        });
        problem = problem.accuracy(match self.accuracy {
            DOUBLE => Accuracy::Double,
            SINGLE => Accuracy::Single,
            target => Accuracy::Target(target),
        });
        for (name, count) in [("axes", self.axes_count), ("grid", self.grid_count)] {
            // Before they are read: a list that is too long is often one of no length at all.
            if count > self.dimensions {
                return Err(rejected(&format!(
                    "{name}_count is {count}, and the array has {} dimensions; give at most one number for each",
                    self.dimensions
                )));
            }
        }
        let axes = unsafe { list(self.axes, self.axes_count, "axes") }?;
        if !axes.is_empty() {
            problem = problem.axes(axes);
        }
        let grid = unsafe { list(self.grid, self.grid_count, "grid") }?;
        if !grid.is_empty() {
            problem = problem.grid(grid);
        }
        let boxes = |low: *const usize, high: *const usize, name: &str| match (
            low.is_null(),
            high.is_null(),
        ) {
            (true, true) => Ok(None),
            // SAFETY: the caller's promise.
            (false, false) => Ok(Some(unsafe {
                IndexBox::new(
                    list(low, self.dimensions, name)?,
                    list(high, self.dimensions, name)?,
                )
            })),
            _ => Err(rejected(&format!(
                "{name}_low and {name}_high are both given, or both null"
            ))),
        };
        problem = match boxes(self.input_low, self.input_high, "input")? {
            Some(part) => problem.input_box(part),
            None if self.permuted_input != 0 => problem.permuted_input(),
            None => problem,
        };
        problem = match boxes(self.output_low, self.output_high, "output")? {
            Some(part) => problem.output_box(part),
            None if self.permuted_output != 0 => problem.permuted_output(),
            None => problem,
        };
        if self.memory_limit > 0 {
            problem = problem.memory_limit(self.memory_limit);
        }
        problem = problem.staged(self.staged != 0);
        problem = match usize::try_from(self.device) {
            Ok(ordinal) => problem.device(Device::Cuda(ordinal)),
            Err(_) if self.device == PROCESSOR => problem,
            Err(_) => return Err(unknown("device", self.device)),
        };
        Ok(problem
            .batch(self.batch)
            .strict(self.strict != 0)
            .threads(usize::try_from(self.threads).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_of_earlier_headers_are_read_and_others_are_rejected() {
        let shape = [4, 6];
        let mut given = CProblem::new(2, shape.as_ptr());
        given.device = 3;
        // SAFETY: a struct that begins with its size.
        let read = |given: &CProblem| unsafe { CProblem::read(given) }.expect("a struct");
        assert_eq!((read(&given).device, read(&given).dimensions), (3, 2));
        // SAFETY: the shape has two numbers.
        assert!(unsafe { read(&given).problem() }.is_ok());
        // An earlier program knows nothing of devices: what lies behind its struct is not read.
        given.size = SIZE_WITHOUT_DEVICE;
        assert_eq!(
            (read(&given).device, read(&given).dimensions),
            (PROCESSOR, 2)
        );
        // SAFETY: as above.
        assert!(unsafe { read(&given).problem() }.is_ok());
        for size in [0, 8, SIZE_WITHOUT_DEVICE - 8, size_of::<CProblem>() + 8] {
            given.size = size;
            // SAFETY: as above.
            let error = unsafe { read(&given).problem() }.expect_err("another size");
            assert!(error.to_string().contains("ozfft_mpi_defaults"));
        }
        given.size = size_of::<CProblem>();
        given.device = -2;
        // SAFETY: as above.
        assert!(unsafe { read(&given).problem() }.is_err());
        // SAFETY: null is none.
        assert!(unsafe { CProblem::read(std::ptr::null()) }.is_none());
    }

    /// A count of 2^60 was cut to 64, and so many numbers were read behind a list of two.
    #[test]
    fn lists_that_are_longer_than_the_array_or_not_aligned_are_not_read() {
        let lists = [[4usize, 6], [0, 1]];
        let [shape, axes] = [lists[0].as_ptr(), lists[1].as_ptr()];
        let with = |change: &dyn Fn(&mut CProblem)| {
            let mut given = CProblem::new(2, shape);
            (given.axes, given.grid) = (axes, axes);
            change(&mut given);
            // SAFETY: lists that are not rejected have two numbers.
            let outcome = unsafe { given.problem() };
            outcome.map_or_else(|error| error.to_string(), |_| String::new())
        };
        for count in [3, 64, 65, 1 << 60, usize::MAX] {
            let message = with(&|given| given.axes_count = count);
            assert!(message.starts_with(&format!("axes_count is {count}, and the array has 2")));
            let message = with(&|given| given.grid_count = count);
            assert!(message.starts_with(&format!("grid_count is {count}, and the array has 2")));
        }
        let odd = with(&|given| given.shape = shape.wrapping_byte_add(1));
        assert!(odd.contains("give an aligned list"), "{odd}");
        assert_eq!(with(&|given| given.axes_count = 2), "");
    }
}
