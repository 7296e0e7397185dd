//! An allocator that counts.
//!
//! ```
//! use trommel_testkit::alloc::CountingAllocator;
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator::new();
//!
//! let (buffer, usage) = ALLOCATOR.measure(|| vec![0_u8; 1000]);
//! assert_eq!((usage.allocations, usage.peak >= 1000), (1, true));
//! assert_eq!(ALLOCATOR.measure(|| buffer.len()).1.allocations, 0);
//! ```
//!
//! The counts are those of the whole process: a test binary that measures has one test, or runs its
//! tests one by one.

#![expect(unsafe_code, reason = "an allocator cannot be written without it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with counts of what is asked of it.
#[derive(Debug, Default)]
pub struct CountingAllocator {
    current: AtomicUsize,
    peak: AtomicUsize,
    total: AtomicUsize,
    allocations: AtomicUsize,
}

/// What some piece of work took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The most bytes held at once, beyond those held before.
    pub peak: usize,
    /// Bytes asked for, all together.
    pub total: usize,
    /// Calls that asked for memory; making a piece larger or smaller is one.
    pub allocations: usize,
    /// Bytes still held afterwards, beyond those held before; negative if some of those were given
    /// back.
    pub kept: isize,
}

impl CountingAllocator {
    /// An allocator that has counted nothing.
    pub const fn new() -> Self {
        Self {
            current: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
            allocations: AtomicUsize::new(0),
        }
    }

    /// Bytes held now.
    pub fn current(&self) -> usize {
        self.current.load(Relaxed)
    }

    /// The most bytes held at once since the last reset.
    pub fn peak(&self) -> usize {
        self.peak.load(Relaxed)
    }

    /// Bytes asked for since the last reset.
    pub fn total(&self) -> usize {
        self.total.load(Relaxed)
    }

    /// Calls that asked for memory since the last reset.
    pub fn allocations(&self) -> usize {
        self.allocations.load(Relaxed)
    }

    /// Starts anew: the peak is what is held now, the other counts are 0.
    pub fn reset(&self) {
        self.peak.store(self.current(), Relaxed);
        self.total.store(0, Relaxed);
        self.allocations.store(0, Relaxed);
    }

    /// Resets, does the work, and says what it took.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> (T, Usage) {
        self.reset();
        let before = self.current();
        let result = work();
        let usage = Usage {
            peak: self.peak().saturating_sub(before),
            total: self.total(),
            allocations: self.allocations(),
            kept: self.current().cast_signed() - before.cast_signed(),
        };
        (result, usage)
    }

    fn took(&self, bytes: usize) {
        let current = self.current.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(current, Relaxed);
        self.total.fetch_add(bytes, Relaxed);
        self.allocations.fetch_add(1, Relaxed);
    }

    fn gave(&self, bytes: usize) {
        self.current.fetch_sub(bytes, Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator as it came, and its answer is handed
// back unchanged; counting allocates nothing and does not unwind.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here and there.
        let pointer = unsafe { System.alloc(layout) };
        if !pointer.is_null() {
            self.took(layout.size());
        }
        pointer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same here and
        // there.
        let pointer = unsafe { System.alloc_zeroed(layout) };
        if !pointer.is_null() {
            self.took(layout.size());
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from this allocator, and so from the system's, with this layout.
        unsafe { System.dealloc(pointer, layout) };
        self.gave(layout.size());
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `pointer` came from this allocator, and so from the system's, with this layout;
        // the caller vouches for `size`.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        if !moved.is_null() {
            self.gave(layout.size());
            self.took(size);
        }
        moved
    }
}
