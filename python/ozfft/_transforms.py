"""The transforms of :mod:`scipy.fft`, with its arguments, defaults and errors."""

from __future__ import annotations

from ._calls import many_axes, one_axis
from ._describe import described
from ._execute import FFT, HFFT, IFFT, IHFFT, IRFFT, RFFT


@described(x="Data, real or complex", which="transform", default="that of `x`")
def fft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms one axis of complex or real data.

    {parameters}

    Returns
    -------
    complex array
        The spectrum, as long as the transform.

    See Also
    --------
    ifft, rfft, fftn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.fft([1, 2, 3, 4])
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return one_axis(fft, FFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="A spectrum", which="transform", default="that of `x`")
def ifft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`fft`.

    {parameters}

    Returns
    -------
    complex array
        The signal.

    See Also
    --------
    fft, irfft

    Examples
    --------
    >>> import ozfft
    >>> ozfft.ifft([10, -2 + 2j, -2, -2 - 2j])
    array([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j])
    """
    return one_axis(ifft, IFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="Real data", which="real signal", default="that of `x`")
def rfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms one axis of real data to the half ``0 … n//2`` of its spectrum; the rest are conjugates.

    {parameters}

    Returns
    -------
    complex array
        The first `n // 2 + 1` numbers of the spectrum along `axis`.

    See Also
    --------
    irfft, fft

    Examples
    --------
    >>> import ozfft
    >>> ozfft.rfft([1, 2, 3, 4])
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return one_axis(rfft, RFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="The first half of a spectrum", which="real signal", default="`2 * (m - 1)` for `m` numbers given")
def irfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`rfft`. Odd lengths have to be given: ``n``.

    {parameters}

    Returns
    -------
    real array
        The signal, of `n` points along `axis`.

    See Also
    --------
    rfft

    Examples
    --------
    >>> import ozfft
    >>> ozfft.irfft([10, -2 + 2j, -2])
    array([1., 2., 3., 4.])
    """
    return one_axis(irfft, IRFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="The first half of a signal with the symmetry of conjugates",
    which="real spectrum",
    default="`2 * (m - 1)` for `m` numbers given",
)
def hfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The real spectrum of a signal of which the second half is the conjugate of the first.

    {parameters}

    Returns
    -------
    real array
        The spectrum, of `n` points along `axis`.

    See Also
    --------
    ihfft

    Examples
    --------
    >>> import ozfft
    >>> ozfft.hfft([1, 2 + 1j, 3])
    array([ 8.,  0.,  0., -4.])
    """
    return one_axis(hfft, HFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="A real spectrum", which="real spectrum", default="that of `x`")
def ihfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`hfft`.

    {parameters}

    Returns
    -------
    complex array
        The first `n // 2 + 1` numbers of the signal along `axis`.

    See Also
    --------
    hfft

    Examples
    --------
    >>> import ozfft
    >>> ozfft.ihfft([8, 0, 0, -4])
    array([1.+0.j, 2.+1.j, 3.+0.j])
    """
    return one_axis(ihfft, IHFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="Data, real or complex",
    which="transform",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def fftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms several axes, all by default.

    {parameters}

    Returns
    -------
    complex array
        The spectrum.

    See Also
    --------
    ifftn, rfftn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.fftn([[1, 2], [3, 4]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return many_axes(fftn, FFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="A spectrum",
    which="transform",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def ifftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`fftn`.

    {parameters}

    Returns
    -------
    complex array
        The signal.

    See Also
    --------
    fftn, irfftn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.ifftn([[10, -2], [-4, 0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    return many_axes(ifftn, IFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="Data, real or complex", which="transform", default="those of `x`", axes="the last two by default")
def fft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms two axes, the last ones by default.

    {parameters}

    Returns
    -------
    complex array
        The spectrum.

    See Also
    --------
    ifft2, rfft2

    Examples
    --------
    >>> import ozfft
    >>> ozfft.fft2([[1, 2], [3, 4]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return many_axes(fft2, FFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="A spectrum", which="transform", default="those of `x`", axes="the last two by default")
def ifft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`fft2`.

    {parameters}

    Returns
    -------
    complex array
        The signal.

    See Also
    --------
    fft2, irfft2

    Examples
    --------
    >>> import ozfft
    >>> ozfft.ifft2([[10, -2], [-4, 0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    return many_axes(ifft2, IFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="Real data",
    which="real signal",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def rfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms several axes of real data; the last one of them is halved.

    {parameters}

    Returns
    -------
    complex array
        The first half of the spectrum along the last one of `axes`; the other axes are whole.

    See Also
    --------
    irfftn, fftn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.rfftn([[1, 2, 3], [4, 5, 6]]).shape
    (2, 2)
    """
    return many_axes(rfftn, RFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="The first half of a spectrum",
    which="real signal",
    default="those of `x`, and `2 * (m - 1)` for the `m` numbers along the last one of `axes`",
    axes="all by default, or the last ones where `s` is given",
)
def irfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`rfftn`.

    {parameters}

    Returns
    -------
    real array
        The signal.

    See Also
    --------
    rfftn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.irfftn(ozfft.rfftn([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return many_axes(irfftn, IRFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="Real data", which="real signal", default="those of `x`", axes="the last two by default")
def rfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms two axes of real data, the last ones by default.

    {parameters}

    Returns
    -------
    complex array
        The first half of the spectrum along the last one of `axes`; the other axes are whole.

    See Also
    --------
    irfft2, fft2

    Examples
    --------
    >>> import ozfft
    >>> ozfft.rfft2([[1, 2, 3], [4, 5, 6]]).shape
    (2, 2)
    """
    return many_axes(rfft2, RFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="The first half of a spectrum",
    which="real signal",
    default="those of `x`, and `2 * (m - 1)` for the `m` numbers along the last one of `axes`",
    axes="the last two by default",
)
def irfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`rfft2`.

    {parameters}

    Returns
    -------
    real array
        The signal.

    See Also
    --------
    rfft2

    Examples
    --------
    >>> import ozfft
    >>> ozfft.irfft2(ozfft.rfft2([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return many_axes(irfft2, IRFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="The first half of a signal with the symmetry of conjugates",
    which="real spectrum",
    default="those of `x`, and `2 * (m - 1)` for the `m` numbers along the last one of `axes`",
    axes="all by default, or the last ones where `s` is given",
)
def hfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The real spectrum of a field with the symmetry of conjugates; the last axis is halved.

    {parameters}

    Returns
    -------
    real array
        The spectrum.

    See Also
    --------
    ihfftn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.hfftn([[1, 2], [3, 4]])
    array([[10., -2.],
           [-4.,  0.]])
    """
    return many_axes(hfftn, HFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="A real spectrum",
    which="real spectrum",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def ihfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`hfftn`.

    {parameters}

    Returns
    -------
    complex array
        The first half of the signal along the last one of `axes`; the other axes are whole.

    See Also
    --------
    hfftn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.hfftn(ozfft.ihfftn([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return many_axes(ihfftn, IHFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(
    x="The first half of a signal with the symmetry of conjugates",
    which="real spectrum",
    default="those of `x`, and `2 * (m - 1)` for the `m` numbers along the last one of `axes`",
    axes="the last two by default",
)
def hfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The same as :func:`hfftn` for two axes.

    {parameters}

    Returns
    -------
    real array
        The spectrum.

    See Also
    --------
    ihfft2

    Examples
    --------
    >>> import ozfft
    >>> ozfft.hfft2([[1, 2], [3, 4]])
    array([[10., -2.],
           [-4.,  0.]])
    """
    return many_axes(hfft2, HFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


@described(x="A real spectrum", which="real spectrum", default="those of `x`", axes="the last two by default")
def ihfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The inverse of :func:`hfft2`.

    {parameters}

    Returns
    -------
    complex array
        The first half of the signal along the last one of `axes`; the other axes are whole.

    See Also
    --------
    hfft2

    Examples
    --------
    >>> import ozfft
    >>> ozfft.hfft2(ozfft.ihfft2([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return many_axes(ihfft2, IHFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)
