//! Faults of Cosmos DB. Messages never include the service's own text, because it may repeat a
//! secret from the request.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use trommel_blocks::{ErrorClass, StorageFault};

/// A failure of a Cosmos DB container.
#[derive(Debug)]
#[non_exhaustive]
pub enum CosmosFault {
    /// An option is malformed.
    Option(OptionFault),
    /// The configured identity cannot be created.
    NoIdentity,
    /// The service reported a failure, or could not be reached.
    Service {
        /// The display name of the container.
        container: String,
        /// The kind of failure.
        failure: ServiceFailure,
        /// The status of the answer with its name: ` (status 429/3200, …)`.
        status: String,
    },
    /// The service refused access.
    Denied {
        /// The display name of the container.
        container: String,
        /// The status of the answer.
        status: String,
        /// The reason, as far as the answer shows it.
        reason: Denial,
    },
    /// The service did not answer within the timeout.
    NoAnswer {
        /// The display name of the container.
        container: String,
        /// The timeout.
        waited: Duration,
    },
    /// The address accepts no connections.
    Unreachable {
        /// The display name of the container.
        container: String,
        /// The timeout.
        waited: Duration,
    },
    /// The thread that sends requests has ended.
    Stopped {
        /// The display name of the container.
        container: String,
    },
    /// The service refused a batch.
    Batch {
        /// The status of the failed operation.
        status: u16,
        /// The class of the failure.
        class: ErrorClass,
    },
    /// The container stores messages and events, and is read-only.
    ReadOnly,
    /// The partition key of the container belongs to no known layout.
    Layout {
        /// The name of the container.
        container: String,
    },
    /// A block exists in one region, but not yet in another.
    Late,
    /// The position in a paged answer was lost.
    PositionLost,
    /// A block does not belong to the session that it should be stored with.
    ForeignBlock {
        /// The sequence number of the block.
        sequence: u64,
    },
    /// A document is too large for the service.
    TooLarge {
        /// The sequence number of the block.
        sequence: u64,
        /// Its session.
        session: String,
        /// The size of the document in bytes.
        bytes: usize,
        /// The maximum size of a document in bytes.
        limit: usize,
    },
    /// A query parameter cannot be written as JSON.
    Parameter {
        /// The name of the parameter.
        name: String,
        /// The error of the SDK.
        cause: String,
    },
    /// A document is malformed.
    Document {
        /// The expected kind of document.
        expected: &'static str,
        /// The parse error.
        cause: serde_json::Error,
    },
}

/// A malformed option. Values are not repeated, because they may be keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionFault {
    /// The key is not Base64.
    Key,
    /// A part of the connection string is missing.
    ConnectionString,
    /// The endpoint is not an address.
    Endpoint,
    /// The endpoint is not encrypted, and not on this machine.
    Unencrypted,
    /// The name of the database is invalid.
    Database,
    /// The name of the container is invalid.
    Container,
}

/// The kinds of failures that the service reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceFailure {
    /// The database or container does not exist.
    NotFound,
    /// The document is too large.
    TooLarge,
    /// The container needs more request units than it has.
    Throttled,
    /// Several writers write one document.
    Contended,
    /// There was no answer.
    Unreachable,
    /// The service failed temporarily.
    Failing,
    /// The service refused the request.
    Refused,
}

/// The reasons for refused access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denial {
    /// The clock of this machine is wrong.
    Clock,
    /// No token could be obtained.
    NoToken,
    /// A firewall blocks this machine.
    Firewall,
    /// The key or role does not allow the request.
    Role,
}

