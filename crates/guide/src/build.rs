//! A pass over a document that builds its index.

use trommel::reader::{Config, Cursor, Monitor};
use trommel::{Document, Error};

use crate::builder::IndexBuilder;
use crate::index::Index;

impl Index {
    /// Builds the index of a document in a strict pass over all of it.
    ///
    /// # Errors
    /// Those of reading, and if the document is malformed.
    pub fn build(
        document: &Document<'_>,
        builder: IndexBuilder,
        monitor: Monitor<'_>,
    ) -> Result<Self, Error> {
        let mut cursor = document.cursor(&Config::new())?.monitored(monitor);
        let mut builder = builder;
        while cursor.next_record()? {
            read_record(&mut cursor, &mut builder)?;
        }
        Ok(builder.finish(cursor.offset()))
    }
}

fn read_record(cursor: &mut Cursor<'_>, builder: &mut IndexBuilder) -> trommel::reader::Result<()> {
    use trommel::reader::Listener;
    let start = cursor.record_start();
    builder.begin_record(start);
    let event = cursor.begin_value()?;
    builder.receive(event, cursor.payload(), start);
    cursor.listen(0, u64::MAX, builder)?;
    while cursor.advance()?.is_some() {}
    Ok(())
}
