//! `trommel guide`: builds, shows, verifies, and removes the guides of files.

use std::fs::File;
use std::path::Path;

use serde::Serialize;
use trommel::reader::{Input, MapPolicy};
use trommel::{Analysis, Document, framing_of};
use trommel_guide::{Error, Guide, Location, Part, SPACING};

use super::upkeep::{Signal, print};
use crate::args::{Framing, GuideArgs, GuideOperation, output_id};
use crate::errors::{Failure, QueryError};
use crate::home;
use crate::output::size::{binary, grouped};
use crate::output::tables::Grid;
use crate::output::{self, Screen, Stream, escape};

/// The maximum number of characters of a path in a table.
const PATH_CHARS: usize = 200;

/// What a guide knows.
#[derive(Serialize)]
struct Info {
    file: String,
    guide: String,
    guide_bytes: u64,
    input_bytes: u64,
    records: u64,
    /// The number of containers whose ends are known.
    containers: usize,
    /// The number of points at which reading can begin.
    points: usize,
    /// True if statistics, schema, and counts of paths are known.
    shape: bool,
}

pub(crate) fn run(args: &GuideArgs, screen: &Screen) -> Result<(), Failure> {
    match &args.operation {
        GuideOperation::Build { files, beside, input, json } => {
            let location = if *beside { Location::Beside } else { Location::Folder };
            let guides = home::guides()?;
            let mut built = Vec::with_capacity(files.len());
            for file in files {
                let guide = build(file, *input, screen)?;
                let path = guides.keep(file, &guide, location).map_err(|error| failure(file, error))?;
                built.push(Info::new(file, &guide, &path));
            }
            print(*json, screen.out, &built, || built.iter().map(|info| info.table(screen.out)).collect())
        }
        GuideOperation::Info { file, json } => {
            let info = match file.to_str().and_then(output_id) {
                Some(id) => Info::of_output(file, id)?,
                None => find(file).map(|(guide, path)| Info::new(file, &guide, &path))?,
            };
            print(*json, screen.out, &info, || info.table(screen.out))
        }
        GuideOperation::Verify { file, input } => {
            let (guide, _) = find(file)?;
            guide.check_names().map_err(|error| failure(file, error))?;
            if guide.has_points() {
                let fresh = build(file, *input, screen)?;
                if !guide.agrees(&fresh) {
                    let differs = "the file has other contents than the guide says";
                    return Err(failure(file, Error::Changed(differs)));
                }
            }
            verify_answers(file, &guide, screen)
        }
        GuideOperation::Parts { file, parts, each, json } => {
            let divided = divide(file, parts.get(), each.as_deref())?;
            print(*json, screen.out, &divided, || divided_table(&divided, screen.out))
        }
        GuideOperation::Rm { files } => {
            let guides = home::guides()?;
            for file in files {
                let removed = guides.remove(file).map_err(|error| failure(file, error))?;
                if removed.is_empty() {
                    return Err(failure(file, Error::Missing));
                }
                let lines = removed.iter().map(|path| format!("removed {}\n", shown(path)));
                output::print(&lines.collect::<String>())?;
            }
            Ok(())
        }
    }
}

/// The parts of a file.
#[derive(Serialize)]
struct Divided {
    each: String,
    parts: Vec<DividedPart>,
}

