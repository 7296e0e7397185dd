//! Opens buckets of S3 and compatible services.

use std::sync::Arc;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use trommel_blocks::Result;

use super::answer::AnswerConnector;
use super::fault::ObjectFault;
use super::options::{Access, ObjectOptions};
use super::service::{client, endpoint, invalid_settings, no_retry};

/// The region if none is configured.
const DEFAULT_REGION: &str = "us-east-1";

/// Creates a client of the bucket without connecting, and returns it with the service address.
pub(super) fn open(bucket: &str, options: &ObjectOptions) -> Result<(Arc<AmazonS3>, String)> {
    let region = options.region.as_deref().unwrap_or(DEFAULT_REGION);
    let mut builder = AmazonS3Builder::new().with_bucket_name(bucket).with_region(region);
    builder = match &options.access {
        Access::Machine { .. } => builder,
        Access::S3Key { id, secret, token } => {
            let builder = builder.with_access_key_id(id).with_secret_access_key(secret.expose());
            token.iter().fold(builder, |builder, token| builder.with_token(token.expose()))
        }
        Access::Anonymous => builder.with_skip_signature(true),
        _ => {
            let needs = "credentials of S3 or of this machine, not of Azure";
            return Err(ObjectFault::Access { scheme: "s3://", needs }.into());
        }
    };
    let address = match &options.endpoint {
        // Compatible services get the bucket in the path, because names such as `bucket.localhost`
        // do not resolve.
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
        .with_http_connector(AnswerConnector);
    let store = builder.build().map_err(|error| invalid_settings("S3", &error))?;
    Ok((Arc::new(store), address))
}
