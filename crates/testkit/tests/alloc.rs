//! The counting allocator. There is only one test, because the counts cover the whole process.

use std::hint::black_box;
use trommel_testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

#[test]
fn counts_allocations() {
    let (held, usage) = ALLOCATOR.measure(|| {
        let mut held = black_box(vec![1_u8; 1000]);
        drop(black_box(vec![0_u8; 5000]));
        held.reserve_exact(1000);
        held
    });
    assert_eq!(usage.allocations, 3, "one allocation, one zeroed, one reallocation");
    assert_eq!(usage.total, 1000 + 5000 + 2000);
    assert_eq!(usage.peak, 6000);
    assert_eq!(usage.kept, 2000);
    let ((), usage) = ALLOCATOR.measure(|| drop(held));
    assert_eq!((usage.allocations, usage.peak, usage.kept), (0, 0, -2000));
}
