//! Work divided among threads: rayon's with the feature `parallel`, else the caller's alone. Results do not depend on it.

/// From so many numbers on, work is divided among threads: below, waking them takes longer.
pub(crate) const DIVIDED: usize = 1 << 15;

/// Calls `work` with every piece of `length` values, and its number.
pub(crate) fn for_each_piece<V: Send>(
    divided: bool,
    values: &mut [V],
    length: usize,
    work: impl Fn(usize, &mut [V]) + Send + Sync,
) {
    #[cfg(feature = "parallel")]
    if divided {
        use rayon::prelude::*;
        // As `dyn`, so that rayon's part is not compiled for every closure.
        let work: &(dyn Fn(usize, &mut [V]) + Send + Sync) = &work;
        let pieces = values.par_chunks_mut(length).enumerate();
        return pieces.for_each(|(number, piece)| work(number, piece));
    }
    let _ = divided;
    let pieces = values.chunks_mut(length).enumerate();
    pieces.for_each(|(number, piece)| work(number, piece));
}

/// The results of `make` for every number below `count`.
pub(crate) fn collect<V: Send>(
    divided: bool,
    count: usize,
    make: impl Fn(usize) -> V + Send + Sync,
) -> Vec<V> {
    #[cfg(feature = "parallel")]
    if divided {
        use rayon::prelude::*;
        let make: &(dyn Fn(usize) -> V + Send + Sync) = &make;
        let mut values = fallible_memory::with_capacity(count);
        values.par_extend((0..count).into_par_iter().map(make));
        return values;
    }
    let _ = divided;
    fallible_memory::collected((0..count).map(make))
}

/// Both results.
pub(crate) fn join<A: Send, B: Send>(
    divided: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if divided {
        return rayon::join(first, second);
    }
    let _ = divided;
    (first(), second())
}
