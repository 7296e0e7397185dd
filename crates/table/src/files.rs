//! Tables as files: Arrow's stream format, and Parquet.

use std::io::Write;
use std::sync::mpsc::{Sender, channel};
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

/// Shares of the memory for batches that are built and not yet written.
const SHARES: usize = 8;

/// Bytes of a share.
const SHARE_BYTES: usize = 1 << 20;

/// Passes the batches to `write`, while another thread builds the next ones. Besides the one that
/// is being built, at most 8 MiB of batches are in memory, or one that is longer. Several short
/// ones may wait, because now the one thread is slower and now the other.
fn each_batch(
    table: &mut Table,
    mut write: impl FnMut(RecordBatch) -> Result<(), Error>,
) -> Result<(), Error> {
    thread::scope(|scope| {
        let (sender, received) = channel();
        let (give, take) = channel();
        give_shares(&give, SHARES);
        let build = move || {
            while let Some(batch) = table.next_batch().transpose() {
                let is_over = batch.is_err();
                let bytes = batch.as_ref().map_or(0, RecordBatch::get_array_memory_size);
                let shares = bytes.div_ceil(SHARE_BYTES).clamp(1, SHARES);
                // An error of `write` ends the reception, and gives no more shares.
                let is_free = take.iter().take(shares).count() == shares;
                if !is_free || sender.send((batch, shares)).is_err() || is_over {
                    break;
                }
            }
        };
        thread::Builder::new().name("trommel-batches".into()).spawn_scoped(scope, build)?;
        received.into_iter().try_for_each(|(batch, shares)| {
            write(batch?)?;
            give_shares(&give, shares);
            Ok(())
        })
    })
}

fn give_shares(give: &Sender<()>, shares: usize) {
    for _ in 0..shares {
        // A builder that has ended takes no more, and needs none.
        let _ = give.send(());
    }
}

/// Maximum rows of a batch for a Parquet file. The file has no batches, and with short ones both
/// threads are at work sooner.
#[cfg(feature = "parquet")]
const BATCH_ROWS: usize = 16 << 10;

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
    table.limit_batches(BATCH_ROWS);
    each_batch(table, |batch| writer.write(&batch).map_err(failed))?;
    writer.into_inner().map_err(failed)?.flush()?;
    Ok(table.report())
}

#[cfg(test)]
mod tests {
    use std::io;

    use arrow_ipc::reader::StreamReader;
    use trommel::{Analysis, Document};

    use super::*;
    use crate::TableRequest;

    /// A table of three rows, each of which is a batch that takes all shares.
    fn long_rows() -> Table {
        let text = "x".repeat(SHARES * SHARE_BYTES);
        let document = Document::from_bytes(format!(r#"["{text}","{text}","{text}"]"#));
        let mut request = TableRequest::new(Analysis::new().each("$[*]".parse().unwrap()));
        request.batch_rows = 1;
        Table::open(&request, document).unwrap()
    }

    #[test]
    fn batches_that_take_all_shares_are_written() {
        let mut file = Vec::new();
        assert_eq!(write_arrow(&mut long_rows(), &mut file).unwrap().rows, 3);
        let batches = StreamReader::try_new(&*file, None).unwrap();
        assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn a_full_disk_ends_the_thread_that_builds_batches() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write_arrow(&mut long_rows(), Full(3 * SHARE_BYTES)).unwrap_err().to_string();
        assert!(error.contains(&io::Error::from(io::ErrorKind::StorageFull).to_string()), "{error}");
    }
}
