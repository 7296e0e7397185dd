//! Formats that an input may have instead of JSON, recognized by their first bytes.

/// A format that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    Xz,
    Bzip2,
    Zip,
    Lz4,
    Tar,
}

/// Offset of the magic bytes in a tar archive.
const TAR_MAGIC_OFFSET: usize = 257;

impl Foreign {
    /// Bytes needed to recognize a format that starts with this byte; 0 if none does.
    pub(crate) const fn needed(first: u8) -> usize {
        match first {
            0xFD => 6,
            b'B' => 3,
            b'P' | 0x04 => 4,
            _ => 0,
        }
    }

    /// The format of an input that starts with these bytes.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'B', b'Z', b'h', ..] => Some(Self::Bzip2),
            [b'P', b'K', 3, 4, ..] => Some(Self::Zip),
            [4, 0x22, 0x4D, 0x18, ..] => Some(Self::Lz4),
            _ => start
                .get(TAR_MAGIC_OFFSET..)
                .is_some_and(|magic| magic.starts_with(b"ustar"))
                .then_some(Self::Tar),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Zip => "zip",
            Self::Lz4 => "lz4",
            Self::Tar => "tar",
        }
    }

    pub(crate) const fn help(self) -> &'static str {
        match self {
            Self::Xz => "unpack it first: xz -dc FILE | trommel …",
            Self::Bzip2 => "unpack it first: bzip2 -dc FILE | trommel …",
            Self::Zip => "unpack it first: unzip -p FILE | trommel …",
            Self::Lz4 => "unpack it first: lz4 -dc FILE | trommel …",
            Self::Tar => "unpack it first: tar -xOf FILE | trommel …",
        }
    }
}

/// The advice for an input whose first line is not JSON, but looks like another text format.
pub(crate) fn text_help(line: &[u8]) -> Option<&'static str> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'.');
    let name = line.iter().take_while(|byte| is_name(byte)).count();
    match (line, line.get(name..)?) {
        ([b'<', ..], _) => Some("this looks like XML or HTML, and not like JSON"),
        ([b'-', b'-', b'-'], _) | ([_, ..], [b':'] | [b':', b' ', ..]) if name > 0 => {
            Some("this looks like YAML; convert it first: yq -o json FILE | trommel …")
        }
        (_, [b',' | b';' | b'\t', ..]) if name > 0 => {
            Some("this looks like CSV; convert it first: mlr --icsv --ojsonl cat FILE | trommel …")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_formats_are_recognized_by_their_first_line() {
        for (line, expected) in [
            ("a,b", "CSV"),
            ("name;size", "CSV"),
            ("first name\tlast", "CSV"),
            ("a: 1", "YAML"),
            ("items:", "YAML"),
            ("---", "YAML"),
            ("<?xml version=\"1.0\"?>", "XML"),
        ] {
            assert!(text_help(line.as_bytes()).is_some_and(|help| help.contains(expected)), "{line}");
        }
        for line in ["", "nul", "'a': 1", "a", "{a: 1}", "http://example.org", ": a", ",a", "\u{ff}"] {
            assert_eq!(text_help(line.as_bytes()), None, "{line}");
        }
    }
}
