//! Cancels calls to an account that accepts connections and never responds.

use std::net::TcpListener;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trommel_blocks::{BlockStorage, Key, Result, Selection};
use trommel_session::{ListQuery, SearchQuery, Watch};
use trommel_storage::cosmos::CosmosBlockStorage;

use crate::blocks::said;
use crate::machine::Machine;
use crate::stopping::ends_soon;
use crate::support::options;

/// The delays after which the calls are cancelled.
const MOMENTS: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(60), Duration::from_millis(90)];

type Call<'a> = (&'a str, &'a dyn Fn(&Watch<'_>) -> Result<()>);

fn assert_cancelled(calls: &[Call<'_>]) {
    for (name, call) in calls {
        ends_soon(name, MOMENTS, &mut |watch| call(watch));
    }
}

/// R31: every call of the storage can be cancelled.
#[test]
fn r31_cancels_calls_to_a_silent_service() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let (storage, key) =
        (CosmosBlockStorage::new(options(&endpoint)).unwrap(), Key::new("ada", "s").unwrap());
    let blocks = [said(&key, 1), said(&key, 2)];
    assert_cancelled(&[
        ("create", &|watch| storage.create(&key, &blocks[0], watch).map(drop)),
        ("create_all", &|watch| storage.create_all(&key, &blocks, watch).map(drop)),
        ("read", &|watch| {
            storage.read(&key, &Selection::default(), watch, &mut |_| Ok(ControlFlow::Continue(())))
        }),
        ("sessions", &|watch| storage.sessions("ada", watch, &mut |_| Ok(ControlFlow::Continue(())))),
        ("prepare", &|watch| storage.prepare(watch)),
    ]);
}

/// R31: syncs and queries of a machine can be cancelled as well.
#[test]
fn r31_cancels_syncs_and_queries_of_a_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let machine = Machine::new("one", &Arc::new(CosmosBlockStorage::new(options(&endpoint)).unwrap()));
    machine.write("s", "transcript.jsonl", "{\"role\":\"user\",\"content\":\"question\"}\n");
    let search = SearchQuery::new("question");
    assert_cancelled(&[
        ("sync", &|watch| machine.hybrid.sync(None, None, watch).map(drop)),
        ("list", &|watch| machine.hybrid.list(&ListQuery::default(), watch).map(drop)),
        ("searchable", &|watch| machine.hybrid.searchable(&search, watch).map(drop)),
        ("sync_status", &|watch| machine.hybrid.sync_status(Some("s"), watch).map(drop)),
    ]);
}

/// R37: an account that accepts connections and never responds counts as unreachable after the
/// answer timeout, and the list says so.
#[test]
fn r37_a_silent_account_delays_lists_until_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let storage = Arc::new(CosmosBlockStorage::new(options(&endpoint)).unwrap());
    let machine =
        Machine::with("one", &storage, |options| options.answer_timeout = Duration::from_millis(200));
    machine.write("s", "transcript.jsonl", "{\"role\":\"user\",\"content\":\"question\"}\n");
    let since = Instant::now();
    let (listed, problems) = machine.hybrid.list(&ListQuery::default(), &Watch::new()).unwrap();
    assert_eq!((listed.total, listed.connected), (1, false));
    assert!(problems.len() == 1 && problems[0].contains("did not list its sessions within"), "{problems:?}");
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
}
