//! Tests of cancellation: work stops soon, and resumes later.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trommel_blocks::Result;
use trommel_session::{ListQuery, SearchQuery, Watch};
use trommel_storage::FolderStorage;

use crate::stopping::ends_soon;
use crate::support::{Machine, Net};

/// A session of about 30 MB: many small records, some that are cut into pieces, a few very long
/// ones.
fn write(machine: &Machine, id: &str) {
    let mut events = String::new();
    for number in 0..200 {
        let long = "all that was said, ".repeat(match number % 50 {
            7 => 240_000,
            2 | 12 | 22 | 32 => 9_000,
            _ => 2_000,
        });
        // Writing to a string cannot fail.
        let _ = writeln!(
            events,
            "{{\"ts\":\"2026-03-01T09:00:00Z\",\"event\":\"llm:request\",\"data\":{{\"n\":{number},\"messages\":[\"{long}\"]}}}}"
        );
    }
    let said =
        |number| format!("{{\"role\":\"user\",\"content\":\"question {number} {}\"}}\n", "z".repeat(500));
    assert!((26 << 20..30 << 20).contains(&events.len()), "{}", events.len());
    machine.write(id, "metadata.json", "{\"name\": \"large\"}");
    machine.write(id, "events.jsonl", events);
    machine.write(id, "transcript.jsonl", (0..4_000).map(said).collect::<String>());
}

/// A cancellable operation.
type Work = fn(&Machine, &Watch<'_>) -> Result<()>;

/// Three moments during the work, whose duration is measured first.
#[expect(clippy::print_stdout, reason = "what was measured is to be seen")]
fn moments(work: impl FnOnce()) -> [Duration; 3] {
    let since = Instant::now();
    work();
    let took = since.elapsed();
    println!("measured: all of it took {took:?}");
    [1, 2, 3].map(|fifths| took * fifths / 5)
}

fn sync(machine: &Machine, watch: &Watch<'_>) -> Result<()> {
    let report = machine.hybrid.sync(Some("s"), None, watch)?;
    assert!(report.is_synced(), "{report:?}");
    Ok(())
}

fn list(machine: &Machine, watch: &Watch<'_>) -> Result<()> {
    let (listed, _) = machine.hybrid.list(&ListQuery::default(), watch)?;
    assert_eq!((listed.total, listed.connected), (1, true));
    Ok(())
}

fn search(machine: &Machine, watch: &Watch<'_>) -> Result<()> {
    let query = SearchQuery::new("question 3999");
    let view = machine.hybrid.searchable(&query, watch)?;
    assert_eq!(view.problems, Vec::<String>::new());
    let found = view.sessions.search(&query, watch)?;
    assert_eq!((found.total_count, found.connected), (1, Some(true)));
    Ok(())
}

/// R31: pushing, listing, searching, and pulling a large session stop soon after a cancellation,
/// resume later, and are complete.
#[test]
fn r31_large_sessions_cancel_and_resume() {
    let home = tempfile::tempdir().unwrap();
    let machine = |name: &str| Machine::new(name, &Arc::new(FolderStorage::make(home.path()).unwrap()));
    let one = machine("one");
    write(&one, "s");
    // Each try resumes where the previous one stopped.
    ends_soon("sending", [30, 60, 90].map(Duration::from_millis), &mut |watch| sync(&one, watch));
    one.sync("s");
    let works: [(&str, Work); 3] = [("listing", list), ("searching", search), ("fetching", sync)];
    for (what, work) in works {
        let moments = moments(|| work(&machine(what), &Watch::new()).unwrap());
        // Each try is the work of a new machine, which completes it afterwards.
        let mut tried = Vec::new();
        ends_soon(what, moments, &mut |watch| {
            tried.push(machine("two"));
            work(&tried[tried.len() - 1], watch)
        });
        for two in &tried {
            work(two, &Watch::new()).unwrap();
            assert!(what != "fetching" || two.files("s") == one.files("s"));
        }
    }
}

/// R31: a cancelled call does not wait for an unreachable storage.
#[test]
fn r31_unreachable_storages_are_not_waited_for() {
    let net = Net::new();
    let one = Machine::with("one", &net, |options| options.connect_timeout = Duration::from_secs(2));
    one.turns("s", 1);
    one.sync("s");
    net.cut(true);
    let moments = [20, 40, 60].map(Duration::from_millis);
    ends_soon("sync", moments, &mut |watch| sync(&one, watch));
    ends_soon("list", moments, &mut |watch| list(&one, watch));
}
