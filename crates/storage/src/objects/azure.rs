//! Opens containers of Azure Blob Storage.

use std::sync::Arc;

use object_store::azure::{MicrosoftAzure, MicrosoftAzureBuilder};
use trommel_blocks::{Error, Result};

use super::answer::AnswerConnector;
use super::fault::ObjectFault;
use super::options::{Access, ObjectOptions};
use super::service::{client, endpoint, invalid_settings, no_retry};

/// The relevant parts of a connection string.
#[derive(Default)]
struct ConnectionString {
    account: Option<String>,
    key: Option<String>,
    signature: Option<String>,
    endpoint: Option<String>,
}

/// Creates a client of the container without connecting, and returns it with the service address.
pub(super) fn open(container: &str, options: &ObjectOptions) -> Result<(Arc<MicrosoftAzure>, String)> {
    let mut account = options.account.clone();
    let mut address = options.endpoint.clone();
    let mut builder = MicrosoftAzureBuilder::new().with_container_name(container);
    builder = match &options.access {
        Access::Machine { client_id } => {
            let builder = builder.with_credential_type("managed_identity");
            client_id.iter().fold(builder, MicrosoftAzureBuilder::with_client_id)
        }
        Access::AzureCli => builder.with_use_azure_cli(true),
        Access::AzureKey(key) => builder.with_access_key(key.expose()),
        Access::AzureSignature(signature) => {
            builder.with_sas_authorization(decode_signature(signature.expose()))
        }
        Access::AzureApplication { tenant_id, client_id, client_secret } => {
            builder.with_client_secret_authorization(client_id, client_secret.expose(), tenant_id)
        }
        Access::AzureConnectionString(text) => {
            let parts = parse(text.expose())?;
            account = account.or(parts.account);
            address = address.or(parts.endpoint);
            match (parts.key, parts.signature) {
                (Some(key), _) => builder.with_access_key(key),
                (None, Some(signature)) => builder.with_sas_authorization(decode_signature(&signature)),
                (None, None) => {
                    return Err(malformed("it has neither AccountKey nor SharedAccessSignature"));
                }
            }
        }
        Access::Anonymous => builder.with_skip_signature(true),
        Access::S3Key { .. } => {
            let needs = "credentials of Azure, not of S3";
            return Err(ObjectFault::Access { scheme: "az://", needs }.into());
        }
    };
    let account = account.ok_or(ObjectFault::NoAccount)?;
    let address = address.unwrap_or_else(|| format!("https://{account}.blob.core.windows.net"));
    let address = endpoint(&address, options.allow_http)?;
    let builder = builder
        .with_account(account)
        .with_endpoint(address.trim_end_matches('/').to_owned())
        .with_client_options(client(options, &address))
        .with_retry(no_retry())
        .with_http_connector(AnswerConnector);
    let store = builder.build().map_err(|error| invalid_settings("Azure Blob", &error))?;
    Ok((Arc::new(store), address))
}

fn malformed(why: &'static str) -> Error {
    ObjectFault::ConnectionString { why }.into()
}

fn parse(text: &str) -> Result<ConnectionString> {
    let (mut parts, mut suffix, mut protocol) = (ConnectionString::default(), None, None);
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').ok_or_else(|| malformed("one of its parts has no `=`"))?;
        let value = Some(value.to_owned());
        match name.trim().to_ascii_lowercase().as_str() {
            "accountname" => parts.account = value,
            "accountkey" => parts.key = value,
            "sharedaccesssignature" => parts.signature = value,
            "blobendpoint" => parts.endpoint = value,
            "endpointsuffix" => suffix = value,
            "defaultendpointsprotocol" => protocol = value,
            // A connection string also has the addresses of other services.
            _ => {}
        }
    }
    if let (None, Some(account), Some(suffix)) = (&parts.endpoint, &parts.account, suffix) {
        let protocol = protocol.unwrap_or_else(|| "https".to_owned());
        parts.endpoint = Some(format!("{protocol}://{account}.blob.{suffix}"));
    }
    if parts.account.is_none() {
        parts.account = parts.endpoint.as_deref().and_then(account_of);
    }
    Ok(parts)
}

/// Returns the account name from the address of its blobs.
fn account_of(endpoint: &str) -> Option<String> {
    let (_, rest) = endpoint.split_once("://")?;
    rest.split_once(".blob.").map(|(account, _)| account.to_owned())
}

/// Decodes the parameters of a signature; the library encodes them again.
fn decode_signature(signature: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(signature.trim().trim_start_matches('?').as_bytes()).into_owned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_strings_have_account_key_and_address() {
        let parts =
            parse("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=a2V5==;EndpointSuffix=core.x");
        let parts = parts.unwrap();
        assert_eq!(parts.account.as_deref(), Some("a"));
        assert_eq!(parts.key.as_deref(), Some("a2V5=="));
        assert_eq!(parts.endpoint.as_deref(), Some("https://a.blob.core.x"));
    }

    #[test]
    fn the_account_comes_from_the_address_if_it_is_missing() {
        let parts =
            parse("BlobEndpoint=https://b.blob.core.windows.net/;SharedAccessSignature=sv=1&sig=a%2Bb%3D");
        let parts = parts.unwrap();
        assert_eq!(parts.account.as_deref(), Some("b"));
        let signature = parts.signature.unwrap();
        assert_eq!(decode_signature(&signature)[1], ("sig".to_owned(), "a+b=".to_owned()));
    }

    #[test]
    fn errors_do_not_repeat_the_connection_string() {
        let error = parse("SENTINEL").err().unwrap().to_string();
        assert!(!error.contains("SENTINEL"), "{error}");
    }
}
