//! A storage that accepts connections and stays silent.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use trommel_blocks::{Block, BlockStorage, Created, Key, Result, Selection, Stored};
use trommel_session::{ListQuery, SearchQuery, Watch};

use crate::support::{Machine, Net, watch};

/// A storage that can be reached, and never responds until it is cancelled.
#[derive(Default)]
struct Silent {
    asked: AtomicU64,
}

impl Silent {
    fn wait(&self, watch: &Watch<'_>) -> Result<()> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        loop {
            watch.check()?;
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl BlockStorage for Silent {
    fn name(&self) -> String {
        "the silent one".to_owned()
    }

    fn reach(&self, _: Duration) -> Result<()> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn create(&self, _: &Key, _: &Block, watch: &Watch<'_>) -> Result<Created> {
        self.wait(watch).map(|()| Created::New)
    }

    fn read(
        &self,
        _: &Key,
        _: &Selection,
        watch: &Watch<'_>,
        _: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.wait(watch)
    }

    fn head(&self, _: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        self.wait(watch).map(|()| None)
    }

    fn sessions(
        &self,
        _: &str,
        watch: &Watch<'_>,
        _: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.wait(watch)
    }
}

fn machine(storage: &Arc<Silent>) -> Machine {
    Machine::with("one", storage, |options| {
        options.first_answer_timeout = Duration::from_millis(100);
        options.answer_timeout = Duration::from_mins(1);
    })
}

/// R37: lists and searches wait for the first answer no longer than configured.
#[test]
fn r37_silent_storages_delay_lists_until_the_first_answer_times_out() {
    let machine = machine(&Arc::default());
    machine.turns("s", 2);
    let since = Instant::now();
    let (listed, problems) = machine.hybrid.list(&ListQuery::default(), &watch()).unwrap();
    assert_eq!((listed.total, listed.connected), (1, false));
    assert!(problems.len() == 1 && problems[0].contains("`first_answer_timeout_ms`"), "{problems:?}");
    let query = SearchQuery::new("question");
    let view = machine.hybrid.searchable(&query, &watch()).unwrap();
    assert_eq!(view.sessions.search(&query, &watch()).unwrap().total_count, 2);
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
}

/// R37: a query about a local session, by its ID or a prefix, does not query the storage.
#[test]
fn r37_queries_about_local_sessions_skip_the_storage() {
    let storage = Arc::<Silent>::default();
    let machine = machine(&storage);
    machine.turns("parent", 2);
    machine.turns("parent_child", 1);
    machine.write("parent_child", "metadata.json", "{\"parent_id\": \"parent\"}");
    for id in ["parent", "parent_c"] {
        let (view, session) = machine.hybrid.find(id, &watch()).unwrap();
        assert!(view.problems.is_empty());
        session.summary(&watch()).unwrap();
        let family = machine.hybrid.family(&session, &watch()).unwrap();
        assert!(family.problems.is_empty());
        let usage = family.sessions.usage(&session, &watch()).unwrap();
        assert_eq!(usage.by_session.len(), if id == "parent" { 2 } else { 0 }, "{id}");
    }
    let listed = machine.hybrid.changeable("parent", true, &watch()).unwrap();
    assert_eq!(listed.session.id(), "parent");
    assert_eq!(storage.asked.load(Ordering::SeqCst), 0);
}

/// The usage of sessions that a local session spawned on another machine is counted once they are
/// known.
#[test]
fn descendants_on_other_machines_are_counted() {
    let net = Net::new();
    let (one, two) = (Machine::new("one", &net), Machine::new("two", &net));
    one.turns("parent", 1);
    two.turns("parent_child", 3);
    two.write("parent_child", "metadata.json", "{\"parent_id\": \"parent\"}");
    two.sync("parent_child");
    assert_eq!(one.listed().len(), 1);
    let (_, session) = one.hybrid.find("parent", &watch()).unwrap();
    let family = one.hybrid.family(&session, &watch()).unwrap();
    assert!(family.problems.is_empty());
    assert_eq!(family.sessions.usage(&session, &watch()).unwrap().by_session.len(), 2);
}
