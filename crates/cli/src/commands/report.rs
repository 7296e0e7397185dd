//! `trommel report`: one page about an input, or about the differences of two.

mod broken;
mod inputs;
mod passes;
mod rows;
mod sample;

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use trommel_base::text::grouped;
use trommel_report::{Comparison, Report};

use crate::args::{PageArgs, ReportArgs};
use crate::arguments::Inputs;
use crate::errors::Failure;
use crate::output::{self, Screen};

/// Links that lead to a page; Linux follows as many.
const MAX_LINKS: usize = 40;

/// The mode of a new page, which the umask restricts.
const MODE: u32 = 0o666;

pub(crate) fn run(args: &ReportArgs, screen: &Screen) -> Result<(), Failure> {
    let usage = |message: &str| Failure::Usage { command: "report", message: message.into() };
    let files = Inputs::files(&args.files.arguments, "report")?;
    check_target(&args.page, "report", screen)?;
    let (page, are_whole) = if args.compare {
        let [before, after] = files.as_slice() else {
            return Err(usage("--compare takes two files: the earlier one and the later one"));
        };
        let name = |file: &Path| file.display().to_string();
        let heading = args.page.title.clone();
        let title = heading.unwrap_or_else(|| format!("{} and {}", name(before), name(after)));
        let (before, is_whole) = about(std::slice::from_ref(before), args, screen)?;
        let (after, are_whole) = about(std::slice::from_ref(after), args, screen)?;
        let comparison = Comparison { before, after };
        (comparison.page(&title, args.page.max_bytes()), is_whole && are_whole)
    } else {
        let (report, is_whole) = about(&files, args, screen)?;
        (report.page(args.page.max_bytes()).map_err(io::Error::other)?, is_whole)
    };
    write_page(&page, &args.page, "report")?;
    // The error of a broken input is reported, and on the page.
    if are_whole { Ok(()) } else { Err(Failure::AlreadyReported) }
}

/// Makes the report about the files as one sequence of records. Returns true if all of them could
/// be read.
fn about(files: &[PathBuf], args: &ReportArgs, screen: &Screen) -> Result<(Report, bool), Failure> {
    passes::report(&inputs::Repeatable::new(files, &args.source)?, args, screen)
}

/// Fails if a page would go to a terminal.
pub(super) fn check_target(args: &PageArgs, command: &'static str, screen: &Screen) -> Result<(), Failure> {
    if args.to.is_none() && screen.out.is_terminal {
        let message = "a page is not for a terminal; pass --to report.html".into();
        return Err(Failure::Usage { command, message });
    }
    Ok(())
}

/// Writes a page to a file, or to standard output, unless it is too large.
pub(super) fn write_page(page: &str, args: &PageArgs, command: &'static str) -> Result<(), Failure> {
    if page.len() > args.max_bytes() {
        let least = grouped(page.len() as u64);
        let message = format!("the smallest page has {least} bytes; raise --max-size");
        return Err(Failure::Usage { command, message });
    }
    match &args.to {
        Some(path) => write_file(path, page.as_bytes()),
        None => Ok(output::print(page)?),
    }
}

/// Writes a file that appears when it is complete. Links are followed, and pipes and devices are
/// written directly.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |cause, help| Failure::Target { file: path.display().to_string(), cause, help };
    let found = fs::metadata(path);
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        let written = File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes));
        return written
            .map_err(|cause| failed(cause, "pass the name of a file, which is written whole or not at all"));
    }
    let file = match found {
        Ok(_) => path.canonicalize(),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(link_target(path)),
        // A loop of links, for example.
        Err(cause) => Err(cause),
    };
    file.and_then(|file| write_whole(&file, bytes)).map_err(|cause| {
        failed(cause, "nothing was written; check the folder, its permissions, and the space on its disk")
    })
}

/// Resolves the links of a path to a file that does not exist yet.
fn link_target(path: &Path) -> PathBuf {
    let mut file = path.to_owned();
    // Loops are refused before, but links can change meanwhile.
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&file) else { break };
        file = file.parent().unwrap_or(Path::new("")).join(next);
    }
    file
}

/// Writes a file under another name, and renames it.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.flush()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
