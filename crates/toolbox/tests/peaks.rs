//! Peak memory of a call depends on its answer, never on the size of the output or of a value in
//! it.
//!
//! The counters are those of the whole process, so this binary has a single test, which measures
//! one call at a time.

use std::io::Read;
use std::sync::Arc;

use serde_json::{Value, json};
use trommel::reader::MapPolicy;
use trommel_store::{Origin, Store, StoreOptions};
use trommel_testkit::alloc::CountingAllocator;
use trommel_testkit::effort::cases;
use trommel_testkit::repeat::Repeat;
use trommel_tool::{Context, Executor, Registry};
use trommel_toolbox::outputs;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const MIB: usize = 1 << 20;

/// The reader's buffer for a string of 16 MiB, which may be twice as large.
const STRING: usize = 32 * MIB;

/// The allowance for storing an output.
const PUT: usize = 16 * MIB + STRING;

/// The allowance for exact statistics of values.
const VALUES: usize = 64 * MIB;

/// Returns a document with a number, a string of `mib` MiB, and an array of `mib` MiB.
fn giants(mib: u64) -> impl Read {
    let string = Repeat::new("\"", "a text with \\n escapes and ü ", "", "\"", mib << 20 >> 5);
    let array = Repeat::new("[", "123456", ",", "]", mib << 20 >> 3);
    b"{\"items\":[1,".as_slice().chain(string).chain(b",".as_slice()).chain(array).chain(b"]}".as_slice())
}

/// Returns calls, each with its documented memory beyond the common allowance.
fn calls_with_allowances() -> Vec<(&'static str, Value, usize)> {
    vec![
        ("extract", json!({ "paths": ["$.items", "$.items[*]", "$..[0]"] }), 0),
        ("count", json!({ "counts": [{ "name": "n", "path": "$.items[2]" }] }), 0),
        ("sample", json!({ "path": "$.items", "size": 10 }), 0),
        ("sample", json!({ "path": "$.items[2]", "size": 1000, "strategy": "last" }), 0),
        ("stats", json!({ "include_schema": true }), 0),
        ("stats", json!({ "include_values": true }), VALUES),
        ("read", json!({}), 0),
        ("read", json!({ "path": "$.items" }), STRING),
        ("read", json!({ "path": "$.items[1]" }), 0),
        ("read", json!({ "path": "$.items[2]" }), 0),
        ("search", json!({ "pattern": "absent" }), 0),
        ("search", json!({ "pattern": "text with \n", "context": 20, "path": "$.items" }), STRING),
    ]
}

/// The ways to read a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    Mapped,
    Window,
    Packed,
}

/// Returns a policy that maps the payloads of a store.
fn mapped() -> MapPolicy {
    // SAFETY: the payloads are in a folder of this test alone, and the test does not write to them.
    #[expect(unsafe_code, reason = "payloads are mapped")]
    unsafe {
        MapPolicy::trusted()
    }
}

/// R7: for any content and any way of reading. The full run uses a gigabyte.
#[test]
fn r7_peak_memory_does_not_depend_on_the_output() {
    // The window holds the longest requested value, at most 16 MiB, in a buffer that grows.
    for (payload, most) in
        [(Payload::Mapped, 12 * MIB), (Payload::Window, 48 * MIB), (Payload::Packed, 48 * MIB)]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut options = StoreOptions::default();
        options.pack_over = (payload == Payload::Packed).then_some(0);
        if payload == Payload::Mapped {
            options.mapping = mapped();
        }
        let store = Arc::new(Store::open(folder.path().join("store"), options).unwrap());
        let mut origin = Origin::of("giants");
        origin.id = Some("giants".into());
        let mib = cases(24, 576);
        let (stored, usage) = ALLOCATOR.measure(|| store.put_from(origin, giants(mib)).unwrap());
        assert!(stored.size_bytes > mib << 20);
        println!("put, {payload:?}: {} KiB", usage.peak / 1024);
        assert!(usage.peak < PUT, "put, {payload:?}: {} KiB", usage.peak / 1024);
        let registry = Arc::new(Registry::new());
        outputs::register(&registry, &store).unwrap();
        let executor = Executor::new(registry);
        for (tool, mut arguments, more) in calls_with_allowances() {
            arguments["id"] = json!("giants");
            let name = format!("tool_outputs.{tool}");
            let told = arguments.to_string();
            let (execution, usage) =
                ALLOCATOR.measure(|| executor.call(&name, arguments, &Context::new("/")));
            assert!(execution.result.success, "{tool} {told}: {:?}", execution.result.error);
            println!("{tool} {told}, {payload:?}: {} KiB", usage.peak / 1024);
            assert!(usage.peak < most + more, "{tool} {told}, {payload:?}: {} KiB", usage.peak / 1024);
        }
    }
}
