//! JSON as Python values. Containers may be nested to any depth: nothing here recurses.

use num_bigint::BigInt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use trommel::reader::{self, Config, Cursor, Event, Framing, Limits, Payload, Scalar, View};

use crate::errors::{internal, of_reader};

/// Entries of the cache of names.
const NAMES: usize = 256;

/// The longest name that is cached, in bytes.
const MAX_NAME: usize = 32;

/// Decodes values, and keeps the strings of frequent names.
pub(crate) struct Decoder {
    config: Config,
    decimal: Option<Py<PyAny>>,
    names: Vec<Option<CachedName>>,
}

/// The string of a frequent name.
struct CachedName {
    bytes: Box<[u8]>,
    string: Py<PyString>,
}

/// The origin of decoded bytes, for errors.
#[derive(Clone, Copy)]
pub(crate) struct ByteOrigin<'a> {
    /// The offset of the first byte.
    pub(crate) offset: u64,
    /// What offsets count, if it is not the input.
    pub(crate) of: &'a str,
}

impl ByteOrigin<'static> {
    /// The input.
    pub(crate) fn input(offset: u64) -> Self {
        Self { offset, of: "" }
    }

    /// All of a text that `of` names.
    pub(crate) fn all(of: &'static str) -> Self {
        Self { offset: 0, of }
    }
}

/// An open container.
enum Open<'py> {
    List(Bound<'py, PyList>),
    Dict(Bound<'py, PyDict>),
}

impl Decoder {
    /// A decoder. With `decimal`, numbers that are not integers become `decimal.Decimal`.
    pub(crate) fn new(py: Python<'_>, decimal: bool) -> PyResult<Self> {
        let decimal = if decimal { Some(py.import("decimal")?.getattr("Decimal")?.unbind()) } else { None };
        let mut limits = Limits::default();
        (limits.depth, limits.token_bytes) = (Limits::MAX_DEPTH, u64::MAX);
        let names = (0..NAMES).map(|_| None).collect();
        Ok(Self { config: Config::new().limits(limits), decimal, names })
    }

    /// Another decoder with the same options.
    pub(crate) fn again(&self, py: Python<'_>) -> Self {
        let decimal = self.decimal.as_ref().map(|decimal| decimal.clone_ref(py));
        Self { config: self.config, decimal, names: (0..NAMES).map(|_| None).collect() }
    }

    /// Decodes a value. Errors show its origin.
    pub(crate) fn value<'py>(
        &mut self,
        py: Python<'py>,
        bytes: &[u8],
        ByteOrigin { offset, of }: ByteOrigin<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(value) = simple(py, bytes) {
            return Ok(value);
        }
        let mut cursor = Cursor::from_view(View::at(bytes, offset), Framing::Single, &self.config);
        let failed = |error: reader::Error| {
            let message = format!("{} at byte {}{of}", error.message(), error.offset());
            of_reader(py, &error, &message)
        };
        let mut open: Vec<Open<'py>> = Vec::new();
        let mut names: Vec<Bound<'py, PyString>> = Vec::new();
        loop {
            let event = if open.is_empty() { cursor.begin_value() } else { next(&mut cursor) };
            let value = match event.map_err(failed)? {
                Event::Name => {
                    let Some(name) = cursor.name() else { return Err(internal("a name was expected")) };
                    names.push(self.name(py, &name));
                    continue;
                }
                Event::Begin(reader::Kind::Array) => {
                    open.push(Open::List(PyList::empty(py)));
                    continue;
                }
                Event::Begin(_) => {
                    open.push(Open::Dict(PyDict::new(py)));
                    continue;
                }
                Event::End(_) => match open.pop() {
                    Some(Open::List(list)) => list.into_any(),
                    Some(Open::Dict(dict)) => dict.into_any(),
                    None => return Err(internal("a container ended twice")),
                },
                Event::Scalar(_) => {
                    let Payload::Scalar(scalar) = cursor.payload() else {
                        return Err(internal("a scalar was expected"));
                    };
                    self.scalar(py, scalar)?
                }
            };
            match open.last() {
                None => return Ok(value),
                Some(Open::List(list)) => list.append(value)?,
                Some(Open::Dict(dict)) => match names.pop() {
                    // Of members with one name, the first counts, as in queries.
                    Some(name) if !dict.contains(&name)? => dict.set_item(name, value)?,
                    Some(_) => {}
                    None => return Err(internal("a value has no name")),
                },
            }
        }
    }

    fn scalar<'py>(&self, py: Python<'py>, scalar: Scalar<'_>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match scalar {
            Scalar::Null => py.None().into_bound(py),
            Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
            Scalar::String(text) => PyString::new(py, &text.decode()).into_any(),
            Scalar::Number(number) => self.number(py, number.lexeme())?,
        })
    }

    fn number<'py>(&self, py: Python<'py>, lexeme: &str) -> PyResult<Bound<'py, PyAny>> {
        if lexeme.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            if let Ok(small) = lexeme.parse::<i64>() {
                return Ok(small.into_pyobject(py)?.into_any());
            }
            // Python's own conversion is quadratic, and limited to 4,300 digits.
            let big: BigInt = lexeme.parse().map_err(internal)?;
            let bytes = big.to_signed_bytes_le();
            let signed = PyDict::new(py);
            signed.set_item("signed", true)?;
            return py.get_type::<PyInt>().call_method(
                "from_bytes",
                (bytes.as_slice(), "little"),
                Some(&signed),
            );
        }
        match &self.decimal {
            Some(decimal) => decimal.bind(py).call1((lexeme,)),
            None => Ok(PyFloat::new(py, lexeme.parse().map_err(internal)?).into_any()),
        }
    }

    /// The string of a name, from the cache if it is there.
    fn name<'py>(&mut self, py: Python<'py>, name: &reader::Text<'_>) -> Bound<'py, PyString> {
        let decoded = name.decode();
        let bytes = decoded.as_bytes();
        if bytes.len() > MAX_NAME {
            return PyString::new(py, &decoded);
        }
        let hash = bytes.iter().fold(bytes.len(), |hash, &byte| hash.wrapping_mul(31) ^ usize::from(byte));
        let entry = &mut self.names[hash % NAMES];
        match entry {
            Some(CachedName { bytes: known, string }) if **known == *bytes => string.bind(py).clone(),
            _ => {
                let string = PyString::new(py, &decoded);
                *entry = Some(CachedName { bytes: bytes.into(), string: string.clone().unbind() });
                string
            }
        }
    }
}

/// Maximum digits of an integer of 64 bits.
const SMALL_DIGITS: usize = 18;

/// Decodes a small integer or a short string without escapes, which most extracted values are:
/// making a cursor takes longer. Returns None for any other value.
fn simple<'py>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
    match bytes {
        [b'"', text @ .., b'"'] if text.len() <= MAX_NAME => {
            let is_plain = text.iter().all(|&byte| byte >= b' ' && byte != b'"' && byte != b'\\');
            let text = if is_plain { std::str::from_utf8(text).ok()? } else { return None };
            Some(PyString::new(py, text).into_any())
        }
        [b'1'..=b'9', ..] if bytes.len() <= SMALL_DIGITS => {
            let digit =
                |number: i64, &byte: &u8| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'));
            let number = bytes.iter().try_fold(0, digit)?;
            Some(number.into_pyobject(py).ok()?.into_any())
        }
        _ => None,
    }
}

/// The next event within a container.
fn next(cursor: &mut Cursor<'_>) -> reader::Result<Event> {
    match cursor.advance()? {
        Some(event) => Ok(event),
        // A container is open, so its end or an error comes first.
        None => cursor.begin_value(),
    }
}
