//! Faults of object stores. Messages never include the library's own text, because it contains the
//! address, which may have a signature.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::time::Duration;

use trommel_blocks::{ErrorClass, StorageFault};

use super::answer::Answer;

/// A failure of an object store.
#[derive(Debug)]
#[non_exhaustive]
pub enum ObjectFault {
    /// The URL of the store is invalid.
    Url {
        /// The reason. It never includes a part of the URL that could be a key.
        why: Cow<'static, str>,
    },
    /// The address of the service is invalid.
    Endpoint {
        /// The reason.
        why: Cow<'static, str>,
    },
    /// The credentials belong to another service.
    Access {
        /// The scheme of the URL.
        scheme: &'static str,
        /// The required credentials.
        needs: &'static str,
    },
    /// The library rejected the settings.
    Settings {
        /// The service.
        service: &'static str,
        /// The error of the operating system, if any.
        cause: Option<String>,
    },
    /// No storage account is configured.
    NoAccount,
    /// A connection string is malformed.
    ConnectionString {
        /// The reason.
        why: &'static str,
    },
    /// The object does not exist.
    NoObject {
        /// The display name of the store.
        store: String,
    },
    /// The store does not support a required operation.
    NotSupported {
        /// The display name of the store.
        store: String,
    },
    /// Another writer writes the same object.
    Contended {
        /// The display name of the store.
        store: String,
    },
    /// The bucket or the container does not exist.
    NoContainer {
        /// The display name of the store.
        store: String,
        /// The answer of the service.
        answer: Answer,
    },
    /// The service is busy.
    Busy {
        /// The display name of the store.
        store: String,
        /// The answer of the service.
        answer: Answer,
    },
    /// The service refused a request.
    Refused {
        /// The display name of the store.
        store: String,
        /// The answer of the service.
        answer: Answer,
    },
    /// The service refused access.
    Denied {
        /// The display name of the store.
        store: String,
        /// The answer of the service, if it gave one.
        answer: Option<Answer>,
    },
    /// An answer cannot be decoded.
    Unreadable {
        /// The display name of the store.
        store: String,
    },
    /// No connection could be made.
    Unreachable {
        /// The display name of the store.
        store: String,
        /// The reason, if it is known.
        why: Option<Cow<'static, str>>,
    },
    /// A folder on this machine cannot be used.
    Unusable {
        /// The display name of the store.
        store: String,
        /// The error of the operating system, if any.
        cause: Option<String>,
    },
    /// The service did not answer within the timeout.
    NoAnswer {
        /// The timeout.
        waited: Duration,
    },
    /// A request ended without an answer.
    Stopped,
    /// An object is not the block that its path names.
    NotTheBlock {
        /// The display name of the store.
        store: String,
        /// The sequence number of the block.
        sequence: u64,
        /// Its session.
        session: String,
        /// The parse error; `None` if the object is a different block.
        cause: Option<serde_json::Error>,
    },
    /// An object at the path of a block is larger than any block.
    BlockTooLarge {
        /// The display name of the store.
        store: String,
        /// Its size in bytes.
        bytes: u64,
        /// The maximum size of a block in bytes.
        limit: u64,
    },
    /// A payload is too large for the store.
    PayloadTooLarge {
        /// The display name of the store.
        store: String,
        /// Its size in bytes.
        bytes: u64,
        /// The maximum size of a payload in bytes.
        limit: u64,
    },
    /// The stored payload has another length.
    PayloadDiffers {
        /// The display name of the store.
        store: String,
        /// The name of the payload.
        name: String,
        /// The number of stored bytes.
        stored: u64,
        /// The expected number of bytes.
        bytes: u64,
    },
    /// The payload does not exist.
    NoPayload {
        /// The display name of the store.
        store: String,
        /// The name of the payload.
        name: String,
    },
    /// A payload changed while it was read.
    PayloadChanged {
        /// The display name of the store.
        store: String,
        /// The name of the payload.
        name: String,
    },
    /// A payload to store cannot be read.
    PayloadSource(io::Error),
    /// The source of a payload ends before its declared length.
    PayloadEnds,
}

impl fmt::Display for ObjectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { why } => write!(f, "invalid URL of the object store: {why}"),
            Self::Endpoint { why } => write!(f, "invalid endpoint of the object store: {why}"),
            Self::Access { scheme, needs } => write!(f, "{scheme} needs {needs}"),
            Self::Settings { service, cause } => {
                write!(f, "invalid settings of {service}")?;
                cause.as_ref().map_or(Ok(()), |cause| write!(f, ": {cause}"))
            }
            Self::NoAccount => f.write_str("az:// needs the name of a storage account"),
            Self::ConnectionString { why } => write!(f, "invalid connection string: {why}"),
            Self::NoObject { store } => write!(f, "there is no such object in {store}"),
            Self::NotSupported { store } => write!(f, "{store} does not support the operation"),
            Self::Contended { store } => write!(f, "another process is writing the same object in {store}"),
            Self::NoContainer { store, answer } => write!(f, "{store} does not exist ({answer})"),
            Self::Busy { store, answer } => write!(f, "{store} is busy: it answered {answer}"),
            Self::Refused { store, answer } => {
                write!(f, "{store} refused a request: it answered {answer}")
            }
            Self::Denied { store, answer: Some(answer) } => {
                write!(f, "{store} refused access ({answer})")
            }
            Self::Denied { store, answer: None } => write!(f, "{store} refused access"),
            Self::Unreadable { store } => write!(f, "the answer of {store} cannot be read"),
            Self::Unreachable { store, why: Some(why) } => write!(f, "{store} cannot be reached: {why}"),
            Self::Unreachable { store, why: None } => write!(f, "{store} cannot be reached"),
            Self::Unusable { store, cause } => {
                let cause = cause.as_deref().unwrap_or("it failed");
                write!(f, "{store} cannot be used: {cause}")
            }
            Self::NoAnswer { waited } => {
                write!(f, "the object store gave no answer within {} s", waited.as_secs_f32())
            }
            Self::Stopped => f.write_str("a request ended without an answer"),
            _ => self.fmt_content_fault(f),
        }
    }
}

