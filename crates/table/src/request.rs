//! What a table is made of.

use trommel::Analysis;
use trommel::path::Query;
use trommel::reader::Limits;

use crate::schema::TableSchema;
use crate::types::{ColumnType, Field, Renamed, fields};

/// The rows and columns of a table, and its options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableRequest {
    /// The rows: the records that the analysis selects. Its measures are ignored.
    pub analysis: Analysis,
    /// The columns; empty for all members of the rows.
    pub columns: Vec<Column>,
    /// The types, if they are known. The input is then read once.
    pub schema: Option<TableSchema>,
    /// The columns of numbers that no type holds exactly.
    pub numbers: NumberPolicy,
    /// The handling of rows that do not fit the given schema.
    pub on_misfit: OnMisfit,
    /// Levels of containers in a column; deeper ones are JSON. At most 64.
    pub depth: u32,
    /// Bytes of the kept values of rows. More are an error.
    pub spool_limit: u64,
    /// Rows to skip.
    pub skip: u64,
    /// The number of rows after these.
    pub limit: Option<u64>,
    /// Maximum rows of a batch.
    pub batch_rows: usize,
    /// Bytes of a row's JSON that complete a batch.
    pub batch_bytes: usize,
}

/// A column: the nodes of a query in each row.
///
/// A query that can select several nodes, such as `$.tags[*]`, has a column of lists. Without a
/// node, the column is null.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column {
    /// The name.
    pub name: String,
    /// The query, from the row on.
    pub query: Query,
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, query: Query) -> Self {
        Self { name: name.into(), query }
    }
}

/// The columns of numbers that no type holds exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberPolicy {
    /// Text, as the numbers are written.
    #[default]
    Exact,
    /// Doubles. The report counts the rounded numbers.
    Rounded,
}

/// The handling of rows that do not fit the given schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnMisfit {
    /// The first one is an error.
    #[default]
    Stop,
    /// The column that does not fit is null. The report counts these.
    Null,
    /// The row is left out. The report counts these.
    Skip,
}

/// The name of the only column, if rows are not objects.
const VALUE: &str = "value";

/// The default number of levels of containers in a column.
const DEPTH: u32 = 8;

/// The default limits of a batch.
const BATCH_ROWS: usize = 65_536;
const BATCH_BYTES: usize = 8 << 20;

impl TableRequest {
    /// All rows that an analysis selects, with all members as columns.
    pub fn new(analysis: Analysis) -> Self {
        Self {
            analysis,
            columns: Vec::new(),
            schema: None,
            numbers: NumberPolicy::default(),
            on_misfit: OnMisfit::default(),
            depth: DEPTH,
            spool_limit: Limits::default().spool_bytes,
            skip: 0,
            limit: None,
            batch_rows: BATCH_ROWS,
            batch_bytes: BATCH_BYTES,
        }
    }

    /// Adds a column.
    #[must_use]
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// The columns with their names; and true if they are the members of the only value of each
    /// row.
    pub(crate) fn name_columns(
        &self,
        mut types: Vec<ColumnType>,
        renamed: &mut Vec<Renamed>,
    ) -> (Vec<Field>, bool) {
        if self.columns.is_empty() {
            return match types.pop() {
                Some(ColumnType::Struct(fields)) => (fields, true),
                other => {
                    let column_type = other.unwrap_or(ColumnType::Null);
                    (vec![Field { key: VALUE.into(), name: VALUE.into(), column_type }], false)
                }
            };
        }
        let names = self.columns.iter().map(|column| column.name.clone());
        let mut columns = Vec::new();
        let fields = fields(names.zip(types), &mut columns);
        // Columns come first, and then the fields within them.
        columns.append(renamed);
        *renamed = columns;
        (fields, false)
    }
}
