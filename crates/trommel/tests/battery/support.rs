//! Shared by the tests: sinks that remember, inputs of every kind, and answers of the oracles.

use std::io;
use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use trommel::path::Query;
use trommel::reader::{Framing, Span};
use trommel::{Analysis, Answer, Damage, Document, Error, Match, Report, SampleAnswer, Sink, StatsAnswer};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::evaluate::{Duplicates, Node, evaluate};
use trommel_testkit::naive::{self, Record};

pub(crate) use trommel_testkit::effort::cases;

/// An emitted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) measure: usize,
    pub(crate) text: String,
    pub(crate) span: Span,
    pub(crate) record: u64,
    pub(crate) location: Option<String>,
}

/// A reported malformed record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportedDamage {
    pub(crate) record: u64,
    pub(crate) error: String,
}

/// A call of the sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SinkCall {
    Value(Value),
    Damage(ReportedDamage),
}

/// A sink that remembers everything, in order.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) located: bool,
    pub(crate) heard: Vec<SinkCall>,
}

impl Memory {
    pub(crate) fn located() -> Self {
        Self { located: true, heard: Vec::new() }
    }

    pub(crate) fn values(&self) -> Vec<Value> {
        let value = |heard: &SinkCall| match heard {
            SinkCall::Value(value) => Some(value.clone()),
            SinkCall::Damage(_) => None,
        };
        self.heard.iter().filter_map(value).collect()
    }

    pub(crate) fn damages(&self) -> Vec<ReportedDamage> {
        let damage = |heard: &SinkCall| match heard {
            SinkCall::Value(_) => None,
            SinkCall::Damage(reported) => Some(reported.clone()),
        };
        self.heard.iter().filter_map(damage).collect()
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.values().into_iter().map(|value| value.text).collect()
    }
}

impl Sink for Memory {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.heard.push(SinkCall::Value(Value {
            measure: found.measure,
            text: String::from_utf8_lossy(found.value).into_owned(),
            span: found.span,
            record: found.record,
            location: found.location.map(str::to_owned),
        }));
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        let error = format!("{:?} {}", damage.error.kind(), damage.error);
        self.heard.push(SinkCall::Damage(ReportedDamage { record: damage.record, error }));
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.located
    }
}

/// A kind of input.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Bytes,
    /// A reader that seeks.
    Seekable,
    /// A reader that can be read once, with reads of this many bytes.
    Reads(usize),
    File,
    Gzip,
    /// A reader of compressed bytes.
    ZstdReads(usize),
}

impl Source {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        let reads = SIZES.into_iter().map(Self::Reads);
        let others = [Self::Bytes, Self::Seekable, Self::File, Self::Gzip, Self::ZstdReads(7)];
        others.into_iter().chain(reads).collect()
    }

    /// One of them.
    pub(crate) fn pick(number: u64) -> Self {
        let all = Self::all();
        all[number as usize % all.len()].clone()
    }

    pub(crate) fn document(&self, bytes: &[u8], framing: Framing) -> Given {
        let mut file = None;
        let reads =
            |bytes: Vec<u8>, size| Document::from_reader(Chunks::new(io::Cursor::new(bytes), &[size]));
        let document = match self {
            Self::Bytes => Document::from_bytes(bytes.to_vec()),
            Self::Seekable => Document::from_seekable(io::Cursor::new(bytes.to_vec())).unwrap(),
            Self::Reads(size) => reads(bytes.to_vec(), *size),
            Self::File => Document::open(file.insert(Scratch::new("input", bytes)).path()).unwrap(),
            Self::Gzip => Document::from_bytes(gzip(bytes)),
            Self::ZstdReads(size) => reads(zstd(bytes), *size),
        };
        Given { document: document.framing(framing), _file: file }
    }
}

/// A document, and its file for as long as the document is used.
pub(crate) struct Given {
    document: Document<'static>,
    _file: Option<Scratch>,
}

impl Deref for Given {
    type Target = Document<'static>;

    fn deref(&self) -> &Document<'static> {
        &self.document
    }
}

impl DerefMut for Given {
    fn deref_mut(&mut self) -> &mut Document<'static> {
        &mut self.document
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file in a temporary folder of its own.
pub(crate) struct Scratch {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self { _folder: folder, path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) fn query(text: &str) -> Query {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn size(size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size).unwrap()
}

/// Runs, and remembers the emitted values.
pub(crate) fn run(analysis: &Analysis, document: &mut Document<'_>) -> Result<(Report, Memory), Error> {
    let mut memory = Memory::located();
    let report = analysis.run_with(document, &mut memory)?;
    Ok((report, memory))
}

pub(crate) fn run_bytes(analysis: &Analysis, bytes: &[u8]) -> Result<Report, Error> {
    analysis.run(&mut Document::from_bytes(bytes))
}

/// The texts of a query's values.
pub(crate) fn texts(analysis: &Analysis, bytes: impl AsRef<[u8]>) -> Vec<String> {
    run(analysis, &mut Document::from_bytes(bytes.as_ref())).unwrap().1.texts()
}

pub(crate) fn sample_of(answer: &Answer) -> &SampleAnswer {
    match answer {
        Answer::Sample(sample) => sample,
        other => panic!("no sample: {other:?}"),
    }
}

pub(crate) fn stats_of(answer: &Answer) -> &StatsAnswer {
    match answer {
        Answer::Stats(stats) => stats,
        other => panic!("no statistics: {other:?}"),
    }
}

/// An answer as a text; equal answers have equal texts.
pub(crate) fn answer_text(answer: &Answer) -> String {
    format!("{answer:?}")
}

pub(crate) fn naive_framing(framing: Framing) -> naive::Framing {
    match framing {
        Framing::Lines => naive::Framing::Lines,
        Framing::Concatenated => naive::Framing::Concatenated,
        Framing::JsonSeq => naive::Framing::JsonSeq,
        _ => naive::Framing::Single,
    }
}

/// The nodes of a query in each record, by the oracle.
pub(crate) fn nodes(bytes: &[u8], framing: Framing, query: &Query, all: bool) -> Vec<(u64, Node)> {
    let duplicates = if all { Duplicates::All } else { Duplicates::First };
    let records = naive::records(bytes, naive_framing(framing));
    let nodes = |(number, record): (usize, Record)| {
        let tree = record.outcome.unwrap();
        let nodes = evaluate(&tree, query.segments(), duplicates);
        nodes.into_iter().map(move |node| (number as u64, node))
    };
    records.into_iter().enumerate().flat_map(nodes).collect()
}

/// The values that a sink receives for nodes.
pub(crate) fn values(bytes: &[u8], measure: usize, nodes: &[(u64, Node)]) -> Vec<Value> {
    let value = |(record, node): &(u64, Node)| Value {
        measure,
        text: String::from_utf8(bytes[node.span.range()].to_vec()).unwrap(),
        span: Span::new(node.span.start, node.span.end),
        record: *record,
        location: Some(node.path.clone()),
    };
    nodes.iter().map(value).collect()
}
