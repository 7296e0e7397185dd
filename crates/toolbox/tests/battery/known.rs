//! Results that are cached are not computed again.

use serde_json::{Value, json};

use crate::support::Bench;

fn read(bench: &Bench, tool: &str, arguments: Value) -> u64 {
    bench.ok(tool, arguments).coverage("bytes_read").as_u64().unwrap()
}

#[test]
fn repeated_calls_use_cached_lengths_and_shapes() {
    for bench in [Bench::new(), Bench::packed()] {
        let items: Vec<Value> = (0..20_000).map(|n| json!({ "id": n, "kind": n % 3 })).collect();
        let stored = bench.put("known", json!({ "items": items }).to_string());
        let all = stored.size_bytes;
        let count = json!({ "id": "known", "counts": [{ "name": "a", "path": "$.items" }] });
        assert!(read(&bench, "count", count) >= all - 2);
        // Another name and notation do not change the cache key.
        let again = json!({ "id": "known", "counts": [{ "name": "b", "path": "$['items']" }] });
        assert_eq!(read(&bench, "count", again), 0);
        let stats = json!({ "id": "known" });
        assert_eq!(read(&bench, "stats", stats.clone()), all);
        assert_eq!(read(&bench, "stats", stats), 0);
        // With a cached length, sampling the front of an array stops early.
        let first = json!({ "id": "known", "path": "$.items", "size": 5, "strategy": "first" });
        assert!(read(&bench, "sample", first.clone()) < 2_100_000.min(all));
        assert_eq!(read(&bench, "sample", first), 0);
        let seeded = json!({ "id": "known", "path": "$.items", "size": 500, "seed": 1, "max_chars": 2_000 });
        assert!(read(&bench, "sample", seeded.clone()) > 0);
        let pages = bench.walk("sample", &seeded);
        assert!(pages.len() > 3 && pages.iter().all(|page| page.coverage("bytes_read") == 0));
    }
}

#[test]
fn samples_cache_the_population_size_for_counts() {
    let bench = Bench::new();
    bench.put("shared", json!({ "a": (0..500).collect::<Vec<_>>() }).to_string());
    bench.ok("sample", json!({ "id": "shared", "path": "$.a", "size": 1 }));
    let counts = json!({ "id": "shared", "counts": [{ "name": "n", "path": "$.a" }] });
    let answer = bench.ok("count", counts);
    assert_eq!((answer.coverage("bytes_read"), &answer.value["total"]), (&json!(0), &json!(500)));
}

#[test]
fn replaced_outputs_do_not_reuse_cached_results() {
    let bench = Bench::new();
    let counts = json!({ "id": "changing", "counts": [{ "name": "n", "path": "$" }] });
    bench.put("changing", "[1,2,3]");
    assert_eq!(bench.value("count", counts.clone())["total"], 3);
    let cursor = bench.ok("extract", json!({ "id": "changing", "paths": ["$[*]"] }));
    assert_eq!(cursor.next(), None);
    bench.store.delete("changing").unwrap();
    bench.put("changing", "[1,2]");
    assert_eq!(bench.value("count", counts)["total"], 2);
}
