//! Blocks in a folder whose lines are numbered otherwise than ours.

use std::fs;
use std::ops::ControlFlow;

use trommel_blocks::{BlockStorage, Key, Selection};
use trommel_session::Watch;
use trommel_storage::FolderStorage;

#[test]
fn lines_of_another_program_are_found_by_their_numbers() {
    for first in [1, 2, 5] {
        let shared = tempfile::tempdir().unwrap();
        let folder = shared.path().join("ada/-app/5d1c");
        fs::create_dir_all(&folder).unwrap();
        let line = |sequence: u64| {
            format!(
                r#"{{"block_id":"b{sequence}","session_id":"5d1c","user_id":"ada","sequence":{sequence},"timestamp":"t","device_id":"d","block_type":"message"}}"#
            ) + "\n"
        };
        fs::write(folder.join("blocks.jsonl"), (first..first + 3).map(line).collect::<String>()).unwrap();
        let (storage, key) = (FolderStorage::make(shared.path()).unwrap(), Key::new("ada", "5d1c").unwrap());
        for after in 0..9 {
            let mut found = Vec::new();
            let selection = {
                let mut selection = Selection::default();
                selection.after = after;
                selection
            };
            storage
                .read(&key, &selection, &Watch::new(), &mut |block| {
                    found.push(block.sequence);
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
            let expected = (first..first + 3).filter(|sequence| *sequence > after).collect::<Vec<_>>();
            assert_eq!(found, expected, "from {first}, after {after}");
        }
    }
}
