//! Sizes and numbers for people.

pub(crate) use trommel_answer::figures::binary;
pub(crate) use trommel_base::text::grouped;
