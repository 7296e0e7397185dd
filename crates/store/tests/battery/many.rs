//! Many outputs, and their expected lists.

use std::fs;
use std::path::Path;

use trommel_store::{Filter, Origin, Page, Row, SortBy, SortOrder, Store};

use crate::support::{all, file_of, put_as};

/// Ten kilobytes of JSON.
pub(crate) fn payload(number: u64) -> String {
    let record = format!("{{\"id\": {number}, \"name\": \"someone\", \"tags\": [\"a\", \"b\"]}},");
    format!("[{}null]", record.repeat(10_000 / record.len()))
}

/// Pages of all kinds, as serialized JSON.
pub(crate) fn pages(store: &Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut take = |page: Page| serde_json::to_writer(&mut bytes, &page).unwrap();
    take(store.list(&all()).unwrap());
    for sort_by in [SortBy::CreatedAt, SortBy::Size, SortBy::ToolName] {
        for sort_order in [SortOrder::Asc, SortOrder::Desc] {
            let mut filter = Filter::default();
            (filter.sort_by, filter.sort_order, filter.offset) = (sort_by, sort_order, 7);
            take(store.list(&filter).unwrap());
            filter.conversation_id = Some("conv-1".into());
            take(store.list(&filter).unwrap());
        }
    }
    bytes
}

/// A typical output of a few hundred bytes, with every property that can be filtered by.
pub(crate) fn origin(number: u64) -> Origin {
    let mut origin = Origin::of(["web.fetch", "search.rg", "file.read", "exec.run"][number as usize % 4]);
    origin.conversation_id = (!number.is_multiple_of(7)).then(|| format!("conv-{}", number % 50));
    origin.message_id = Some(format!("msg-{number}"));
    origin.success = !number.is_multiple_of(9);
    // Some have the same time.
    origin.created_at = Some(1_700_000_000_000 + (number as i64 / 3) * 977);
    origin
}

/// Writes the files of outputs directly, without syncing. There are many of them, and no process is
/// killed here.
pub(crate) fn fill(store: &Store, count: u64) {
    let template = put_as(store, origin(0), r#"{"status": 200, "users": [{"id": 1}, {"id": 2}]}"#);
    let payload = fs::read(file_of(store, &template.id, ".json")).unwrap();
    for number in 1..count {
        let (id, made) = (format!("output-{number:08}"), origin(number));
        let mut stored = template.clone();
        (stored.id, stored.tool_name) = (id.clone(), made.tool_name);
        (stored.conversation_id, stored.message_id) = (made.conversation_id, made.message_id);
        (stored.success, stored.created_at) = (made.success, made.created_at.unwrap());
        let payload = [payload.as_slice(), &vec![b' '; number as usize * 31 % 1000]].concat();
        (stored.size_bytes, stored.disk_bytes) = (payload.len() as u64, payload.len() as u64);
        stored.characters = stored.size_bytes;
        stored.digest = format!("blake3:{}", blake3::hash(&payload).to_hex());
        let text = serde_json::to_string(&stored).unwrap();
        let seal = blake3::hash(text.as_bytes()).to_hex();
        let sealed = format!("{},\"seal\":\"{}\"}}\n", &text[..text.len() - 1], &seal[..32]);
        let folder = store.root().join("payload").join(&blake3::hash(id.as_bytes()).to_hex()[..2]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{id}.json")), payload).unwrap();
        fs::write(folder.join(format!("{id}.meta.json")), sealed).unwrap();
    }
}

pub(crate) fn remove_index(root: &Path) {
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(root.join(name));
    }
}

/// A naive list: filter, sort, truncate.
pub(crate) fn expected(rows: &[Row], filter: &Filter) -> (Vec<String>, u64, bool) {
    let ms = |time: i64| if time <= 100_000_000_000 { time * 1000 } else { time };
    let mut rows = rows.iter().filter(|row| {
        filter.conversation_id.as_ref().is_none_or(|wanted| row.conversation_id.as_ref() == Some(wanted))
            && filter.tool_name.as_ref().is_none_or(|wanted| row.tool_name == *wanted)
            && filter.success.is_none_or(|wanted| row.success == wanted)
            && filter.after.is_none_or(|after| row.created_at > ms(after))
            && filter.before.is_none_or(|before| row.created_at < ms(before))
    });
    let mut rows = rows.by_ref().collect::<Vec<_>>();
    rows.sort_by(|a, b| {
        let order = match filter.sort_by {
            SortBy::Size => a.size_bytes.cmp(&b.size_bytes),
            SortBy::ToolName => a.tool_name.cmp(&b.tool_name),
            _ => a.created_at.cmp(&b.created_at),
        };
        let order = if filter.sort_order == SortOrder::Desc { order.reverse() } else { order };
        order.then(b.created_at.cmp(&a.created_at)).then(a.id.cmp(&b.id))
    });
    let total = rows.len() as u64;
    let page = rows.into_iter().skip(filter.offset as usize).take(filter.limit as usize);
    let page = page.map(|row| row.id.clone()).collect::<Vec<_>>();
    let has_more = filter.offset + (page.len() as u64) < total;
    (page, total, has_more)
}