impl fmt::Display for CosmosFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(fault) => f.write_str(fault.message()),
            Self::NoIdentity => f.write_str("the configured identity cannot be used"),
            Self::Service { container, failure, status } => match failure {
                ServiceFailure::NotFound => write!(f, "{container} does not exist{status}"),
                ServiceFailure::TooLarge => write!(
                    f,
                    "{container} takes documents of at most 2 MiB, and this one is larger{status}"
                ),
                ServiceFailure::Throttled => {
                    write!(f, "{container} has reached its limit of request units{status}")
                }
                ServiceFailure::Contended => {
                    write!(f, "another program keeps changing {container}{status}")
                }
                ServiceFailure::Unreachable => write!(f, "{container} cannot be reached{status}"),
                ServiceFailure::Failing => write!(f, "{container} failed temporarily{status}"),
                ServiceFailure::Refused => write!(f, "{container} refused a request{status}"),
            },
            Self::Denied { container, status, .. } => write!(f, "{container} refused access{status}"),
            Self::NoAnswer { container, waited } => {
                write!(f, "{container} did not answer within {} s", waited.as_secs())
            }
            Self::Unreachable { container, waited } => {
                write!(f, "{container} could not be reached within {} ms", waited.as_millis())
            }
            Self::Stopped { container } => write!(f, "{container}: the thread that sends requests has ended"),
            Self::Batch { status, .. } => {
                write!(f, "the Cosmos container refused a batch (status {status})")
            }
            Self::ReadOnly => f.write_str(
                "this Cosmos container stores messages and events, not blocks (`/partition_key`), and is read-only",
            ),
            Self::Layout { container } => {
                write!(f, "the container {container} has an unknown layout")
            }
            Self::Late => {
                f.write_str("a block of the Cosmos container is not yet visible in every region")
            }
            Self::PositionLost => {
                f.write_str("the position in an answer of the Cosmos container was lost")
            }
            Self::ForeignBlock { sequence } => {
                write!(f, "block {sequence} does not belong to the session that it should be stored with")
            }
            Self::TooLarge { sequence, session, bytes, limit } => write!(
                f,
                "block {sequence} of session {session} has {bytes} bytes as a document; Cosmos DB takes {limit}"
            ),
            Self::Parameter { name, cause } => {
                write!(f, "the query parameter `{name}` cannot be written as JSON: {cause}")
            }
            Self::Document { expected, cause } => {
                write!(f, "a document of the Cosmos container is not a valid {expected}: {cause}")
            }
        }
    }
}

impl OptionFault {
    const fn message(self) -> &'static str {
        match self {
            Self::Key => "the key of the Cosmos account is not Base64",
            Self::ConnectionString => "invalid connection string",
            Self::Endpoint => "the endpoint of the Cosmos account is not an address",
            Self::Unencrypted => {
                "the endpoint of the Cosmos account must use https; only an emulator on this machine may use http"
            }
            Self::Database => {
                "the name of a Cosmos DB database must not be empty or contain `/`, `\\`, `?`, or `#`"
            }
            Self::Container => {
                "the name of a Cosmos DB container must not be empty or contain `/`, `\\`, `?`, or `#`"
            }
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
            Self::NoIdentity => "check the tenant, the client id, and the environment",
            Self::Service { failure, .. } => match failure {
                ServiceFailure::NotFound => "check the names, or create the container",
                ServiceFailure::Throttled => "try again later, or raise the throughput of the container",
                ServiceFailure::Contended | ServiceFailure::Failing => "try again later",
                ServiceFailure::Unreachable => "check the network and the endpoint",
                ServiceFailure::TooLarge | ServiceFailure::Refused => return None,
            },
            Self::Denied { reason, .. } => match reason {
                Denial::Clock => "set the clock of this machine, and try again",
                Denial::NoToken => {
                    "log in with `az login`, or check the identity, its tenant, and its secret"
                }
                Denial::Firewall => {
                    "add the address of this machine to the firewall, or connect from inside the network"
                }
                Denial::Role => "check the key, or assign the role `Cosmos DB Built-in Data Contributor`",
            },
            Self::Unreachable { .. } => "check the network and the endpoint",
            Self::NoAnswer { .. } | Self::Late => "try again later",
            Self::PositionLost => "try again",
            Self::ReadOnly => "configure another container for writing",
            Self::Layout { .. } => {
                "use a container with the partition key `/partitionKey` (or `/partition_key`, read-only)"
            }
            Self::TooLarge { .. } => "configure a storage for payloads; large events are stored there",
            Self::Stopped { .. }
            | Self::Batch { .. }
            | Self::ForeignBlock { .. }
            | Self::Parameter { .. }
            | Self::Document { .. } => return None,
        }))
    }
}
