//! For any contents of a store's folders, an index can be built. It lists the outputs that a plain
//! reading of the files finds, and no query of the store then panics.
//!
//! The input is a sequence of files: a byte that selects the file, two bytes with its length, and
//! its contents. The digest in a description may be filled in, so that the code after the check of
//! the digest is reached too.
#![no_main]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use trommel::Analysis;
use trommel_store::{Filter, GcOptions, Kind, LineIndex, Row, Store, StoreOptions, Stored};

const IDS: [&str; 4] = ["output-1", "output-2", "01hzzzzzzzzzzzzzzzzzzzzzzz", "x"];
const META: &str = ".meta.json";
const EXTENSIONS: [&str; 3] = [META, ".json", ".json.zst"];
/// The maximum number of bytes to read of a payload, for any length in its description.
const MAX_READ: u64 = 1 << 20;

struct Home {
    store: Store,
    _folder: tempfile::TempDir,
}

fn home() -> &'static Home {
    static HOME: OnceLock<Home> = OnceLock::new();
    HOME.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store"), StoreOptions::default()).unwrap();
        Home { store, _folder: folder }
    })
}

fuzz_target!(|input: &[u8]| {
    let store = &home().store;
    for folder in ["payload", "pending"] {
        fs::remove_dir_all(store.root().join(folder)).unwrap();
        make_folder(&store.root().join(folder));
    }
    let mut index = None;
    let mut rest = input;
    while let Some((which, contents)) = next(&mut rest) {
        match which {
            0xF0.. => index = Some(contents),
            which => write_file(store.root(), which, contents),
        }
    }
    check(store);
    if let Some(index) = index {
        for extension in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(store.root().join(format!("index.sqlite{extension}")));
        }
        fs::write(store.root().join("index.sqlite"), index).unwrap();
        check(&Store::open(store.root(), StoreOptions::default()).unwrap());
    }
});

/// Returns the next file of the input.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let [which, low, high, after @ ..] = rest else { return None };
    let length = usize::from(u16::from_le_bytes([*low, *high])).min(after.len());
    let (contents, after) = after.split_at(length);
    let which = *which;
    *rest = after;
    Some((which, contents))
}

fn make_folder(path: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).unwrap();
}

/// Returns the folder for the files of an output.
fn folder(root: &Path, id: &str) -> PathBuf {
    root.join("payload").join(&blake3::hash(id.as_bytes()).to_hex()[..2])
}

fn write_file(root: &Path, which: u8, contents: &[u8]) {
    let (id, extension) = (IDS[usize::from(which) % 4], EXTENSIONS[usize::from(which / 4) % 3]);
    let (misplaced, seal) = (which / 12 % 8 == 7, which / 12 % 2 == 0);
    let mut contents = contents.to_vec();
    if extension == META && seal && contents.pop() == Some(b'}') {
        contents.push(b'}');
        let digits = blake3::hash(&contents).to_hex();
        contents.pop();
        contents.extend_from_slice(format!(",\"seal\":\"{}\"}}\n", &digits[..32]).as_bytes());
    }
    let folder = folder(root, if misplaced { "another" } else { id });
    make_folder(&folder);
    fs::write(folder.join(format!("{id}{extension}")), contents).unwrap();
}

/// Parses the description of an output strictly. Returns it if it is valid and the payload exists.
fn read(root: &Path, id: &str, bytes: &[u8]) -> Option<Stored> {
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let (object, seal) = text.split_at_checked(text.len().checked_sub(43)?)?;
    let object = [object, b"}"].concat();
    let digits = blake3::hash(&object).to_hex();
    if seal != format!(",\"seal\":\"{}\"}}", &digits[..32]).as_bytes() {
        return None;
    }
    let mut stored: Stored = serde_json::from_slice(&object).ok()?;
    let payload = folder(root, id).join(format!("{id}{}", if stored.packed { ".json.zst" } else { ".json" }));
    let is_whole = fs::metadata(payload).is_ok_and(|found| found.len() == stored.disk_bytes);
    let is_damaged = stored.damaged_records > 0;
    let is_sane = stored.id == id
        && stored.version == 1
        && stored.framing.is_some() == (stored.kind != Kind::Text)
        && stored.first_damaged.is_some() == is_damaged
        && (!is_damaged || stored.kind == Kind::JsonLines);
    if !stored.line_index.as_ref().is_some_and(|index| fits(index, stored.size_bytes)) {
        stored.line_index = None;
    }
    (is_whole && is_sane).then_some(stored)
}

/// True if a line index can belong to a payload. The store ignores any other.
fn fits(index: &LineIndex, bytes: u64) -> bool {
    let index = serde_json::to_value(index).unwrap();
    let number = |name: &str| u128::from(index[name].as_u64().unwrap());
    let ends: Vec<u128> =
        index["ends"].as_array().unwrap().iter().map(|ends| u128::from(ends.as_u64().unwrap())).collect();
    let (block, sum) = (number("block"), ends.iter().sum());
    number("version") == 1
        && block >= 65_536
        && block.count_ones() == 1
        && ends.len() as u128 == u128::from(bytes).div_ceil(block)
        && ends.iter().all(|ends| *ends <= block)
        && (number("lines") == sum || number("lines") == sum + 1)
}

fn check(store: &Store) {
    let rebuilt = store.rebuild().unwrap();
    let mut filter = Filter::default();
    filter.limit = u64::MAX;
    let page = store.list(&filter).unwrap();
    assert_eq!((page.total, page.rows.len() as u64), (rebuilt.outputs, rebuilt.outputs));
    assert!(page.rows.is_sorted_by(|a, b| (b.created_at, &a.id) <= (a.created_at, &b.id)), "{:?}", page.rows);
    let mut found = 0;
    let mut corrupted = 0;
    for id in IDS {
        let row = page.rows.iter().find(|row| row.id == id);
        let bytes = fs::read(folder(store.root(), id).join(format!("{id}{META}")));
        assert_eq!(row.is_some(), bytes.is_ok(), "{id}");
        let (Some(row), Ok(bytes)) = (row, bytes) else { continue };
        let stored = read(store.root(), id, &bytes);
        found += 1;
        corrupted += u64::from(stored.is_none());
        check_row(row, stored.as_ref());
        if let Some(stored) = stored {
            assert_eq!(store.get(id).unwrap(), stored);
            read_payload(store, &stored);
        }
    }
    assert_eq!((found, corrupted), (rebuilt.outputs, rebuilt.corrupted));
    let _ = store.resolve("output");
    store.verify(&mut |damage| assert!(damage.path.is_relative() && !damage.message.is_empty())).unwrap();
    assert!(store.gc(&GcOptions::default()).unwrap().evicted.is_empty());
    assert_eq!(store.list(&filter).unwrap(), page);
}

fn check_row(row: &Row, stored: Option<&Stored>) {
    assert_eq!(row.corrupted, stored.is_none(), "{row:?}");
    match stored {
        Some(stored) => assert_eq!(*row, Row::from(stored.clone())),
        None => assert!(row.tool_name.is_empty() && !row.success && row.preview.is_none(), "{row:?}"),
    }
}

/// Reads a payload, and queries it with the kind and framing of its description.
fn read_payload(store: &Store, stored: &Stored) {
    if let Ok(payload) = store.payload(stored) {
        let mut bytes = Vec::new();
        if payload.take(MAX_READ).read_to_end(&mut bytes).is_ok() {
            assert_eq!(bytes.len() as u64, stored.size_bytes.min(MAX_READ));
        }
    }
    if let Ok(mut document) = store.document(stored) {
        let _ = Analysis::new().stats().run(&mut document);
    }
}
