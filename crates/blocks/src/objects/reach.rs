//! Whether a place can be reached, found out within a time.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::open::Door;
use crate::error::{Error, ErrorKind, Result};

/// Connects and closes again. Looking up a name can take as long as it likes, so that it is done apart, and left behind when it is
/// late.
pub(super) fn reach(door: &Door, name: &str, patience: Duration) -> Result<()> {
    let offline = |why: &str| {
        let message = format!(
            "{name} cannot be reached: {why}; look at the network and at the address, and sync again later"
        );
        Error::new(ErrorKind::Offline, message)
    };
    match door {
        Door::Here => Ok(()),
        Door::Folder(folder) if folder.is_dir() => Ok(()),
        Door::Folder(_) => Err(offline("its folder is gone")),
        Door::Host(host, port) => {
            let (host, port) = (host.clone(), *port);
            let (answer, answered) = channel();
            let until = Instant::now() + patience;
            let started = thread::Builder::new().name("reach".to_owned()).spawn(move || {
                // Nobody listens any more when this is late.
                let _ = answer.send(connect(&host, port, until));
            });
            started.map_err(|error| offline(&error.to_string()))?;
            match answered.recv_timeout(patience) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(why)) => Err(offline(&why)),
                Err(_) => Err(offline(&format!("no answer within {} ms", patience.as_millis()))),
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
