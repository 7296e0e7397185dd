//! Where the results of tools go: the executor's [`Delivery`].

mod choosing;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use trommel_base::text::{grouped, safe};
use trommel_tool::{
    About, Delivery, Failure, Finished, Manifest, PREVIEW_CHARS, Reason, ResultMode, Sink, Way,
};

use crate::destinations::{Destinations, Origin, Parcel};
use crate::error::Result;
use crate::mode::WriteMode;
use crate::pattern::Pattern;
use crate::target::{Route, Target};

pub use choosing::Choosing;

/// Where results go that nobody routed and that are too long for the caller, or that are kept: a
/// store.
pub trait Shelf: Send + Sync {
    /// Opens a place for one result, whose bytes are then written in order.
    fn open(&self, about: &About<'_>, reason: Reason) -> std::result::Result<Box<dyn Sink + '_>, Failure>;
}

/// Where the results of tools go, in this order:
///
/// 1. a [rule](Self::rule) for the tool: it is hard, so that `inline` means inline, whatever the
///    length;
/// 2. what the caller chose with the arguments `output` and `write_mode`, for tools that
///    [allow](Self::choosing) that;
/// 3. by length, to the [shelf](Self::shelf), or without one to a new buffer `TOOL_output_000`;
/// 4. inline.
///
/// A result is streamed to its place and never held; the caller gets the manifest, and so do the
/// events.
#[derive(Clone, Default)]
pub struct Router {
    destinations: Destinations,
    rules: BTreeMap<String, Route>,
    choosing: BTreeMap<String, Option<WriteMode>>,
    shelf: Option<Arc<dyn Shelf>>,
}

impl Router {
    /// Routes to these places; there are no rules yet.
    pub fn new(destinations: Destinations) -> Self {
        Self { destinations, rules: BTreeMap::new(), choosing: BTreeMap::new(), shelf: None }
    }

    /// Sets where the results of a tool go, by the name it is registered under.
    #[must_use]
    pub fn rule(mut self, tool: impl Into<String>, route: Route) -> Self {
        self.rules.insert(tool.into(), route);
        self
    }

    /// Lets the caller choose where the results of a tool go, and says how they are written where
    /// it does not. The tool is to be registered as [`Choosing`].
    #[must_use]
    pub fn choosing(mut self, tool: impl Into<String>, usual: Option<WriteMode>) -> Self {
        self.choosing.insert(tool.into(), usual);
        self
    }

    /// Sets where results go that nobody routed and that are too long.
    #[must_use]
    pub fn shelf(mut self, place: Arc<dyn Shelf>) -> Self {
        self.shelf = Some(place);
        self
    }

    /// The places.
    pub fn destinations(&self) -> &Destinations {
        &self.destinations
    }

    /// What the caller chose, if it may and did.
    fn chosen(&self, about: &About<'_>) -> Result<Option<Route>> {
        let Some(usual) = self.choosing.get(about.tool_name) else { return Ok(None) };
        let chosen = choosing::chosen(about.arguments)?;
        Ok(chosen.map(|route| Route { write_mode: route.write_mode.or(*usual), ..route }))
    }

    /// Opens a place for a result. Where the caller chose it, the caller may choose another one.
    fn routed(
        &self,
        route: &Route,
        about: &About<'_>,
        is_chosen: bool,
    ) -> std::result::Result<Routed<'_>, Failure> {
        let opened = self.destinations.open(route, Origin::of(about.tool_name));
        let tool = about.tool_name.to_owned();
        match opened {
            Ok(parcel) => Ok(Routed { parcel, tool, is_chosen, begins: None }),
            Err(error) => Err(lost(&tool, error.into(), is_chosen)),
        }
    }

