//! The third-party conformance suites, where they are at hand.
//!
//! They are no part of the repository. [`root`] finds them; each loader takes that folder and hands
//! out typed cases, the values in them as the bytes that stand in the suite's file, so that nothing
//! is rounded or reordered on the way. A suite that is there but not as expected is a reason to
//! panic.
//!
//! ```
//! use trommel_testkit::conformance;
//!
//! if let Some(root) = conformance::root() {
//!     assert_eq!(conformance::compliance(&root).len(), 703);
//! }
//! ```

mod compliance;
mod fields;
mod figures;
mod paths;
mod texts;

pub use compliance::{Answer, Compliance, Question, canonical_paths, compliance, normalized_paths};
pub use figures::{Figures, SchemaCase, figures, schema_cases};
pub use paths::{Expected, Input, PathCase, Selection, path_cases, real_documents};
pub use texts::{Document, JsonText, Verdict, checker, documents, parsing};

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of the suites: what the environment variable `TROMMEL_CONFORMANCE` names, else
/// `shared/conformance` beside the workspace. Where there is none, says so on the standard error
/// stream, loudly and past the test runner's capture, and gives `None`: the caller's test then
/// passes without having tested.
pub fn root() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let root = std::env::var_os("TROMMEL_CONFORMANCE").map_or(beside, PathBuf::from);
    if root.is_dir() {
        return Some(root);
    }
    let notice =
        format!("SKIPPED: conformance suites not found at {} (set TROMMEL_CONFORMANCE)\n", root.display());
    std::io::stderr().write_all(notice.as_bytes()).expect("the standard error stream can be written to");
    None
}
