//! Files of the kernel, which report no length or a wrong one.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that cannot run says so")]

use std::num::NonZeroUsize;

use trommel::path::Query;
use trommel::reader::Framing;
use trommel::{Analysis, Document, Error, Sample, Strategy};

use crate::support::{query, texts};

/// Opens a file, if it exists, and reads its contents.
fn kernel(path: &str) -> Option<(Document<'_>, Vec<u8>)> {
    match std::fs::read(path) {
        Ok(bytes) => Some((Document::open(path).unwrap(), bytes)),
        Err(cause) => {
            eprintln!("SKIPPED: {path}: {cause}");
            None
        }
    }
}

#[test]
fn numbers_of_the_kernel_are_documents() {
    for path in ["/proc/sys/kernel/pid_max", "/sys/class/net/lo/mtu"] {
        let Some((mut document, bytes)) = kernel(path) else { continue };
        let expected = vec![String::from_utf8(bytes.clone()).unwrap().trim().to_owned()];
        assert_eq!(texts(&Analysis::new().extract(Query::root()), bytes.clone()), expected);
        // Any number of times, in every framing.
        for framing in [Framing::Auto, Framing::Single, Framing::Lines, Framing::Concatenated] {
            document = document.framing(framing);
            let (report, heard) =
                crate::support::run(&Analysis::new().extract(Query::root()).stats(), &mut document).unwrap();
            assert_eq!(heard.texts(), expected, "{path}, {framing:?}");
            let coverage = report.coverage;
            assert_eq!((coverage.bytes_total, coverage.complete), (None, true), "{path}, {framing:?}");
            assert!(coverage.bytes_read >= bytes.len() as u64 - 1, "{path}: {coverage:?}");
        }
        let systematic = Sample::new(query("$"), NonZeroUsize::MIN).strategy(Strategy::Systematic(None));
        let report = Analysis::new().sample(systematic).run(&mut document).unwrap();
        assert!(format!("{:?}", report.answers).contains("total: 1"), "{path}");
    }
}

/// Text of the kernel is not JSON, and never an empty stream.
#[test]
fn text_of_the_kernel_is_an_error() {
    for path in ["/proc/self/status", "/proc/mounts"] {
        let Some((document, _)) = kernel(path) else { continue };
        let error = Analysis::new().stats().run(&mut document.framing(Framing::Lines)).unwrap_err();
        assert!(
            matches!(&error, Error::Read { error, record: Some(0) } if error.is_syntax()),
            "{path}: {error}"
        );
    }
}
