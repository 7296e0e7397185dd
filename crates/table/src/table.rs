//! A table: types from all rows, then batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_json::reader::Decoder;
use arrow_json::{ReaderBuilder, StructMode};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use trommel::reader::Span;
use trommel::{Damage, Document};

use crate::cells::next_cell;
use crate::error::{Error, Misfit, SchemaError};
use crate::observe::{Observed, extraction, lists, window};
use crate::request::{NumberPolicy, OnMisfit, TableRequest};
use crate::rows::{KeptRows, Pass, PassRequest, RowSource};
use crate::schema::TableSchema;
use crate::types::{ColumnType, Field, Layout, Members, Renamed, arrow_fields, fields};
use crate::write::{CellWriter, NoFit, part};

/// Rows as record batches, in the order of the input. Each batch is built when it is asked for.
pub struct Table {
    schema: SchemaRef,
    columns: Vec<Field>,
    layout: RowLayout,
    /// True if the request names no columns.
    is_all: bool,
    /// The members of the current row.
    spans: Vec<Option<Span>>,
    rows: RowSource,
    chunk: Vec<u8>,
    /// The start of the next row in the chunk.
    at: usize,
    decoder: Decoder,
    writer: CellWriter,
    text: Vec<u8>,
    batch_rows: usize,
    batch_bytes: usize,
    on_misfit: OnMisfit,
    /// Rows of the input so far.
    seen: u64,
    report: TableReport,
    /// Malformed records that the second pass has skipped.
    damaged: Arc<AtomicU64>,
    is_over: bool,
}

/// The values of the columns in an encoded row.
enum RowLayout {
    /// A cell for each column.
    Cells(Vec<Layout>),
    /// One cell with an object, whose members are the columns.
    Object(Members),
}

/// What a table changed or left out so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableReport {
    /// The rows in the batches.
    pub rows: u64,
    /// Columns and fields that have another name than in the input.
    pub renamed: Vec<Renamed>,
    /// Numbers that were rounded to doubles.
    pub rounded: u64,
    /// Columns of a row that are null, or rows that were left out, because they did not fit the
    /// schema.
    pub misfits: u64,
    /// The first of these.
    pub first_misfit: Option<Misfit>,
    /// Malformed records that were skipped.
    pub bad_records: u64,
}

impl Table {
    /// Finds the types of all columns, which reads the input once, unless they are given.
    ///
    /// With columns, their values are kept, in memory or in a temporary file. With all members, the
    /// input is read again if possible, and kept otherwise.
    ///
    /// # Errors
    /// If the input cannot be read or is not valid JSON, and if the given schema lacks a column.
    pub fn open(request: &TableRequest, mut document: Document<'static>) -> Result<Self, Error> {
        let damaged = Arc::new(AtomicU64::new(0));
        let is_all = request.columns.is_empty();
        let mut report = TableReport::default();
        let (types, kept) = if let Some(schema) = &request.schema {
            (given(request, schema)?, None)
        } else {
            let kept = (!is_all || !document.is_repeatable()).then(|| KeptRows::new(request.spool_limit));
            let observed = Observed::of(request, &mut document, kept, &mut report.bad_records)?;
            let Observed { shapes, kept, .. } = observed;
            let rounded = request.numbers == NumberPolicy::Rounded;
            let types = shapes.into_iter().map(|shape| shape.column_type(rounded, &mut report.renamed));
            (types.collect(), kept)
        };
        let (columns, is_nested) = request.name_columns(types, &mut report.renamed);
        let rows = if let Some(kept) = kept {
            RowSource::Kept(kept.rewind()?)
        } else {
            report.bad_records = 0;
            let count = Arc::clone(&damaged);
            let take = move |_: &Damage| {
                count.fetch_add(1, Ordering::Relaxed);
            };
            let (analysis, lists) = (extraction(request), lists(request));
            let window = window(request, &document);
            let pass = PassRequest { analysis, lists, window, damaged: Box::new(take) };
            RowSource::Pass(Pass::start(pass, document)?)
        };
        let schema = Arc::new(Schema::new(arrow_fields(&columns)));
        let decoder = ReaderBuilder::new(Arc::clone(&schema))
            .with_batch_size(request.batch_rows.max(1))
            .with_struct_mode(StructMode::ListOnly)
            .build_decoder()?;
        let layout = if is_nested {
            RowLayout::Object(Members::of(&columns))
        } else {
            RowLayout::Cells(columns.iter().map(|column| Layout::of(&column.column_type)).collect())
        };
        Ok(Self {
            schema,
            columns,
            layout,
            is_all,
            spans: Vec::new(),
            rows,
            chunk: Vec::new(),
            at: 0,
            decoder,
            writer: CellWriter::new(),
            text: Vec::new(),
            batch_rows: request.batch_rows.max(1),
            batch_bytes: request.batch_bytes.max(1),
            on_misfit: request.on_misfit,
            seen: request.skip,
            report,
            damaged,
            is_over: false,
        })
    }

