//! Numbers and arrays that C passes.

use crate::error::{FftwError, MOST_DIMENSIONS};

/// A length that C passes as a signed number.
pub(crate) fn length(what: &'static str, given: i64, least: i64) -> Result<usize, FftwError> {
    let usable = usize::try_from(given).ok().filter(|_| given >= least);
    usable.ok_or(FftwError::TooSmall { what, given, least })
}

/// `count` values that C passes by their address.
///
/// # Safety
/// A pointer that is not null points to so many values that are not written meanwhile.
pub(crate) unsafe fn values_at<'a, T>(
    what: &'static str,
    start: *const T,
    count: i32,
) -> Result<&'a [T], FftwError> {
    let Ok(length) = usize::try_from(count) else {
        return Err(FftwError::TooSmall {
            what: "the rank",
            given: i64::from(count),
            least: 0,
        });
    };
    if count > MOST_DIMENSIONS {
        return Err(FftwError::TooManyDimensions {
            given: i64::from(count),
        });
    }
    if length == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(FftwError::Null(what));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(start, length) })
}
