//! Generated input: records like those of a public event feed, about 3 KB each, identical on every
//! machine.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The layout of the records in the file.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    /// `{"data":{"records":[…]},"meta":{…}}`
    Document,
    /// NDJSON: one record per line.
    Lines,
}

impl Form {
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Document => "json",
            Self::Lines => "jsonl",
        }
    }
}

/// Writes records until the file has at least `size` bytes.
pub(super) fn write(path: &Path, form: Form, size: u64) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write_records(&mut file, form, size)?;
    file.flush()
}

fn write_records(out: &mut impl Write, form: Form, size: u64) -> io::Result<()> {
    if form == Form::Document {
        out.write_all(b"{\"data\":{\"records\":[\n")?;
    }
    let mut line = String::new();
    let (mut written, mut index) = (0, 0);
    while written < size {
        if index > 0 {
            out.write_all(if form == Form::Document { b",\n" } else { b"\n" })?;
        }
        line.clear();
        // Writing into a string cannot fail.
        record(&mut line, index).map_err(io::Error::other)?;
        out.write_all(line.as_bytes())?;
        written += line.len() as u64 + 2;
        index += 1;
    }
    match form {
        Form::Document => writeln!(out, "\n]}},\"meta\":{{\"count\":{index},\"version\":1}}}}"),
        Form::Lines => writeln!(out),
    }
}

const KINDS: &[&str] = &["PushEvent", "WatchEvent", "IssuesEvent", "ForkEvent", "PullRequestEvent"];

/// Text that needs decoding: escapes, letters beyond ASCII, and brackets and quotes inside a
/// string.
const MESSAGE: &str =
    r#"Fix \"quoted\" path in C:\\src\n\nSee [#42] {draft}: größer, 速い, \u00e9t\u00e9 \ud83d\ude80."#;

fn record(out: &mut String, index: u64) -> std::fmt::Result {
    let mut dice = Dice(index);
    let actor = dice.below(50_000);
    let repo = dice.below(200_000);
    let kind = KINDS[dice.below(KINDS.len() as u64) as usize];
    write!(
        out,
        r#"{{"id":"{}","type":"{kind}","actor":{{"id":{actor},"login":"user-{actor}","url":"https://api.example.com/users/user-{actor}","avatar_url":"https://avatars.example.com/u/{actor}?"}},"repo":{{"id":{repo},"name":"org-{}/repo-{repo}","url":"https://api.example.com/repos/{repo}"}},"public":{},"score":{}.{:03}e-1,"created_at":"2026-{:02}-{:02}T{:02}:{:02}:{:02}Z","#,
        2_489_651_045 + index,
        repo % 5_000,
        dice.below(10) != 0,
        dice.below(1_000),
        dice.below(1_000),
        1 + dice.below(12),
        1 + dice.below(28),
        dice.below(24),
        dice.below(60),
        dice.below(60),
    )?;
    if dice.below(3) == 0 {
        write!(out, r#""org":{{"id":{},"login":"org-{}","gravatar_id":""}},"#, repo % 5_000, repo % 5_000)?;
    }
    payload(out, &mut dice)
}

fn payload(out: &mut String, dice: &mut Dice) -> std::fmt::Result {
    let size = 2 + dice.below(12);
    write!(
        out,
        r#""payload":{{"push_id":{},"size":{size},"ref":"refs/heads/main","before":null,"commits":["#,
        dice.next() >> 16
    )?;
    for commit in 0..size {
        let comma = if commit == 0 { "" } else { "," };
        let author = dice.below(9_000);
        write!(
            out,
            r#"{comma}{{"sha":"{:016x}{:016x}","author":{{"email":"dev{author}@example.com","name":"Dev {author}"}},"message":"{MESSAGE}","distinct":{},"files":[{},{}]}}"#,
            dice.next(),
            dice.next(),
            dice.below(2) == 0,
            dice.below(90),
            dice.below(90),
        )?;
    }
    out.write_str("]}}")
}

/// `SplitMix64`, seeded with the record's number.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(form: Form, size: u64) -> String {
        let mut bytes = Vec::new();
        write_records(&mut bytes, form, size).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn both_forms_have_the_same_records() {
        let document: serde_json::Value = serde_json::from_str(&generated(Form::Document, 200_000)).unwrap();
        let lines = generated(Form::Lines, 200_000);
        let lines: Vec<serde_json::Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(document["data"]["records"].as_array().unwrap(), &lines);
        assert_eq!(document["meta"]["count"], lines.len());
    }

    #[test]
    fn a_record_has_about_three_kilobytes() {
        let text = generated(Form::Lines, 1_000_000);
        let mean = text.len() / text.lines().count();
        assert!((1_500..4_500).contains(&mean), "{mean}");
    }
}
