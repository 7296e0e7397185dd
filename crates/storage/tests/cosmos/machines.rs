//! Local sessions on a machine that cannot reach Cosmos DB.

use std::sync::Arc;
use std::time::Duration;

use trommel_session::{ListQuery, SearchQuery, Watch};
use trommel_storage::cosmos::CosmosBlockStorage;

use crate::machine::Machine;

/// R37: without a response, lists and searches of local sessions wait only for the connect timeout.
#[test]
fn r37_an_unresponsive_port_does_not_delay_lists_and_searches() {
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Nothing accepts connections: once the queue is full, further attempts get no response.
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        waiting.push(stream);
    }
    let storage = CosmosBlockStorage::new(crate::support::options(&format!("http://{address}/"))).unwrap();
    let machine = Machine::new("one", &Arc::new(storage));
    for number in 0..50 {
        machine.write(
            &format!("s{number}"),
            "transcript.jsonl",
            "{\"role\":\"user\",\"content\":\"question\"}\n",
        );
    }
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let since = Instant::now();
        let view = machine.hybrid.view(&Watch::new()).unwrap();
        let listed = view.sessions.list(&ListQuery::default(), &Watch::new()).unwrap();
        let listing = since.elapsed();
        assert_eq!((listed.total, listed.connected, view.problems.len()), (50, false, 1));
        let (since, query) = (Instant::now(), SearchQuery::new("question"));
        let view = machine.hybrid.searchable(&query, &Watch::new()).unwrap();
        let found = view.sessions.search(&query, &Watch::new()).unwrap();
        assert_eq!((found.total_count, found.connected), (50, Some(false)));
        least = least.min(listing.max(since.elapsed()));
    }
    assert!(least < Duration::from_millis(200), "{least:?}");
}
