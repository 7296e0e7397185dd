//! The answer to a query, page by page.

use std::ops::ControlFlow;
use std::sync::Arc;

use azure_data_cosmos::feed::{ContinuationToken, QueryPageIterator};
use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions};
use azure_data_cosmos::{FeedScope, Query};
use futures::StreamExt;
use serde_json::value::RawValue;
use trommel_blocks::{Error, Result};
use trommel_session::Watch;

use super::failure::Failure;
use super::fault::CosmosFault;
use super::link::{Attempt, Link, Open};

/// Partitions of a container that a query over all of them may go to. The default of the official
/// crate refuses large containers.
const PARTITIONS: u32 = 10_000;

/// A query, and the documents it goes over.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) query: Query,
    /// Those of one value of the partition; without one, of all.
    pub(super) partition: Option<String>,
}

type Pages = QueryPageIterator<Box<RawValue>>;

/// A page, and how to get the next one.
struct Page {
    documents: Vec<Box<RawValue>>,
    rest: Pages,
    token: Option<ContinuationToken>,
}

impl Link {
    /// Gives away pages until there are none, or `take` breaks. A page that fails is asked for
    /// again where the one before it ended.
    pub(super) fn pages(
        &self,
        asked: &Asked,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Vec<Box<RawValue>>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (mut rest, mut token, mut is_first) = (None, None, true);
        loop {
            let mut tried = 0;
            let page = self.seed.options.retry.run(watch, |left| {
                let seed = Arc::clone(&self.seed);
                let (asked, from, token) = (asked.clone(), rest.take(), token.clone());
                self.once(watch, Attempt { tried: &mut tried, left }, async move {
                    let pages = match from {
                        Some(pages) => pages,
                        None if token.is_none() && !is_first => return Err(lost()),
                        None => begin(&seed.open().await?, asked, token, seed.options.page).await?,
                    };
                    next(pages).await
                })
            })?;
            let Some(page) = page else { return Ok(()) };
            if take(page.documents)?.is_break() {
                return Ok(());
            }
            (rest, token, is_first) = (Some(page.rest), page.token, false);
        }
    }
}

/// From the beginning would be twice.
fn lost() -> Failure {
    Error::from(CosmosFault::PositionLost).into()
}

async fn begin(
    open: &Open,
    asked: Asked,
    token: Option<ContinuationToken>,
    page: u32,
) -> std::result::Result<Pages, Failure> {
    let scope = asked.partition.map_or_else(FeedScope::full_container, FeedScope::partition);
    let mut options = QueryOptions::default();
    options.feed = options.feed.with_max_fan_out(PARTITIONS);
    if let Some(page) = std::num::NonZeroU32::new(page) {
        options.feed = options.feed.with_max_item_count(MaxItemCountHint::Limit(page));
    }
    if let Some(token) = token {
        options = options.with_continuation_token(token);
    }
    Ok(open.container.query_items(asked.query, scope, Some(options)).await?.into_pages())
}

async fn next(mut pages: Pages) -> std::result::Result<Option<Page>, Failure> {
    match pages.next().await {
        None => Ok(None),
        Some(page) => {
            let documents = page?.into_items();
            let token = pages.to_continuation_token().ok();
            Ok(Some(Page { documents, rest: pages, token }))
        }
    }
}
