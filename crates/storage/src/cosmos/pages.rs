//! Reads the answer to a query page by page.

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
use super::link::{Attempt, Link, OpenContainer};

/// The maximum number of partitions of a query over a whole container. The SDK's default rejects
/// large containers.
const MAX_PARTITIONS: u32 = 10_000;

/// A query with its scope.
#[derive(Clone)]
pub(super) struct PageQuery {
    pub(super) query: Query,
    /// The partition to query; `None` queries all.
    pub(super) partition: Option<String>,
}

type Pages = QueryPageIterator<Box<RawValue>>;

/// A page, with the iterator and the token that continue after it.
struct Page {
    documents: Vec<Box<RawValue>>,
    rest: Pages,
    token: Option<ContinuationToken>,
}

impl Link {
    /// Passes each page to `take` until the last one, or until `take` breaks. A failed page is
    /// requested again from the end of the page before it.
    pub(super) fn pages(
        &self,
        asked: &PageQuery,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Vec<Box<RawValue>>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (mut rest, mut token, mut is_first) = (None, None, true);
        loop {
            let mut tried = 0;
            let page = self.connection.options.retry.run(watch, |left| {
                let connection = Arc::clone(&self.connection);
                // An attempt consumes the iterator. A retry resumes from the continuation token
                // instead.
                let (asked, from, token) = (asked.clone(), rest.take(), token.clone());
                self.once(watch, Attempt { tried: &mut tried, left }, async move {
                    let pages = match from {
                        Some(pages) => pages,
                        None if token.is_none() && !is_first => return Err(position_lost()),
                        None => {
                            begin(&connection.open().await?, asked, token, connection.options.page).await?
                        }
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

/// Restarting from the first page would return pages twice.
fn position_lost() -> Failure {
    Error::from(CosmosFault::PositionLost).into()
}

async fn begin(
    open: &OpenContainer,
    asked: PageQuery,
    token: Option<ContinuationToken>,
    page: u32,
) -> std::result::Result<Pages, Failure> {
    let scope = asked.partition.map_or_else(FeedScope::full_container, FeedScope::partition);
    let mut options = QueryOptions::default();
    options.feed = options.feed.with_max_fan_out(MAX_PARTITIONS);
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
