//! Work divided among threads: rayon's with the feature `parallel`, else the caller's alone. Bits do not depend on it.

/// Calls `work` with every number below `count`.
#[cfg(feature = "parallel")]
pub(crate) fn for_each(count: usize, work: impl Fn(usize) + Send + Sync) {
    use rayon::prelude::*;
    (0..count).into_par_iter().for_each(work);
}

#[cfg(not(feature = "parallel"))]
pub(crate) fn for_each(count: usize, work: impl Fn(usize) + Send + Sync) {
    (0..count).for_each(work);
}

/// Calls `work` with every piece of `length` values, and its number.
#[cfg(feature = "parallel")]
pub(crate) fn for_each_piece<V: Send>(
    values: &mut [V],
    length: usize,
    work: impl Fn(usize, &mut [V]) + Send + Sync,
) {
    use rayon::prelude::*;
    let pieces = values.par_chunks_mut(length).enumerate();
    pieces.for_each(|(number, piece)| work(number, piece));
}

#[cfg(not(feature = "parallel"))]
pub(crate) fn for_each_piece<V: Send>(
    values: &mut [V],
    length: usize,
    work: impl Fn(usize, &mut [V]) + Send + Sync,
) {
    let pieces = values.chunks_mut(length).enumerate();
    pieces.for_each(|(number, piece)| work(number, piece));
}

/// The results of `make` for every number below `count`; a thread takes at least so many.
#[cfg(feature = "parallel")]
pub(crate) fn collect<V: Send>(
    count: usize,
    least: usize,
    make: impl Fn(usize) -> V + Send + Sync,
) -> Vec<V> {
    use rayon::prelude::*;
    let numbers = (0..count).into_par_iter().with_min_len(least);
    numbers.map(make).collect()
}

#[cfg(not(feature = "parallel"))]
pub(crate) fn collect<V: Send>(
    count: usize,
    _: usize,
    make: impl Fn(usize) -> V + Send + Sync,
) -> Vec<V> {
    (0..count).map(make).collect()
}

/// Threads that there are.
#[cfg(feature = "parallel")]
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

#[cfg(not(feature = "parallel"))]
pub(crate) fn threads() -> usize {
    1
}
