//! `buffer_ops`: shows, searches, and exports the buffers that results and inputs were routed to.
//!
//! An answer is bounded by constants: a peek by 2,000 characters, a reading by 8,000, a search by
//! 100 hits of 300 characters and by 30,000 in all, a list by 100 buffers. A longer one is refused
//! with what would fit, or continues where `truncated` says.

mod arguments;
mod metadata;

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trommel_base::text::shown;
use trommel_route::look::{self, Expression, Hit, Hunt, Piece};
use trommel_route::{
    BufferInfo, Content, Destinations, ErrorClass, Listed, Origin, Route, Target, WriteMode, notice,
};
use trommel_tool::{Call, Failure, Metadata, Output, Permissions, Registry, RegistryError, Tool};

use crate::schema;
use crate::text::safe_json;
use arguments::{ARGUMENTS, Arguments, Operation, Range};
pub use metadata::NAME;

/// Buffers of a list.
const LISTED: usize = 100;

/// Adds the tool `buffer_ops` to a registry. It looks at the buffers of these places, and exports
/// to their files.
///
/// # Errors
/// When a tool of this name is there already.
pub fn register(registry: &Registry, places: &Destinations) -> Result<(), RegistryError> {
    registry.register(BufferOps::new(places, Permissions::ALL))
}

/// The tool.
struct BufferOps {
    metadata: Metadata,
    places: Destinations,
    permissions: Permissions,
}

impl BufferOps {
    fn new(places: &Destinations, permissions: Permissions) -> Self {
        Self { metadata: metadata::metadata(permissions), places: places.clone(), permissions }
    }

    /// An error for what the tool was not given leave to do.
    fn check_permitted(&self, arguments: &Arguments) -> Result<(), Failure> {
        let Permissions { write_files, replace_files, .. } = self.permissions;
        if arguments.operation != Operation::Export {
            return Ok(());
        }
        let why = if !write_files {
            "this step may only look at buffers: name the tool in it, `@tools buffer_ops`"
        } else if !replace_files && arguments.write_mode == Some(WriteMode::Replace) {
            "this step may not replace files: pass `write_mode` append or new, or write `@tools buffer_ops(write-mode=replace)` in it"
        } else {
            return Ok(());
        };
        Err(Failure::refused(why).with("code", ErrorClass::Unsupported.code()))
    }
}

/// What an operation answers.
type Answer = Result<Value, Failure>;

impl Tool for BufferOps {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let given = schema::given(&self.metadata.args_schema, call.arguments);
        let checked = arguments.check(given).and_then(|()| self.check_permitted(&arguments));
        checked.map_err(|failure| in_operation(arguments.operation, failure))?;
        let answer = Work {
            places: &self.places,
            arguments: &arguments,
            call,
            may_replace: self.permissions.replace_files,
        }
        .run();
        let answer = answer.map_err(|failure| in_operation(arguments.operation, failure))?;
        // Unsafe characters become escapes of the same value.
        let json = RawValue::from_string(safe_json(&answer.to_string()));
        json.map(Output::Json).map_err(|error| Failure::raised(&error))
    }

    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        let is_within = self.permissions.write_files <= permissions.write_files
            && self.permissions.replace_files <= permissions.replace_files;
        (!is_within).then(|| Arc::new(Self::new(&self.places, permissions)) as Arc<dyn Tool>)
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let arguments: Arguments = call.parse().ok()?;
        let (Operation::Export, Some(destination)) = (arguments.operation, &arguments.destination) else {
            return None;
        };
        let target = Target::parse(&format!("file:{destination}")).ok()?;
        let mode = arguments.write_mode.unwrap_or_default();
        let to = self.places.would_go(&Route::to(target).write_mode(mode)).ok()?;
        Some(format!("Would write the buffer {} to {to}", arguments.target.as_deref().unwrap_or("")))
    }
}

/// A failure with the operation's name before it.
fn in_operation(operation: Operation, failure: Failure) -> Failure {
    if failure.kind == trommel_tool::FailureKind::Cancelled {
        return failure;
    }
    let message = format!("{NAME} {operation}: {}", failure.message);
    let mut named = Failure::new(message);
    (named.kind, named.metadata, named.causes) = (failure.kind, failure.metadata, failure.causes);
    named
}

/// One call at work.
struct Work<'a, 'c> {
    places: &'a Destinations,
    arguments: &'a Arguments,
    call: &'a Call<'c>,
    may_replace: bool,
}

impl Work<'_, '_> {
    fn run(&self) -> Answer {
        match self.arguments.operation {
            Operation::List => self.list(),
            Operation::Info => self.buffer().map(|(info, _)| json!(info)),
            Operation::Peek => self.peek(),
            Operation::Read => self.read(),
            Operation::Search => self.search(),
            Operation::Export => self.export(),
        }
    }

    fn buffer(&self) -> Result<(BufferInfo, Content), Failure> {
        let (name, scope) = self.arguments.buffer()?;
        Ok(self.places.buffers().find(name, scope)?)
    }

    /// Tells how far it is, and goes on until the call is to end.
    fn watch(&self, total: u64) -> impl FnMut(u64) -> bool {
        move |bytes| {
            self.call.progress(bytes.min(total), Some(total));
            !self.call.cancel().is_cancelled()
        }
    }