impl ObjectFault {
    /// Writes the text of faults about blocks and payloads.
    fn fmt_content_fault(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTheBlock { store, sequence, session, cause } => {
                write!(
                    f,
                    "the object of block {sequence} of session {session} in {store} is not that block: "
                )?;
                match cause {
                    Some(cause) => write!(f, "{cause}"),
                    None => f.write_str("it contains another block"),
                }
            }
            Self::BlockTooLarge { store, bytes, limit } => {
                write!(f, "an object in {store} has {bytes} bytes; a block has at most {limit}")
            }
            Self::PayloadTooLarge { store, bytes, limit } => {
                write!(f, "a payload of {bytes} bytes is too large for {store}, which takes {limit}")
            }
            Self::PayloadDiffers { store, name, stored, bytes } => write!(
                f,
                "payload {name} in {store} has {stored} bytes instead of {bytes}: another program wrote it"
            ),
            Self::NoPayload { store, name } => write!(f, "there is no payload {name} in {store}"),
            Self::PayloadChanged { store, name } => {
                write!(f, "payload {name} in {store} changed while it was read")
            }
            Self::PayloadSource(cause) => write!(f, "cannot read the payload: {cause}"),
            _ => f.write_str("the payload is shorter than declared: it changed while it was read"),
        }
    }
}

impl StorageFault for ObjectFault {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Url { .. }
            | Self::Endpoint { .. }
            | Self::Access { .. }
            | Self::Settings { .. }
            | Self::NoAccount
            | Self::ConnectionString { .. } => ErrorClass::Request,
            Self::NoObject { .. } | Self::NoContainer { .. } | Self::NoPayload { .. } => ErrorClass::NotFound,
            Self::NotSupported { .. } => ErrorClass::Unsupported,
            Self::Contended { .. } | Self::Busy { .. } => ErrorClass::Busy,
            Self::Refused { .. } | Self::Unreadable { .. } | Self::Unusable { .. } | Self::Stopped => {
                ErrorClass::Storage
            }
            Self::Denied { .. } => ErrorClass::Denied,
            Self::Unreachable { .. } | Self::NoAnswer { .. } => ErrorClass::Offline,
            Self::BlockTooLarge { .. } | Self::PayloadTooLarge { .. } => ErrorClass::Limit,
            Self::NotTheBlock { .. }
            | Self::PayloadDiffers { .. }
            | Self::PayloadChanged { .. }
            | Self::PayloadEnds => ErrorClass::Corrupt,
            Self::PayloadSource(_) => ErrorClass::Io,
        }
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Url { .. } => {
                "write it like `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX`, or `file:///FOLDER`"
            }
            Self::Endpoint { .. } => "write it like `https://objects.example.com`",
            Self::Access { .. } => "set the credentials that belong to it",
            Self::Settings { .. } => {
                "check that account, endpoint, and credentials match those of the vendor's console"
            }
            Self::NoAccount => "set `account` (or AZURE_STORAGE_ACCOUNT_NAME)",
            Self::ConnectionString { .. } => "copy it from the storage account's access keys verbatim",
            Self::NoObject { .. } => "list the objects, or sync again",
            Self::NotSupported { .. } => "use another kind of storage",
            Self::NoContainer { .. } => "create the bucket or container first",
            Self::Busy { .. } => "try again later",
            Self::Refused { .. } => "check address and settings",
            Self::Denied { .. } => {
                "check the key or the role (it must allow reading, writing, and listing objects), and the clock of this machine"
            }
            Self::Unreadable { .. } => "check the address",
            Self::Unreachable { why: Some(_), .. } => {
                "check the network and the address, and sync again later"
            }
            Self::Unreachable { why: None, .. } => "check the network and the address",
            Self::Unusable { .. } => "check settings and credentials",
            Self::NoAnswer { .. } => "check the network, or try again later",
            Self::NotTheBlock { .. } => "inspect that object with the tools of the store",
            Self::BlockTooLarge { .. } => "remove it: trommel did not write it",
            Self::PayloadTooLarge { .. } => "use another kind of storage for payloads",
            Self::PayloadDiffers { .. } => "remove it, and sync again",
            Self::NoPayload { .. } => "sync the device that wrote it",
            Self::PayloadSource(_) => "check the disk, and try again",
            Self::PayloadEnds => "sync again",
            Self::Contended { .. } | Self::Stopped | Self::PayloadChanged { .. } => "try again",
        }))
    }
}
