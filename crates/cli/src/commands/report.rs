//! `trommel report`: one page about an input, or about the differences of two.

mod broken;
mod inputs;
mod passes;
mod rows;

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use trommel_report::{Comparison, Report};

use crate::args::ReportArgs;
use crate::arguments::Inputs;
use crate::errors::Failure;
use crate::output::{self, Screen};

/// The mode of a new page, which the umask restricts.
const MODE: u32 = 0o666;

pub(crate) fn run(args: &ReportArgs, screen: &Screen) -> Result<(), Failure> {
    let usage = |message: &str| Failure::Usage { command: "report", message: message.into() };
    let files = Inputs::files(&args.files.arguments, "report")?;
    if args.to.is_none() && screen.out.is_terminal {
        return Err(usage("a page is not for a terminal; pass --to report.html"));
    }
    let page = if args.compare {
        let [before, after] = files.as_slice() else {
            return Err(usage("--compare takes two files: the earlier one and the later one"));
        };
        let name = |file: &Path| file.display().to_string();
        let heading = args.title.clone();
        let title = heading.unwrap_or_else(|| format!("{} and {}", name(before), name(after)));
        let before = about(std::slice::from_ref(before), args, screen)?;
        let after = about(std::slice::from_ref(after), args, screen)?;
        Comparison { before, after }.page(&title)
    } else {
        let report = about(&files, args, screen)?;
        let max_bytes = usize::try_from(args.max_size).unwrap_or(usize::MAX);
        report.page(max_bytes).map_err(io::Error::other)?
    };
    match &args.to {
        Some(path) => write_file(path, page.as_bytes()),
        None => Ok(output::print(&page)?),
    }
}

/// Makes the report about the files as one sequence of records.
fn about(files: &[PathBuf], args: &ReportArgs, screen: &Screen) -> Result<Report, Failure> {
    passes::report(&inputs::Repeatable::new(files, &args.source)?, args, screen)
}

/// Writes a file that appears when it is complete.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |cause: io::Error| {
        let message = format!("cannot write {}: {cause}", path.display());
        Failure::Output(io::Error::new(cause.kind(), message))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(MODE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(failed)?;
    file.persist(path).map(drop).map_err(|error| failed(error.error))
}
