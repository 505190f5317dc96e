//! A global allocator with a reserve: small allocations succeed when the system has no memory left, until the next large one reports
//! that.

use crate::OutOfMemory;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes of the reserve. Part of the program's zeroed data: they take address space, and no memory before they are used.
const SIZE: usize = 4 << 20;
/// The largest allocation that it serves.
const LARGEST: usize = 256 << 10;
/// Sizes of blocks are powers of two, from this one on.
const SMALLEST: usize = 32;
const CLASSES: usize = (LARGEST / SMALLEST).trailing_zeros() as usize + 1;
/// The alignment of the reserve, and the largest that it serves.
const ALIGNMENT: usize = 4096;

#[repr(C, align(4096))]
struct Area([u8; SIZE]);

/// Blocks of one reserve.
struct Blocks {
    /// Bytes from the beginning that have been handed out at some time.
    touched: usize,
    /// Bytes that are in use.
    used: usize,
    /// Freed blocks of each size: each begins with the address of the next one.
    free: [*mut u8; CLASSES],
}

/// An allocator that hands on to another one, by default the system's. When that one fails, allocations of up to 256 KiB come from
/// a reserve of 4 MiB.
///
/// ```
/// use fallible_memory::Reserving;
/// #[global_allocator]
/// static ALLOCATOR: Reserving = Reserving::system();
/// # assert_eq!(vec![1; 3].len(), 3);
/// ```
pub struct Reserving<A = System> {
    inner: A,
    locked: AtomicBool,
    blocks: UnsafeCell<Blocks>,
    area: UnsafeCell<Area>,
}

// SAFETY: `blocks` is touched by the thread that holds the lock alone, and parts of `area` by those that they were handed out to.
unsafe impl<A: Sync> Sync for Reserving<A> {}
// SAFETY: the addresses in `blocks` are of `area`, which moves only while nothing is allocated.
unsafe impl<A: Send> Send for Reserving<A> {}

/// Bytes that are in use of the reserve of the program's global allocator.
static USED: AtomicUsize = AtomicUsize::new(0);

/// An error if half of the reserve is in use and the system has no memory to give. Work that begins then might use it up.
pub(crate) fn refill() -> Result<(), OutOfMemory> {
    if USED.load(Ordering::Relaxed) <= SIZE / 2 {
        return Ok(());
    }
    // More than the reserve itself would give.
    match Vec::<u8>::new().try_reserve_exact(SIZE) {
        Ok(()) => Ok(()),
        Err(_) => Err(OutOfMemory::now(SIZE as u64)),
    }
}

impl Reserving {
    /// The system's allocator with a reserve.
    pub const fn system() -> Self {
        Reserving::new(System)
    }
}

impl<A> Reserving<A> {
    /// An allocator with a reserve.
    pub const fn new(inner: A) -> Self {
        Reserving {
            inner,
            locked: AtomicBool::new(false),
            blocks: UnsafeCell::new(Blocks {
                touched: 0,
                used: 0,
                free: [std::ptr::null_mut(); CLASSES],
            }),
            area: UnsafeCell::new(Area([0; SIZE])),
        }
    }

    /// Runs `work` with the blocks, which no other thread touches meanwhile.
    fn with_blocks<R>(&self, work: impl FnOnce(&mut Blocks) -> R) -> R {
        // Held for some instructions at a time, and only while memory is short.
        while self.locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: the lock is held.
        let result = work(unsafe { &mut *self.blocks.get() });
        self.locked.store(false, Ordering::Release);
        result
    }

    /// The number of the size of blocks that has room for a layout.
    fn class(layout: Layout) -> Option<usize> {
        let size = layout.size().max(layout.align()).max(SMALLEST);
        if size > LARGEST || layout.align() > ALIGNMENT {
            return None;
        }
        Some((size.next_power_of_two() / SMALLEST).trailing_zeros() as usize)
    }

    /// Whether a block is of the reserve.
    #[inline]
    fn has(&self, block: *mut u8) -> bool {
        (block as usize).wrapping_sub(self.area.get() as usize) < SIZE
    }

    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        let Some(class) = Self::class(layout) else {
            return std::ptr::null_mut();
        };
        let size = SMALLEST << class;
        self.with_blocks(|blocks| {
            let mut block = blocks.free[class];
            if block.is_null() {
                let start = blocks.touched.next_multiple_of(size.min(ALIGNMENT));
                if start + size > SIZE {
                    return block;
                }
                blocks.touched = start + size;
                // SAFETY: within the area.
                block = unsafe { self.area.get().cast::<u8>().add(start) };
            } else {
                // SAFETY: a freed block of the area, at a multiple of SMALLEST bytes, in which `give_back` has stored an address.
                blocks.free[class] = unsafe { block.cast::<*mut u8>().read() };
            }
            blocks.used += size;
            USED.store(blocks.used, Ordering::Relaxed);
            block
        })
    }

    #[cold]
    fn give_back(&self, block: *mut u8, layout: Layout) {
        let class = Self::class(layout).unwrap_or(0);
        self.with_blocks(|blocks| {
            // SAFETY: a block that `take` has handed out for this layout, and that nobody uses any more.
            unsafe { block.cast::<*mut u8>().write(blocks.free[class]) };
            blocks.free[class] = block;
            blocks.used -= SMALLEST << class;
            if blocks.used == 0 {
                blocks.touched = 0;
                blocks.free = [std::ptr::null_mut(); CLASSES];
            }
            USED.store(blocks.used, Ordering::Relaxed);
        });
    }
}

