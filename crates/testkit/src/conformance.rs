//! The third-party conformance suites, if they are available.
//!
//! The suites are not part of the repository. [`root`] finds their folder; each loader takes that
//! folder and returns typed cases. The values in a case are the bytes of the suite's file, so that
//! nothing is rounded or reordered. A suite that does not have the expected form causes a panic.
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

pub use compliance::{Answer, Compliance, Expectation, canonical_paths, compliance, normalized_paths};
pub use figures::{Figures, SchemaCase, figures, schema_cases};
pub use paths::{Expected, Input, PathCase, Selection, path_cases, real_documents};
pub use texts::{Document, JsonText, Verdict, checker, documents, parsing};

use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the folder of the suites: the value of the environment variable `TROMMEL_CONFORMANCE`,
/// else `shared/conformance` beside the workspace. If the folder is missing, prints a notice on
/// stderr, past the test runner's capture, and returns `None`. The caller's test then passes
/// without having tested anything.
pub fn root() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let root = std::env::var_os("TROMMEL_CONFORMANCE").map_or(beside, PathBuf::from);
    if root.is_dir() {
        return Some(root);
    }
    let notice =
        format!("SKIPPED: conformance suites not found at {} (set TROMMEL_CONFORMANCE)\n", root.display());
    std::io::stderr().write_all(notice.as_bytes()).expect("stderr is writable");
    None
}
