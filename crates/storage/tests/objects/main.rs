//! Object stores: in memory, in a folder, with injected faults, and with the emulators of Azure
//! Blob and S3 from npm. `TROMMEL_EMULATORS` names the folder that contains their `node_modules`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../blocks/tests/common/blocks.rs"]
mod blocks;
mod conditions;
#[path = "../../../blocks/tests/common/contract.rs"]
mod contract;
mod faults;
mod node;
mod payloads;
mod stopped;
#[path = "../../../blocks/tests/common/stopping.rs"]
mod stopping;
mod store;

use trommel_storage::objects::{ObjectOptions, Objects};

#[test]
fn memory_meets_the_contract() {
    store::all(&Objects::in_memory(&ObjectOptions::default()).unwrap());
}

#[test]
fn a_folder_meets_the_contract() {
    let home = tempfile::tempdir().unwrap();
    store::all(&Objects::folder(home.path(), &ObjectOptions::default()).unwrap());
}

#[test]
fn refuses_invalid_urls_without_showing_secrets() {
    for url in ["nonsense", "ftp://x/y", "s3://", "az://c?sig=opensesame", "s3://user:opensesame@bucket/x"] {
        let error = Objects::open(url, &ObjectOptions::default()).unwrap_err();
        assert_eq!(error.class(), trommel_blocks::ErrorClass::Request, "{url}");
        assert!(!format!("{error} {error:?}").contains("opensesame"), "{error}");
    }
}
