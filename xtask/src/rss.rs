//! `cargo xtask rss`: the peak resident memory of every command on files far larger than it.
//!
//! Promise R7: at most 64 MiB plus the windows for any size of the input, and at most 5 % growth
//! from 1 GiB to the full size. Two forms of the same generated records, one document and NDJSON,
//! are read through a map, in windows, and from a pipe. Some commands have a documented budget, for
//! offsets held for the order of the answer or for values counted exactly. That budget is added to
//! the bound, and growth up to it is allowed.
//!
//! The measured command lines are the goals of `benches/README.md` and every other command.
//! Indented documents and numbers are omitted: the bytes between the brackets affect speed, not
//! memory.
//!
//! The full size needs that much disk space and at most 5 GiB more: the files of one form are
//! removed before those of the next are written. Some command lines spool a window or a pipe to a
//! temporary file. Above 4 GiB they run that way only at 1 GiB.

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

/// The memory that a process may keep resident.
const ALLOWED: u64 = 64 * MIB;

/// Memory that input windows may add per thread: one window that is read and one that is held, or
/// mapped pages that are about to be released.
const WINDOWS_PER_THREAD: u64 = 2 * MIB;

/// Growth within measurement noise. The system maps a file in folios of up to 2 MiB, and a longer
/// run sooner or later meets two that are badly aligned. The runs also touch different pages of the
/// program.
const JITTER: u64 = 4 * MIB;

/// The largest temporary file that a command may create here.
const MAX_SPOOLED: u64 = 4 * GIB;

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Size of each generated file, in GiB
    #[arg(long, value_name = "N", default_value_t = 4.0)]
    gib: f64,
    /// Measure only this form of the records
    #[arg(long)]
    form: Option<Form>,
    /// Keep the generated files for the next run
    #[arg(long)]
    keep: bool,
}

/// One command line; `FILE` stands for the input.
struct CommandLine {
    form: Form,
    arguments: &'static str,
    /// The documented budget in bytes, beyond the bound of every command.
    budget: u64,
    /// True if it looks back over the whole input, which is spooled to a temporary file unless
    /// mapped.
    spools: bool,
}

const fn command_line(form: Form, arguments: &'static str, budget_mib: u64) -> CommandLine {
    CommandLine { form, arguments, budget: budget_mib * MIB, spools: false }
}

impl CommandLine {
    const fn with_look_back(self) -> Self {
        Self { spools: true, ..self }
    }
}

/// Every goal, and every command of the engine. Offsets held for RFC order take up to 16 MiB before
/// they go to a file. Figures of values are exact within 64 MiB.
const COMMAND_LINES: &[CommandLine] = &[
    command_line(Form::Document, "extract FILE $", 0).with_look_back(),
    command_line(Form::Document, "extract FILE $.data.records[*].id", 0),
    command_line(
        Form::Document,
        "extract FILE $.data.records[*].id $.data.records[*].type $.data.records[*].actor.login \
         $.data.records[*].repo.name $.data.records[*].created_at --order document",
        0,
    ),
    command_line(Form::Document, "extract FILE $.data.records[*].payload.commits[*].sha", 0),
    command_line(Form::Document, "extract FILE $.data.records[?@.type=='PushEvent'].id", 0),
    command_line(Form::Document, "extract FILE $.data.records[?@.payload.size>3].actor.login", 0),
    command_line(Form::Document, "extract FILE $.data.records[0].id", 0),
    command_line(Form::Document, "extract FILE $.data.records[-1].id", 0).with_look_back(),
    command_line(Form::Document, "extract FILE $.meta.version", 0),
    command_line(Form::Document, "extract FILE $..login --order document", 0),
    command_line(Form::Document, "extract FILE $..login", 16).with_look_back(),
    command_line(Form::Document, "count FILE $..login", 0),
    command_line(Form::Document, "count FILE $.data.records --as array_length", 0),
    command_line(Form::Document, "count FILE records=$.data.records[*] commits=$..commits[*]", 0),
    command_line(Form::Document, "sample FILE $.data.records[*] -n 1000 --seed 7", 0),
    command_line(Form::Document, "stats FILE", 0),
    command_line(Form::Document, "stats FILE --values", 64),
    command_line(Form::Document, "stats FILE --only structure,types", 0),
    command_line(Form::Document, "stats FILE --each $.data.records[*]", 0),
    command_line(Form::Document, "group FILE --each $.data.records[*] $.type", 0),
    command_line(Form::Document, "du FILE", 0),
    command_line(Form::Document, "report FILE", 64).with_look_back(),
    command_line(Form::Document, "schema FILE", 0),
    command_line(Form::Document, "check FILE", 0),
    command_line(Form::Lines, "extract FILE $.id", 0),
    command_line(Form::Lines, "extract FILE $.id $.payload.commits[-1].sha", 0),
    command_line(Form::Lines, "count FILE $", 0),
    command_line(Form::Lines, "count FILE $.payload.commits[*]", 0),
    command_line(Form::Lines, "group FILE $.type $.public --sum $.payload.size", 0),
    command_line(Form::Lines, "sample FILE $ -n 1000 --seed 7", 0),
    command_line(Form::Lines, "stats FILE", 0),
    command_line(Form::Lines, "stats FILE --values", 64),
    command_line(Form::Lines, "du FILE", 0),
    command_line(Form::Lines, "report FILE", 64).with_look_back(),
    command_line(Form::Lines, "schema FILE", 0),
    command_line(Form::Lines, "check FILE", 0),
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
        let measured = measure_all(&program, &folder, form, small, size);
        if !options.keep {
            fs::remove_dir_all(&folder)?;
        }
        good &= measured?;
    }
    println!(
        "\nrss: {}",
        if good { "every command is within its bound" } else { "NOT every command is within its bound" }
    );
    Ok(good)
}

