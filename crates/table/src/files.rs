//! Tables as files: Arrow's stream format, and Parquet.

use std::io::Write;
use std::sync::mpsc::sync_channel;
use std::thread;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;

use crate::error::Error;
use crate::table::{Table, TableReport};

/// Writes a table in the streaming format of Arrow IPC. Returns what the table changed.
///
/// # Errors
/// Those of the table and of writing. After an error the stream has no end mark, and readers report
/// that.
pub fn write_arrow(table: &mut Table, out: impl Write) -> Result<TableReport, Error> {
    let schema = arrow_array::RecordBatchReader::schema(table);
    let mut writer = StreamWriter::try_new(out, &schema)?;
    each_batch(table, |batch| Ok(writer.write(&batch)?))?;
    writer.finish()?;
    writer.into_inner()?.flush()?;
    Ok(table.report())
}

/// Passes the batches to `write`, while another thread builds the one after. At most two are held.
fn each_batch(
    table: &mut Table,
    mut write: impl FnMut(RecordBatch) -> Result<(), Error>,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let (sender, received) = sync_channel(0);
        let build = move || {
            while let Some(batch) = table.next_batch().transpose() {
                let is_over = batch.is_err();
                // An error of `write` ends the reception.
                if sender.send(batch).is_err() || is_over {
                    break;
                }
            }
        };
        thread::Builder::new().name("trommel-batches".into()).spawn_scoped(scope, build)?;
        received.into_iter().try_for_each(|batch| write(batch?))
    })
}

/// Bytes of a row group.
#[cfg(feature = "parquet")]
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Writes a table as a Parquet file: zstd, statistics of each column, and row groups of 64 MiB.
/// Returns what the table changed.
///
/// # Errors
/// Those of the table and of writing. After an error the file has no footer, and readers refuse it.
#[cfg(feature = "parquet")]
pub fn write_parquet(table: &mut Table, out: impl Write + Send) -> Result<TableReport, Error> {
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;

    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_created_by(concat!("trommel ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let schema = arrow_array::RecordBatchReader::schema(table);
    let failed = |error: parquet::errors::ParquetError| Error::Arrow(error.into());
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(failed)?;
    each_batch(table, |batch| writer.write(&batch).map_err(failed))?;
    writer.into_inner().map_err(failed)?.flush()?;
    Ok(table.report())
}
