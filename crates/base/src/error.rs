//! Error types whose kinds carry data.
//!
//! A crate declares an enum of [kinds](Kind), one variant per fault, and declares its error type
//! with [`error_type!`](crate::error_type). Programs match on the kind. For people, the error
//! displays one line: the fact, then the advice.
//!
//! ```
//! use std::borrow::Cow;
//! use std::fmt;
//!
//! #[derive(Debug)]
//! pub enum ErrorKind {
//!     NotFound { name: String },
//! }
//!
//! impl fmt::Display for ErrorKind {
//!     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
//!         match self {
//!             Self::NotFound { name } => write!(f, "no output {name:?}"),
//!         }
//!     }
//! }
//!
//! impl trommel_base::error::Kind for ErrorKind {
//!     fn code(&self) -> &'static str {
//!         "not_found"
//!     }
//!
//!     fn help(&self) -> Option<Cow<'_, str>> {
//!         Some("list the outputs".into())
//!     }
//! }
//!
//! trommel_base::error_type! {
//!     /// An error of this crate.
//!     pub struct Error(ErrorKind);
//! }
//!
//! let error = Error::from(ErrorKind::NotFound { name: "a".into() });
//! assert!(matches!(error.kind(), ErrorKind::NotFound { name } if name == "a"));
//! assert_eq!(error.to_string(), "no output \"a\"; list the outputs");
//! ```

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::text;

/// A kind of error, with its data. [`Display`](fmt::Display) is the fact: lower case, one sentence,
/// no full stop.
pub trait Kind: fmt::Display + fmt::Debug + Send + Sync + 'static {
    /// Maximum characters of a displayed fact, so that no input makes a message long.
    const MAX_CHARS: usize = 1_000;

    /// A short code that never changes, for programs that read text.
    fn code(&self) -> &'static str;

    /// The advice: what to do next, as an imperative.
    fn help(&self) -> Option<Cow<'_, str>>;

    /// The error that caused this one, if the kind holds it.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        None
    }
}

/// A kind with its cause: the contents of an error type declared with
/// [`error_type!`](crate::error_type).
#[derive(Debug)]
pub struct Report<K> {
    /// The kind of error.
    pub kind: K,
    /// The error that caused this one, unless the kind holds it.
    pub cause: Option<Box<dyn Error + Send + Sync>>,
}

impl<K: Kind> Report<K> {
    /// The cause, from the report or from the kind.
    pub fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            Some(cause) => Some(cause.as_ref()),
            None => self.kind.source(),
        }
    }
}

/// One safe line: the fact, clipped to [`Kind::MAX_CHARS`], then the advice.
impl<K: Kind> fmt::Display for Report<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fact = self.kind.to_string();
        f.write_str(&text::clip(&text::safe(&fact), K::MAX_CHARS))?;
        match self.kind.help() {
            Some(help) => write!(f, "; {}", text::safe(&help)),
            None => Ok(()),
        }
    }
}

/// Declares an error type, one pointer wide, over a [`Kind`]. See the [module](crate::error) for an
/// example.
#[macro_export]
macro_rules! error_type {
    ($(#[$meta:meta])* $vis:vis struct $Error:ident($Kind:ty);) => {
        $(#[$meta])*
        $vis struct $Error(::std::boxed::Box<$crate::error::Report<$Kind>>);

        #[allow(dead_code, unreachable_pub, reason = "not every crate uses or exports every part")]
        impl $Error {
            /// The kind of error, for programs that match on it.
            pub fn kind(&self) -> &$Kind {
                &self.0.kind
            }

            /// A short code of the kind that never changes, for programs that read text.
            pub fn code(&self) -> &'static str {
                $crate::error::Kind::code(&self.0.kind)
            }

            /// The fact without the advice, on one safe line.
            pub fn fact(&self) -> ::std::string::String {
                $crate::text::safe(&::std::string::ToString::to_string(&self.0.kind)).into_owned()
            }

            /// The advice: what to do next, if there is anything to do.
            pub fn help(&self) -> ::std::option::Option<::std::borrow::Cow<'_, str>> {
                $crate::error::Kind::help(&self.0.kind)
            }

            /// Returns the error with its cause.
            #[must_use]
            pub(crate) fn because(
                mut self,
                cause: impl ::std::convert::Into<::std::boxed::Box<dyn ::std::error::Error + Send + Sync>>,
            ) -> Self {
                self.0.cause = ::std::option::Option::Some(cause.into());
                self
            }
        }

        impl ::std::convert::From<$Kind> for $Error {
            fn from(kind: $Kind) -> Self {
                Self(::std::boxed::Box::new($crate::error::Report { kind, cause: ::std::option::Option::None }))
            }
        }

        impl ::std::fmt::Display for $Error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl ::std::fmt::Debug for $Error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl ::std::error::Error for $Error {
            fn source(&self) -> ::std::option::Option<&(dyn ::std::error::Error + 'static)> {
                self.0.source()
            }
        }
    };
}

/// Declares the classes of a crate's errors, each with a code that never changes.
///
/// ```
/// trommel_base::error_class! {
///     /// The class of an error.
///     pub enum ErrorClass {
///         /// The output does not exist.
///         NotFound = "not_found",
///         /// Reading failed.
///         Io = "io",
///     }
/// }
///
/// assert_eq!(ErrorClass::NotFound.code(), "not_found");
/// ```
#[macro_export]
macro_rules! error_class {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Class:ident {
            $($(#[$class_meta:meta])* $Variant:ident = $code:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        $vis enum $Class {
            $($(#[$class_meta])* $Variant,)+
        }

        impl $Class {
            /// A code that never changes, for programs that read text.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$Variant => $code,)+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug)]
    enum Fault {
        Long(String),
        Io(io::Error),
    }

    impl fmt::Display for Fault {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::Long(text) => f.write_str(text),
                Self::Io(cause) => write!(f, "cannot read: {cause}"),
            }
        }
    }

    impl Kind for Fault {
        const MAX_CHARS: usize = 10;

        fn code(&self) -> &'static str {
            match self {
                Self::Long(_) => "long",
                Self::Io(_) => "io",
            }
        }

        fn help(&self) -> Option<Cow<'_, str>> {
            matches!(self, Self::Long(_)).then(|| "shorten it".into())
        }

        fn source(&self) -> Option<&(dyn Error + 'static)> {
            match self {
                Self::Io(cause) => Some(cause),
                Self::Long(_) => None,
            }
        }
    }

    error_type! {
        /// An error of this test.
        struct TestError(Fault);
    }

    #[test]
    fn messages_are_short_and_safe_and_end_with_advice() {
        let error = TestError::from(Fault::Long("\u{1b}".repeat(9)));
        assert_eq!(error.to_string(), "\\u001b\\u00…; shorten it");
        assert_eq!((error.code(), error.help().as_deref()), ("long", Some("shorten it")));
        assert!(error.source().is_none());
    }

    #[test]
    fn causes_come_from_the_kind_or_beside_it() {
        let held = TestError::from(Fault::Io(io::Error::other("x")));
        assert_eq!(held.source().map(ToString::to_string).as_deref(), Some("x"));
        let beside = TestError::from(Fault::Long(String::new())).because(io::Error::other("y"));
        assert_eq!(beside.source().map(ToString::to_string).as_deref(), Some("y"));
        assert!(format!("{beside:?}").contains("Long"));
    }
}