// SAFETY: blocks are of the other allocator, which keeps its promise, or of the reserve: those are aligned to their size or a page,
// in one piece, and in use once at a time. Nothing here unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Reserving<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let block = unsafe { self.inner.alloc(layout) };
        if block.is_null() {
            return self.take(layout);
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let block = unsafe { self.inner.alloc_zeroed(layout) };
        if !block.is_null() {
            return block;
        }
        let block = self.take(layout);
        if !block.is_null() {
            // SAFETY: so many bytes were just handed out.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.has(block) {
            return self.give_back(block, layout);
        }
        // SAFETY: the caller's promise is the same, and the block is of the other allocator.
        unsafe { self.inner.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.has(block) {
            // SAFETY: the caller's promise is the same, and the block is of the other allocator.
            let grown = unsafe { self.inner.realloc(block, layout, size) };
            if !grown.is_null() {
                return grown;
            }
        }
        // SAFETY: the caller promises that the new size, rounded up to the alignment, is one of a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the new size is not 0, as the caller promises.
        let grown = unsafe { self.alloc(wanted) };
        if !grown.is_null() {
            // SAFETY: both blocks have so many bytes, and they are different ones.
            unsafe { grown.copy_from_nonoverlapping(block, layout.size().min(size)) };
            // SAFETY: the caller gives the old block up.
            unsafe { self.dealloc(block, layout) };
        }
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An allocator that has nothing.
    struct Nothing;

    // SAFETY: it never hands out a block.
    unsafe impl GlobalAlloc for Nothing {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            std::ptr::null_mut()
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
            unreachable!("nothing was handed out")
        }
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn blocks_of_the_reserve_are_apart_and_used_again() {
        static RESERVE: Reserving<Nothing> = Reserving::new(Nothing);
        let mut seed = 1u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let mut alive: Vec<(*mut u8, Layout, u8)> = Vec::new();
        let mut served = 0;
        for step in 0..20_000 {
            if random(2) > 0 {
                let most = 1 << random(14);
                let layout = layout(1 + random(most), 1 << random(8));
                // SAFETY: the size is not 0.
                let block = unsafe { RESERVE.alloc(layout) };
                if block.is_null() {
                    continue;
                }
                served += 1;
                assert_eq!(block as usize % layout.align(), 0);
                // SAFETY: handed out above.
                unsafe { block.write_bytes(step as u8, layout.size()) };
                alive.push((block, layout, step as u8));
            } else if !alive.is_empty() {
                let (block, old, value) = alive.swap_remove(random(alive.len()));
                // SAFETY: still handed out, with so many bytes.
                let bytes = unsafe { std::slice::from_raw_parts(block, old.size()) };
                assert!(bytes.iter().all(|&byte| byte == value));
                let size = 1 + random(1 << 10);
                // SAFETY: handed out with this layout; the size is not 0.
                let block = unsafe { RESERVE.realloc(block, old, size) };
                if !block.is_null() {
                    // SAFETY: as above.
                    assert_eq!(unsafe { *block }, value);
                    // SAFETY: as above, with the new size.
                    unsafe { RESERVE.dealloc(block, layout(size, old.align())) };
                } else {
                    // Left as it was, for later.
                    alive.push((bytes.as_ptr().cast_mut(), old, value));
                }
            }
        }
        assert!(served > 5000, "{served}");
        for (block, layout, _) in alive {
            // SAFETY: still handed out.
            unsafe { RESERVE.dealloc(block, layout) };
        }
        assert_eq!(
            RESERVE.with_blocks(|blocks| (blocks.used, blocks.touched)),
            (0, 0)
        );
    }

    #[test]
    fn large_allocations_are_none_of_the_reserves() {
        static RESERVE: Reserving<Nothing> = Reserving::new(Nothing);
        // SAFETY: the size is not 0.
        unsafe {
            assert!(RESERVE.alloc(layout(LARGEST + 1, 8)).is_null());
            assert!(RESERVE.alloc(layout(8, 2 * ALIGNMENT)).is_null());
            let block = RESERVE.alloc_zeroed(layout(LARGEST, 64));
            assert!(!block.is_null() && (0..LARGEST).all(|i| *block.add(i) == 0));
        }
    }
}
