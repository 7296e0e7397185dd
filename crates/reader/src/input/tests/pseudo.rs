//! Files whose reported length is not that of their contents, and files that cannot be mapped.

use std::io::Read;

use super::super::*;
use super::{POLICIES, file};

/// Files of the kernel. Their reported lengths are 0, too large, or correct.
#[cfg(target_os = "linux")]
const KERNEL: [&str; 5] = [
    "/proc/self/status",
    "/proc/mounts",
    "/proc/sys/kernel/pid_max",
    "/sys/class/net/lo/mtu",
    "/sys/kernel/notes",
];

#[cfg(target_os = "linux")]
#[test]
fn files_of_the_kernel_are_read_to_their_end() {
    let mut missing = Vec::new();
    for path in KERNEL {
        let Ok(expected) = std::fs::read(path) else {
            missing.push(path);
            continue;
        };
        let reported = std::fs::metadata(path).unwrap().len();
        for policy in POLICIES {
            let input = Input::open(path, policy).unwrap();
            // Every reader starts at the first byte.
            for _ in 0..2 {
                let mut bytes = Vec::new();
                input.reader().read_to_end(&mut bytes).unwrap();
                assert_eq!(bytes.len(), expected.len(), "{path}, reported {reported}");
            }
            assert_eq!(input.known_len(), (reported == expected.len() as u64).then_some(reported), "{path}");
            assert_eq!(input.is_empty(), expected.is_empty(), "{path}");
            input.verify(false).unwrap();
        }
    }
    assert!(missing.len() <= 3, "too few of these files can be read here: not {missing:?}");
}

/// A file of zeros that occupies no block has its reported length. If it is truncated, reading
/// fails.
#[test]
fn sparse_files_keep_their_length() {
    let (_folder, path) = file(b"");
    let write = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    write.set_len(1 << 20).unwrap();
    for policy in POLICIES {
        let input = Input::open(&path, policy).unwrap();
        assert_eq!((input.known_len(), input.len()), (Some(1 << 20), 1 << 20));
        assert_eq!(input.reader().read_to_end(&mut Vec::new()).unwrap(), 1 << 20);
    }
    let input = Input::open(&path, MapPolicy::never()).unwrap();
    let mut reader = input.reader();
    reader.read_exact(&mut [0; 100]).unwrap();
    write.set_len(50).unwrap();
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert!(input.verify(true).is_err());
}

/// An empty file that grows is not read beyond its initial length.
#[test]
fn empty_files_that_grow_stay_empty() {
    let (_folder, path) = file(b"");
    let input = Input::open(&path, MapPolicy::never()).unwrap();
    std::fs::write(&path, b"[1]").unwrap();
    assert_eq!(input.reader().read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(input.verify(false).is_err());
    input.verify(true).unwrap();
}
