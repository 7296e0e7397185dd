//! Faults of object stores, in the words of this crate. The library's own text is not among them:
//! it has the address, which may hold a signature.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::time::Duration;

use trommel_blocks::{ErrorClass, StorageFault};

use super::answer::Answer;

/// What an object store fails with.
#[derive(Debug)]
#[non_exhaustive]
pub enum ObjectFault {
    /// The URL of the place is invalid.
    Url {
        /// Why. Never a part of the URL that could be a key.
        why: Cow<'static, str>,
    },
    /// The address of the service is invalid.
    Endpoint {
        /// Why.
        why: Cow<'static, str>,
    },
    /// The credentials belong to another service.
    Access {
        /// The scheme of the URL.
        scheme: &'static str,
        /// The credentials that it needs.
        needs: &'static str,
    },
    /// The library refused the settings.
    Settings {
        /// The service.
        service: &'static str,
        /// What the system says, where it says something.
        cause: Option<String>,
    },
    /// No storage account is named.
    NoAccount,
    /// A connection string is malformed.
    ConnectionString {
        /// Why.
        why: &'static str,
    },
    /// There is no such object.
    NoObject {
        /// The place.
        place: String,
    },
    /// The place cannot do what a storage has to.
    NotSupported {
        /// The place.
        place: String,
    },
    /// Other writers write the same object.
    Contended {
        /// The place.
        place: String,
    },
    /// The bucket or the container does not exist.
    NoPlace {
        /// The place.
        place: String,
        /// The answer of the service.
        answer: Answer,
    },
    /// The service is busy.
    Busy {
        /// The place.
        place: String,
        /// The answer of the service.
        answer: Answer,
    },
    /// The service refused a request.
    Refused {
        /// The place.
        place: String,
        /// The answer of the service.
        answer: Answer,
    },
    /// The service refused access.
    Denied {
        /// The place.
        place: String,
        /// The answer of the service, where there is one.
        answer: Option<Answer>,
    },
    /// An answer cannot be read.
    Unreadable {
        /// The place.
        place: String,
    },
    /// No connection came about.
    Unreachable {
        /// The place.
        place: String,
        /// Why, where it is known.
        why: Option<Cow<'static, str>>,
    },
    /// A place on this machine failed.
    Unusable {
        /// The place.
        place: String,
        /// What the system says, where it says something.
        cause: Option<String>,
    },
    /// No answer came in time.
    NoAnswer {
        /// How long it was waited for.
        waited: Duration,
    },
    /// A request ended without an answer.
    Stopped,
    /// An object in the place of a block is another one.
    NotTheBlock {
        /// The place.
        place: String,
        /// The block.
        sequence: u64,
        /// Its session.
        session: String,
        /// What the parser says; `None` for a block that says that it is another.
        cause: Option<serde_json::Error>,
    },
    /// An object in the place of a block is larger than any block.
    BlockTooLarge {
        /// The place.
        place: String,
        /// Its bytes.
        bytes: u64,
        /// The most bytes of a block.
        limit: u64,
    },
    /// A payload is too large for the place.
    PayloadTooLarge {
        /// The place.
        place: String,
        /// Its bytes.
        bytes: u64,
        /// The most bytes of a payload.
        limit: u64,
    },
    /// A payload that is stored has another length.
    PayloadDiffers {
        /// The place.
        place: String,
        /// The payload.
        name: String,
        /// The bytes that are stored,
        stored: u64,
        /// and those that should be.
        bytes: u64,
    },
    /// There is no such payload.
    NoPayload {
        /// The place.
        place: String,
        /// The payload.
        name: String,
    },
    /// A payload changed while it was read.
    PayloadChanged {
        /// The place.
        place: String,
        /// The payload.
        name: String,
    },
    /// A payload to store cannot be read.
    PayloadSource(io::Error),
    /// A payload to store ends before its length.
    PayloadEnds,
}

