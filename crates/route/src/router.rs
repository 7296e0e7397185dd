//! Routes the results of tools to their destinations, as the executor's [`Delivery`].

mod routable;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use trommel_base::text::{grouped, safe};
use trommel_tool::{
    About, Delivery, DeliveryMode, Failure, Finished, Manifest, PREVIEW_CHARS, Reason, ResultMode, Sink,
};

use crate::destinations::{Destinations, Origin, SpooledWrite};
use crate::error::Result;
use crate::mode::WriteMode;
use crate::pattern::Pattern;
use crate::target::{Route, Target};

pub use routable::{RoutableTool, with_choice};

/// A store for results that are too long to return, and for results that must be kept because of
/// the tool's result mode or the executor's limits. Results with a route never reach it.
pub trait OverflowStore: Send + Sync {
    /// Opens a sink for one result. The executor then writes the result's bytes in order.
    fn open(&self, about: &About<'_>, reason: Reason) -> std::result::Result<Box<dyn Sink + '_>, Failure>;
}

/// Routes the results of tools. The first of these that applies decides:
///
/// 1. A [rule](Self::rule) for the tool. A rule is strict: `inline` means inline for any length.
/// 2. The caller's choice in the arguments `output` and `write_mode`, for tools that
///    [allow](Self::allow_choice) it.
/// 3. The length: a long result goes to the [overflow store](Self::overflow_store). Without a
///    store, it goes to a new buffer, such as `TOOL_output_000`.
/// 4. Otherwise the caller gets the result inline.
///
/// The router streams a result to its destination, and never holds all of it in memory. The caller
/// and the executor's events get its manifest instead.
#[derive(Clone, Default)]
pub struct Router {
    destinations: Destinations,
    rules: BTreeMap<String, Route>,
    choices: BTreeMap<String, Option<WriteMode>>,
    overflow_store: Option<Arc<dyn OverflowStore>>,
}

impl Router {
    /// Creates a router that sends results to these destinations. It has no rules.
    pub fn new(destinations: Destinations) -> Self {
        Self { destinations, rules: BTreeMap::new(), choices: BTreeMap::new(), overflow_store: None }
    }

    /// Sets the route for the results of a tool, given its registered name.
    #[must_use]
    pub fn rule(mut self, tool: impl Into<String>, route: Route) -> Self {
        self.rules.insert(tool.into(), route);
        self
    }

    /// Lets the caller choose the destination of a tool's results. `default_mode` is the write mode
    /// for a choice without one. The tool must be registered as a [`RoutableTool`].
    #[must_use]
    pub fn allow_choice(mut self, tool: impl Into<String>, default_mode: Option<WriteMode>) -> Self {
        self.choices.insert(tool.into(), default_mode);
        self
    }

    /// Sets the store for long results that no rule or caller has routed.
    #[must_use]
    pub fn overflow_store(mut self, store: Arc<dyn OverflowStore>) -> Self {
        self.overflow_store = Some(store);
        self
    }

    /// Returns the route that the caller chose; `None` if the caller may not choose, or did not.
    fn caller_choice(&self, about: &About<'_>) -> Result<Option<Route>> {
        let Some(default_mode) = self.choices.get(about.tool_name) else { return Ok(None) };
        let chosen = routable::parse_choice(about.arguments)?;
        Ok(chosen.map(|route| Route { write_mode: route.write_mode.or(*default_mode), ..route }))
    }

    /// Opens the destination of a result. `is_chosen` is true if the caller chose the route. A
    /// failure is then not marked with [`NOT_ROUTED`], because the caller can choose another route.
    fn open_route(
        &self,
        route: &Route,
        about: &About<'_>,
        is_chosen: bool,
    ) -> std::result::Result<RoutedResult<'_>, Failure> {
        let opened = self.destinations.open(route, Origin::of(about.tool_name));
        let tool = about.tool_name.to_owned();
        match opened {
            Ok(write) => Ok(RoutedResult { write, tool, is_chosen, start: None }),
            Err(error) => Err(lost_result(&tool, error.into(), is_chosen)),
        }
    }