    fn list(&self) -> Answer {
        let Listed { buffers: all, unreadable, .. } =
            self.places.buffers().list(self.arguments.lifetime()?)?;
        let skipped = usize::try_from(self.arguments.offset.unwrap_or(0)).unwrap_or(usize::MAX);
        let shown: Vec<_> = all.iter().skip(skipped).take(LISTED).collect();
        let mut answer = json!({"buffers": shown, "total": all.len()});
        if !unreadable.is_empty() {
            answer["unreadable"] = unreadable.iter().take(LISTED).map(String::as_str).collect();
        }
        let next = skipped.saturating_add(shown.len());
        if next < all.len() {
            cut(&mut answer, "limit", shown.len(), next as u64);
        }
        Ok(answer)
    }

    fn peek(&self) -> Answer {
        let (info, content) = self.buffer()?;
        let offset = self.arguments.offset.unwrap_or(0);
        let most = self.arguments.max_chars;
        let piece = look::peek(&info, &content, offset, most, &mut self.watch(info.bytes))?;
        let mut answer = of_piece(&info, &piece);
        let next = piece.offset + piece.chars;
        if next < info.chars {
            let returned = usize::try_from(piece.chars).unwrap_or(usize::MAX);
            cut(&mut answer, "max_chars", returned, next);
        }
        Ok(answer)
    }

    fn read(&self) -> Answer {
        let range = self.arguments.range()?;
        let (info, content) = self.buffer()?;
        let watch = &mut self.watch(info.bytes);
        match range {
            Range::Lines(start, end) => {
                let piece = look::lines(&info, &content, start, end, watch)?;
                let mut answer = of_piece(&info, &piece);
                (answer["start_line"], answer["end_line"]) = (json!(start), json!(end.min(info.lines)));
                Ok(answer)
            }
            Range::Chars(offset, length) => {
                Ok(of_piece(&info, &look::range(&info, &content, offset, length, watch)?))
            }
        }
    }

    fn search(&self) -> Answer {
        let (pattern, ..) = self.arguments.searched()?;
        let (info, content) = self.buffer()?;
        let expression =
            if self.arguments.plain { Expression::plain(pattern)? } else { Expression::regex(pattern)? };
        let hunt =
            Hunt::new(&expression).from(self.arguments.offset.unwrap_or(0)).context(self.arguments.context);
        let found = hunt.run(&info, &content, &mut self.watch(info.bytes))?;
        let hits: Vec<_> = found.hits.iter().map(of_hit).collect();
        let mut answer = json!({"buffer": info.name, "scope": info.scope, "hits": hits});
        if let Some(next) = found.next {
            cut(&mut answer, "limit", found.hits.len(), next);
        }
        Ok(answer)
    }

    fn export(&self) -> Answer {
        let destination = self.arguments.destination()?;
        let (info, content) = self.buffer()?;
        let target = Target::parse(&format!("file:{destination}"))?;
        let route = Route::to(target).write_mode(self.arguments.write_mode.unwrap_or_default());
        self.check_free(&route)?;
        let mut origin = Origin::of(NAME);
        origin.kind = format!("variable:{}", info.name);
        let mut parcel = self.places.open(&route, origin)?;
        let mut watch = self.watch(info.bytes);
        let mut reader = Watched { reader: content.reader(0), passed: 0, watch: &mut watch };
        io::copy(&mut reader, &mut parcel)
            .and_then(|_| parcel.flush())
            .map_err(|error| self.ended(&error))?;
        let manifest = parcel.finish()?;
        Ok(json!({
            "buffer": info.name,
            "scope": info.scope,
            "path": manifest.id,
            "write_mode": route.mode(),
            "bytes": manifest.size_bytes,
            "chars": manifest.size_chars,
            "notice": notice(&manifest)
        }))
    }

    fn ended(&self, error: &io::Error) -> Failure {
        if self.call.cancel().is_cancelled() { Failure::cancelled() } else { Failure::raised(error) }
    }

    /// An existing file is not written to unless the call says how.
    fn check_free(&self, route: &Route) -> Result<(), Failure> {
        let to = self.places.would_go(route)?;
        let path = to.strip_prefix("file:").unwrap_or(&to);
        if self.arguments.write_mode.is_none() && self.places.root()?.is_there(path) {
            let message = format!(
                "{} is there already: pass `write_mode` {}",
                shown(path, 200),
                if self.may_replace {
                    "append, replace, or new for another name"
                } else {
                    "append, or new for another name"
                }
            );
            let failure = Failure::refused(message).with("code", ErrorClass::Exists.code());
            return Err(failure.with(ARGUMENTS, json!(["write_mode"])));
        }
        Ok(())
    }
}

fn of_piece(info: &BufferInfo, piece: &Piece) -> Value {
    json!({
        "buffer": info.name,
        "scope": info.scope,
        "offset": piece.offset,
        "chars": piece.chars,
        "total_chars": info.chars,
        "total_lines": info.lines,
        "content": piece.text
    })
}

fn of_hit(hit: &Hit) -> Value {
    let mut row = json!({"line": hit.line, "column": hit.column, "offset": hit.offset, "text": hit.text});
    for (name, lines) in [("before", &hit.before), ("after", &hit.after)] {
        if !lines.is_empty() {
            row[name] = json!(lines);
        }
    }
    row
}

/// Says that an answer is not all, and where it goes on.
fn cut(answer: &mut Value, reason: &str, returned: usize, next: u64) {
    answer["truncated"] = json!({"reason": reason, "returned": returned, "next": next});
}

/// A reader that ends with the call.
struct Watched<'a, R> {
    reader: R,
    passed: u64,
    watch: look::Watch<'a>,
}

impl<R: io::Read> io::Read for Watched<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(bytes)?;
        self.passed += count as u64;
        if (self.watch)(self.passed) { Ok(count) } else { Err(io::Error::other("cancelled")) }
    }
}
