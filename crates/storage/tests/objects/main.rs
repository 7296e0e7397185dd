//! Object stores: in memory and in a folder, with faults on the way, and by emulators from npm of
//! Azure Blob and of S3, whose folder `TROMMEL_EMULATORS` names (the one with `node_modules`).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../blocks/tests/common/blocks.rs"]
mod blocks;
mod conditions;
#[path = "../../../blocks/tests/common/contract.rs"]
mod contract;
mod faults;
mod node;
mod payloads;
mod place;
mod stopped;
#[path = "../../../blocks/tests/common/stopping.rs"]
mod stopping;

use trommel_storage::objects::{ObjectOptions, Objects};

#[test]
fn memory_does_what_any_storage_has_to() {
    place::all(&Objects::in_memory(&ObjectOptions::default()).unwrap());
}

#[test]
fn a_folder_does_what_any_storage_has_to() {
    let home = tempfile::tempdir().unwrap();
    place::all(&Objects::folder(home.path(), &ObjectOptions::default()).unwrap());
}

#[test]
fn places_that_are_none_are_refused_without_a_secret() {
    for url in ["nonsense", "ftp://x/y", "s3://", "az://c?sig=opensesame", "s3://user:opensesame@bucket/x"] {
        let error = Objects::open(url, &ObjectOptions::default()).unwrap_err();
        assert_eq!(error.class(), trommel_blocks::ErrorClass::Request, "{url}");
        assert!(!format!("{error} {error:?}").contains("opensesame"), "{error}");
    }
}
