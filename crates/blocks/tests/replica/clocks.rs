//! Tests of machines whose clocks differ by years: clocks decide nothing.

use std::fs::File;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use trommel_blocks::{BlockStorage, ConflictResolution, Key, Selection};

use crate::blocks::{numbers, read};
use crate::support::{Machine, Net, watch};

/// The time for which an unfinished last line is left alone.
const REST: Duration = Duration::from_millis(100);

fn machine(name: &str, net: &std::sync::Arc<Net>) -> Machine {
    Machine::with(name, net, |options| options.rest = REST)
}

fn said(year: u32, number: u32) -> String {
    format!("{{\"role\":\"user\",\"content\":\"word {number}\",\"timestamp\":\"{year}-03-01T09:00:00Z\"}}\n")
}

fn described(year: u32) -> String {
    let when = format!("{year}-03-01T09:00:00Z");
    format!("{{\"name\":\"of {year}\",\"created\":\"{when}\",\"updated\":\"{when}\"}}")
}

/// Sets the dates of a session's files to a year.
fn date(machine: &Machine, id: &str, year: u32) {
    let when = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(year - 1970) * 31_557_600);
    for entry in std::fs::read_dir(machine.folder(id)).unwrap() {
        File::options().write(true).open(entry.unwrap().path()).unwrap().set_modified(when).unwrap();
    }
}

/// R36: records that two machines write in turn, one in 2099 and the other in 1999, stay in the
/// order in which they were pushed.
#[test]
fn r36_skewed_clocks_lose_and_reorder_nothing() {
    let (net, since) = (Net::new(), Instant::now());
    let machines = [(machine("ahead", &net), 2099), (machine("behind", &net), 1999)];
    let mut text = String::new();
    for number in 0..8 {
        let (machine, year) = &machines[number as usize % 2];
        text.push_str(&said(*year, number));
        machine.append("s", "transcript.jsonl", said(*year, number));
        machine.append(
            "s",
            "events.jsonl",
            format!("{{\"ts\":\"{year}-03-01T09:00:00Z\",\"event\":\"e{number}\"}}\n"),
        );
        machine.write("s", "metadata.json", described(*year));
        date(machine, "s", *year);
        let mut in_turn = machines.each_ref();
        in_turn.rotate_left(number as usize % 2);
        for (machine, year) in in_turn {
            machine.sync("s");
            date(machine, "s", *year);
        }
    }
    let files = machines.each_ref().map(|(machine, _)| machine.files("s"));
    assert_eq!(files[0], files[1]);
    assert_eq!(files[0][0].as_deref(), Some(described(1999).as_bytes()));
    assert_eq!(files[0][1].as_deref(), Some(text.as_bytes()));
    let blocks = read(&*net, &Key::new("ada", "s").unwrap(), &Selection::default());
    assert_eq!(numbers(&blocks), (1..=24).collect::<Vec<_>>());
    assert!(!blocks.is_sorted_by_key(|block| block.timestamp.clone()), "their times are in another order");
    assert!(since.elapsed() < Duration::from_secs(20));
}

/// R36: of two concurrent writers, the records that were pushed first come first, regardless of
/// clocks, and both stay.
#[test]
fn r36_clocks_do_not_resolve_conflicts() {
    for years in [[2099, 1999], [1999, 2099]] {
        let net = Net::new();
        let machines = [machine("one", &net), machine("two", &net)];
        machines[0].write("s", "transcript.jsonl", said(2026, 0));
        for machine in &machines {
            machine.sync("s");
        }
        for (machine, year) in machines.iter().zip(years) {
            machine.append("s", "transcript.jsonl", said(year, year));
            date(machine, "s", year);
        }
        machines[0].sync("s");
        let report = machines[1].hybrid.sync(Some("s"), None, &watch()).unwrap();
        assert_eq!(report.conflicts, 1, "neither clock settles it");
        let report = machines[1].hybrid.sync(Some("s"), Some(ConflictResolution::Merge), &watch()).unwrap();
        assert!(report.is_synced(), "{report:?}");
        machines[0].sync("s");
        let text = said(2026, 0) + &said(years[0], years[0]) + &said(years[1], years[1]);
        for machine in &machines {
            assert_eq!(machine.files("s")[1].as_deref(), Some(text.as_bytes()));
        }
    }
}

/// R36: an unfinished last line is pushed after its rest time, even if its file has a date in the
/// future.
#[test]
fn r36_unfinished_lines_with_future_dates_are_pushed() {
    let net = Net::new();
    let (one, two) = (machine("one", &net), machine("two", &net));
    one.write("s", "transcript.jsonl", said(2099, 0) + "{\"role\":\"user\",");
    date(&one, "s", 2099);
    thread::sleep(REST);
    one.sync("s");
    two.sync("s");
    assert_eq!(two.files("s"), one.files("s"));
    assert_eq!(net.head(&Key::new("ada", "s").unwrap(), &watch()).unwrap().unwrap().sequence, 3);
}

/// R36: nor does such a line block pulls for ever.
#[test]
fn r36_unfinished_lines_with_future_dates_do_not_block_pulls() {
    let net = Net::new();
    let (one, two) = (machine("one", &net), machine("two", &net));
    one.write("s", "transcript.jsonl", said(2026, 0));
    one.sync("s");
    two.sync("s");
    one.append("s", "transcript.jsonl", said(2026, 1));
    one.sync("s");
    two.append("s", "events.jsonl", "{\"event\":");
    date(&two, "s", 2099);
    thread::sleep(REST);
    let report = two.hybrid.sync(Some("s"), Some(ConflictResolution::Merge), &watch()).unwrap();
    assert!(report.is_synced(), "{report:?}");
    one.sync("s");
    assert_eq!(two.files("s"), one.files("s"));
}
