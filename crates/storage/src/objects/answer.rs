//! Answers of services that are none of success, kept with their number and their reason.
//!
//! The library beneath tells them in a text with the address, which may hold a signature, and tries
//! again by rules of its own. Here an answer becomes an error of ours before the library sees it,
//! so that nothing is tried twice and no text has to be read.

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

/// What a service answered instead of success.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The service's own word for it, such as `SlowDown`; letters and digits.
    pub code: Option<String>,
    /// How long the service asks to be left alone.
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
    /// The answer that an error came from, if one came.
    pub(super) fn of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        chain(error).find_map(<dyn Error>::downcast_ref)
    }

    /// Whether what is missing is the bucket or the container, without which nothing can be there.
    pub(super) fn lacks_place(&self) -> bool {
        self.code.as_deref().is_some_and(|code| LACKING.contains(&code))
    }
}

/// Bytes of an answer in which its word is looked for.
const ENOUGH: usize = 64 << 10;

const LACKING: &[&str] = &["ContainerNotFound", "NoSuchBucket", "ResourceNotFound"];

/// An error and those it came from.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// Connects as the library does, and listens to what comes back.
#[derive(Debug, Default)]
pub(super) struct Listening;

impl HttpConnector for Listening {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Listener(ReqwestConnector::default().connect(options)?)))
    }
}

#[derive(Debug)]
struct Listener(HttpClient);

#[async_trait]
impl HttpService for Listener {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.0.execute(request).await?;
        let status = response.status().as_u16();
        // What the library tells apart by itself: not changed, not found, there already, changed
        // meanwhile, no such range.
        if status < 400 || matches!(status, 409 | 412 | 416) {
            return Ok(response);
        }
        let after = retry_after(response.headers());
        let named = plain(header(response.headers(), "x-ms-error-code"));
        if status == 404 && named.as_deref().is_some_and(|code| !LACKING.contains(&code)) {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        let text = if named.is_none() { beginning(body).await } else { String::new() };
        let answer = Answer { status, code: named.or_else(|| coded(&text)), after };
        if status == 404 && !answer.lacks_place() {
            return Ok(HttpResponse::from_parts(parts, text.into()));
        }
        Err(HttpError::new(HttpErrorKind::Unknown, answer))
    }
}

/// As much of an answer as tells why. An answer that breaks off has told enough.
async fn beginning(body: HttpResponseBody) -> String {
    let (mut text, mut pieces) = (Vec::new(), body.bytes_stream());
    while let Some(Ok(piece)) = pieces.next().await {
        text.extend_from_slice(&piece);
        if text.len() >= ENOUGH {
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

/// The word between `<Code>` and its end in an answer of S3.
fn coded(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    plain(rest.split_once('<').map(|(code, _)| code))
}

/// Nothing but a word, so that no message carries what a service echoes.
fn plain(code: Option<&str>) -> Option<String> {
    let code = code?.trim();
    let is_word = (1..=60).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_s3_is_found_and_nothing_else() {
        assert_eq!(coded("<Error><Code>SlowDown</Code></Error>").as_deref(), Some("SlowDown"));
        assert_eq!(coded("<Code>Slow Down key=abc</Code>"), None);
        assert_eq!(coded("no word"), None);
    }

    #[test]
    fn an_answer_is_found_below_other_errors() {
        let answer = Answer { status: 503, code: None, after: None };
        let below = HttpError::new(HttpErrorKind::Unknown, answer);
        let error = object_store::Error::Generic { store: "S3", source: Box::new(below) };
        assert_eq!(Answer::of(&error).map(|answer| answer.status), Some(503));
    }
}
