"""Everything that can go wrong, with the library's own words: what was given, and the remedy."""


class OzfftError(ValueError):
    """Base of all errors of this package.

    >>> import ozfft
    >>> try:
    ...     ozfft.plan((8,), accuracy=1e-40)
    ... except ozfft.OzfftError as error:
    ...     print(type(error).__name__)
    AccuracyError
    """


class ShapeError(OzfftError):
    """A shape or an axis that has no transform."""


class LayoutError(OzfftError):
    """Memory that does not lie as the plan needs it."""


class AccuracyError(OzfftError):
    """An accuracy that is no accuracy, or that cannot be reached."""


class UnsupportedError(OzfftError):
    """A choice, or a combination of choices, that the library does not have."""


class DtypeError(OzfftError, TypeError):
    """Numbers that are neither single nor double precision and would lose digits if they were made so."""


class DeviceError(OzfftError, RuntimeError):
    """No GPU, the wrong GPU, a GPU whose memory is full, or a GPU that fails."""


class OutOfMemoryError(OzfftError, MemoryError):
    """Too little memory for tables, workspace or results: the machine, the container or a limit of the process (``ulimit -v``) has no more."""


class IntegerRangeError(OzfftError, OverflowError):
    """Results that the requested integer type might not hold."""
