//! Checks within a timeout whether a store can be reached.

use std::borrow::Cow;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use trommel_blocks::{Error, Result};

use super::fault::ObjectFault;

/// The address to check for reachability.
#[derive(Clone, Debug)]
pub(super) enum ReachTarget {
    /// A host and a port.
    Host(String, u16),
    Folder(PathBuf),
    /// In this process, so always reachable.
    InProcess,
}

/// Connects and closes the connection. Name lookup has no timeout of its own, so it runs on a
/// thread that is abandoned when it is late.
pub(super) fn reach(target: &ReachTarget, name: &str, timeout: Duration) -> Result<()> {
    let offline = |why: Cow<'static, str>| {
        Error::from(ObjectFault::Unreachable { store: name.to_owned(), why: Some(why) })
    };
    match target {
        ReachTarget::InProcess => Ok(()),
        ReachTarget::Folder(folder) if folder.is_dir() => Ok(()),
        ReachTarget::Folder(_) => Err(offline("its folder is gone".into())),
        ReachTarget::Host(host, port) => {
            let (host, port) = (host.clone(), *port);
            let (answer, answered) = channel();
            let until = Instant::now() + timeout;
            let started = thread::Builder::new().name("reach".to_owned()).spawn(move || {
                // The receiver is gone if the timeout has passed.
                let _ = answer.send(connect(&host, port, until));
            });
            started.map_err(|error| offline(error.to_string().into()))?;
            match answered.recv_timeout(timeout) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(why)) => Err(offline(why.into())),
                Err(_) => Err(offline(format!("no answer within {} ms", timeout.as_millis()).into())),
            }
        }
    }
}

fn connect(host: &str, port: u16, until: Instant) -> std::result::Result<(), String> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| error.to_string())?;
    let mut last = "its name has no address".to_owned();
    for address in addresses {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(_) => return Ok(()),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}
