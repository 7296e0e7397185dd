//! A large file for measurements: records of about 3 KB in the style of GitHub's public events.
//!
//! Every record depends on its number alone. Record `n` has the `id` `n` (as a string), one of ten
//! types (`PushEvent` for every even `n`), 5 to 7 logins, `public`, a `created_at`, and a payload
//! with escaped text.

use crate::generate::Random;
use std::io::{self, BufWriter, Write};

/// The arrangement of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One document in one line,
    /// `{"data":{"records":[…]},"meta":{"source":"synthetic","records":N}}`.
    Document,
    /// A record a line.
    Lines,
}

/// The contents of the written file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Bytes.
    pub bytes: u64,
    /// Records.
    pub records: u64,
    /// Records whose `type` is `PushEvent`: `$.data.records[?@.type=='PushEvent']`.
    pub pushes: u64,
    /// Members named `login`: `$..login`.
    pub logins: u64,
}

/// Writes whole records until there are at least `bytes` bytes. Returns their counts.
pub fn write(out: impl Write, arrangement: Arrangement, bytes: u64) -> io::Result<Written> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut written = Written::default();
    let document = arrangement == Arrangement::Document;
    let head = if document { r#"{"data":{"records":["# } else { "" };
    put(&mut out, &mut written, head)?;
    while written.bytes < bytes || written.records == 0 {
        let event = event(written.records);
        if document && written.records > 0 {
            put(&mut out, &mut written, ",")?;
        }
        put(&mut out, &mut written, &event.text)?;
        if !document {
            put(&mut out, &mut written, "\n")?;
        }
        written.records += 1;
        written.pushes += u64::from(event.push);
        written.logins += event.logins;
    }
    if document {
        let tail = format!(r#"]}},"meta":{{"source":"synthetic","records":{}}}}}"#, written.records);
        put(&mut out, &mut written, &tail)?;
    }
    out.flush()?;
    Ok(written)
}

fn put(out: &mut impl Write, written: &mut Written, text: &str) -> io::Result<()> {
    written.bytes += text.len() as u64;
    out.write_all(text.as_bytes())
}

/// A record and its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The record, in one line.
    pub text: String,
    /// True if its type is `PushEvent`.
    pub push: bool,
    /// Members named `login`.
    pub logins: u64,
}

const OTHER: [&str; 9] = [
    "CreateEvent",
    "DeleteEvent",
    "ForkEvent",
    "GollumEvent",
    "IssueCommentEvent",
    "IssuesEvent",
    "PullRequestEvent",
    "ReleaseEvent",
    "WatchEvent",
];

const WORDS: [&str; 16] = [
    "merge",
    "branch",
    "fix",
    "the",
    "parser",
    "window",
    "überprüft",
    "\\\"quoted\\\"",
    "path\\\\to\\\\file",
    "line\\n",
    "https:\\/\\/example.org",
    "test",
    "日本語",
    "{brace}",
    "[bracket]",
    "update,",
];

/// Generates record number `index`.
pub fn event(index: u64) -> Event {
    let mut random = Random::new(index);
    let push = index.is_multiple_of(2);
    let kind = if push { "PushEvent" } else { random.pick(&OTHER) };
    let mut logins = 0;
    let mut user = |random: &mut Random| {
        logins += 1;
        user(random)
    };
    let (actor, org) = (user(&mut random), user(&mut random));
    let members: Vec<_> = (0..random.between(3, 5)).map(|_| user(&mut random)).collect();
    let commits: Vec<_> = (0..random.between(1, 3)).map(|_| commit(&mut random)).collect();
    let (members, commits) = (members.join(","), commits.join(","));
    let (number, score) = (random.below(1_000_000), random.below(100_000));
    let created = format!(
        "2024-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        random.between(1, 12),
        random.between(1, 28),
        random.below(24),
        random.below(60),
        random.below(60)
    );
    let public = random.chance(90);
    let note = if random.chance(50) { "null".into() } else { format!("\"{}\"", words(&mut random, 20)) };
    let text = format!(
        r#"{{"id":"{index}","type":"{kind}","actor":{actor},"repo":{{"id":{number},"name":"owner/repo-{number}","url":"https://api.example.org/repos/owner/repo-{number}"}},"payload":{{"push_id":{number},"size":{score},"ratio":{:.4},"ref":"refs/heads/main","note":{note},"commits":[{commits}],"members":[{members}]}},"public":{public},"created_at":"{created}","org":{org}}}"#,
        score as f64 / 997.0
    );
    Event { text, push, logins }
}

fn user(random: &mut Random) -> String {
    let id = random.below(10_000_000);
    format!(
        r#"{{"id":{id},"login":"user-{id}","gravatar_id":"","url":"https://api.example.org/users/user-{id}","avatar_url":"https://avatars.example.org/u/{id}?v=4","site_admin":false}}"#
    )
}

fn commit(random: &mut Random) -> String {
    let sha = format!("{:016x}{:016x}{:08x}", random.bits(), random.bits(), random.bits() >> 32);
    let (name, message, distinct) = (random.below(10_000), words(random, 40), random.chance(80));
    format!(
        r#"{{"sha":"{sha}","author":{{"email":"dev{name}@example.org","name":"Developer {name}"}},"message":"{message}","distinct":{distinct},"url":"https://api.example.org/repos/owner/repo/commits/{sha}"}}"#
    )
}

fn words(random: &mut Random, max: usize) -> String {
    (0..random.between(3, max)).map(|_| random.pick(&WORDS)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::{Framing, parse, records};

    #[test]
    fn returned_counts_match_the_text() {
        let mut text = Vec::new();
        let written = write(&mut text, Arrangement::Document, 200_000).unwrap();
        assert_eq!(written.bytes, text.len() as u64);
        assert!((2000..4000).contains(&(written.bytes / written.records)), "about 3 KB: {written:?}");
        let document = parse(&text).unwrap();
        let data = document.member(document.root(), "data").unwrap();
        let list = document.children(document.member(data, "records").unwrap());
        assert_eq!(list.len() as u64, written.records);
        let logins =
            document.ids().flat_map(|id| document.members(id).iter().map(|member| member.name == "login"));
        assert_eq!(logins.filter(|&login| login).count() as u64, written.logins);

        let mut text = Vec::new();
        let written = write(&mut text, Arrangement::Lines, 50_000).unwrap();
        let lines = records(&text, Framing::Lines);
        assert_eq!(lines.len() as u64, written.records);
        assert!(
            lines.iter().all(|record| record.outcome.is_ok())
                && written.pushes == written.records.div_ceil(2)
        );
    }
}
