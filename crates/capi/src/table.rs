//! Tables as Arrow streams.

use std::ffi::c_char;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use serde_json::Value;
use trommel_table::{Column, Table, TableRequest};

use crate::abi;
use crate::document::TrommelDocument;
use crate::handle;
use crate::run::{TrommelOptions, TrommelQuestions, configured};
use crate::status::{Failure, TrommelStatus, call};

/// The stream of the Arrow C stream interface.
pub struct ArrowArrayStream(());

/// Reads the records as a table. The types follow from every record, so the input is read twice or
/// kept. `columns` is a JSON object of names and queries, or null for all members. The requests of
/// the questions are ignored.
///
/// The caller releases the stream as the Arrow C stream interface says. The callbacks of the
/// options may be called until then.
///
/// # Safety
/// `columns` is null or a text that ends with a zero; `options` is null or a structure whose
/// functions may be called with their contexts; and `stream` is a place for a stream, whose
/// contents are overwritten.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_table(
    questions: *const TrommelQuestions,
    document: *const TrommelDocument,
    columns: *const c_char,
    options: *const TrommelOptions,
    stream: *mut ArrowArrayStream,
) -> TrommelStatus {
    call(|| {
        abi::check_out(stream)?;
        let (questions, source) = (handle::questions(questions)?, handle::document(document)?);
        // SAFETY: promised by the caller.
        let options = unsafe { abi::copied(options) };
        let mut request = TableRequest::new(configured(questions.records()?, &options)?);
        if !columns.is_null() {
            // SAFETY: promised by the caller.
            request.columns = columns_of(unsafe { abi::text(columns) }?)?;
        }
        let table = Table::open(&request, source.open()?)?;
        let batches = FFI_ArrowArrayStream::new(Box::new(table));
        // SAFETY: promised by the caller; both types are the stream of Arrow's interface.
        unsafe { abi::put(stream.cast(), batches) }
    })
}

fn columns_of(text: &str) -> Result<Vec<Column>, Failure> {
    let wrong =
        |why: String| Failure::argument(format!("the columns are not a JSON object of queries: {why}"));
    let columns: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let columns = columns.as_object().ok_or_else(|| wrong("not an object".into()))?;
    let column = |(name, query): (&String, &Value)| {
        let query = query.as_str().ok_or_else(|| wrong(format!("{name} is not a text")))?;
        let query = query.parse().map_err(trommel_answer::RequestError::from)?;
        Ok(Column::new(name.clone(), query))
    };
    columns.iter().map(column).collect()
}
