//! The content of a result, for callers that want it whole.

use std::io::{self, Read};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use trommel_base::text::clip;
use trommel_store::{Store, Stored};
use trommel_tool::{Call, Failure, Output};

use crate::upstream::{Part, Reduced, Reply, Role};

/// The characters of an error that are passed on.
const ERROR_CHARS: usize = 10_000;

/// The content of a result: its structured content, or else its texts.
pub(super) struct Content<'r> {
    pieces: Vec<Piece<'r>>,
    /// The outputs that hold long values, also those that are not part of the content.
    stored: Vec<&'r Stored>,
    is_error: bool,
    /// The number of blocks that are not text, such as images.
    others: usize,
    /// True if there are texts besides the structured content.
    has_texts_besides: bool,
}

enum Piece<'r> {
    Inline(String),
    Stored(&'r Stored),
}

/// A block of content.
#[derive(Deserialize)]
struct Block {
    text: Option<String>,
    resource: Option<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    text: Option<String>,
}

impl<'r> Content<'r> {
    /// # Errors
    /// Returns the reason why the result has no content.
    pub(super) fn of(reply: &'r Reply) -> Result<Self, String> {
        match reply {
            Reply::Whole(text) => Self::of_whole(text),
            Reply::Reduced(reduced) => Self::of_reduced(reduced),
        }
    }

    fn of_whole(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Whole<'a> {
            #[serde(rename = "resultType")]
            kind: Option<String>,
            #[serde(default, borrow)]
            content: Vec<&'a RawValue>,
            #[serde(borrow, rename = "structuredContent")]
            structured: Option<&'a RawValue>,
            #[serde(default, rename = "isError")]
            is_error: bool,
        }
        let whole: Whole<'_> = serde_json::from_str(text)
            .map_err(|error| format!("the server sent an invalid result: {error}"))?;
        match whole.kind.as_deref() {
            None | Some("complete") => {}
            Some("input_required") => {
                return Err("the tool asks its user, which is not possible here".to_owned());
            }
            Some(kind) => return Err(format!("the server sent a result of the unknown type {kind}")),
        }
        let mut content = Self::empty(whole.is_error);
        let mut texts = Vec::new();
        for block in whole.content {
            match text_of(block.get()) {
                Some(text) => texts.push(text),
                None => content.others += 1,
            }
        }
        match whole.structured {
            Some(structured) if !is_repeated(structured, &texts) => {
                content.has_texts_besides = !texts.is_empty();
                content.pieces.push(Piece::Inline(structured.get().to_owned()));
            }
            _ => content.pieces.extend(texts.into_iter().map(Piece::Inline)),
        }
        Ok(content)
    }

    fn of_reduced(reduced: &'r Reduced) -> Result<Self, String> {
        let is_error = reduced.members.iter().any(|(name, value)| name == "isError" && value == "true");
        let mut content = Self::empty(is_error);
        let mut texts = Vec::new();
        let mut structured = Vec::new();
        for part in &reduced.parts {
            match part {
                Part::Verbatim(block) => match text_of(block) {
                    Some(text) => texts.push(Piece::Inline(text)),
                    None => content.others += 1,
                },
                Part::Stored { stored, role, .. } => {
                    content.stored.push(stored);
                    match role {
                        Role::Text => texts.push(Piece::Stored(stored)),
                        Role::Structured => structured.push(Piece::Stored(stored)),
                        Role::Block => content.others += 1,
                    }
                }
                Part::Lost { bytes, why, .. } => {
                    return Err(format!("the result of {bytes} bytes could not be stored: {why}"));
                }
            }
        }
        structured.extend(reduced.structured.clone().map(Piece::Inline));
        content.has_texts_besides = !structured.is_empty() && !texts.is_empty();
        content.pieces = if structured.is_empty() { texts } else { structured };
        Ok(content)
    }

    fn empty(is_error: bool) -> Self {
        Self { pieces: Vec::new(), stored: Vec::new(), is_error, others: 0, has_texts_besides: false }
    }

    /// Writes the content to the caller, and removes the outputs that held it on the way.
    pub(super) fn write(self, store: &Store, call: &mut Call<'_>) -> Result<Output, Failure> {
        let written = self.copy(store, call);
        for stored in &self.stored {
            if let Err(error) = store.delete(&stored.id) {
                call.note("warning", format!("the output {} was not removed: {error}", stored.id));
            }
        }
        written?;
        if self.others > 0 {
            call.note("omitted", format!("{} blocks that are not text", self.others));
        } else if self.has_texts_besides {
            call.note("omitted", "the texts besides the structured content");
        }
        Ok(Output::Nothing)
    }

    fn copy(&self, store: &Store, call: &mut Call<'_>) -> Result<(), Failure> {
        let failed = |error: &(dyn std::error::Error + 'static)| Failure::raised(error);
        if self.is_error {
            let texts = self.pieces.iter().map(|piece| match piece {
                Piece::Inline(text) => Ok(clip(text, ERROR_CHARS).into_owned()),
                Piece::Stored(stored) => start(store, stored).map_err(|error| failed(&error)),
            });
            return Err(Failure::new(texts.collect::<Result<Vec<_>, _>>()?.join("\n")));
        }
        for (index, piece) in self.pieces.iter().enumerate() {
            if index > 0 {
                call.writer().write_all(b"\n").map_err(|error| failed(&error))?;
            }
            match piece {
                Piece::Inline(text) => {
                    call.writer().write_all(text.as_bytes()).map_err(|error| failed(&error))?;
                }
                Piece::Stored(stored) => {
                    let mut payload = store.payload(stored).map_err(|error| failed(&error))?;
                    io::copy(&mut payload, call.writer()).map_err(|error| failed(&error))?;
                }
            }
        }
        Ok(())
    }
}

