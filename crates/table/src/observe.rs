//! The first pass: the types of all values.

use trommel::path::Query;
use trommel::reader::{Config, Framing};
use trommel::{Analysis, Damage, Document, Extract, Measure};

use crate::cells::{RowSink, TakeRows, Window, next_cell};
use crate::error::{Error, SchemaError};
use crate::request::{NumberPolicy, TableRequest};
use crate::rows::KeptRows;
use crate::schema::TableSchema;
use crate::shape::{Bounds, MAX_FIELDS, Shape};
use crate::types::ColumnType;
use crate::write::cell_config;

/// Maximum levels of containers in a column.
pub(crate) const MAX_DEPTH: u32 = 64;

/// The types and rows of the first pass.
pub(crate) struct Observed {
    pub(crate) shapes: Vec<Shape>,
    bounds: Bounds,
    pub(crate) kept: Option<KeptRows>,
    config: Config,
}

impl Observed {
    /// Reads a document. Adds the number of skipped records to `bad_records`.
    pub(crate) fn of(
        request: &TableRequest,
        document: &mut Document<'static>,
        kept: Option<KeptRows>,
        bad_records: &mut u64,
    ) -> Result<Self, Error> {
        let (analysis, lists) = (extraction(request), lists(request));
        let shapes = lists.iter().map(|_| Shape::default()).collect();
        let bounds = Bounds { depth: request.depth.min(MAX_DEPTH), fields_left: MAX_FIELDS };
        let mut observed = Self { shapes, bounds, kept, config: cell_config() };
        let mut count = |_: &Damage| *bad_records += 1;
        let window = window(request, document);
        let mut sink = RowSink::new(&lists, &analysis.config(), window, &mut observed, &mut count);
        let ran = analysis.run_with(document, &mut sink);
        sink.finish(ran)?;
        Ok(observed)
    }
}

impl TakeRows for Observed {
    fn row(&mut self, row: &[u8]) -> std::io::Result<()> {
        let mut rest = row;
        for shape in &mut self.shapes {
            let Some(value) = next_cell(&mut rest).and_then(|cell| cell.value) else { continue };
            shape.observe(value, &self.config, &mut self.bounds);
        }
        match &mut self.kept {
            Some(kept) => kept.push(row),
            None => Ok(()),
        }
    }
}

/// The shape of the values of each column, before their types are decided: of one document, of a
/// part, or of several that were merged.
///
/// Several documents get one schema this way, and other processes can read the parts:
///
/// ```
/// use trommel::{Analysis, Document};
/// use trommel_table::{ColumnType, Table, TableRequest, TableShape};
///
/// let mut request = TableRequest::new(Analysis::new());
/// let mut whole: Option<TableShape> = None;
/// for text in [r#"{"id":1}"#, r#"{"id":2.5}"#] {
///     let shape = TableShape::observe(&request, &mut Document::from_bytes(text))?;
///     whole = Some(match whole {
///         None => shape,
///         Some(earlier) => earlier.merge(shape)?,
///     });
/// }
/// request.schema = whole.map(|shape| shape.schema(&request)).transpose()?;
/// let table = Table::open(&request, Document::from_bytes(r#"{"id":1}"#))?;
/// assert_eq!(table.columns()[0].column_type, ColumnType::Float64 { rounded: false });
/// # Ok::<(), trommel_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TableShape {
    pub(crate) shapes: Vec<Shape>,
}

impl TableShape {
    /// Reads a document.
    ///
    /// # Errors
    /// If the document cannot be read or is not valid JSON.
    pub fn observe(request: &TableRequest, document: &mut Document<'static>) -> Result<Self, Error> {
        let observed = Observed::of(request, document, None, &mut 0)?;
        Ok(Self { shapes: observed.shapes })
    }

    /// Adds the shape of the part that follows, with the same request. The result is that of one
    /// document, unless there are more than 20,000 fields: the objects whose fields are then left
    /// out become JSON.
    ///
    /// # Errors
    /// If the shapes have different numbers of columns.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        if self.shapes.len() != later.shapes.len() {
            return Err(Error::Schema(SchemaError::OtherColumns));
        }
        let known: usize = self.shapes.iter().map(Shape::fields).sum();
        let mut fields_left = MAX_FIELDS.saturating_sub(known);
        for (shape, later) in self.shapes.iter_mut().zip(later.shapes) {
            shape.merge(later, &mut fields_left);
        }
        Ok(self)
    }

    /// The schema that holds all values, as the request decides about numbers.
    ///
    /// # Errors
    /// If the request has another number of columns.
    pub fn schema(self, request: &TableRequest) -> Result<TableSchema, Error> {
        if self.shapes.len() != lists(request).len() {
            return Err(Error::Schema(SchemaError::OtherColumns));
        }
        let rounded = request.numbers == NumberPolicy::Rounded;
        let mut renamed = Vec::new();
        let types = self.shapes.into_iter().map(|shape| shape.column_type(rounded, &mut renamed));
        let types: Vec<ColumnType> = types.collect();
        let (columns, is_nested) = request.name_columns(types, &mut renamed);
        Ok(TableSchema::of(&columns, request.columns.is_empty() && !is_nested))
    }
}

/// The analysis that extracts the columns of each row, or whole rows.
pub(crate) fn extraction(request: &TableRequest) -> Analysis {
    let analysis = request.analysis.clone().without_measures();
    if request.columns.is_empty() {
        return analysis.ask(Measure::Extract(Extract::new(Query::root())));
    }
    let extracts = request.columns.iter().map(|column| Measure::Extract(Extract::new(column.query.clone())));
    extracts.fold(analysis, Analysis::ask)
}

/// For each column, true if its query can select several nodes. Whole rows are one column.
pub(crate) fn lists(request: &TableRequest) -> Vec<bool> {
    if request.columns.is_empty() {
        return vec![false];
    }
    request.columns.iter().map(|column| !column.query.is_singular()).collect()
}

/// The rows to take.
pub(crate) fn window(request: &TableRequest, document: &Document<'_>) -> Window {
    let TableRequest { analysis, skip, limit, .. } = request;
    let takes_all = *skip == 0 && limit.is_none() && !analysis.skips_bad_records();
    let are_records = analysis.each_query().is_none() && analysis.filters().is_empty();
    let all_records = takes_all && are_records && document.current_framing() == Framing::Lines;
    Window { skip: *skip, limit: *limit, all_records }
}