/// Measures every command line of a form with every feed, and prints a row for each. Returns true
/// if all are within their bounds.
fn measure_all(program: &Path, folder: &Path, form: Form, small: Option<u64>, size: u64) -> Verdict {
    fs::create_dir_all(folder)?;
    let base = small.map(|small| generated_file(folder, form, small)).transpose()?;
    let full = generated_file(folder, form, size)?;
    for file in base.iter().chain([&full]) {
        read_into_cache(program, file)?;
    }
    println!("\n{:>9} {:>9} {:>9}  as       seconds  command", "1.0 GiB", gibibytes(size), "bound");
    let mut good = true;
    for command_line in COMMAND_LINES.iter().filter(|command_line| command_line.form == form) {
        for feed in [Feed::Mapped, Feed::Windows, Feed::Pipe] {
            let measure = |file: &PathBuf| feed.measure(program, command_line.arguments, file);
            let base = base.as_ref().map(measure).transpose()?;
            let is_too_large = size > MAX_SPOOLED && command_line.spools && !matches!(feed, Feed::Mapped);
            let full = if is_too_large { None } else { Some(measure(&full)?) };
            good &= report(command_line, feed, base.as_ref(), full.as_ref());
        }
    }
    Ok(good)
}

/// Prints a row. Returns true if it has no fault.
fn report(command_line: &CommandLine, feed: Feed, base: Option<&Peak>, full: Option<&Peak>) -> bool {
    let shown = |peak: Option<&Peak>| peak.map_or_else(|| "-".to_owned(), |peak| mebibytes(peak.bytes));
    let fault = fault(command_line, base, full);
    let remark = match (&fault, full) {
        (Some(fault), _) => format!("  {fault}"),
        (None, None) => "  (not run at full size: it would need a temporary file of that size)".to_owned(),
        (None, Some(_)) => String::new(),
    };
    println!(
        "{:>9} {:>9} {:>9}  {:<8} {:>7.1}  {}{remark}",
        shown(base),
        shown(full),
        mebibytes(bound(command_line)),
        feed.name(),
        full.or(base).map_or(0.0, |peak| peak.time.as_secs_f64()),
        command_line.arguments,
    );
    fault.is_none()
}

/// Returns the first broken promise.
fn fault(command_line: &CommandLine, base: Option<&Peak>, full: Option<&Peak>) -> Option<String> {
    let peaks = || base.into_iter().chain(full);
    if let Some(failure) = peaks().find_map(|peak| peak.failure.as_ref()) {
        return Some(format!("FAILED: {failure}"));
    }
    if peaks().any(|peak| peak.bytes > bound(command_line)) {
        return Some("OVER THE BOUND".to_owned());
    }
    let (base, full) = base.zip(full)?;
    (command_line.budget == 0 && grows(base.bytes, full.bytes)).then(|| "GROWS".to_owned())
}

fn bound(command_line: &CommandLine) -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    ALLOWED + threads * WINDOWS_PER_THREAD + command_line.budget
}

/// True for growth above 5 % and above the noise.
fn grows(base: u64, full: u64) -> bool {
    full > base + (base / 20).max(JITTER)
}

/// Returns the generated file of that form and size, and writes it first if it does not exist.
fn generated_file(folder: &Path, form: Form, size: u64) -> Result<PathBuf, Box<dyn Error>> {
    let path = folder.join(format!("events-{size}.{}", form.extension()));
    if !path.exists() {
        eprintln!("writing {} ({})", path.display(), gibibytes(size));
        let partial = path.with_extension("partial");
        records::write(&partial, form, size).map_err(|error| format!("{}: {error}", partial.display()))?;
        fs::rename(&partial, &path)?;
    }
    Ok(path)
}

/// Loads a file into the page cache by reading it through a map. Writing, or reading otherwise,
/// caches a file in smaller folios, of which a map makes less resident at a time. The difference is
/// some MiB, and would look like growth if only the larger file had been read from the disk through
/// a map.
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
    fn growth_exceeds_five_percent_and_jitter() {
        assert!(!grows(10 * MIB, 14 * MIB));
        assert!(grows(10 * MIB, 14 * MIB + 1));
        assert!(!grows(100 * MIB, 105 * MIB));
        assert!(grows(100 * MIB, 105 * MIB + 1));
    }

    #[test]
    fn finds_faults_of_either_size() {
        let measured = command_line(Form::Lines, "count FILE $", 0);
        let peak = |mib: u64, failure: Option<&str>| Peak {
            bytes: mib * MIB,
            time: std::time::Duration::ZERO,
            failure: failure.map(str::to_owned),
        };
        let fault = |base: Peak, full: Option<Peak>| fault(&measured, Some(&base), full.as_ref());
        assert_eq!(fault(peak(10, None), Some(peak(11, None))), None);
        assert_eq!(fault(peak(10, None), None), None);
        assert_eq!(fault(peak(10, Some("killed")), Some(peak(10, None))).unwrap(), "FAILED: killed");
        assert_eq!(fault(peak(10, None), Some(peak(1000, None))).unwrap(), "OVER THE BOUND");
        assert_eq!(fault(peak(10, None), Some(peak(20, None))).unwrap(), "GROWS");
    }

    #[test]
    fn every_command_line_names_its_file() {
        assert!(COMMAND_LINES.iter().all(|command_line| {
            command_line.arguments.split(' ').filter(|word| *word == "FILE").count() == 1
        }));
    }
}
