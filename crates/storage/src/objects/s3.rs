//! S3, and what speaks like it.

use std::sync::Arc;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use trommel_blocks::Result;

use super::answer::Listening;
use super::fault::ObjectFault;
use super::options::{Access, ObjectOptions};
use super::service::{client, endpoint, no_retry, refused};

/// Where S3 is asked when no region is named.
const REGION: &str = "us-east-1";

/// A bucket, and the address it is asked at.
pub(super) fn open(bucket: &str, options: &ObjectOptions) -> Result<(Arc<AmazonS3>, String)> {
    let region = options.region.as_deref().unwrap_or(REGION);
    let mut builder = AmazonS3Builder::new().with_bucket_name(bucket).with_region(region);
    builder = match &options.access {
        Access::Machine { .. } => builder,
        Access::S3Key { id, secret, token } => {
            let builder = builder.with_access_key_id(id).with_secret_access_key(secret.expose());
            token.iter().fold(builder, |builder, token| builder.with_token(token.expose()))
        }
        Access::Anonymous => builder.with_skip_signature(true),
        _ => {
            let needs = "a key of S3, or the machine's own, not one of Azure";
            return Err(ObjectFault::Access { scheme: "s3://", needs }.into());
        }
    };
    let address = match &options.endpoint {
        // Others than the vendor are asked for buckets in the path, as nobody answers for
        // `bucket.localhost`.
        Some(address) => {
            let address = endpoint(address, options.allow_http)?;
            builder =
                builder.with_endpoint(address.trim_end_matches('/')).with_virtual_hosted_style_request(false);
            address
        }
        None => format!("https://s3.{region}.amazonaws.com"),
    };
    let builder = builder
        .with_client_options(client(options, &address))
        .with_retry(no_retry())
        .with_http_connector(Listening);
    let store = builder.build().map_err(|error| refused("S3", &error))?;
    Ok((Arc::new(store), address))
}