    /// The columns.
    pub fn columns(&self) -> &[Field] {
        &self.columns
    }

    /// The types of this table, for further tables of the same request: they need no pass to find
    /// them.
    pub fn table_schema(&self) -> TableSchema {
        TableSchema::of(&self.columns, self.is_all && matches!(self.layout, RowLayout::Cells(_)))
    }

    /// What the table changed or left out so far.
    pub fn report(&self) -> TableReport {
        let bad_records = self.report.bad_records + self.damaged.load(Ordering::Relaxed);
        TableReport { rounded: self.writer.rounded, bad_records, ..self.report.clone() }
    }

    /// Limits the rows of the batches that follow.
    #[cfg(feature = "parquet")]
    pub(crate) fn limit_batches(&mut self, rows: usize) {
        self.batch_rows = self.batch_rows.min(rows);
    }

    /// Builds the next batch. `None` after the last row.
    ///
    /// # Errors
    /// Those of reading, and the first row that does not fit a given schema, unless such rows are
    /// allowed. After an error there are no more batches.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        if self.is_over {
            return Ok(None);
        }
        let batch = self.build();
        self.is_over = !matches!(batch, Ok(Some(_)));
        batch
    }

    fn build(&mut self) -> Result<Option<RecordBatch>, Error> {
        self.text.clear();
        let mut rows = 0;
        while rows < self.batch_rows && self.text.len() < self.batch_bytes {
            if self.at == self.chunk.len() {
                self.at = 0;
                self.chunk.clear();
                if !self.rows.next(&mut self.chunk)? {
                    break;
                }
                continue;
            }
            rows += usize::from(self.row()?);
        }
        if rows == 0 {
            return Ok(None);
        }
        let mut rest = self.text.as_slice();
        while !rest.is_empty() {
            let read = self.decoder.decode(rest)?;
            if read == 0 {
                return Err(ArrowError::JsonError("the decoder stopped within a batch".into()).into());
            }
            rest = &rest[read..];
        }
        let batch = self.decoder.flush()?;
        let built = batch.as_ref().map_or(0, RecordBatch::num_rows);
        if built != rows {
            return Err(ArrowError::JsonError(format!("the decoder returned {built} of {rows} rows")).into());
        }
        self.report.rows += rows as u64;
        Ok(batch)
    }

    /// Writes the next row of the chunk. Returns false if it is left out.
    fn row(&mut self) -> Result<bool, Error> {
        let start = self.text.len();
        let chunk = std::mem::take(&mut self.chunk);
        let mut rest = &chunk[self.at..];
        let written = self.columns_of(&mut rest);
        self.at = chunk.len() - rest.len();
        self.chunk = chunk;
        let is_kept = written?;
        self.seen += 1;
        if !is_kept {
            self.text.truncate(start);
        }
        Ok(is_kept)
    }

    /// Writes the columns of a row. Returns false if one does not fit, and such rows are left out.
    fn columns_of(&mut self, rest: &mut &[u8]) -> Result<bool, Error> {
        let mut next = || next_cell(rest).unwrap_or_else(|| unreachable!("a row has all its cells"));
        let Self { layout, writer, text, spans, .. } = self;
        let mut misfits = Vec::new();
        text.push(b'[');
        match layout {
            RowLayout::Cells(layouts) => {
                for (number, layout) in layouts.iter().enumerate() {
                    let cell = next();
                    let value = cell.value.unwrap_or(b"null");
                    text.extend((number > 0).then_some(b','));
                    if let Err(no_fit) = put(writer, value, layout, text) {
                        misfits.push((no_fit.path(&self.columns[number].name), cell.offset, no_fit));
                    }
                }
            }
            RowLayout::Object(members) => {
                let cell = next();
                let value = cell.value.unwrap_or(b"null");
                spans.clear();
                spans.resize(members.fields.len(), None);
                match value.first() {
                    Some(b'{') => writer.members(value, members, spans),
                    Some(b'n') => {}
                    _ => misfits.push(("$".into(), cell.offset, NoFit::new(value, "an object"))),
                }
                for (number, ((name, layout), span)) in members.fields.iter().zip(&*spans).enumerate() {
                    let member = span.map_or(&b"null"[..], |span| part(value, span));
                    text.extend((number > 0).then_some(b','));
                    if let Err(no_fit) = put(writer, member, layout, text) {
                        let start = span.map_or(0, |span| span.start);
                        misfits.push((no_fit.path(&format!("$.{name}")), cell.offset + start, no_fit));
                    }
                }
            }
        }
        text.extend_from_slice(b"]\n");
        let is_fit = misfits.is_empty();
        for (path, offset, NoFit { offset: within, wanted, found, .. }) in misfits {
            let misfit = Misfit { row: self.seen, offset: offset + within, path, wanted, found };
            if self.on_misfit == OnMisfit::Stop {
                return Err(Error::Misfit(misfit));
            }
            self.report.misfits += 1;
            self.report.first_misfit.get_or_insert(misfit);
            if self.on_misfit == OnMisfit::Skip {
                break;
            }
        }
        Ok(is_fit || self.on_misfit == OnMisfit::Null)
    }
}

