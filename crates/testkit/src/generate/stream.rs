//! Random streams of records.

use super::document::write;
use super::random::Random;
use super::shape::{Layout, Shape};
use crate::naive::Framing;

/// Generates a valid stream of `records` random documents in a framing. [`Framing::Single`] has one
/// document, regardless of `records`. Lines end with LF or CR LF, some are blank, and the last one
/// may have no line end.
pub fn stream(seed: u64, shape: &Shape, framing: Framing, records: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut out = Vec::new();
    match framing {
        Framing::Single => write(&mut random, shape, &mut out),
        Framing::Lines => lines(&mut random, shape, records, &mut out),
        Framing::Concatenated => {
            for _ in 0..records {
                write(&mut random, shape, &mut out);
                out.extend(random.pick::<str>(&[" ", "\n", "\r\n", "\n\n\t"]).bytes());
            }
        }
        Framing::JsonSeq => {
            for _ in 0..records {
                out.push(0x1E);
                write(&mut random, shape, &mut out);
                out.push(b'\n');
            }
        }
    }
    out
}

fn lines(random: &mut Random, shape: &Shape, records: usize, out: &mut Vec<u8>) {
    let layout = match shape.layout {
        Layout::Compact => Layout::Compact,
        _ => Layout::OneLine,
    };
    let shape = Shape { layout, ..*shape };
    for _ in 0..records {
        write(random, &shape, out);
        out.extend(random.pick::<str>(&["\n", "\n", "\r\n", "\n\n", "\n \t\r\n"]).bytes());
    }
    if random.chance(30) {
        while matches!(out.last(), Some(b'\n' | b'\r' | b' ' | b'\t')) {
            out.pop();
        }
    }
}
