//! Checks that assembling without pieces and bodies finds the same rows.

use trommel_session::Watch;

use super::devices::Device;
use super::memory::{Fault, Memory};
use crate::assemble::{Assembled, Assembler, Depth, NoLines};
use crate::block::{Block, BlockType, Key};
use crate::rows::{Hidden, Kind, Row};
use crate::sync::{ConflictResolution, State};

fn found(blocks: &[Block], depth: Depth) -> Assembled {
    let (hidden, watch) = (Hidden::default(), Watch::new());
    let mut assembler = Assembler::new(&hidden, depth, None, &watch);
    for block in blocks {
        let is_looked_at = match depth {
            Depth::Whole => true,
            Depth::Outline => block.block_type != BlockType::EventData,
            Depth::Rows => block.parent_block_id.is_none(),
        };
        if is_looked_at {
            assembler.take(block, &mut NoLines).unwrap();
        }
    }
    assembler.finish(blocks.len() as u64, &mut NoLines).unwrap()
}

/// The rows without the parts that a depth does not read: turns of rows that are not records, and
/// the remains of an abandoned record.
fn row_summaries(found: &Assembled) -> Vec<(u64, u64, Kind, Option<crate::lines::Print>)> {
    let print = |row: &Row| (row.kind != Kind::None).then_some(row.print);
    found.rows.iter().map(|row| (row.sequence, row.until, row.kind, print(row))).collect()
}

/// A session with long records, an abandoned record, a rewind, and descriptions.
fn stored() -> Vec<Block> {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    let line = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    let (long, longer) = ("x".repeat(310_000), "y".repeat(1_300_000));
    one.write("metadata.json", format!("{{\"name\":\"{long}\"}}").as_bytes());
    one.append("transcript.jsonl", &(line("a") + &line(&long) + &line("b")));
    one.append("events.jsonl", &format!("{{\"event\":\"e\",\"data\":\"{long}\"}}\n{{\"event\":\"f\"}}\n"));
    one.sync(&storage, ConflictResolution::Manual).unwrap();
    two.sync(&storage, ConflictResolution::Manual).unwrap();
    one.append("transcript.jsonl", &line(&longer));
    storage.fail(|call| (call == 1).then_some(Fault::Midway));
    one.sync(&storage, ConflictResolution::Manual).unwrap_err();
    storage.fail(|_| None);
    two.write("transcript.jsonl", line("a").as_bytes());
    two.append("events.jsonl", &format!("{{\"event\":\"g\",\"data\":\"{long}\"}}\n"));
    assert_eq!(two.sync(&storage, ConflictResolution::Manual).unwrap(), State::Synced);
    storage.blocks(&Key::new("ada", "5d1c").unwrap())
}

#[test]
fn every_prefix_has_the_same_rows_at_all_depths() {
    let blocks = stored();
    let is_abandoned = |row: &Row| row.kind == Kind::None && row.until > row.sequence;
    assert!(found(&blocks, Depth::Whole).rows.iter().any(is_abandoned), "a record was abandoned");
    for end in 0..=blocks.len() {
        let blocks = &blocks[..end];
        let whole = found(blocks, Depth::Whole);
        let rows = found(blocks, Depth::Rows);
        assert_eq!(
            (row_summaries(&rows), rows.through),
            (row_summaries(&whole), whole.through),
            "of {end} blocks"
        );
        assert!(whole.through <= end as u64 && rows.rows.iter().all(|row| row.until <= rows.through));
        let outlines = found(blocks, Depth::Outline);
        let ranges = |found: &Assembled| {
            found.rows.iter().map(|row| (row.sequence, row.until, row.kind)).collect::<Vec<_>>()
        };
        assert_eq!((ranges(&outlines), outlines.through), (ranges(&whole), whole.through), "of {end} blocks");
    }
}

/// An inline event of another program may claim to consist of one piece: itself.
#[test]
fn inline_data_has_no_pieces() {
    for (has_more, chunks, until) in [(false, 1, 1), (false, u64::MAX, 1), (true, 2, 3)] {
        let data = format!(
            r#"{{"event_id":"e","event_type":"x","summary":{{}},"inline_data":{{}},"has_continuation":{has_more},"total_chunks":{chunks}}}"#
        );
        let block: Block = serde_json::from_str(&format!(
            r#"{{"block_id":"b","session_id":"s","user_id":"u","sequence":1,"timestamp":"t","device_id":"d","block_type":"event","data":{data}}}"#
        ))
        .unwrap();
        let (hidden, watch) = (Hidden::default(), Watch::new());
        let mut assembler = Assembler::new(&hidden, Depth::Rows, None, &watch);
        assembler.take(&block, &mut NoLines).unwrap();
        let found = assembler.finish(until, &mut NoLines).unwrap();
        assert_eq!((found.rows.len(), found.rows[0].until, found.through), (1, until, until));
    }
}