    /// Opens a new buffer for a result that is too long to return.
    fn open_overflow_buffer(&self, about: &About<'_>) -> std::result::Result<Box<dyn Sink + '_>, Failure> {
        let name = format!("{}_output", about.tool_name);
        let route = Route::to(Target::Variable(Pattern::literal(&name))).write_mode(WriteMode::New);
        let mut routed = self.open_route(&route, about, false)?;
        routed.start = Some(Vec::new());
        Ok(Box::new(routed))
    }
}

impl Delivery for Router {
    fn delivery_mode(&self, about: &About<'_>, own: ResultMode) -> DeliveryMode {
        // An invalid choice is not an error here: `RoutableTool` refuses the call with a message.
        let chosen = || self.caller_choice(about).ok().flatten().map(|route| route.target);
        match self.rules.get(about.tool_name).map(|route| route.target.clone()) {
            Some(Target::Inline) => DeliveryMode::Caller,
            Some(_) => DeliveryMode::Delivery,
            None if chosen().is_some_and(|target| target.is_routed()) => DeliveryMode::Delivery,
            None => DeliveryMode::ByLength(own),
        }
    }

    fn open(&self, about: &About<'_>, reason: Reason) -> std::result::Result<Box<dyn Sink + '_>, Failure> {
        if reason != Reason::Routed {
            return match &self.overflow_store {
                Some(store) => store.open(about, reason),
                None => self.open_overflow_buffer(about),
            };
        }
        let chosen = self.caller_choice(about).map_err(|error| not_routed(about.tool_name, error.into()))?;
        // A rule takes precedence over a choice.
        let rule = self.rules.get(about.tool_name);
        let route = rule.cloned().or(chosen).unwrap_or_default();
        Ok(Box::new(self.open_route(&route, about, rule.is_none())?))
    }
}

/// The metadata key that marks a failed call whose result is lost: it could not be written to the
/// destination of a rule, or to the buffer for a long result. A failure of a destination that the
/// caller chose is not marked.
pub const NOT_ROUTED: &str = "not_routed";

/// Explains in a failure that the result did not reach its destination.
fn not_routed(tool: &str, failure: Failure) -> Failure {
    let message = format!("the result of {tool} was not routed: {}", failure.message);
    let mut wrapped = Failure::new(message);
    (wrapped.kind, wrapped.metadata, wrapped.causes) = (failure.kind, failure.metadata, failure.causes);
    wrapped
}

/// Like `not_routed`, but also sets [`NOT_ROUTED`], unless the caller chose the destination.
fn lost_result(tool: &str, failure: Failure, is_chosen: bool) -> Failure {
    let failure = not_routed(tool, failure);
    if is_chosen { failure } else { failure.with(NOT_ROUTED, true) }
}

/// A result that is being routed.
struct RoutedResult<'a> {
    write: SpooledWrite<'a>,
    tool: String,
    is_chosen: bool,
    /// The start of the result, if the manifest needs a preview.
    start: Option<Vec<u8>>,
}

impl Write for RoutedResult<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.write.write(bytes)?;
        if let Some(start) = &mut self.start {
            // A character takes at most four bytes.
            let missing = (4 * PREVIEW_CHARS).saturating_sub(start.len());
            start.extend(bytes.iter().take(count.min(missing)));
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for RoutedResult<'_> {
    fn finish(self: Box<Self>, finished: &Finished) -> std::result::Result<Option<Manifest>, Failure> {
        let Self { write, tool, is_chosen, start } = *self;
        let mut manifest = write.finish().map_err(|error| lost_result(&tool, error.into(), is_chosen))?;
        if let Some(start) = start {
            manifest.preview = preview(&start, finished.chars);
        }
        Ok(Some(manifest))
    }
}

/// Formats a preview: the start of a text, escaped, and the number of characters after it.
fn preview(start: &[u8], total_chars: u64) -> String {
    const SUFFIX_CHARS: usize = 60;
    let text = String::from_utf8_lossy(start);
    let (mut preview, mut chars) = (String::new(), 0);
    for c in text.chars() {
        let mut utf8 = [0; 4];
        let escaped = safe(c.encode_utf8(&mut utf8)).into_owned();
        let displayed = if matches!(c, '\n' | '\t') { c.to_string() } else { escaped };
        if preview.chars().count() + displayed.chars().count() > PREVIEW_CHARS - SUFFIX_CHARS {
            break;
        }
        preview.push_str(&displayed);
        chars += 1;
    }
    match total_chars.saturating_sub(chars) {
        0 => preview,
        more => format!("{preview}… {} more characters", grouped(more)),
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router")
            .field("destinations", &self.destinations)
            .field("rules", &self.rules)
            .field("choices", &self.choices)
            .finish_non_exhaustive()
    }
}
