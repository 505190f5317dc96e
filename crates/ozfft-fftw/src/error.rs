//! What is reported where there is no plan, or where nothing was computed.

use fallible_memory::OutOfMemory;
use ozfft::FftError;

/// More dimensions than any array has: with lengths of 2 or more there are at most 63, and a caller who passes more than this has
/// lost the number.
pub(crate) const MOST_DIMENSIONS: i32 = 1 << 16;

/// Why there is no plan, or why nothing was computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum FftwError {
    #[error("{what} is {given}; it must be at least {least}")]
    TooSmall {
        what: &'static str,
        given: i64,
        least: i64,
    },
    #[error("the rank is {given}; at most {MOST_DIMENSIONS} dimensions are taken")]
    TooManyDimensions { given: i64 },
    #[error("{0} is a null pointer")]
    Null(&'static str),
    #[error("the plan is NULL{}", after(.last))]
    NullPlan {
        /// What the last call that made none has said.
        last: Option<String>,
    },
    #[error("the plan has been destroyed")]
    Destroyed,
    #[error("the sign is {0}; it must be -1 (FFTW_FORWARD) or 1 (FFTW_BACKWARD)")]
    Sign(i32),
    #[error("the kind of real transform is {0}; kinds are numbered from 0 (R2HC) to 10 (RODFT11)")]
    Kind(i32),
    #[error("lengths and strides describe more memory than can be addressed")]
    NotAddressable,
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    #[error("no wisdom about this transform, and FFTW_WISDOM_ONLY asks for it")]
    NoWisdom,
    #[error(
        "the plan is for a {planned} transform, and the call for another; call the function that belongs to the plan"
    )]
    OtherKind { planned: &'static str },
    #[error(
        "the plan is for {planned} precision, and the call for another; fftw_ functions take plans of fftw_, fftwf_ functions those of fftwf_"
    )]
    OtherPrecision { planned: &'static str },
    /// A value of the environment that cannot be read.
    #[error("{0}")]
    Environment(String),
    #[error(transparent)]
    Transform(#[from] FftError),
    #[error("this is a bug: {0}")]
    Panic(String),
}

fn after(last: &Option<String>) -> String {
    last.as_ref().map_or(String::new(), |last| {
        format!("; the last call that returned NULL said: {last}")
    })
}

impl FftwError {
    /// Whether it is the environment that cannot be followed: no plan of this program will ever be what was asked for.
    pub(crate) fn is_the_environment(&self) -> bool {
        use FftError::*;
        match self {
            FftwError::Environment(_) => true,
            FftwError::Transform(error) => matches!(
                error,
                NoDriver { .. }
                    | NoSuchDevice { .. }
                    | DeviceTooOld { .. }
                    | NoFp8 { .. }
                    | InvalidAccuracy { .. }
                    | UnknownUnit { .. }
                    | Unsupported(_)
            ),
            _ => false,
        }
    }

    /// Whether it is unexpected: logged even without `OZFFT_VERBOSE`.
    pub(crate) fn is_unexpected(&self) -> bool {
        matches!(
            self,
            FftwError::Transform(_) | FftwError::Memory(_) | FftwError::Panic(_)
        )
    }
}
