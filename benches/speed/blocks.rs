//! Pushing a session to a storage and pulling it, compared with copying and hashing its log. The
//! copy is the minimum work, because every block carries a SHA-256 of its contents.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, SamplingMode, Throughput};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use trommel_blocks::{Folders, Owner, SyncedOptions, SyncedSessions};
use trommel_session::{Sessions, Watch};
use trommel_storage::FolderStorage;

use crate::sessions;

/// Turns of the session, 150 KB each.
const TURNS: u64 = 150;

/// Returns the folder in which a machine keeps the session of this benchmark.
const FOLDER: &str = "projects/-p/sessions/s";

pub(crate) fn bench(criterion: &mut Criterion) {
    let log = sessions::log(TURNS);
    let one = machine_with(&log);
    let storage = folder();
    assert!(sync(one.path(), &folder(), storage.path()));
    let mut group = criterion.benchmark_group("blocks");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(log.len() as u64));
    group.bench_function("copy with SHA-256", |bencher| {
        bencher.iter_batched(
            folder,
            |to| assert_eq!(copy(&one.path().join(FOLDER), to.path()), log.len()),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("send", |bencher| {
        bencher.iter_batched(
            || (folder(), folder()),
            |(state, storage)| assert!(sync(one.path(), &state, storage.path())),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("fetch", |bencher| {
        bencher.iter_batched(
            || (folder(), folder()),
            |(other, state)| {
                assert!(sync(other.path(), &state, storage.path()));
                assert_eq!(
                    fs::metadata(other.path().join(FOLDER).join("events.jsonl")).unwrap().len(),
                    log.len() as u64
                );
            },
            BatchSize::PerIteration,
        );
    });
    let state = folder();
    assert!(sync(one.path(), &state, storage.path()));
    group.bench_function("compare, nothing new", |bencher| {
        bencher.iter(|| assert!(sync(one.path(), &state, storage.path())));
    });
    group.bench_function("send one more line", |bencher| {
        bencher.iter_batched(
            || append(&one.path().join(FOLDER).join("events.jsonl")),
            |()| assert!(sync(one.path(), &state, storage.path())),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn machine_with(log: &str) -> TempDir {
    let home = folder();
    let session = home.path().join(FOLDER);
    fs::create_dir_all(&session).unwrap();
    fs::write(session.join("metadata.json"), r#"{"session_id": "s", "name": "A long one"}"#).unwrap();
    fs::write(session.join("transcript.jsonl"), "{\"role\":\"user\",\"content\":\"go on\"}\n".repeat(1_000))
        .unwrap();
    fs::write(session.join("events.jsonl"), log).unwrap();
    home
}

fn sync(machine: &Path, state: &TempDir, storage: &Path) -> bool {
    let sessions = Sessions::new().amplifier(machine);
    let storage = Arc::new(FolderStorage::make(storage).unwrap());
    let folders = Folders::new(machine, state.path());
    let mut options = SyncedOptions::new(sessions, folders, Owner::new("ada", "desk"), storage);
    options.rest = Duration::ZERO;
    let hybrid = SyncedSessions::new(options).unwrap();
    hybrid.sync(Some("s"), None, &Watch::new()).unwrap().is_synced()
}

fn append(log: &Path) {
    let mut log = File::options().append(true).open(log).unwrap();
    log.write_all(b"{\"event\":\"prompt:submit\"}\n").unwrap();
}

/// Copies the log with its hash, and syncs it to the disk.
fn copy(from: &Path, to: &Path) -> usize {
    let (mut from, mut out) =
        (File::open(from.join("events.jsonl")).unwrap(), File::create(to.join("copy")).unwrap());
    let (mut hash, mut part, mut all) = (Sha256::new(), vec![0; 256 << 10], 0);
    loop {
        let count = from.read(&mut part).unwrap();
        if count == 0 {
            break;
        }
        hash.update(&part[..count]);
        out.write_all(&part[..count]).unwrap();
        all += count;
    }
    fs::write(to.join("hash"), hash.finalize()).unwrap();
    out.sync_all().unwrap();
    all
}