impl fmt::Display for ObjectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { why } => write!(f, "the URL of the object store cannot be used: {why}"),
            Self::Endpoint { why } => write!(f, "the endpoint of the object store cannot be used: {why}"),
            Self::Access { scheme, needs } => write!(f, "{scheme} needs {needs}"),
            Self::Settings { service, cause } => {
                write!(f, "the settings of {service} cannot be used")?;
                cause.as_ref().map_or(Ok(()), |cause| write!(f, ": {cause}"))
            }
            Self::NoAccount => f.write_str("az:// needs the name of a storage account"),
            Self::ConnectionString { why } => write!(f, "the connection string cannot be read: {why}"),
            Self::NoObject { place } => write!(f, "there is no such object in {place}"),
            Self::NotSupported { place } => write!(f, "{place} cannot do what was asked of it"),
            Self::Contended { place } => write!(f, "others write to {place} at the same place"),
            Self::NoPlace { place, answer } => write!(f, "{place} does not exist ({answer})"),
            Self::Busy { place, answer } => write!(f, "{place} is busy: it answered {answer}"),
            Self::Refused { place, answer } => write!(f, "{place} refused a request: it answered {answer}"),
            Self::Denied { place, answer: Some(answer) } => write!(f, "{place} refused access ({answer})"),
            Self::Denied { place, answer: None } => write!(f, "{place} refused access"),
            Self::Unreadable { place } => write!(f, "the answer of {place} cannot be read"),
            Self::Unreachable { place, why: Some(why) } => write!(f, "{place} cannot be reached: {why}"),
            Self::Unreachable { place, why: None } => write!(f, "{place} cannot be reached"),
            Self::Unusable { place, cause } => {
                let cause = cause.as_deref().unwrap_or("it failed");
                write!(f, "{place} cannot be used: {cause}")
            }
            Self::NoAnswer { waited } => {
                write!(f, "the object store gave no answer within {} s", waited.as_secs_f32())
            }
            Self::Stopped => f.write_str("a request ended without an answer"),
            _ => self.fact_of_contents(f),
        }
    }
}

impl ObjectFault {
    /// The fact about blocks and payloads.
    fn fact_of_contents(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTheBlock { place, sequence, session, cause } => {
                write!(f, "block {sequence} of session {session} in {place} is no block of its own: ")?;
                match cause {
                    Some(cause) => write!(f, "{cause}"),
                    None => f.write_str("it says that it is another"),
                }
            }
            Self::BlockTooLarge { place, bytes, limit } => {
                write!(f, "an object of {bytes} bytes in {place} is no block: {limit} may be")
            }
            Self::PayloadTooLarge { place, bytes, limit } => {
                write!(f, "a payload of {bytes} bytes is too large for {place}: {limit} may be")
            }
            Self::PayloadDiffers { place, name, stored, bytes } => write!(
                f,
                "payload {name} in {place} has {stored} bytes, and should have {bytes}: another program wrote it"
            ),
            Self::NoPayload { place, name } => write!(f, "there is no payload {name} in {place}"),
            Self::PayloadChanged { place, name } => {
                write!(f, "payload {name} in {place} changed while it was read")
            }
            Self::PayloadSource(cause) => write!(f, "cannot read the payload: {cause}"),
            _ => f.write_str("the payload ends before its length: it changed while it was read"),
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
            Self::NoObject { .. } | Self::NoPlace { .. } | Self::NoPayload { .. } => ErrorClass::NotFound,
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
                "write it like `az://CONTAINER/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`"
            }
            Self::Endpoint { .. } => "write it like `https://objects.example.com`",
            Self::Access { .. } => "set the credentials that belong to it",
            Self::Settings { .. } => {
                "check that account, endpoint and credentials are written as the vendor shows them"
            }
            Self::NoAccount => "set `account` (or AZURE_STORAGE_ACCOUNT_NAME)",
            Self::ConnectionString { .. } => {
                "copy it from the storage account's access keys as it stands there"
            }
            Self::NoObject { .. } => "list what is there, or sync again",
            Self::NotSupported { .. } => "use another kind of storage",
            Self::NoPlace { .. } => "create the bucket or container first",
            Self::Busy { .. } => "try again later",
            Self::Refused { .. } => "check its address and its settings",
            Self::Denied { .. } => {
                "check the key or the role (reading, writing and listing of objects), and this machine's clock"
            }
            Self::Unreadable { .. } => "check its address",
            Self::Unreachable { why: Some(_), .. } => {
                "look at the network and at the address, and sync again later"
            }
            Self::Unreachable { why: None, .. } => "look at the network and at the address",
            Self::Unusable { .. } => "check its settings and its credentials",
            Self::NoAnswer { .. } => "look at the network, or wait until the store answers again",
            Self::NotTheBlock { .. } => "look at that object with the store's tools",
            Self::BlockTooLarge { .. } => "remove it: trommel did not write it",
            Self::PayloadTooLarge { .. } => "use another kind of storage for payloads",
            Self::PayloadDiffers { .. } => "remove it, and sync again",
            Self::NoPayload { .. } => "sync the device that wrote it",
            Self::PayloadSource(_) => "look at the disk, and try again",
            Self::PayloadEnds => "sync again",
            Self::Contended { .. } | Self::Stopped | Self::PayloadChanged { .. } => "try again",
        }))
    }
}