/// The start of a stored text.
fn start(store: &Store, stored: &Stored) -> io::Result<String> {
    let mut bytes = Vec::new();
    let payload = store.payload(stored).map_err(io::Error::other)?;
    // A character has at most four bytes. One more shows that there is more.
    payload.take(4 * (ERROR_CHARS as u64 + 1)).read_to_end(&mut bytes)?;
    Ok(clip(&String::from_utf8_lossy(&bytes), ERROR_CHARS).into_owned())
}

/// The text of a block, or of the resource in it.
fn text_of(block: &str) -> Option<String> {
    let Block { text, resource } = serde_json::from_str(block).ok()?;
    text.or_else(|| resource?.text)
}

/// True if structured content has only what the texts have: the same JSON, or the text in an
/// object.
fn is_repeated(structured: &RawValue, texts: &[String]) -> bool {
    let [text] = texts else { return false };
    let Ok(structured) = serde_json::from_str::<Value>(structured.get()) else { return false };
    let wrapped = structured.as_object().filter(|members| members.len() == 1);
    wrapped.is_some_and(|members| members.values().all(|value| value.as_str() == Some(text)))
        || serde_json::from_str::<Value>(text).is_ok_and(|value| value == structured)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inline(text: &str) -> Result<(Vec<String>, usize, bool), String> {
        let reply = Reply::Whole(text.to_owned());
        let content = Content::of(&reply)?;
        let pieces = content.pieces.iter().map(|piece| match piece {
            Piece::Inline(text) => text.clone(),
            Piece::Stored(stored) => stored.id.clone(),
        });
        Ok((pieces.collect(), content.others, content.has_texts_besides))
    }

    #[test]
    fn structured_content_counts_before_texts() {
        for (result, pieces, others, besides) in [
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
                vec!["a", "b"],
                0,
                false,
            ),
            (
                r#"{"content":[{"type":"text","text":"a"}],"structuredContent":{"x": 1.0}}"#,
                vec![r#"{"x": 1.0}"#],
                0,
                true,
            ),
            // What servers add for clients that read only one of both.
            (
                r#"{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":"a"}}"#,
                vec!["a"],
                0,
                false,
            ),
            (
                r#"{"content":[{"type":"text","text":"{\"x\":1}"}],"structuredContent":{"x":1}}"#,
                vec![r#"{"x":1}"#],
                0,
                false,
            ),
            (
                r#"{"content":[{"type":"image","data":""},{"type":"resource","resource":{"text":"r"}}]}"#,
                vec!["r"],
                1,
                false,
            ),
            (r#"{"structuredContent":[1],"resultType":"complete"}"#, vec!["[1]"], 0, false),
        ] {
            let pieces = pieces.into_iter().map(str::to_owned).collect();
            assert_eq!(inline(result), Ok((pieces, others, besides)), "{result}");
        }
        assert!(inline(r#"{"resultType":"input_required"}"#).unwrap_err().contains("asks its user"));
        assert!(inline(r#"{"resultType":"later"}"#).unwrap_err().contains("unknown type later"));
        assert!(inline("[]").unwrap_err().contains("invalid result"));
    }
}
