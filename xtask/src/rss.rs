//! `cargo xtask rss`: the peak resident memory of every command on files far larger than it.
//!
//! Promise R7: 64 MiB and the windows, whatever the size of the input; and from 1 GiB to the full
//! size no growth above 5 %. Two forms of the same made records, one document and one a line, are
//! read through a map, in windows, and from a pipe. Where a command may keep something by
//! declaration (places held for the order of the answer, values counted exactly), that budget is
//! added, and growth up to it is no fault.
//!
//! Asked is what the goals of `benches/README.md` are about, and every command besides. Laid out
//! documents and numbers are left out: what is between the brackets changes how fast they are
//! passed, not what is kept meanwhile.
//!
//! The full size needs that much room on the disk and 5 GiB besides at most: the files of one form
//! are removed before those of the next are made, and above 4 GiB a question for which what passed
//! a window or a pipe goes to a temporary file is asked so only at 1 GiB.

mod measure;
mod records;

use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use measure::{Feed, Peak};
use records::Form;
#[cfg(target_os = "linux")]
use rustix::fs::{Advice, fadvise};

use crate::Verdict;
use crate::process::{cargo, must_run};
use crate::workspace::Workspace;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What a process may keep resident.
const ALLOWED: u64 = 64 * MIB;

/// What the windows on the input may add for each thread: one that is read and one that is looked
/// back on, or mapped pages on their way to be given back.
const WINDOWS_PER_THREAD: u64 = 2 * MIB;

/// Growth that is no growth: the system maps a file by folios of up to 2 MiB, of which a longer run
/// sooner or later meets two that lie badly, and pages of the program itself that one run touched
/// and the other did not.
const JITTER: u64 = 4 * MIB;

/// The largest temporary file that a question may make here.
const SPOOLED: u64 = 4 * GIB;

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Size of each made file, in GiB
    #[arg(long, value_name = "N", default_value_t = 4.0)]
    gib: f64,
    /// Ask about this form of the records alone
    #[arg(long)]
    form: Option<Form>,
    /// Keep the made files for the next run
    #[arg(long)]
    keep: bool,
}

/// One command line; `FILE` stands for the input.
struct Question {
    form: Form,
    arguments: &'static str,
    /// Bytes that it may keep by declaration, beyond what every command may.
    budget: u64,
    /// Whether it looks back over the whole input, which goes to a temporary file for that unless
    /// it is mapped.
    spools: bool,
}

const fn question(form: Form, arguments: &'static str, budget_mib: u64) -> Question {
    Question { form, arguments, budget: budget_mib * MIB, spools: false }
}

impl Question {
    const fn looking_back(self) -> Self {
        Self { spools: true, ..self }
    }
}

/// Every goal, and every command of the engine. Places held for RFC order take 16 MiB before they
/// go to a file; figures of values are exact within 64 MiB.
const QUESTIONS: &[Question] = &[
    question(Form::Document, "extract FILE $", 0).looking_back(),
    question(Form::Document, "extract FILE $.data.records[*].id", 0),
    question(
        Form::Document,
        "extract FILE $.data.records[*].id $.data.records[*].type $.data.records[*].actor.login \
         $.data.records[*].repo.name $.data.records[*].created_at --order document",
        0,
    ),
    question(Form::Document, "extract FILE $.data.records[*].payload.commits[*].sha", 0),
    question(Form::Document, "extract FILE $.data.records[?@.type=='PushEvent'].id", 0),
    question(Form::Document, "extract FILE $.data.records[?@.payload.size>3].actor.login", 0),
    question(Form::Document, "extract FILE $.data.records[0].id", 0),
    question(Form::Document, "extract FILE $.data.records[-1].id", 0).looking_back(),
    question(Form::Document, "extract FILE $.meta.version", 0),
    question(Form::Document, "extract FILE $..login --order document", 0),
    question(Form::Document, "extract FILE $..login", 16).looking_back(),
    question(Form::Document, "count FILE $..login", 0),
    question(Form::Document, "count FILE $.data.records --as array_length", 0),
    question(Form::Document, "count FILE records=$.data.records[*] commits=$..commits[*]", 0),
    question(Form::Document, "sample FILE $.data.records[*] -n 1000 --seed 7", 0),
    question(Form::Document, "stats FILE", 0),
    question(Form::Document, "stats FILE --values", 64),
    question(Form::Document, "stats FILE --only structure,types", 0),
    question(Form::Document, "schema FILE", 0),
    question(Form::Document, "check FILE", 0),
    question(Form::Lines, "extract FILE $.id", 0),
    question(Form::Lines, "extract FILE $.id $.payload.commits[-1].sha", 0),
    question(Form::Lines, "count FILE $", 0),
    question(Form::Lines, "count FILE $.payload.commits[*]", 0),
    question(Form::Lines, "sample FILE $ -n 1000 --seed 7", 0),
    question(Form::Lines, "stats FILE", 0),
    question(Form::Lines, "stats FILE --values", 64),
    question(Form::Lines, "schema FILE", 0),
    question(Form::Lines, "check FILE", 0),
];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Verdict {
    must_run(&mut cargo(&workspace.root, "build --release -p trommel-cli"))?;
    let program = workspace.target.join("release/trommel");
    let folder = workspace.target.join("rss");
    let size = (options.gib * GIB as f64) as u64;
    let small = (size > GIB).then_some(GIB);
    let mut good = true;
    for form in [Form::Document, Form::Lines] {
        if options.form.is_some_and(|only| only != form) {
            continue;
        }
        let asked = ask_all(&program, &folder, form, small, size);
        if !options.keep {
            fs::remove_dir_all(&folder)?;
        }
        good &= asked?;
    }
    println!(
        "\nrss: {}",
        if good { "every command kept its bound" } else { "NOT every command kept its bound" }
    );
    Ok(good)
}

