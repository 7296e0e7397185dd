//! The counting allocator counts. One test, since its counts are the whole process's.

use std::hint::black_box;
use trommel_testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

#[test]
fn counts_what_is_asked_for() {
    let (held, usage) = ALLOCATOR.measure(|| {
        let mut held = black_box(vec![1_u8; 1000]);
        drop(black_box(vec![0_u8; 5000]));
        held.reserve_exact(1000);
        held
    });
    assert_eq!(usage.allocations, 3, "one, one zeroed, one made larger");
    assert_eq!(usage.total, 1000 + 5000 + 2000);
    assert_eq!(usage.peak, 6000);
    assert_eq!(usage.kept, 2000);
    let ((), usage) = ALLOCATOR.measure(|| drop(held));
    assert_eq!((usage.allocations, usage.peak, usage.kept), (0, 0, -2000));
}