/// Writes the value of a column, or null if it does not fit.
fn put(writer: &mut CellWriter, value: &[u8], layout: &Layout, text: &mut Vec<u8>) -> Result<(), NoFit> {
    let start = text.len();
    let written = writer.cell(value, layout, text);
    if written.is_err() {
        text.truncate(start);
        text.extend_from_slice(b"null");
    }
    written
}

impl Iterator for Table {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for Table {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The types that a schema gives to the columns.
fn given(request: &TableRequest, schema: &TableSchema) -> Result<Vec<ColumnType>, Error> {
    let TableSchema { columns: schema, is_bare } = schema;
    if request.columns.is_empty() {
        if *is_bare {
            return Ok(schema.iter().map(|(_, column_type)| column_type.clone()).collect());
        }
        let mut renamed = Vec::new();
        return Ok(vec![ColumnType::Struct(fields(schema.clone(), &mut renamed))]);
    }
    // The types of this table's own columns, of which several may have one name.
    let names = || request.columns.iter().map(|column| &column.name);
    if names().eq(schema.iter().map(|(name, _)| name)) {
        return Ok(schema.iter().map(|(_, column_type)| column_type.clone()).collect());
    }
    let type_of = |name: &str| schema.iter().find(|(known, _)| known == name).map(|(_, found)| found.clone());
    let columns = request.columns.iter();
    columns
        .map(|column| {
            let missing = || Error::Schema(SchemaError::NoColumn(column.name.clone()));
            type_of(&column.name).ok_or_else(missing)
        })
        .collect()
}
