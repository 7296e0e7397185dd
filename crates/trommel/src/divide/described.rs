//! The statistics of one document: the elements of its long array, described in stretches.

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use trommel_path::Matcher;
use trommel_reader::{Alike, Between, Config, Kind, Listener, Scalar, Span, Text};

use super::{Chain, DESCRIBED, Divide, Meeting, WRONG};
use crate::error::Error;
use crate::kept::release;
use crate::stats::Describing;

/// Bytes in which it shows which array goes on and on, at first.
const WATCHED: u64 = 64 << 10;

/// What was seen in a stretch of elements.
struct Described {
    span: Span,
    describing: Describing,
    characters: u64,
    /// Where the last element ended; nothing if there was an error, or the array has ended.
    end: Option<u64>,
}

/// What it takes to describe elements apart.
struct Apart {
    config: Config,
    between: Between,
    /// What has counted nothing so far.
    describing: Describing,
}

impl<'a> Divide<'a> {
    /// Describes the value that the matcher is in, on several threads as far as that goes.
    pub(super) fn describe_value(
        &self,
        config: &Config,
        matcher: &mut Matcher<'_, '_>,
        describing: &mut Describing,
    ) -> Result<(), Error> {
        let (mut fruitless, mut watched) = (0, WATCHED);
        while matcher.is_forwarding() && fruitless < WRONG {
            let Some(elements) = self.long_array(watched, matcher, describing)? else {
                watched = (2 * watched).min(WATCHED << 8);
                continue;
            };
            let joined = self.elements(&elements, config, matcher, describing)?;
            fruitless = if joined { 0 } else { fruitless + 1 };
        }
        Ok(matcher.forward(describing)?)
    }

    /// Watches for some bytes which array is never left, and goes behind the present element of it,
    /// if elements begin alike.
    fn long_array(
        &self,
        bytes: u64,
        matcher: &mut Matcher<'_, '_>,
        describing: &mut Describing,
    ) -> Result<Option<Alike<'a>>, Error> {
        let (depth, offset) = (matcher.cursor().depth(), matcher.cursor().offset());
        let mut watch = Watch { describing, depth, lowest: depth };
        matcher.forward_until(0, offset + bytes, &mut watch)?;
        let lowest = watch.lowest;
        if !matcher.is_forwarding() || matcher.cursor().kind_at(lowest) != Some(Kind::Array) {
            return Ok(None);
        }
        matcher.forward_until(lowest, u64::MAX, describing)?;
        Ok(matcher.cursor().between().and_then(|_| Alike::new(self.view, matcher.cursor().offset())))
    }

    /// Describes the elements behind the one where the matcher is; whether any were described
    /// apart.
    fn elements(
        &self,
        elements: &Alike<'a>,
        config: &Config,
        matcher: &mut Matcher<'_, '_>,
        describing: &mut Describing,
    ) -> Result<bool, Error> {
        let start = matcher.cursor().offset();
        let Some(between) = matcher.cursor().between() else { return Ok(false) };
        let Some(empty) = describing.apart() else { return Ok(false) };
        let mut chain = Chain::new(start, &between);
        let mut apart = Apart { config: *config, between, describing: empty };
        let mut characters = 0;
        let mut stretches = self.stretches(start, DESCRIBED, elements);
        let mut answers = Vec::new();
        self.threads.scope(|scope| scope.spawn(|_| answers = self.describe_all(&apart, &stretches)));
        while let Some(last) = stretches.last()
            && !chain.ended
        {
            // While these are joined, the next ones are described.
            stretches = self.stretches(last.end, DESCRIBED, elements);
            let Some(empty) = describing.apart() else { break };
            apart.describing = empty;
            let mut next = Vec::new();
            let joined = self.threads.scope(|scope| {
                scope.spawn(|_| next = self.describe_all(&apart, &stretches));
                let mut answers = std::mem::take(&mut answers).into_iter();
                answers.try_for_each(|stretch| {
                    characters += self.join_described(&apart, stretch, &mut chain, describing)?;
                    Ok::<(), Error>(())
                })
            });
            joined?;
            answers = next;
        }
        let cursor = matcher.cursor_mut();
        cursor.pass_chars(chain.at, characters);
        cursor.go_on_behind(chain.at, self.track.monitor(chain.at));
        Ok(chain.at > start)
    }

    /// Joins what was seen in the next stretch, or in its place from where the last element ended.
    /// Gives its characters.
    #[expect(clippy::expect_used, reason = "a stretch is a part of the view")]
    fn join_described(
        &self,
        apart: &Apart,
        mut stretch: Described,
        chain: &mut Chain,
        describing: &mut Describing,
    ) -> Result<u64, Error> {
        let until = stretch.span.end;
        match chain.meets(stretch.span) {
            Meeting::Fits => {}
            Meeting::Passed => return Ok(0),
            Meeting::Missed => stretch = self.describe(apart, Span::new(chain.at, until)),
        }
        let Some(end) = stretch.end else {
            // Whatever it is, it is met in turn.
            chain.ended = true;
            return Ok(0);
        };
        release(self.view.narrow(Span::new(chain.at, end)).expect("its elements are in the view"));
        describing.join(stretch.describing);
        chain.pass(end, &self.track)?;
        Ok(stretch.characters)
    }

    fn describe_all(&self, apart: &Apart, stretches: &[Span]) -> Vec<Described> {
        stretches.par_iter().map(|span| self.describe(apart, *span)).collect()
    }

    /// Describes the elements from behind one that ends at the beginning of a span up to the first
    /// that ends at its end or behind.
    fn describe(&self, apart: &Apart, span: Span) -> Described {
        let mut describing = apart.describing.clone();
        let mut cursor = self.cursor_between(&apart.between, span, &apart.config);
        let depth = cursor.depth();
        cursor.count_chars();
        let listened = cursor.listen(depth - 1, span.end, &mut describing);
        let listened = listened.and_then(|()| cursor.listen(depth, u64::MAX, &mut describing));
        let end = listened.ok().filter(|()| cursor.depth() == depth).map(|()| cursor.offset());
        let characters = end.map_or(0, |end| cursor.chars(end));
        Described { span, describing, characters, end }
    }
}

/// Sees how few containers were open.
struct Watch<'a> {
    describing: &'a mut Describing,
    depth: u32,
    lowest: u32,
}

impl Listener for Watch<'_> {
    fn wants_scalars(&self) -> bool {
        self.describing.wants_scalars()
    }

    fn begin(&mut self, kind: Kind, at: u64) {
        self.depth += 1;
        Listener::begin(self.describing, kind, at);
    }

    fn end(&mut self, kind: Kind, at: u64) {
        self.depth -= 1;
        self.lowest = self.lowest.min(self.depth);
        Listener::end(self.describing, kind, at);
    }

    fn name(&mut self, name: Text<'_>, at: u64) {
        self.describing.name(name, at);
    }

    fn scalar(&mut self, scalar: Scalar<'_>, at: u64) {
        self.describing.scalar(scalar, at);
    }
}