/// Asks every question about a form in every way, printing a row for each; whether all kept the
/// bounds.
fn ask_all(program: &Path, folder: &Path, form: Form, small: Option<u64>, size: u64) -> Verdict {
    fs::create_dir_all(folder)?;
    let base = small.map(|small| made(folder, form, small)).transpose()?;
    let full = made(folder, form, size)?;
    for file in base.iter().chain([&full]) {
        read_into_cache(program, file)?;
    }
    println!("\n{:>9} {:>9} {:>9}  as       seconds  command", "1.0 GiB", gibibytes(size), "bound");
    let mut good = true;
    for question in QUESTIONS.iter().filter(|question| question.form == form) {
        for feed in [Feed::Mapped, Feed::Windows, Feed::Pipe] {
            let ask = |file: &PathBuf| feed.measure(program, question.arguments, file);
            let base = base.as_ref().map(ask).transpose()?;
            let is_too_large = size > SPOOLED && question.spools && !matches!(feed, Feed::Mapped);
            let full = if is_too_large { None } else { Some(ask(&full)?) };
            good &= report(question, feed, base.as_ref(), full.as_ref());
        }
    }
    Ok(good)
}

/// Prints a row; whether it is as promised.
fn report(question: &Question, feed: Feed, base: Option<&Peak>, full: Option<&Peak>) -> bool {
    let shown = |peak: Option<&Peak>| peak.map_or_else(|| "-".to_owned(), |peak| mebibytes(peak.bytes));
    let fault = fault(question, base, full);
    let said = match (&fault, full) {
        (Some(fault), _) => format!("  {fault}"),
        (None, None) => "  (not asked at full size: looking back takes a temporary file as large)".to_owned(),
        (None, Some(_)) => String::new(),
    };
    println!(
        "{:>9} {:>9} {:>9}  {:<8} {:>7.1}  {}{said}",
        shown(base),
        shown(full),
        mebibytes(bound(question)),
        feed.name(),
        full.or(base).map_or(0.0, |peak| peak.time.as_secs_f64()),
        question.arguments,
    );
    fault.is_none()
}

/// What is not as promised.
fn fault(question: &Question, base: Option<&Peak>, full: Option<&Peak>) -> Option<String> {
    let peaks = || base.into_iter().chain(full);
    if let Some(failure) = peaks().find_map(|peak| peak.failure.as_ref()) {
        return Some(format!("FAILED: {failure}"));
    }
    if peaks().any(|peak| peak.bytes > bound(question)) {
        return Some("OVER THE BOUND".to_owned());
    }
    let (base, full) = base.zip(full)?;
    (question.budget == 0 && grows(base.bytes, full.bytes)).then(|| "GROWS".to_owned())
}

fn bound(question: &Question) -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    ALLOWED + threads * WINDOWS_PER_THREAD + question.budget
}

/// Growth above 5 %, jitter aside.
fn grows(base: u64, full: u64) -> bool {
    full > base + (base / 20).max(JITTER)
}

/// The made file of that form and size, made now unless it is there.
fn made(folder: &Path, form: Form, size: u64) -> Result<PathBuf, Box<dyn Error>> {
    let path = folder.join(format!("events-{size}.{}", form.extension()));
    if !path.exists() {
        eprintln!("writing {} ({})", path.display(), gibibytes(size));
        let partial = path.with_extension("partial");
        records::write(&partial, form, size).map_err(|error| format!("{}: {error}", partial.display()))?;
        fs::rename(&partial, &path)?;
    }
    Ok(path)
}

/// Has a file lie in the page cache as reading it through a map puts it there. What was written, or
/// read otherwise, lies in smaller folios, of which a map shows less at a time: by some MiB, which
/// would look like growth where only the larger file was mapped when it had to be read from the
/// disk.
fn read_into_cache(program: &Path, path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    #[cfg(target_os = "linux")]
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Feed::Mapped.measure(program, "stats FILE --only structure,types", path)?;
    Ok(())
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / MIB as f64)
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / GIB as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_five_percent_and_more_than_jitter() {
        assert!(!grows(10 * MIB, 14 * MIB));
        assert!(grows(10 * MIB, 14 * MIB + 1));
        assert!(!grows(100 * MIB, 105 * MIB));
        assert!(grows(100 * MIB, 105 * MIB + 1));
    }

    #[test]
    fn faults_of_either_size_are_found() {
        let asked = question(Form::Lines, "count FILE $", 0);
        let peak = |mib: u64, failure: Option<&str>| Peak {
            bytes: mib * MIB,
            time: std::time::Duration::ZERO,
            failure: failure.map(str::to_owned),
        };
        let fault = |base: Peak, full: Option<Peak>| fault(&asked, Some(&base), full.as_ref());
        assert_eq!(fault(peak(10, None), Some(peak(11, None))), None);
        assert_eq!(fault(peak(10, None), None), None);
        assert_eq!(fault(peak(10, Some("killed")), Some(peak(10, None))).unwrap(), "FAILED: killed");
        assert_eq!(fault(peak(10, None), Some(peak(1000, None))).unwrap(), "OVER THE BOUND");
        assert_eq!(fault(peak(10, None), Some(peak(20, None))).unwrap(), "GROWS");
    }

    #[test]
    fn every_question_has_its_file() {
        assert!(
            QUESTIONS.iter().all(|question| question
                .arguments
                .split(' ')
                .filter(|word| *word == "FILE")
                .count()
                == 1)
        );
    }
}
