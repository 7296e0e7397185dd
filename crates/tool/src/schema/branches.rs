//! Which of several alternatives was meant.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

/// What each alternative found wrong.
type Branches = [Vec<ValidationError<'static>>];

/// How far an alternative is from what was given: of another type altogether, marked as another one by a constant, or with
/// so many faults.
fn distance(branch: &[ValidationError<'static>], pointer: &str) -> (bool, bool, usize) {
    let is_type = |error: &ValidationError<'_>| {
        error.instance_path().as_str() == pointer && matches!(error.kind(), ValidationErrorKind::Type { .. })
    };
    let is_mark = |error: &ValidationError<'_>| {
        matches!(error.kind(), ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
    };
    (branch.iter().any(is_type), branch.iter().any(is_mark), branch.len())
}

/// The alternatives nearest to what stands at a place; several when they are equally near.
pub(crate) fn likeliest<'a>(branches: &'a Branches, pointer: &str) -> Vec<&'a [ValidationError<'static>]> {
    let near = branches.iter().map(|branch| distance(branch, pointer)).min();
    let alike = branches.iter().filter(|branch| Some(distance(branch, pointer)) == near);
    alike.map(Vec::as_slice).collect()
}
