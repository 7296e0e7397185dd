//! An allocator that counts allocations.
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
//! The counts cover the whole process, so a test binary that measures must have a single test or
//! run its tests one at a time.

#![expect(unsafe_code, reason = "an allocator cannot be written without it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system allocator with counters.
#[derive(Debug, Default)]
pub struct CountingAllocator {
    current: AtomicUsize,
    peak: AtomicUsize,
    total: AtomicUsize,
    allocations: AtomicUsize,
}

/// The memory use of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The peak of allocated bytes, beyond those allocated before.
    pub peak: usize,
    /// The total number of allocated bytes.
    pub total: usize,
    /// The number of allocating calls, reallocations included.
    pub allocations: usize,
    /// Bytes still allocated afterwards, beyond those allocated before; negative if some of the
    /// earlier ones were freed.
    pub kept: isize,
}

impl CountingAllocator {
    /// Creates an allocator with all counters at 0.
    pub const fn new() -> Self {
        Self {
            current: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
            allocations: AtomicUsize::new(0),
        }
    }

    /// Returns the number of bytes allocated now.
    pub fn current(&self) -> usize {
        self.current.load(Relaxed)
    }

    /// Returns the peak of allocated bytes since the last reset.
    pub fn peak(&self) -> usize {
        self.peak.load(Relaxed)
    }

    /// Returns the number of bytes allocated since the last reset.
    pub fn total(&self) -> usize {
        self.total.load(Relaxed)
    }

    /// Returns the number of allocating calls since the last reset.
    pub fn allocations(&self) -> usize {
        self.allocations.load(Relaxed)
    }

    /// Resets the counters: the peak to the bytes allocated now, the others to 0.
    pub fn reset(&self) {
        self.peak.store(self.current(), Relaxed);
        self.total.store(0, Relaxed);
        self.allocations.store(0, Relaxed);
    }

    /// Resets the counters, runs `work`, and returns its result and memory use.
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

    fn record_allocation(&self, bytes: usize) {
        let current = self.current.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(current, Relaxed);
        self.total.fetch_add(bytes, Relaxed);
        self.allocations.fetch_add(1, Relaxed);
    }

    fn record_release(&self, bytes: usize) {
        self.current.fetch_sub(bytes, Relaxed);
    }
}

// SAFETY: every call is forwarded unchanged to the system allocator, and its result is returned
// unchanged; counting allocates nothing and does not unwind.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `alloc`, which is the same for both
        // allocators.
        let pointer = unsafe { System.alloc(layout) };
        if !pointer.is_null() {
            self.record_allocation(layout.size());
        }
        pointer
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `alloc_zeroed`, which is the same for both
        // allocators.
        let pointer = unsafe { System.alloc_zeroed(layout) };
        if !pointer.is_null() {
            self.record_allocation(layout.size());
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from this allocator, and so from the system's, with this layout.
        unsafe { System.dealloc(pointer, layout) };
        self.record_release(layout.size());
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `pointer` came from this allocator, and so from the system's, with this layout;
        // the caller guarantees that `size` is valid.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        if !moved.is_null() {
            self.record_release(layout.size());
            self.record_allocation(size);
        }
        moved
    }
}
