//! The grammar of values, with an explicit stack.

use super::error::{Error, ErrorKind};
use super::lexer::Lexer;
use super::tree::{Data, Document, Member, Parent, Span, Value, ValueId};

/// The default maximum number of open containers.
pub const DEPTH_LIMIT: usize = 10_000;

/// Parses a text that consists of one value and optional white space around it.
pub fn parse(bytes: &[u8]) -> Result<Document, Error> {
    parse_within(bytes, DEPTH_LIMIT)
}

/// Like [`parse`], with at most `depth` containers open at once.
pub fn parse_within(bytes: &[u8], depth: usize) -> Result<Document, Error> {
    let mut parser = Parser::new(bytes, bom_length(bytes));
    parser.limit = depth;
    parse_all(parser)
}

/// Returns the length of the byte order mark at the start of `bytes`.
pub(super) fn bom_length(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
}

/// Parses the remaining text as one value.
pub(super) fn parse_all(mut parser: Parser<'_>) -> Result<Document, Error> {
    parser.lexer.space();
    if parser.lexer.peek().is_none() {
        return Err(Error::new(parser.lexer.at, ErrorKind::Empty));
    }
    let document = parser.value()?;
    parser.lexer.space();
    match parser.lexer.peek() {
        None => Ok(document),
        Some(_) => Err(parser.lexer.error(ErrorKind::Trailing)),
    }
}

pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    limit: usize,
    values: Vec<Value>,
    open: Vec<ValueId>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { lexer: Lexer { bytes, at }, limit: DEPTH_LIMIT, values: Vec::new(), open: Vec::new() }
    }

    /// Parses the value at the current position.
    pub(super) fn value(&mut self) -> Result<Document, Error> {
        self.values.clear();
        self.open.clear();
        self.begin()?;
        while let Some(&container) = self.open.last() {
            self.advance(container)?;
        }
        Ok(Document { values: std::mem::take(&mut self.values) })
    }

    /// Continues in a container: reads its end, or its next child up to a scalar or an opening
    /// bracket.
    fn advance(&mut self, container: ValueId) -> Result<(), Error> {
        self.lexer.space();
        let (close, empty) = match &self.values[container.0].data {
            Data::Array(items) => (b']', items.is_empty()),
            Data::Object(members) => (b'}', members.is_empty()),
            _ => unreachable!("only containers are open"),
        };
        match self.lexer.peek() {
            Some(byte) if byte == close => {
                self.lexer.at += 1;
                self.end(container);
                self.open.pop();
                Ok(())
            }
            Some(b',') if !empty => {
                self.lexer.at += 1;
                self.lexer.space();
                self.child(container)
            }
            Some(_) if empty => self.child(container),
            _ => Err(self.lexer.error(ErrorKind::Byte)),
        }
    }

    fn child(&mut self, container: ValueId) -> Result<(), Error> {
        let value = ValueId(self.values.len());
        if let Data::Array(items) = &mut self.values[container.0].data {
            items.push(value);
            return self.begin();
        }
        let start = self.lexer.at;
        self.expect(b'"')?;
        let name = self.lexer.string()?;
        let name_span = Span::new(start, self.lexer.at);
        self.lexer.space();
        self.expect(b':')?;
        self.lexer.at += 1;
        self.lexer.space();
        if let Data::Object(members) = &mut self.values[container.0].data {
            members.push(Member { name, name_span, value });
        }
        self.begin()
    }

    fn expect(&self, byte: u8) -> Result<(), Error> {
        if self.lexer.peek() == Some(byte) { Ok(()) } else { Err(self.lexer.error(ErrorKind::Byte)) }
    }

    /// Reads a whole scalar, or a container's opening bracket.
    fn begin(&mut self) -> Result<(), Error> {
        let start = self.lexer.at;
        let data = match self.lexer.peek() {
            Some(b'{') => self.bracket(Data::Object(Vec::new()))?,
            Some(b'[') => self.bracket(Data::Array(Vec::new()))?,
            Some(b'"') => Data::String(self.lexer.string()?),
            Some(b'-' | b'0'..=b'9') => Data::Number(self.lexer.number()?),
            Some(b'n') => self.lexer.literal("null").map(|()| Data::Null)?,
            Some(b't') => self.lexer.literal("true").map(|()| Data::Bool(true))?,
            Some(b'f') => self.lexer.literal("false").map(|()| Data::Bool(false))?,
            _ => return Err(self.lexer.error(ErrorKind::Byte)),
        };
        let opens = matches!(data, Data::Array(_) | Data::Object(_));
        self.push(start, data);
        if opens {
            self.open.push(ValueId(self.values.len() - 1));
        }
        Ok(())
    }

    fn bracket(&mut self, data: Data) -> Result<Data, Error> {
        if self.open.len() >= self.limit {
            return Err(self.lexer.error(ErrorKind::Depth));
        }
        self.lexer.at += 1;
        Ok(data)
    }

    fn push(&mut self, start: usize, data: Data) {
        let id = ValueId(self.values.len());
        let parent = self.open.last().map(|&value| {
            let count = match &self.values[value.0].data {
                Data::Array(items) => items.len(),
                Data::Object(members) => members.len(),
                _ => unreachable!("only containers are open"),
            };
            Parent { value, position: count - 1 }
        });
        let span = Span::new(start, self.lexer.at);
        self.values.push(Value { span, data, depth: self.open.len() as u32 + 1, parent, end: id.0 + 1 });
    }

    fn end(&mut self, container: ValueId) {
        let end = self.values.len();
        let value = &mut self.values[container.0];
        value.span.end = self.lexer.at as u64;
        value.end = end;
    }
}
