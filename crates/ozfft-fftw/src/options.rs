//! Options from the environment. It is read whenever a plan is made, so that a program may set it for itself.

use crate::error::FftwError;
use crate::number::Number;
use crate::pool;
use ozfft::{Accuracy, Device, Engine, Norm, Problem};
use std::env::{self, VarError};
use std::str::FromStr;

/// Options of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Options {
    accuracy: Accuracy,
    engine: Engine,
    device: Device,
    /// Threads of a plan.
    pub(crate) threads: usize,
    /// `FFTW_WISDOM_ONLY` was given.
    pub(crate) wisdom_only: bool,
}

const WISDOM_ONLY: u32 = 1 << 21;

impl Options {
    /// The environment's choices for these numbers, the planned threads where it names no number, and the flags of a call. All other
    /// flags say how to search for a plan, and what may happen to the input: there is nothing to search, and nothing happens to
    /// it.
    pub(crate) fn new<T: Number>(flags: u32) -> Result<Options, FftwError> {
        read("OZFFT_ON_ERROR", when_failing)?;
        Ok(Options {
            accuracy: read("OZFFT_ACCURACY", accuracy)?.unwrap_or(T::ACCURACY),
            engine: read("OZFFT_ENGINE", |text| text.parse().ok())?.unwrap_or(Engine::Digits),
            device: read("OZFFT_DEVICE", device)?.unwrap_or(Device::Cpu),
            threads: threads_asked()?.unwrap_or_else(pool::planned),
            wisdom_only: flags & WISDOM_ONLY != 0,
        })
    }

    /// With as many threads as are of use for so many numbers.
    pub(crate) fn for_points(mut self, points: usize) -> Options {
        self.threads = pool::useful(self.threads, points);
        self
    }

    /// The problem with these choices, and without FFTW's missing factor.
    pub(crate) fn apply(&self, problem: Problem) -> Problem {
        problem
            .norm(Norm::Unscaled)
            .accuracy(self.accuracy)
            .engine(self.engine)
            .device(self.device)
            .threads(self.threads)
    }
}

/// Whether reasons and plans are logged.
pub(crate) fn verbose() -> bool {
    env::var_os("OZFFT_VERBOSE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Behaviour on failures that cannot be returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    /// It ends.
    Abort,
    /// It goes on, with NULL for a plan or NaN for numbers.
    Null,
}

/// Options from the environment; an invalid value aborts the program, as for plans.
pub(crate) fn on_error() -> OnError {
    let asked = read("OZFFT_ON_ERROR", when_failing);
    asked.ok().flatten().unwrap_or(OnError::Abort)
}

fn when_failing(text: &str) -> Option<OnError> {
    match text {
        "abort" => Some(OnError::Abort),
        "null" => Some(OnError::Null),
        _ => None,
    }
}

/// The number of threads that the environment asks for.
pub(crate) fn threads_asked() -> Result<Option<usize>, FftwError> {
    read("OZFFT_THREADS", |text| {
        usize::from_str(text).ok().filter(|&threads| threads > 0)
    })
}

/// A variable's value; an empty one counts as not set.
fn read<T>(name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, FftwError> {
    let known = match name {
        "OZFFT_ACCURACY" => "double, single, a relative error such as 1e-12, or bits:40",
        "OZFFT_ENGINE" => {
            "digits, residues, ntt, native, auto, or a mode in floating point such as kahan"
        }
        "OZFFT_DEVICE" => "cpu, auto, cuda or cuda:1",
        "OZFFT_ON_ERROR" => "abort or null",
        _ => "a number of at least 1",
    };
    let unreadable =
        |text: &str| FftwError::Environment(format!("{name} is {text:?}; give {known}"));
    match env::var(name) {
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(text)) => Err(unreadable(&text.to_string_lossy())),
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => parse(&text).map(Some).ok_or_else(|| unreadable(&text)),
    }
}

fn accuracy(text: &str) -> Option<Accuracy> {
    match text {
        "double" => Some(Accuracy::Double),
        "single" => Some(Accuracy::Single),
        _ => match text.strip_prefix("bits:") {
            Some(bits) => bits.parse().ok().map(Accuracy::Bits),
            None => text.parse().ok().map(Accuracy::Target),
        },
    }
}

fn device(text: &str) -> Option<Device> {
    match text {
        "cpu" => Some(Device::Cpu),
        "auto" => Some(Device::Auto),
        "cuda" => Some(Device::Cuda(0)),
        _ => {
            let number = text.strip_prefix("cuda:")?;
            number.parse().ok().map(Device::Cuda)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spelled_as_on_the_command_line() {
        assert_eq!(accuracy("1e-12"), Some(Accuracy::Target(1e-12)));
        assert_eq!(accuracy("bits:40"), Some(Accuracy::Bits(40)));
        assert_eq!(accuracy("precise"), None);
        assert_eq!(device("cuda:2"), Some(Device::Cuda(2)));
        assert_eq!(device("gpu"), None);
        assert_eq!(when_failing("null"), Some(OnError::Null));
        assert_eq!(when_failing("ignore"), None);
    }
}
