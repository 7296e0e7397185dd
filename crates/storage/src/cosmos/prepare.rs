//! Creates the database and the container.

use std::sync::Arc;

use azure_data_cosmos::models::{
    CompositeIndex, CompositeIndexOrder, CompositeIndexProperty, ContainerProperties, IndexingMode,
    IndexingPolicy,
};
use trommel_blocks::Result;
use trommel_session::Watch;

use super::failure::{Failure, code};
use super::link::{Attempt, Link};

/// Creates the database and the container, unless they exist.
pub(super) fn prepare(link: &Link, watch: &Watch<'_>) -> Result<()> {
    let mut tried = 0;
    link.connection.options.retry.run(watch, |left| {
        let connection = Arc::clone(&link.connection);
        link.once(watch, Attempt { tried: &mut tried, left }, async move {
            let client = connection.client().await?;
            unless_exists(client.create_database(&connection.options.database, None).await)?;
            let database = client.database_client(connection.options.database.clone());
            let properties = container(connection.options.container.clone());
            unless_exists(database.create_container(properties, None).await)?;
            connection.open().await.map(|_| ())
        })
    })
}

fn unless_exists<T>(made: azure_data_cosmos::Result<T>) -> std::result::Result<(), Failure> {
    match made {
        Err(error) if code(&error) != 409 => Err(error.into()),
        _ => Ok(()),
    }
}

fn container(name: String) -> ContainerProperties {
    let policy = [["/user_id", "/timestamp"], ["/session_id", "/sequence"]]
        .into_iter()
        .map(|paths| paths.to_vec())
        .chain([vec!["/org_id", "/visibility", "/timestamp"]])
        .fold(IndexingPolicy::default(), |policy, paths| policy.with_composite_index(composite(&paths)))
        .with_indexing_mode(IndexingMode::Consistent)
        .with_included_path("/*")
        .with_excluded_path("/data/*");
    ContainerProperties::new(name, "/partitionKey".into()).with_indexing_policy(policy)
}

fn composite(paths: &[&str]) -> CompositeIndex {
    paths.iter().fold(CompositeIndex::default(), |index, path| {
        index.with_property(CompositeIndexProperty::new((*path).to_owned(), CompositeIndexOrder::Ascending))
    })
}
