//! Faults of Cosmos DB, in words without a secret: what the service writes could repeat what it was
//! sent.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use trommel_blocks::{ErrorClass, StorageFault};

/// What a container of Cosmos DB fails with.
#[derive(Debug)]
#[non_exhaustive]
pub enum CosmosFault {
    /// An option is malformed.
    Option(OptionFault),
    /// No identity can be made of what is configured.
    NoIdentity,
    /// The service answered with a failure, or could not be reached.
    Service {
        /// The container.
        place: String,
        /// What it failed with.
        failure: ServiceFailure,
        /// The numbers of the answer, and their name: ` (status 429/3200, …)`.
        status: String,
    },
    /// The service refused access.
    Denied {
        /// The container.
        place: String,
        /// The numbers of the answer.
        status: String,
        /// Why, as far as the answer shows it.
        reason: Denial,
    },
    /// No answer came in time.
    NoAnswer {
        /// The container.
        place: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Nothing accepts connections there.
    Unreachable {
        /// The container.
        place: String,
        /// How long it was tried.
        waited: Duration,
    },
    /// The thread that sends requests ended.
    Stopped {
        /// The container.
        place: String,
    },
    /// The service refused a batch.
    Batch {
        /// The status of the operation that failed.
        status: u16,
        /// The class of the failure.
        class: ErrorClass,
    },
    /// The container keeps messages and events, and is only read.
    ReadOnly,
    /// The container has a layout that is not known.
    Layout {
        /// The container.
        container: String,
    },
    /// A block exists for one region, and not yet for another.
    Late,
    /// The position in an answer was lost.
    PositionLost,
    /// A block is not of the session it was to be stored with.
    ForeignBlock {
        /// The block.
        sequence: u64,
    },
    /// A document is too large for the service.
    TooLarge {
        /// The block.
        sequence: u64,
        /// Its session.
        session: String,
        /// Its bytes as a document.
        bytes: usize,
        /// The most bytes of a document.
        limit: usize,
    },
    /// A value of a query is not JSON.
    Parameter {
        /// Its name.
        name: String,
        /// What the library says.
        cause: String,
    },
    /// A document is not what it should be.
    Document {
        /// What it should be.
        expected: &'static str,
        /// What the parser says.
        cause: serde_json::Error,
    },
}

/// An option that is malformed. Values are not repeated: they may be keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionFault {
    /// The key is not Base64.
    Key,
    /// The connection string lacks a part.
    ConnectionString,
    /// The endpoint is not an address.
    Endpoint,
    /// The endpoint is not encrypted, and not on this machine.
    Unencrypted,
    /// The database has a name that none can have.
    Database,
    /// The container has a name that none can have.
    Container,
}

/// How the service failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceFailure {
    /// There is no such database or container.
    NotFound,
    /// The document is too large.
    TooLarge,
    /// The container was given too few units.
    Throttled,
    /// Several writers write one document.
    Contended,
    /// No answer came at all.
    Unreachable,
    /// The service failed for now.
    Failing,
    /// The service refused the request.
    Refused,
}

/// Why access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denial {
    /// The clock of this machine is wrong.
    Clock,
    /// No token was to be had.
    NoToken,
    /// A firewall.
    Firewall,
    /// The key or the role.
    Role,
}

impl fmt::Display for CosmosFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(fault) => f.write_str(fault.fact()),
            Self::NoIdentity => f.write_str("no identity can be made of what is configured"),
            Self::Service { place, failure, status } => match failure {
                ServiceFailure::NotFound => write!(f, "there is nothing by the name of {place}{status}"),
                ServiceFailure::TooLarge => write!(
                    f,
                    "{place} takes documents of 2 MiB at most, and this one is larger{status}"
                ),
                ServiceFailure::Throttled => {
                    write!(f, "{place} has more to do than it was given units for{status}")
                }
                ServiceFailure::Contended => {
                    write!(f, "{place} is changed by another program all the time{status}")
                }
                ServiceFailure::Unreachable => write!(f, "{place} cannot be reached{status}"),
                ServiceFailure::Failing => write!(f, "{place} does not answer as it should{status}"),
                ServiceFailure::Refused => write!(f, "{place} refused a request{status}"),
            },
            Self::Denied { place, status, .. } => write!(f, "{place} refused access{status}"),
            Self::NoAnswer { place, waited } => {
                write!(f, "{place} did not answer within {} s", waited.as_secs())
            }
            Self::Unreachable { place, waited } => {
                write!(f, "{place} cannot be reached within {} ms", waited.as_millis())
            }
            Self::Stopped { place } => write!(f, "{place}: the worker ended by itself"),
            Self::Batch { status, .. } => {
                write!(f, "the Cosmos container refused a batch (status {status})")
            }
            Self::ReadOnly => f.write_str(
                "this Cosmos container keeps messages and events, not blocks (`/partition_key`), and is only read",
            ),
            Self::Layout { container } => {
                write!(f, "the container {container} is of no layout that is known")
            }
            Self::Late => {
                f.write_str("the Cosmos container says of one block that it is there, and that it is not")
            }
            Self::PositionLost => {
                f.write_str("the position in an answer of the Cosmos container was lost")
            }
            Self::ForeignBlock { sequence } => {
                write!(f, "block {sequence} is not of the session it is to be stored with")
            }
            Self::TooLarge { sequence, session, bytes, limit } => write!(
                f,
                "block {sequence} of session {session} has {bytes} bytes as a document, and Cosmos DB takes {limit}"
            ),
            Self::Parameter { name, cause } => {
                write!(f, "`{name}` of a query to Cosmos DB is no JSON: {cause}")
            }
            Self::Document { expected, cause } => {
                write!(f, "a document of the Cosmos container is no {expected}: {cause}")
            }
        }
    }
}