    /// A buffer of the tool's own.
    fn overflow(&self, about: &About<'_>) -> std::result::Result<Box<dyn Sink + '_>, Failure> {
        let name = format!("{}_output", about.tool_name);
        let route = Route::to(Target::Variable(Pattern::literal(&name))).write_mode(WriteMode::New);
        let mut routed = self.routed(&route, about, false)?;
        routed.begins = Some(Vec::new());
        Ok(Box::new(routed))
    }
}

impl Delivery for Router {
    fn way(&self, about: &About<'_>, own: ResultMode) -> Way {
        let chosen = || self.chosen(about).ok().flatten().map(|route| route.target);
        match self.rules.get(about.tool_name).map(|route| route.target.clone()) {
            Some(Target::Inline) => Way::Caller,
            Some(_) => Way::Delivery,
            None if chosen().is_some_and(|target| target.is_routed()) => Way::Delivery,
            None => Way::ByLength(own),
        }
    }

    fn open(&self, about: &About<'_>, reason: Reason) -> std::result::Result<Box<dyn Sink + '_>, Failure> {
        if reason != Reason::Routed {
            return match &self.shelf {
                Some(place) => place.open(about, reason),
                None => self.overflow(about),
            };
        }
        let chosen = self.chosen(about).map_err(|error| not_routed(about.tool_name, error.into()))?;
        let rule = self.rules.get(about.tool_name);
        let route = rule.cloned().or(chosen).unwrap_or_default();
        Ok(Box::new(self.routed(&route, about, rule.is_none())?))
    }
}

/// Marks, in the metadata of a failed call, a result that was lost on the way to where a rule or
/// its length sends it.
pub const NOT_ROUTED: &str = "not_routed";

/// The failure of a result that did not get where it should, with the reason.
fn not_routed(tool: &str, failure: Failure) -> Failure {
    let message = format!("the result of {tool} was not routed: {}", failure.message);
    let mut told = Failure::new(message);
    (told.kind, told.metadata, told.causes) = (failure.kind, failure.metadata, failure.causes);
    told
}

/// The same, marked unless the caller chose the place.
fn lost(tool: &str, failure: Failure, is_chosen: bool) -> Failure {
    let failure = not_routed(tool, failure);
    if is_chosen { failure } else { failure.with(NOT_ROUTED, true) }
}

/// A result on its way.
struct Routed<'a> {
    parcel: Parcel<'a>,
    tool: String,
    is_chosen: bool,
    /// How it begins, where the caller is to see that.
    begins: Option<Vec<u8>>,
}

impl Write for Routed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.parcel.write(bytes)?;
        if let Some(begins) = &mut self.begins {
            let room = (4 * PREVIEW_CHARS).saturating_sub(begins.len());
            begins.extend(bytes.iter().take(count.min(room)));
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Routed<'_> {
    fn finish(self: Box<Self>, finished: &Finished) -> std::result::Result<Option<Manifest>, Failure> {
        let Self { parcel, tool, is_chosen, begins } = *self;
        let mut manifest = parcel.finish().map_err(|error| lost(&tool, error.into(), is_chosen))?;
        if let Some(begins) = begins {
            manifest.preview = preview(&begins, finished.chars);
        }
        Ok(Some(manifest))
    }
}

/// How a text begins, without characters that do something, and how much more there is.
fn preview(begins: &[u8], chars: u64) -> String {
    const LAST: usize = 60;
    let text = String::from_utf8_lossy(begins);
    let (mut shown, mut taken) = (String::new(), 0);
    for c in text.chars() {
        let mut one = [0; 4];
        let shown_as = safe(c.encode_utf8(&mut one)).into_owned();
        let safe = if matches!(c, '\n' | '\t') { c.to_string() } else { shown_as };
        if shown.chars().count() + safe.chars().count() > PREVIEW_CHARS - LAST {
            break;
        }
        shown.push_str(&safe);
        taken += 1;
    }
    match chars.saturating_sub(taken) {
        0 => shown,
        more => format!("{shown}… {} more characters", grouped(more)),
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router")
            .field("destinations", &self.destinations)
            .field("rules", &self.rules)
            .field("choosing", &self.choosing)
            .finish_non_exhaustive()
    }
}
