//! Formats that an input may have instead of JSON, recognized by its first bytes.

/// A format that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader has an advice for each")]
pub enum Foreign {
    /// xz
    Xz,
    /// bzip2
    Bzip2,
    /// zip
    Zip,
    /// lz4
    Lz4,
    /// tar
    Tar,
    /// CSV
    Csv,
    /// YAML
    Yaml,
    /// XML or HTML
    Xml,
}

/// Offset of the magic bytes in a tar archive.
const TAR_MAGIC_OFFSET: usize = 257;

impl Foreign {
    /// The maximum number of bytes of the name at the start of a tar archive, with a zero after it.
    pub const TAR_NAME_BYTES: usize = 101;

    /// Bytes needed to recognize a tar archive.
    pub const TAR_BYTES: usize = TAR_MAGIC_OFFSET + b"ustar".len();

    /// Bytes needed to recognize a format that starts with this byte; 0 if none does.
    pub const fn needed(first: u8) -> usize {
        match first {
            0xFD => 6,
            b'B' => 3,
            b'P' | 0x04 => 4,
            _ => 0,
        }
    }

    /// The format of an input that starts with these bytes.
    pub fn of(start: &[u8]) -> Option<Self> {
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

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Zip => "zip",
            Self::Lz4 => "lz4",
            Self::Tar => "tar",
            Self::Csv => "CSV",
            Self::Yaml => "YAML",
            Self::Xml => "XML",
        }
    }

    /// What to do with it.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Xz => "unpack it first: xz -dc FILE | trommel …",
            Self::Bzip2 => "unpack it first: bzip2 -dc FILE | trommel …",
            Self::Zip => "unpack it first: unzip -p FILE | trommel …",
            Self::Lz4 => "unpack it first: lz4 -dc FILE | trommel …",
            Self::Tar => "unpack it first: tar -xOf FILE | trommel …",
            Self::Csv => "this looks like CSV; convert it first: mlr --icsv --ojsonl cat FILE | trommel …",
            Self::Yaml => "this looks like YAML; convert it first: yq -o json FILE | trommel …",
            Self::Xml => "this looks like XML or HTML, and not like JSON",
        }
    }
}

impl Foreign {
    /// The maximum number of bytes of the first line that can show a text format.
    pub const TEXT_BYTES: usize = 64;

    /// The text format that the first line suggests, from at most
    /// [`TEXT_BYTES`](Self::TEXT_BYTES).
    pub fn of_text(line: &[u8]) -> Option<Self> {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'.');
        let name = line.iter().take_while(|byte| is_name(byte)).count();
        match (line, line.get(name..)?) {
            ([b'<', ..], _) => Some(Self::Xml),
            ([b'-', b'-', b'-'], _) | ([_, ..], [b':'] | [b':', b' ', ..]) if name > 0 => Some(Self::Yaml),
            (_, [b',' | b';' | b'\t', ..]) if name > 0 => Some(Self::Csv),
            _ => None,
        }
    }

    /// True for text formats, which the first line only suggests.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Yaml | Self::Xml)
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
            let format = Foreign::of_text(line.as_bytes()).unwrap();
            assert!(format.is_text() && format.help().contains(expected), "{line}");
        }
        for line in ["", "nul", "'a': 1", "a", "{a: 1}", "http://example.org", ": a", ",a", "\u{ff}"] {
            assert_eq!(Foreign::of_text(line.as_bytes()), None, "{line}");
        }
    }
}