impl OptionFault {
    const fn fact(self) -> &'static str {
        match self {
            Self::Key => "the key of the Cosmos account is none: keys are Base64",
            Self::ConnectionString => "the connection string is none",
            Self::Endpoint => "the endpoint of the Cosmos account is no address",
            Self::Unencrypted => {
                "a Cosmos account is asked over https; http is for an emulator on this machine"
            }
            Self::Database => "a database of Cosmos DB needs a name without `/`, `\\`, `?` and `#`",
            Self::Container => "a container of Cosmos DB needs a name without `/`, `\\`, `?` and `#`",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Key => "copy it again",
            Self::ConnectionString => "write it like `AccountEndpoint=…;AccountKey=…;`",
            Self::Endpoint | Self::Unencrypted => "write it like `https://ACCOUNT.documents.azure.com/`",
            Self::Database | Self::Container => "correct the name",
        }
    }
}

impl StorageFault for CosmosFault {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Option(_) | Self::NoIdentity | Self::ForeignBlock { .. } | Self::Parameter { .. } => {
                ErrorClass::Request
            }
            Self::Service { failure, .. } => match failure {
                ServiceFailure::NotFound => ErrorClass::NotFound,
                ServiceFailure::TooLarge => ErrorClass::Limit,
                ServiceFailure::Throttled | ServiceFailure::Contended => ErrorClass::Busy,
                ServiceFailure::Unreachable => ErrorClass::Offline,
                ServiceFailure::Failing | ServiceFailure::Refused => ErrorClass::Storage,
            },
            Self::Denied { .. } => ErrorClass::Denied,
            Self::NoAnswer { .. } | Self::Unreachable { .. } => ErrorClass::Offline,
            Self::Stopped { .. } | Self::Late | Self::PositionLost => ErrorClass::Storage,
            Self::Batch { class, .. } => *class,
            Self::ReadOnly | Self::Layout { .. } => ErrorClass::Unsupported,
            Self::TooLarge { .. } => ErrorClass::Limit,
            Self::Document { .. } => ErrorClass::Corrupt,
        }
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Option(fault) => fault.help(),
            Self::NoIdentity => "check the tenant, the client id and the environment",
            Self::Service { failure, .. } => match failure {
                ServiceFailure::NotFound => "check the names, or have it made",
                ServiceFailure::Throttled => "try later, or give it more",
                ServiceFailure::Contended | ServiceFailure::Failing => "try later",
                ServiceFailure::Unreachable => "look at the network and at the endpoint",
                ServiceFailure::TooLarge | ServiceFailure::Refused => return None,
            },
            Self::Denied { reason, .. } => match reason {
                Denial::Clock => "the clock of this machine is wrong for it: set the clock, and try again",
                Denial::NoToken => {
                    "no token was to be had: log in with `az login`, or check the identity, its tenant and its secret"
                }
                Denial::Firewall => {
                    "its firewall keeps this machine out: add its address, or ask from inside of the network"
                }
                Denial::Role => "check the key, or assign the role `Cosmos DB Built-in Data Contributor`",
            },
            Self::Unreachable { .. } => "look at the network and at the endpoint",
            Self::NoAnswer { .. } | Self::Late => "try later",
            Self::PositionLost => "ask again",
            Self::ReadOnly => "configure another one to write to",
            Self::Layout { .. } => "sessions are kept by /partitionKey or /partition_key",
            Self::TooLarge { .. } => "configure a storage of payloads: what is that large belongs there",
            Self::Stopped { .. }
            | Self::Batch { .. }
            | Self::ForeignBlock { .. }
            | Self::Parameter { .. }
            | Self::Document { .. } => return None,
        }))
    }
}
