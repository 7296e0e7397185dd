//! Stored outputs as resources: `trommel://output/ID`.

use serde_json::{Value, json};
use trommel_store::{ErrorClass, Filter, Kind, Stored};
use trommel_tool::Output;

use crate::era::Era;
use crate::own::OwnTools;
use crate::render::ResultText;
use trommel_base::Cancel;

/// The start of the URI of an output.
const PREFIX: &str = "trommel://output/";

/// The number of outputs in a page of the list.
const PAGE: u64 = 100;

/// How long a client may keep the list of outputs.
const LIST_TTL_MS: u64 = 1_000;

/// How long a client may keep an output. Outputs never change.
const READ_TTL_MS: u64 = 86_400_000;

/// The largest payload that a read returns whole, in characters.
const WHOLE_CHARS: u64 = 30_000;

/// The reason why a resource cannot be read.
pub(crate) enum ResourceError {
    /// Invalid parameters: the message names the fault.
    Invalid(String),
    /// The resource does not exist.
    NotFound(String),
    /// The store failed.
    Failed(String),
}

/// The URI of an output.
pub(crate) fn uri(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// True for the URI of a stored output, also of one that does not exist.
pub(crate) fn is_ours(uri: &str) -> bool {
    uri.starts_with("trommel:")
}

/// Describes an output.
pub(crate) fn describe(stored: &Stored) -> Value {
    json!({
        "uri": uri(&stored.id),
        "name": format!("{} {}", stored.tool_name, stored.id),
        "mimeType": mime_type(stored.kind),
        "size": stored.size_bytes
    })
}

fn mime_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Json => "application/json",
        Kind::JsonLines => "application/jsonl",
        _ => "text/plain",
    }
}

/// Returns a page of the list of outputs, the newest first, and the cursor of the next page.
pub(crate) fn list(
    own: &OwnTools,
    cursor: Option<&str>,
) -> Result<(Vec<String>, Option<String>), ResourceError> {
    let offset = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .map_err(|_not_ours| ResourceError::Invalid("unknown cursor: list from the start".into()))?,
    };
    let mut filter = Filter::default();
    (filter.limit, filter.offset) = (PAGE, offset);
    let page = own.store.list(&filter).map_err(|error| ResourceError::Failed(error.to_string()))?;
    let rows = page.rows.iter();
    let resources = rows.map(|row| {
        json!({
            "uri": uri(&row.id),
            "name": format!("{} {}", row.tool_name, row.id),
            "mimeType": row.kind.map_or("text/plain", mime_type),
            "size": row.size_bytes
        })
        .to_string()
    });
    let next = offset + page.rows.len() as u64;
    Ok((resources.collect(), (next < page.total).then(|| next.to_string())))
}

/// The templates of the URIs of values in outputs.
pub(crate) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": format!("{PREFIX}{{id}}{{?path,cursor}}"),
        "name": "stored output",
        "description": "A value in a stored tool output, page by page: path is a JSONPath to one value, cursor continues a page",
        "mimeType": "application/json"
    })]
}

/// How long a client may keep a list.
pub(crate) fn cached_list(text: ResultText) -> ResultText {
    text.cached(LIST_TTL_MS, "private")
}

/// Reads an output, or a page of a value in it.
pub(crate) fn read(own: &OwnTools, uri: &str, era: Era, cancel: Cancel) -> Result<String, ResourceError> {
    let Address { id, path, cursor } = Address::parse(uri)?;
    let stored = own.store.get(&id).map_err(|error| not_readable(&id, &error))?;
    let is_page = path.is_some() || cursor.is_some() || stored.characters > WHOLE_CHARS;
    let (mime, text) = if is_page {
        ("application/json", page(own, &stored.id, path, cursor, cancel)?)
    } else {
        (mime_type(stored.kind), whole(own, &stored)?)
    };
    let content = json!([{ "uri": uri, "mimeType": mime, "text": text }]);
    Ok(ResultText::new(era).member("contents", &content).cached(READ_TTL_MS, "private").finish())
}

fn not_readable(id: &str, error: &trommel_store::Error) -> ResourceError {
    if error.class() == ErrorClass::NotFound {
        ResourceError::NotFound(format!("no stored output has the id {id}: list the resources for ids"))
    } else {
        ResourceError::Failed(error.to_string())
    }
}

/// Returns a payload of at most [`WHOLE_CHARS`].
fn whole(own: &OwnTools, stored: &Stored) -> Result<String, ResourceError> {
    let failed = |error: String| ResourceError::Failed(format!("cannot read {}: {error}", stored.id));
    let mut payload = own.store.payload(stored).map_err(|error| failed(error.to_string()))?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut payload, &mut bytes).map_err(|error| failed(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the answer of the tool that reads a value page by page.
fn page(
    own: &OwnTools,
    id: &str,
    path: Option<String>,
    cursor: Option<String>,
    cancel: Cancel,
) -> Result<String, ResourceError> {
    let mut arguments = json!({ "id": id });
    if let Some(path) = path {
        arguments["path"] = path.into();
    }
    if let Some(cursor) = cursor {
        arguments["cursor"] = cursor.into();
    }
    let execution = own.call("tool_outputs.read", arguments, cancel, &mut |_| {});
    match (execution.result.error, execution.result.output) {
        (Some(error), _) if error.kind.is_request() => Err(ResourceError::Invalid(error.message)),
        (Some(error), _) => Err(ResourceError::Failed(error.message)),
        (None, output) => {
            Ok(output.as_ref().map_or_else(String::new, |output| Output::as_str(output).to_owned()))
        }
    }
}

/// The parts of a URI.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    id: String,
    path: Option<String>,
    cursor: Option<String>,
}

impl Address {
    fn parse(uri: &str) -> Result<Self, ResourceError> {
        let unknown = || ResourceError::NotFound(format!("unknown resource {uri}: expected {PREFIX}ID"));
        let rest = uri.strip_prefix(PREFIX).ok_or_else(unknown)?;
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut address = Self { id: decode(id)?, path: None, cursor: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "path" => address.path = Some(decode(value)?),
                "cursor" => address.cursor = Some(decode(value)?),
                other => {
                    let message = format!("unknown parameter {other}: use path or cursor");
                    return Err(ResourceError::Invalid(message));
                }
            }
        }
        Ok(address)
    }
}

/// Decodes percent-encoded text (RFC 3986).
fn decode(text: &str) -> Result<String, ResourceError> {
    let invalid = || ResourceError::Invalid(format!("invalid percent-encoding in {text}"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(invalid()) };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_not_utf8| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_an_id_and_parameters() {
        let parsed = |uri| Address::parse(uri).ok();
        let address =
            Address { id: "01ab".into(), path: Some("$['a b'].é".into()), cursor: Some("x&".into()) };
        assert_eq!(parsed("trommel://output/01ab?path=$%5B'a%20b'%5D.%C3%A9&cursor=x%26"), Some(address));
        assert_eq!(
            parsed("trommel://output/01ab"),
            Some(Address { id: "01ab".into(), path: None, cursor: None })
        );
        for invalid in
            ["file:///etc/passwd", "trommel://output/a?x=1", "trommel://output/%zz", "trommel://output/%ff"]
        {
            assert_eq!(parsed(invalid), None, "{invalid}");
        }
    }
}
