//! A store of outputs.

use trommel_store::{Origin, Store, StoreOptions};

use crate::engine::STRICT;
use crate::{Column, Task};

/// Stores the input, and deletes it, so that all runs start alike.
pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    assert_eq!(task.name, "store/put", "the only task of the store");
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let store = Store::open(folder.path().join("store"), StoreOptions::default()).expect("a new store opens");
    vec![Column::reads(STRICT, move || {
        assert!(folder.path().is_dir(), "the folder lives as long as its store");
        let stored = store.put_from(Origin::of("bench"), bytes).expect("the input is stored");
        store.delete(&stored.id).expect("the output is deleted");
        stored.summary.items.expect("the input is a stream of records")
    })]
}
