//! Promised times. This binary has a single test, so that no other test runs at the same time.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test tells its figures, and fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use trommel_session::{ListQuery, SearchQuery, Sessions, Watch};
use trommel_testkit::effort::cases;

/// The number of projects.
const PROJECTS: u64 = 20;

/// Writes a session with a description of a kilobyte and ten kilobytes of messages.
fn write(root: &Path, number: u64) {
    let folder = root.join(format!("projects/-p{}/sessions/{number:08x}", number % PROJECTS));
    fs::create_dir_all(&folder).unwrap();
    let day = 1 + number % 28;
    let metadata = format!(
        "{{\n  \"session_id\": \"{number:08x}\",\n  \"created\": \"2026-02-{day:02}T09:00:00Z\",\n  \"updated\": \"2026-02-{day:02}T10:00:00Z\",\n  \"bundle\": \"b\",\n  \"model\": \"m\",\n  \"turn_count\": 9,\n  \"config\": \"{}\"\n}}\n",
        "x".repeat(800)
    );
    fs::write(folder.join("metadata.json"), metadata).unwrap();
    let message = |line| {
        let words = if line == 7 { "the needle" } else { "some hay" };
        format!("{{\"role\":\"user\",\"content\":\"{words} {}\"}}\n", "and more hay ".repeat(75))
    };
    fs::write(folder.join("transcript.jsonl"), (0..10).map(message).collect::<String>()).unwrap();
}

/// Writes a session of Claude Code with a title record and sixteen kilobytes of messages.
fn write_claude(root: &Path, number: u64) {
    let folder = root.join(format!("projects/-p{}", number % PROJECTS));
    fs::create_dir_all(&folder).unwrap();
    let day = 1 + number % 28;
    let message = |line: u64| {
        let envelope = format!(
            "\"cwd\":\"/home/u/app\",\"sessionId\":\"{number:08x}\",\"version\":\"2.1.0\",\"timestamp\":\"2026-02-{day:02}T10:00:{line:02}Z\""
        );
        let hay = "and more hay ".repeat(30);
        if line.is_multiple_of(2) {
            format!(
                "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{hay}\"}},{envelope}}}\n"
            )
        } else {
            format!(
                "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{line}\",\"model\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{hay}\"}}]}},{envelope}}}\n"
            )
        }
    };
    let title = format!("{{\"type\":\"ai-title\",\"aiTitle\":\"Title {number}\"}}\n");
    let log = (0..30).map(message).collect::<String>() + &title;
    fs::write(folder.join(format!("{number:08x}.jsonl")), log).unwrap();
}

/// Measures the duration of each run, sorted.
fn times(count: u64, mut work: impl FnMut(u64)) -> Vec<Duration> {
    let time = |number| {
        let start = Instant::now();
        work(number);
        start.elapsed()
    };
    let mut times = (0..count).map(time).collect::<Vec<_>>();
    times.sort_unstable();
    times
}

fn check(what: &str, times: &[Duration], max: Duration) {
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{what}: median {:?}, 99th percentile {:?}, slowest {:?}", at(0.5), at(0.99), at(1.0));
    assert!(at(0.99) < max, "{what}: {:?}", at(0.99));
}

/// R37: with many sessions, lists and searches of a project are fast.
#[test]
fn r37_lists_and_searches_are_fast() {
    let root = tempfile::tempdir().unwrap();
    let count = cases(200, 2_000);
    (0..count).for_each(|number| write(root.path(), number));
    let sessions = Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).amplifier(root.path());
    // In a short run, other processes on the machine weigh more.
    let max = Duration::from_millis(cases(2_000, 200));
    let ranges = [None, Some("2026-02-10:2026-02-12"), Some("last_week")];
    let lists = times(cases(9, 300), |number| {
        let mut query = ListQuery::default();
        query.date_range = ranges[number as usize % 3].map(str::to_owned);
        query.offset = number as usize % 100;
        let listed = sessions.list(&query, &Watch::new()).unwrap();
        assert!(!listed.connected && (query.date_range.is_some() || listed.total == count));
    });
    check(&format!("{count} sessions, {} lists", lists.len()), &lists, max);
    let searches = times(cases(3, 100), |number| {
        let mut query = SearchQuery::new("the NEEDLE");
        query.project = Some(format!("-p{}", number % PROJECTS));
        let found = sessions.search(&query, &Watch::new()).unwrap();
        assert_eq!(found.total_count, count / PROJECTS);
    });
    check(&format!("{} sessions a project, {} searches", count / PROJECTS, searches.len()), &searches, max);
    let root = tempfile::tempdir().unwrap();
    (0..count).for_each(|number| write_claude(root.path(), number));
    let sessions = Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).claude_code(root.path());
    let lists = times(cases(9, 300), |number| {
        let mut query = ListQuery::default();
        query.offset = number as usize % 100;
        let listed = sessions.list(&query, &Watch::new()).unwrap();
        assert!(listed.total == count && listed.sessions.iter().all(|row| row.turn_count == Some(15)));
        assert!(listed.sessions[0].name.as_ref().unwrap().starts_with("Title"));
    });
    check(&format!("{count} sessions of Claude Code, {} lists", lists.len()), &lists, max);
}
