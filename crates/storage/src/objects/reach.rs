//! Finds out if a place can be reached, within a time.

use std::borrow::Cow;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use trommel_blocks::{Error, Result};

use super::fault::ObjectFault;

/// Where to find out whether a place can be reached.
#[derive(Clone, Debug)]
pub(super) enum Door {
    /// A host and a port.
    Host(String, u16),
    Folder(PathBuf),
    /// It is in this process.
    Here,
}

/// Connects and closes again. Looking up a name can take as long as it likes, so that it is done
/// apart, and left behind when it is late.
pub(super) fn reach(door: &Door, name: &str, patience: Duration) -> Result<()> {
    let offline = |why: Cow<'static, str>| {
        Error::from(ObjectFault::Unreachable { place: name.to_owned(), why: Some(why) })
    };
    match door {
        Door::Here => Ok(()),
        Door::Folder(folder) if folder.is_dir() => Ok(()),
        Door::Folder(_) => Err(offline("its folder is gone".into())),
        Door::Host(host, port) => {
            let (host, port) = (host.clone(), *port);
            let (answer, answered) = channel();
            let until = Instant::now() + patience;
            let started = thread::Builder::new().name("reach".to_owned()).spawn(move || {
                // Nobody listens any more when this is late.
                let _ = answer.send(connect(&host, port, until));
            });
            started.map_err(|error| offline(error.to_string().into()))?;
            match answered.recv_timeout(patience) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(why)) => Err(offline(why.into())),
                Err(_) => Err(offline(format!("no answer within {} ms", patience.as_millis()).into())),
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