#[derive(Serialize)]
struct DividedPart {
    part: usize,
    /// The query that selects its elements.
    each: String,
    elements: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

fn divide(file: &Path, count: u64, each: Option<&str>) -> Result<Divided, Failure> {
    let opened = open(file)?;
    let failed = |error| failure(file, error);
    let (guide, _) = home::guides()?.find(file, &opened).map_err(failed)?;
    let each = if let Some(query) = each {
        QueryError::parse_option(query, "--each")?
    } else {
        let longest = guide.longest_array(&opened).map_err(failed)?;
        longest.ok_or_else(|| Failure::Usage {
            command: "guide parts",
            message: if guide.has_points() {
                "the guide knows no long array; name the elements, as in --each '$.users[*]'".to_owned()
            } else {
                "the guide has only an answer of `trommel stats`; build a whole one with `trommel guide build`".to_owned()
            },
        })?
    };
    if each.clone().with_last_slice(0, 0) == each {
        let message = format!("--each {each} does not end in [*], which the parts replace");
        return Err(Failure::Usage { command: "guide parts", message });
    }
    let input = Input::from_file(opened.try_clone()?, MapPolicy::never())?;
    let mut document = guide.guide(Document::from_input(input)?.framing(guide.framing()));
    let parts = guide.parts(&opened, &mut document, &each, count).map_err(failed)?;
    let part = |(number, part): (usize, Part)| DividedPart {
        part: number,
        each: each.clone().with_last_slice(part.elements.start, part.elements.end).to_string(),
        elements: part.elements.end - part.elements.start,
        bytes: part.bytes,
    };
    let parts = parts.into_iter().enumerate().map(part).collect();
    Ok(Divided { each: each.to_string(), parts })
}

fn divided_table(divided: &Divided, out: Stream) -> String {
    let mut grid = Grid::new(&["part", "elements", "size", "each"], &[true, true, true, false], out);
    for part in &divided.parts {
        let bytes = part.bytes.map_or_else(String::new, binary);
        let each = escape::short(&part.each, PATH_CHARS);
        grid.row([part.part.to_string(), grouped(part.elements), bytes, each]);
    }
    grid.text()
}

fn failure(file: &Path, error: Error) -> Failure {
    Failure::Guide { file: file.to_string_lossy().into_owned(), error: Box::new(error) }
}

fn shown(path: &Path) -> String {
    escape::short(&path.to_string_lossy(), PATH_CHARS)
}

fn open(file: &Path) -> Result<File, Failure> {
    File::open(file)
        .map_err(|cause| failure(file, trommel::Error::Open { path: file.to_owned(), cause }.into()))
}

/// Finds the guide of a file, and its path.
fn find(file: &Path) -> Result<(Guide, std::path::PathBuf), Failure> {
    let opened = open(file)?;
    home::guides()?.find(file, &opened).map_err(|error| failure(file, error))
}

/// Builds the guide of a file, with progress. A signal cancels it.
fn build(file: &Path, framing: Option<Framing>, screen: &Screen) -> Result<Guide, Failure> {
    let opened = open(file)?;
    let framing = framing.map_or_else(|| framing_of(file), Framing::records);
    let signal = Signal::listen(screen)?;
    let settings = signal.watch(Analysis::new());
    let built = Guide::build(&opened, framing, &settings, SPACING);
    signal.end()?;
    built.map_err(|error| failure(file, error))
}

/// Asks the questions of a guide's answers again, and compares, with progress.
fn verify_answers(file: &Path, guide: &Guide, screen: &Screen) -> Result<(), Failure> {
    let signal = Signal::listen(screen)?;
    let settings = signal.watch(Analysis::new());
    let framing = guide.framing();
    let opened = || Ok(Document::open(file)?.framing(framing));
    let verified = guide.verify_answers(&settings, opened);
    signal.end()?;
    verified.map_err(|error| failure(file, error))
}

impl Info {
    fn new(file: &Path, guide: &Guide, path: &Path) -> Self {
        let bytes = path.metadata().map_or(0, |found| found.len());
        Self::of(file, guide, path.to_string_lossy().into_owned(), bytes)
    }

    /// The guide that was stored with an output.
    fn of_output(file: &Path, id: &str) -> Result<Self, Failure> {
        let store = home::store()?;
        let stored = store.get(id)?;
        let guide = store.guide(&stored).map_err(|error| failure(file, error))?;
        let guide = guide.ok_or_else(|| failure(file, Error::Missing))?;
        let bytes = stored.guide.as_ref().map_or(0, |guide| guide.bytes);
        Ok(Self::of(file, &guide, "stored with the output".to_owned(), bytes))
    }

    fn of(file: &Path, guide: &Guide, guide_path: String, guide_bytes: u64) -> Self {
        let index = guide.index();
        Self {
            file: file.to_string_lossy().into_owned(),
            guide: guide_path,
            guide_bytes,
            input_bytes: index.length(),
            records: index.records(),
            containers: index.containers(),
            points: index.points(),
            shape: guide.has_shape(),
        }
    }

    fn table(&self, out: Stream) -> String {
        let mut grid = Grid::unnamed(&[false, true], out);
        grid.row(["file".into(), escape::short(&self.file, PATH_CHARS)]);
        grid.row(["guide".into(), escape::short(&self.guide, PATH_CHARS)]);
        grid.row(["size".into(), binary(self.guide_bytes)]);
        grid.row(["input".into(), binary(self.input_bytes)]);
        grid.row(["records".into(), grouped(self.records)]);
        grid.row(["containers".into(), grouped(self.containers as u64)]);
        grid.row(["points".into(), grouped(self.points as u64)]);
        grid.row(["shape".into(), if self.shape { "yes" } else { "no" }.to_owned()]);
        grid.text()
    }
}
