//! Stored data is only returned to callers that request it.

use std::fs;

use serde_json::json;
use trommel_store::{Error, GcOptions, Limits};

use crate::support::{Home, file_of, files, named, put_as};

/// Occurs in arguments, payloads, the environment, and the history, and nowhere else.
const CANARY: &str = "canary-7f3a91c2";

/// Payloads that contain the canary at a fault, or have no fault.
fn payloads() -> Vec<String> {
    vec![
        format!("{{\"token\": \"{CANARY}\"}}"),
        format!("password={CANARY}"),
        CANARY.to_owned(),
        format!("{{\"token\": {CANARY}}}"),
        format!("{{\"token\": \"{CANARY}\u{1}\"}}"),
        format!("{{\"{CANARY}\" 1}}"),
        format!("[1, 2] {CANARY}"),
        format!("{{\"token\": \"{CANARY}\\q\"}}"),
        format!("{{\"token\": \"{CANARY}"),
        format!("{{\"a\": 1}}\n{{\"token\": \"{CANARY}\"]\n"),
    ]
}

/// All messages and reports about these outputs, but not their contents.
fn messages(home: &Home) -> Vec<String> {
    let mut messages = Vec::new();
    let mut hear = |error: Error| messages.extend([error.to_string(), format!("{error:?}")]);
    for number in 0..payloads().len() {
        let id = format!("output-{number}");
        let stored = home.get(&id).unwrap();
        home.document(&stored).map_or_else(&mut hear, drop);
        hear(home.put(named(&id)).map(drop).unwrap_err());
        hear(home.get("output").unwrap_err());
        home.pin(&id, true).unwrap();
        hear(home.delete(&id).unwrap_err());
        let path = file_of(home, &id, ".json");
        let payload = fs::read(&path).unwrap();
        fs::write(&path, &payload[1..]).unwrap();
        hear(home.payload(&stored).map(drop).unwrap_err());
    }
    hear(home.executions().append(&format!("{{\"token\": {CANARY}}}")).unwrap_err());
    let meta = file_of(home, "output-0", ".meta.json");
    let text = fs::read_to_string(&meta).unwrap().replace("\"success\":true", "\"success\":\"no\"");
    fs::write(&meta, text).unwrap();
    hear(home.get("output-0").unwrap_err());
    let verified = home.verify(&mut |damage| messages.push(serde_json::to_string(damage).unwrap())).unwrap();
    assert!(verified.damaged > 9);
    let mut limits = Limits::default();
    limits.count = Some(0);
    let mut options = GcOptions::default();
    options.limits = Some(limits);
    messages.push(format!("{:?}", home.gc(&options).unwrap()));
    messages.push(format!("{:?}", home.rebuild().unwrap()));
    messages.push(format!("{:?} {:?}", home.store, home.executions()));
    messages
}

/// R25: no error, report, or file name repeats text from arguments, payloads, or the history.
#[test]
fn r25_messages_do_not_repeat_stored_data() {
    let home = Home::new();
    for (number, payload) in payloads().iter().enumerate() {
        let mut origin = named(&format!("output-{number}"));
        origin.parameters = json!({"authorization": CANARY, CANARY: 1});
        put_as(&home, origin, payload);
    }
    home.executions().append(&format!("{{\"token\": \"{CANARY}\"}}")).unwrap();
    let messages = messages(&home);
    assert!(messages.len() > 60, "{}", messages.len());
    for text in &messages {
        assert!(!text.contains(CANARY), "{text}");
        // Most of the canary must not occur either.
        assert!(!text.contains(&CANARY[..10]) && !text.contains(&CANARY[5..]), "{text}");
    }
    let named = files(home.outside()).into_iter().filter(|path| path.to_string_lossy().contains(CANARY));
    assert_eq!(named.count(), 0);
}

/// R25: stored data is only in the files of its output, and only in the store.
#[test]
fn r25_stored_data_is_in_the_store_only() {
    let home = Home::new();
    let mut origin = named("output-1");
    origin.parameters = json!({"authorization": CANARY});
    put_as(&home, origin, format!("{}{CANARY}", " ".repeat(600)));
    let holders_of_one = holders(home.outside());
    assert_eq!(holders_of_one.len(), 2, "{holders_of_one:?}");
    assert!(holders_of_one.iter().all(|path| path.contains("output-1.")), "{holders_of_one:?}");
    home.delete("output-1").unwrap();
    assert_eq!(holders(home.outside()), [""; 0]);
}

/// Files that contain the canary.
fn holders(folder: &std::path::Path) -> Vec<String> {
    let holds = |path: &std::path::PathBuf| {
        let bytes = fs::read(folder.join(path)).unwrap();
        bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
    };
    files(folder).into_iter().filter(holds).map(|path| path.to_string_lossy().into_owned()).collect()
}
