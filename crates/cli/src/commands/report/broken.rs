//! Documents that are broken at some offset: the data before it as a document of its own.

use std::io::{self, Read, Write};

use tempfile::NamedTempFile;

/// The state of a JSON text up to an offset, as far as it decides where the text can be cut.
#[derive(Debug, Default)]
struct Scan {
    /// The open containers, as the brackets that close them.
    open: Vec<u8>,
    is_in_string: bool,
    is_escaped: bool,
    at: u64,
    /// The last offset at which the containers can be closed.
    cut: Option<u64>,
}

impl Scan {
    /// Reads the next bytes.
    fn read(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.is_in_string && !self.is_escaped {
                let plain = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                self.at += plain as u64;
                bytes = &bytes[plain..];
            }
            let Some((&byte, rest)) = bytes.split_first() else { return };
            self.push(byte);
            bytes = rest;
        }
    }

    /// Reads a byte. A text can be cut after a bracket, and before a comma: the member or element
    /// before it is complete. Every bracket is a cut, so the containers that are open at the last
    /// cut stay open to the end.
    fn push(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_in_string => self.is_escaped = true,
            b'"' => self.is_in_string = !self.is_in_string,
            _ if self.is_in_string => {}
            b'{' | b'[' => {
                self.open.push(if byte == b'{' { b'}' } else { b']' });
                self.cut = Some(self.at + 1);
            }
            b'}' | b']' if self.open.last() == Some(&byte) => {
                self.open.pop();
                self.cut = Some(self.at + 1);
            }
            b',' => self.cut = Some(self.at),
            _ => {}
        }
        self.at += 1;
    }
}

impl Write for Scan {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.read(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the start of a document with its open containers closed. `None` if nothing is open.
pub(super) fn closed(start: &[u8]) -> Option<Vec<u8>> {
    let mut scan = Scan::default();
    scan.read(start);
    let cut = scan.cut?;
    if scan.open.is_empty() {
        return None;
    }
    scan.open.reverse();
    Some([&start[..usize::try_from(cut).ok()?], &scan.open].concat())
}

/// Copies the data before an error at `offset` into a file, and closes the containers that are open
/// there. Returns the number of bytes of the data. `None` if there are none, or if the copy would
/// have more than `limit` bytes.
pub(super) fn data_before(
    offset: u64,
    limit: u64,
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read + Send>>,
) -> io::Result<Option<(NamedTempFile, u64)>> {
    if offset > limit {
        return Ok(None);
    }
    let mut scan = Scan::default();
    io::copy(&mut open()?.take(offset), &mut scan)?;
    let Some(cut) = scan.cut else { return Ok(None) };
    if scan.open.is_empty() {
        return Ok(None);
    }
    let mut copy = NamedTempFile::new()?;
    io::copy(&mut open()?.take(cut), copy.as_file_mut())?;
    scan.open.reverse();
    copy.write_all(&scan.open)?;
    copy.flush()?;
    Ok(Some((copy, cut)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Option<String> {
        let bytes = text.as_bytes().to_vec();
        let mut open = || Ok(Box::new(io::Cursor::new(bytes.clone())) as Box<dyn Read + Send>);
        let (mut file, cut) = data_before(text.len() as u64, 1 << 20, &mut open).unwrap()?;
        let mut found = String::new();
        io::Seek::rewind(file.as_file_mut()).unwrap();
        file.read_to_string(&mut found).unwrap();
        assert!(found.starts_with(&text[..cut as usize]));
        Some(found)
    }

    #[test]
    fn broken_documents_end_after_their_last_value() {
        for (text, expected) in [
            (r#"{"a":[1,2,"x"#, Some(r#"{"a":[1,2]}"#)),
            (r#"{"a":[1,2],"b"#, Some(r#"{"a":[1,2]}"#)),
            (r#"{"a":[1,2],"b":{"c":nul"#, Some(r#"{"a":[1,2],"b":{}}"#)),
            (r#"[{"a":"]\"}","b":[["#, Some(r#"[{"a":"]\"}","b":[[]]}]"#)),
            ("[1", Some("[]")),
            ("[", Some("[]")),
            ("tru", None),
            ("", None),
            (r#""abc"#, None),
            ("[1]", None),
        ] {
            assert_eq!(cut(text).as_deref(), expected, "{text}");
        }
    }

    /// Every prefix of a document with open containers gives a document.
    #[test]
    fn all_prefixes_become_documents() {
        let text = r#" {"a" : [1.5, -2e3, "q\"]}", null], "b": {"c": {"d": [ [], {} , true]}}, "e": "\\"} "#;
        for end in 0..text.len() {
            if let Some(found) = cut(&text[..end]) {
                assert!(serde_json::from_str::<serde_json::Value>(&found).is_ok(), "{found}");
            } else {
                assert!(end < 2 || end + 1 >= text.len(), "{end}");
            }
        }
    }
}
