//! A service that answers queries about an upload, in memory that does not grow with it.
//!
//! A client sends a line with a query, then JSON of any size, and closes its side. The service
//! answers with the number of the query's nodes, three of them drawn at random, and statistics of
//! the upload. Without arguments, the program sends itself one query; with an address such as
//! `127.0.0.1:7070`, it serves:
//!
//! ```sh
//! (echo '$..name'; cat upload.json) | nc -N 127.0.0.1 7070
//! ```
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::thread;

use trommel::path::Query;
use trommel::reader::Limits;
use trommel::{Analysis, Answer, Document, Error, Sample};

/// Answers a query about one upload while it arrives.
fn answer(query: &str, upload: impl Read + Send + 'static) -> Result<String, Error> {
    let query: Query = query.parse()?;
    let three = NonZeroUsize::new(3).unwrap_or(NonZeroUsize::MIN);
    let mut limits = Limits::default();
    limits.depth = 200;
    let analysis =
        Analysis::new().count(query.clone()).sample(Sample::new(query, three)).stats().limits(limits);
    let report = analysis.run(&mut Document::from_reader(upload))?;
    let mut text = String::new();
    for answer in &report.answers {
        match answer {
            Answer::Count(count) => writeln!(text, "{count} nodes").unwrap_or_default(),
            Answer::Sample(sample) => {
                for item in &sample.items {
                    writeln!(text, "#{}: {}", item.index, String::from_utf8_lossy(&item.value))
                        .unwrap_or_default();
                }
            }
            Answer::Stats(stats) => writeln!(text, "{:?}", stats.summary.types).unwrap_or_default(),
            _ => {}
        }
    }
    Ok(text)
}

fn serve(client: &TcpStream) -> io::Result<()> {
    let mut upload = BufReader::new(client.try_clone()?);
    let mut query = String::new();
    upload.by_ref().take(65_536).read_line(&mut query)?;
    let text = answer(query.trim_end(), upload).unwrap_or_else(|error| format!("error: {error}\n"));
    let mut client = client;
    client.write_all(text.as_bytes())
}

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0"))?;
    if address.is_some() {
        for client in listener.incoming() {
            let client = client?;
            thread::spawn(move || serve(&client));
        }
        return Ok(());
    }
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (served, _) = listener.accept()?;
    let service = thread::spawn(move || serve(&served));
    client.write_all(
        b"$.crew[*].name\n{\"crew\": [{\"name\": \"Ada\"}, {\"name\": \"Grace\"}, {\"name\": \"Joan\"}]}",
    )?;
    client.shutdown(Shutdown::Write)?;
    let mut text = String::new();
    client.read_to_string(&mut text)?;
    print!("{text}");
    service.join().unwrap_or_else(|_| Err(io::Error::other("the service failed")))
}
