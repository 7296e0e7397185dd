//! The input: opened again for every task, and read through a window from any value.

use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use trommel::reader::{self, Config, Cursor, Framing, Guide as _, Input, Kind, Limits, Span, Validation};
use trommel::{Cancel, Document};
use trommel_guide::{Below, Guide, Index};

/// Opens the input.
pub(crate) type Opener = Box<dyn Fn() -> io::Result<Input<'static>> + Send + Sync>;

/// A value: where it begins, its kind, and the number of containers around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub(crate) start: u64,
    pub(crate) kind: Kind,
    pub(crate) depth: u32,
}

/// What holds the listed rows: the stream of records, or an array or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Records,
    Value(Node),
}

/// An input that is explored.
pub struct Source {
    open: Opener,
    name: String,
    framing: Framing,
    limits: Limits,
    /// The bytes of a window, unless they are those of the engine.
    window: Option<usize>,
    guide: Mutex<Option<Arc<Guide>>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("framing", &self.framing)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Creates a source. `open` is called for every task, also on other threads. Inputs that are
    /// compressed or can be read only once do not work: every task begins at another offset.
    pub fn new(
        name: impl Into<String>,
        framing: Framing,
        open: impl Fn() -> io::Result<Input<'static>> + Send + Sync + 'static,
    ) -> Self {
        let limits = Limits::default();
        let (name, guide) = (name.into(), Mutex::new(None));
        Self { open: Box::new(open), name, framing, limits, window: None, guide }
    }

    /// Sets the limits on depth and tokens.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the size of the window, in bytes.
    #[must_use]
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = Some(bytes);
        self
    }

    /// Uses a guide of the input.
    #[must_use]
    pub fn guided_by(self, guide: Guide) -> Self {
        self.set_guide(Some(guide));
        self
    }

    pub(crate) fn set_guide(&self, guide: Option<Guide>) {
        let fits = guide.filter(|guide| guide.is_of(self.framing) && guide.index().is_within(&self.limits));
        *self.guide.lock().unwrap_or_else(PoisonError::into_inner) = fits.map(Arc::new);
    }

    pub(crate) fn guide(&self) -> Option<Arc<Guide>> {
        self.guide.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn index(&self) -> Option<Arc<Index>> {
        self.guide().map(|guide| Arc::clone(guide.index()))
    }

    /// The name in commands and titles.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) const fn framing(&self) -> Framing {
        self.framing
    }

    pub(crate) fn input(&self) -> io::Result<Input<'static>> {
        (self.open)()
    }

    /// The length now, in bytes.
    pub(crate) fn length(&self) -> io::Result<u64> {
        Ok(self.input()?.len())
    }

    fn from(&self, start: u64) -> reader::Result<Input<'static>> {
        let failed = |cause| reader::Error::io(cause, start);
        let input = self.input().map_err(failed)?;
        let end = input.len();
        let range = input.range(Span::new(start.min(end), end));
        range.ok_or_else(|| failed(io::Error::other("the length of the input is unknown")))
    }

    /// Calls `read` with a cursor before a value.
    pub(crate) fn read_value<T>(
        &self,
        node: Node,
        cancel: &Cancel,
        read: impl FnOnce(&mut Cursor<'_>) -> reader::Result<T>,
    ) -> reader::Result<T> {
        let input = self.from(node.start)?;
        let below = self.index().map(|index| Below::new(index, node.depth));
        let guide = below.as_ref().map(|below| below as &dyn reader::Guide);
        // What follows the value does not matter, as long as it is not read.
        let cursor = Cursor::from_input(&input, Framing::Concatenated, &self.config());
        let mut cursor = cursor.guided_by(guide).monitored(monitor(cancel));
        cursor.next_record()?;
        read(&mut cursor)
    }

    /// Calls `read` with a cursor before a record, which starts at an offset.
    pub(crate) fn read_records<T>(
        &self,
        start: u64,
        cancel: &Cancel,
        read: impl FnOnce(&mut Cursor<'_>) -> reader::Result<T>,
    ) -> reader::Result<T> {
        let input = self.from(start)?;
        let index = self.index();
        let guide = index.as_deref().map(|index| index as &dyn reader::Guide);
        let cursor = Cursor::from_input(&input, self.framing, &self.config());
        read(&mut cursor.guided_by(guide).monitored(monitor(cancel)))
    }

    fn config(&self) -> Config {
        let config = Config::new().limits(self.limits).validation(Validation::Structural);
        self.window.map_or(config, |window| config.window(window))
    }

    /// A document of the whole input.
    pub(crate) fn document(&self) -> io::Result<Document<'static>> {
        let document = Document::from_input(self.input()?)?.framing(self.framing);
        Ok(match self.guide() {
            Some(guide) => guide.guide(document),
            None => document,
        })
    }

    /// A document of one value.
    pub(crate) fn document_of(&self, value: Span) -> io::Result<Document<'static>> {
        let range = self.input()?.range(value);
        let range = range.ok_or_else(|| io::Error::other("the input has become shorter"))?;
        Ok(Document::from_input(range)?.framing(Framing::Single))
    }

    /// At most `count` bytes from an offset.
    pub(crate) fn bytes(&self, start: u64, count: usize) -> reader::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(count);
        self.from(start)?
            .reader()
            .take(count as u64)
            .read_to_end(&mut bytes)
            .map_err(|cause| reader::Error::io(cause, start))?;
        Ok(bytes)
    }
}

/// Ends the work of a cursor once it is cancelled.
fn monitor(cancel: &Cancel) -> reader::Monitor<'static> {
    let cancel = cancel.clone();
    Box::new(move |offset| {
        if cancel.is_cancelled() {
            return Err(reader::Error::io(io::ErrorKind::Interrupted.into(), offset));
        }
        Ok(())
    })
}
