//! `trommel search`: finds lines of text, and string values of JSON, by a pattern.
//!
//! Matches are printed as they are found. Several inputs are searched one after the other.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use trommel::Cancel;
use trommel::reader::Framing;
use trommel_search::{PatternMatch, PatternSearch, SearchContent, SearchPattern, SearchPosition};
use trommel_store::Stored;
use trommel_toolbox::outputs::OutputSource;

use crate::args::SearchArgs;
use crate::arguments::Inputs;
use crate::errors::Failure;
use crate::input::{Options, RawInput, SharedInputs};
use crate::output::{JsonStyle, MatchForm, MatchWriter, Notes, Out, Screen};
use crate::progress::Progress;
use crate::signals;

/// The maximum number of characters of a line or string in a pipe, and on a terminal.
const PIPE_CHARS: usize = 4_000;
const TERMINAL_CHARS: usize = 300;

/// The characters that suggest that a plain text was meant as an expression.
const EXPRESSION_CHARS: [char; 9] = ['*', '+', '?', '|', '^', '$', '\\', '[', '('];

pub(crate) fn run(args: &SearchArgs, screen: &Screen) -> Result<(), Failure> {
    let pattern = pattern(args)?;
    let files = Inputs::files(&args.files, "search")?;
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let as_json = args.json || !screen.out.is_terminal;
    let cancel = Cancel::new();
    let watch = Arc::clone(&progress);
    let mut search = PatternSearch::new(pattern)
        .max_chars(if as_json { PIPE_CHARS } else { TERMINAL_CHARS })
        .limits(args.source.limits())
        .cancel_with(&cancel)
        .on_progress(move |progress| watch.update(progress.bytes, progress.total));
    if let Some(count) = args.context {
        search = search.context(usize::from(count));
    }
    if let Some(threads) = args.source.threads {
        search = search.threads(threads.get());
    }
    let out = Out::new(Arc::clone(&progress), cancel)?;
    let (has_files, has_context) = (files.len() > 1, args.context.is_some_and(|count| count > 0));
    let style = JsonStyle { colored: as_json && screen.out.is_colored, ..JsonStyle::default() };
    let mut run = SearchRun {
        args,
        search,
        writer: MatchWriter::new(
            out.styled(style),
            MatchForm { as_json, has_files, has_context },
            screen.out,
        ),
        progress,
        has_failed: false,
    };
    if let Err(failure) = run.files(files) {
        run.writer.flush()?;
        return Err(failure);
    }
    run.finish()
}

fn pattern(args: &SearchArgs) -> Result<SearchPattern, Failure> {
    let compiled = if args.regex {
        SearchPattern::regex(&args.pattern, args.ignore_case)
    } else {
        SearchPattern::text(&args.pattern, args.ignore_case)
    };
    compiled.map_err(|fault| Failure::Usage { command: "search", message: fault.to_string() })
}

/// A search of several inputs.
struct SearchRun<'a> {
    args: &'a SearchArgs,
    search: PatternSearch,
    writer: MatchWriter,
    progress: Arc<Progress>,
    /// True if an input could not be opened, which was reported.
    has_failed: bool,
}

/// An input that is open.
enum Opened {
    Output(Box<Stored>),
    Raw(RawInput),
}

impl SearchRun<'_> {
    /// Searches all inputs. Of several, those that cannot be opened are reported.
    fn files(&mut self, files: Vec<PathBuf>) -> Result<(), Failure> {
        let shared = SharedInputs::default();
        let options = Options { is_one_of_several: files.len() > 1, ..Options::of_source(&self.args.source) };
        // An unknown ID is an error before anything is read.
        for file in &files {
            options.of_file(file.clone()).stored(&shared)?;
        }
        for file in files {
            let options = options.of_file(file);
            let opened = match open(&options, &shared) {
                Ok(opened) => opened,
                Err(failure) if options.is_one_of_several => {
                    self.progress.suspend(|| failure.report());
                    self.has_failed = true;
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            self.writer.begin_input(&options.name());
            let searched = self.file(&options, opened, &shared);
            self.progress.clear();
            searched?;
            if self.writer.is_limited() {
                break;
            }
        }
        Ok(())
    }

    /// Searches one input.
    fn file(&mut self, options: &Options, opened: Opened, shared: &SharedInputs) -> Result<(), Failure> {
        let Self { args, search, writer, .. } = self;
        let sink = &mut |found: PatternMatch| -> io::Result<ControlFlow<()>> {
            if args.limit.is_some_and(|limit| writer.total() >= limit) {
                writer.stop_at_limit();
                return Ok(ControlFlow::Break(()));
            }
            writer.write(found)?;
            Ok(ControlFlow::Continue(()))
        };
        let framing = options.declared_framing();
        let searched = match opened {
            Opened::Output(stored) => {
                let source = OutputSource::new(shared.store(options.mapping())?, &stored);
                let content = match options.framing {
                    None | Some(Framing::Auto) => source.content(),
                    Some(framing) => SearchContent::Json(framing),
                };
                search.run(&source, content, SearchPosition::default(), sink)
            }
            Opened::Raw(RawInput::File(file)) => search.run_file(&file, framing, sink),
            Opened::Raw(RawInput::Stream(reader)) => search.run_reader(reader, framing, sink),
        };
        searched.map(|_| ()).map_err(|error| options.failure(error))
    }

    /// Ends the answer.
    fn finish(mut self) -> Result<(), Failure> {
        self.writer.finish()?;
        let notes = Notes::new("", Arc::clone(&self.progress));
        let total = self.writer.total();
        if total == 0 && !self.args.regex && self.args.pattern.contains(EXPRESSION_CHARS) {
            notes.note("the pattern was searched as plain text; pass --regex for a regular expression");
        }
        if self.has_failed || self.args.exit_status && total == 0 {
            return Err(Failure::AlreadyReported);
        }
        Ok(())
    }
}

fn open(options: &Options, shared: &SharedInputs) -> Result<Opened, Failure> {
    if let Some(stored) = options.stored(shared)? {
        return Ok(Opened::Output(Box::new(stored)));
    }
    options.open_raw().map(Opened::Raw).map_err(|error| options.failure(error))
}
