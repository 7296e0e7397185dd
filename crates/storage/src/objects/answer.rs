//! Error answers of services, with their status, code, and pause.
//!
//! The object store library reports an error answer as a text that includes the address, which may
//! contain a signature, and retries by its own rules. [`AnswerConnector`] turns the answer into an
//! [`Answer`] before the library sees it. So nothing is retried twice, and no text is parsed.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};
use object_store::{ClientOptions, HeaderMap};

/// An error answer of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The service's error code, such as `SlowDown`; only letters and digits.
    pub code: Option<String>,
    /// The pause that the service asks for before the next request.
    pub after: Option<Duration>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        self.code.as_ref().map_or(Ok(()), |code| write!(f, " {code}"))
    }
}

impl Error for Answer {}

impl Answer {
    /// Returns the answer that caused the error, if any.
    pub(super) fn of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        chain(error).find_map(<dyn Error>::downcast_ref)
    }

    /// True if the bucket or container itself is missing.
    pub(super) fn is_missing_container(&self) -> bool {
        self.code.as_deref().is_some_and(|code| MISSING_CONTAINER_CODES.contains(&code))
    }
}

/// The number of bytes of a body that are searched for an error code.
const MAX_BODY_BYTES: usize = 64 << 10;

const MISSING_CONTAINER_CODES: &[&str] = &["ContainerNotFound", "NoSuchBucket", "ResourceNotFound"];

/// Returns the error and its sources.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// Connects as the library does, and checks the status of each response.
#[derive(Debug, Default)]
pub(super) struct AnswerConnector;

impl HttpConnector for AnswerConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(AnswerService(ReqwestConnector::default().connect(options)?)))
    }
}

#[derive(Debug)]
struct AnswerService(HttpClient);

#[async_trait]
impl HttpService for AnswerService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.0.execute(request).await?;
        let status = response.status().as_u16();
        // The library itself distinguishes these: conflict, failed precondition, invalid range.
        if status < 400 || matches!(status, 409 | 412 | 416) {
            return Ok(response);
        }
        let after = retry_after(response.headers());
        let named = plain_word(header(response.headers(), "x-ms-error-code"));
        // Object stores answer 404 for both an absent object, which is a normal result, and an
        // absent container, which is an error. Without a header only the body distinguishes them.
        if status == 404 && named.as_deref().is_some_and(|code| !MISSING_CONTAINER_CODES.contains(&code)) {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        let text = if named.is_none() { read_body_start(body).await } else { String::new() };
        let answer = Answer { status, code: named.or_else(|| s3_error_code(&text)), after };
        if status == 404 && !answer.is_missing_container() {
            return Ok(HttpResponse::from_parts(parts, text.into()));
        }
        Err(HttpError::new(HttpErrorKind::Unknown, answer))
    }
}

/// Reads the start of a body, which contains the error code. A body that breaks off is enough.
async fn read_body_start(body: HttpResponseBody) -> String {
    let (mut text, mut pieces) = (Vec::new(), body.bytes_stream());
    while let Some(Ok(piece)) = pieces.next().await {
        text.extend_from_slice(&piece);
        if text.len() >= MAX_BODY_BYTES {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let thousandths = ["retry-after-ms", "x-ms-retry-after-ms"].iter().find_map(|name| header(headers, name));
    if let Some(milliseconds) = thousandths.and_then(|text| text.trim().parse().ok()) {
        return Some(Duration::from_millis(milliseconds));
    }
    header(headers, "retry-after")?.trim().parse().ok().map(Duration::from_secs)
}

/// Returns the text of the `<Code>` element in an S3 answer.
fn s3_error_code(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    plain_word(rest.split_once('<').map(|(code, _)| code))
}

/// Returns the code only if it is one word, so that messages never repeat text that a service
/// echoes.
fn plain_word(code: Option<&str>) -> Option<String> {
    let code = code?.trim();
    let is_word = (1..=60).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_codes_are_single_words() {
        assert_eq!(s3_error_code("<Error><Code>SlowDown</Code></Error>").as_deref(), Some("SlowDown"));
        assert_eq!(s3_error_code("<Code>Slow Down key=abc</Code>"), None);
        assert_eq!(s3_error_code("no code"), None);
    }

    #[test]
    fn answers_are_found_among_sources() {
        let answer = Answer { status: 503, code: None, after: None };
        let cause = HttpError::new(HttpErrorKind::Unknown, answer);
        let error = object_store::Error::Generic { store: "S3", source: Box::new(cause) };
        assert_eq!(Answer::of(&error).map(|answer| answer.status), Some(503));
    }
}
