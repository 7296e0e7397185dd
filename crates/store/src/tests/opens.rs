//! Checks which files are opened.

use std::io::Write;
use std::path::PathBuf;

use trommel_base::faults::watched;
use trommel_base::files::Op;

use crate::{Filter, Origin, SortBy, SortOrder, Store, StoreOptions};

fn opened(operations: &[(Op, PathBuf)]) -> Vec<&PathBuf> {
    let opened = operations.iter().filter(|(op, _)| matches!(op, Op::Open | Op::Create));
    opened.map(|(_, path)| path).collect()
}

/// R21: listing opens no payload, with any filter and order, and no unchanged metadata.
#[test]
fn r21_listing_opens_no_payload() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("store"), StoreOptions::default()).unwrap();
    for number in 0..50 {
        let mut put = store.put(Origin::of(format!("tool-{}", number % 3))).unwrap();
        put.write_all(format!("[{number}]").as_bytes()).unwrap();
        put.finish().unwrap();
    }
    store.list(&Filter::default()).unwrap();
    for sort_by in [SortBy::CreatedAt, SortBy::Size, SortBy::ToolName] {
        for sort_order in [SortOrder::Asc, SortOrder::Desc] {
            for offset in [0, 20, 40] {
                let filter = Filter { sort_by, sort_order, offset, success: Some(true), ..Filter::default() };
                let (page, operations) = watched(|| store.list(&filter).unwrap());
                assert_eq!((page.total, page.rows.len()), (50, if offset == 40 { 10 } else { 20 }));
                assert_eq!(opened(&operations), Vec::<&PathBuf>::new());
            }
        }
    }
    // A rebuild opens descriptions only.
    let (_, operations) = watched(|| store.rebuild().unwrap());
    let is_payload = |path: &&PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".json.zst") || name.ends_with(".json") && !name.ends_with(".meta.json")
    };
    assert_eq!(opened(&operations).into_iter().filter(is_payload).count(), 0);
}
