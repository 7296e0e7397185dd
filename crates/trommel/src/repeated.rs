//! Lists repeated names in a pass of its own.

use trommel_path::{RepeatedName, RepeatedNames};

use crate::analysis::{Analysis, OnBadRecord};
use crate::control::check;
use crate::document::Document;
use crate::error::Error;

impl Analysis {
    /// Lists the first `max` members whose name occurs earlier in the same object, in document
    /// order. Uses the limits, the validation, and the cancellation token of this analysis, and
    /// covers the whole input: filters and [`each`](Self::each) do not narrow it. Skipped malformed
    /// records are left out.
    ///
    /// Memory depends on the depth and on the number of names of the open objects, of which 4
    /// million are remembered.
    ///
    /// # Errors
    /// If the input cannot be read, if a malformed record is not skipped, or if the input was read
    /// before and [cannot be read again](Document::is_repeatable).
    pub fn repeated_names(&self, document: &Document<'_>, max: usize) -> Result<Vec<RepeatedName>, Error> {
        let cancel = self.options.control.cancel.clone();
        let monitor = Box::new(move |offset| check(&cancel, offset));
        let mut cursor = document.cursor(&self.options.config())?.monitored(monitor);
        let skips = matches!(self.options.on_bad_record, OnBadRecord::Skip { .. });
        let mut names = RepeatedNames::new(max);
        while !names.is_full() {
            let walked = match cursor.next_record() {
                Ok(false) => break,
                Ok(true) => names.record(&mut cursor),
                Err(error) => Err(error),
            };
            if let Err(error) = walked
                && !(skips && error.is_syntax() && cursor.can_recover())
            {
                return Err(error.into());
            }
        }
        Ok(names.finish())
    }
}
