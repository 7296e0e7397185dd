//! Compares the backends with a byte-by-byte oracle, at every alignment and length.

use crate::*;

/// A byte-by-byte skip: the oracle.
fn naive_skip(bytes: &[u8], from: usize, depth: u64, limit: u64) -> (Skipped, i64) {
    let (mut in_string, mut escaped, mut depth, mut objects) = (false, false, depth, 0);
    for (at, &byte) in bytes.iter().enumerate().skip(from) {
        // Outside strings a backslash is not valid JSON; the masks still let it escape a quote.
        let plain = !escaped;
        escaped = byte == b'\\' && plain;
        match byte {
            b'"' if plain => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                objects += i64::from(byte == b'{');
                if depth > limit {
                    return (Skipped::TooDeep(at), objects);
                }
            }
            b'}' | b']' if !in_string => {
                depth -= 1;
                objects -= i64::from(byte == b'}');
                if depth == 0 {
                    return (Skipped::Done(at + 1), objects);
                }
            }
            _ => {}
        }
    }
    (Skipped::More, objects)
}

/// Byte-by-byte compacting: the oracle.
fn naive_compact(bytes: &[u8]) -> Vec<u8> {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let (mut in_string, mut escaped, mut removed) = (false, false, 0);
    let mut kept = Vec::new();
    for byte in bytes {
        let plain = !escaped;
        escaped = *byte == b'\\' && plain;
        in_string ^= *byte == b'"' && plain;
        if !in_string && is_space(*byte) {
            removed += 1;
            continue;
        }
        if removed > 0 && kept.last().is_some_and(is_token) && is_token(byte) {
            kept.push(b' ');
        }
        kept.push(*byte);
        removed = 0;
    }
    kept
}

/// Random bytes, most of which are significant to the masks.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    const ALPHABET: &[u8] = b"\\\\\"\"{}[]{}[] \n\tab,:\x01\xC3\xA9";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|_| ALPHABET[next() as usize % ALPHABET.len()]).collect()
}

/// R5: every kernel, every alignment, every length, on every backend.
#[test]
fn backends_agree_with_the_oracle() {
    for backend in Backend::available() {
        let kernels = backend.kernels();
        for length in 0..=256 {
            let bytes = noise(length as u64 + 1, length + 64);
            for from in 0..64 {
                let bytes = &bytes[..from + length];
                let mut state = Skip::new(3, 0, 8);
                let skipped = (kernels.skip)(bytes, from, &mut state);
                assert_eq!(
                    (skipped, state.objects),
                    naive_skip(bytes, from, 3, 8),
                    "{backend:?} {length} {from}"
                );
                let plain = (kernels.plain)(bytes, from);
                let end = (from..bytes.len()).find(|&at| matches!(bytes[at], b'"' | b'\\' | 0..0x20));
                assert_eq!(plain.end, end.unwrap_or(bytes.len()));
                assert_eq!(plain.high, bytes[from..plain.end].iter().any(|byte| *byte >= 0x80));
                let end =
                    (from..bytes.len()).find(|&at| matches!(bytes[at], b'"' | b'\\' | 0..0x20 | 0x80..));
                assert_eq!((kernels.ascii)(bytes, from), end.unwrap_or(bytes.len()));
                let leads = bytes[from..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
                assert_eq!((kernels.chars)(&bytes[from..]), leads as u64);
                let other = (from..bytes.len()).find(|&at| !is_space(bytes[at]));
                assert_eq!((kernels.space)(bytes, from), other.unwrap_or(bytes.len()));
                let mut out = b"kept".to_vec();
                (kernels.compact)(&bytes[from..], &mut Compactor::default(), &mut out);
                let expected = [b"kept", naive_compact(&bytes[from..]).as_slice()].concat();
                assert_eq!(out, expected, "{backend:?} {length} {from}");
            }
        }
    }
}

/// R5: long runs, which are rare in random bytes: of backslashes, white space, and text, ending at
/// every byte of a block.
#[test]
fn backends_agree_about_runs() {
    for backend in Backend::available() {
        let kernels = backend.kernels();
        for byte in *b"\\ \n\tx\xE9\"{" {
            for (before, length) in
                (0..70).flat_map(|before| (0..200).step_by(7).map(move |length| (before, length)))
            {
                let bytes = [&vec![b'['; before][..], b"\"", &vec![byte; length], b"\"]  ]}\\\" "].concat();
                let mut out = Vec::new();
                (kernels.compact)(&bytes, &mut Compactor::default(), &mut out);
                assert_eq!(out, naive_compact(&bytes), "{backend:?} {byte} {before} {length}");
                let mut state = Skip::new(1, 0, 1 << 20);
                let skipped = (kernels.skip)(&bytes, 0, &mut state);
                assert_eq!((skipped, state.objects), naive_skip(&bytes, 0, 1, 1 << 20));
                let plain = (kernels.plain)(&bytes, before + 1);
                let end = (before + 1..bytes.len()).find(|&at| matches!(bytes[at], b'"' | b'\\' | 0..0x20));
                assert_eq!(Some(plain.end), end);
                let space = (before + 1..bytes.len()).find(|&at| !is_space(bytes[at]));
                assert_eq!(Some((kernels.space)(&bytes, before + 1)), space);
            }
        }
    }
}

/// R1: a skip in pieces ends where a skip of the whole ends.
#[test]
fn skips_resume_at_any_byte() {
    for backend in Backend::available() {
        for seed in 0..200 {
            let bytes = noise(seed, 300);
            let whole = (backend.kernels().skip)(&bytes, 0, &mut Skip::new(5, 0, 1 << 20));
            for piece in [1, 3, 63, 64, 65, 100] {
                let mut state = Skip::new(5, 0, 1 << 20);
                let mut result = Skipped::More;
                let mut from = 0;
                while from < bytes.len() && result == Skipped::More {
                    let to = (from + piece).min(bytes.len());
                    result = (backend.kernels().skip)(&bytes[..to], from, &mut state);
                    from = to;
                }
                assert_eq!(result, whole, "{backend:?} seed {seed} piece {piece}");
            }
        }
    }
}

/// Bytes that are skipped from the middle of a container are joined to those before them as if they
/// had been skipped at once, or refused.
#[test]
fn skips_of_stretches_join_exactly() {
    let (mut joined, mut refused) = (0, 0);
    for backend in Backend::available() {
        let kernels = backend.kernels();
        for seed in 0..400 {
            // Numbers and literals between the brackets, for the tally.
            let letters = b"12.5e-3 tfn,:";
            let mut bytes = noise(seed, 400);
            bytes.iter_mut().enumerate().filter(|(at, _)| at % 3 > 0).for_each(|(at, byte)| {
                *byte = letters[(at * 7 + seed as usize) % letters.len()];
            });
            bytes[..5].copy_from_slice(b"[[{[[");
            for cut in (5..bytes.len()).step_by(17) {
                let (head, tail) = bytes.split_at(cut);
                let start = Skip::new(0, 0, 90);
                let (mut whole, mut skip, mut middle) = (start, start, Skip::middle());
                let ended = (kernels.skip)(&bytes, 0, &mut whole);
                let is_open = (kernels.skip)(head, 0, &mut skip) == Skipped::More;
                let is_whole = (kernels.skip)(tail, 0, &mut middle) == Skipped::More;
                if is_open && is_whole && skip.join(&middle) {
                    assert_eq!(
                        (ended, format!("{skip:?}")),
                        (Skipped::More, format!("{whole:?}")),
                        "{seed} {cut}"
                    );
                    joined += 1;
                } else {
                    refused += 1;
                }
                let start = Tallier::new(start);
                let (mut whole, mut tallier, mut middle) = (start, start, Tallier::middle());
                (kernels.tally)(&bytes, 0, &mut whole);
                let is_open = (kernels.tally)(head, 0, &mut tallier) == Skipped::More;
                let is_whole = (kernels.tally)(tail, 0, &mut middle) == Skipped::More;
                if is_open && is_whole && tallier.join(&middle, tail[0]) {
                    assert_eq!(format!("{tallier:?}"), format!("{whole:?}"), "{backend:?} {seed} {cut}");
                }
            }
        }
    }
    assert!(joined > 1000 && refused > 1000, "{joined} {refused}");
}

#[test]
fn compacting_drops_white_space_outside_strings_only() {
    let value = br#" { "a b" : [ 1 , "\" ,  x" ,
        true ] , "c" : "   " } "#;
    for backend in Backend::available() {
        for shift in 0..70 {
            let padded = [vec![b' '; shift], value.to_vec()].concat();
            let mut out = Vec::new();
            let expected = br#"{"a b":[1,"\" ,  x",true],"c":"   "}"#;
            (backend.kernels().compact)(&padded, &mut Compactor::default(), &mut out);
            assert_eq!(out, expected, "{backend:?}");
            for piece in 1..70 {
                let (mut state, mut out) = (Compactor::default(), Vec::new());
                for piece in padded.chunks(piece) {
                    (backend.kernels().compact)(piece, &mut state, &mut out);
                }
                assert_eq!(out, expected, "{backend:?} {piece}");
            }
        }
    }
}

/// Two numbers or literals are not joined to another one, wherever pieces and blocks end.
#[test]
fn compacting_keeps_numbers_and_literals_apart() {
    let (value, expected) =
        ("[1 2,tr\n ue , -\t1\r\n\t.5 ,\"a b\" \"c\" 3]", "[1 2,tr ue,- 1 .5,\"a b\"\"c\"3]");
    for backend in Backend::available() {
        for (before, gap) in (0..70).flat_map(|before| (1..140).step_by(9).map(move |gap| (before, gap))) {
            let space = " ".repeat(gap);
            let bytes = format!("{}{value}{space}4{space}5{space}", "[".repeat(before));
            let expected = format!("{}{expected}4 5", "[".repeat(before));
            for piece in [1, 3, 63, 64, 65, 1_000] {
                let (mut state, mut out) = (Compactor::default(), Vec::new());
                for piece in bytes.as_bytes().chunks(piece) {
                    (backend.kernels().compact)(piece, &mut state, &mut out);
                }
                assert_eq!(String::from_utf8_lossy(&out), expected, "{backend:?} {before} {gap} {piece}");
            }
        }
    }
}

/// The end of a valid string at the start of `bytes`, byte by byte: the oracle.
fn naive_string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'"' => break,
            0..0x20 => return None,
            b'\\' => {
                let (decoded, length) = decode_escape(&bytes[at..]);
                let letter = *bytes.get(at + 1)?;
                let is_known =
                    matches!(letter, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u');
                if !is_known || decoded == char::REPLACEMENT_CHARACTER {
                    return None;
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    std::str::from_utf8(&bytes[1..at]).ok().map(|_| at + 1)
}

/// R5: strings that end at every byte of a block.
#[test]
fn backends_agree_about_strings() {
    const PIECES: [&[u8]; 14] = [
        b"text",
        b"\\n",
        b"\\\\",
        b"\\\"",
        b"\\u0041",
        b"\\ud83d\\ude00",
        b"\\ud83d",
        b"\\ude00",
        b"\\x",
        b"\\u00",
        b"\x01",
        "\u{e9}".as_bytes(),
        b"\xC3",
        b"{[]}:,",
    ];
    for backend in Backend::available() {
        for (seed, piece) in (0..6).flat_map(|seed| PIECES.map(|piece| (seed, piece))) {
            for length in 0..140 {
                let filling = [&b"x"[..], "\u{fc}".as_bytes(), b"\\t"][seed % 3].repeat(length);
                let (before, after) = filling.split_at(if seed < 3 { 0 } else { filling.len() });
                let bytes = [b"\"", before, piece, after, b"\", 1"].concat();
                let end = (backend.kernels().string)(&bytes, 0);
                assert_eq!(end, naive_string(&bytes), "{backend:?} {}", bytes.escape_ascii());
                let shifted = [b"[1 ,", &bytes[..]].concat();
                assert_eq!((backend.kernels().string)(&shifted, 4), end.map(|end| end + 4));
                let cut = &bytes[..bytes.len() - 4];
                assert_eq!((backend.kernels().string)(cut, 0), None, "{backend:?} {}", cut.escape_ascii());
            }
        }
    }
}

/// R5: trails through random bytes, on every backend.
#[test]
fn backends_agree_about_trails() {
    let names = |names: &[&'static str]| Names::new(names.iter().copied());
    let nodes = [
        TrailNode::new(false, names(&["a", "ab"]))
            .with_members(vec![1, 2])
            .with_elements(Some(0), Vec::new()),
        TrailNode::new(false, names(&[","])).with_members(vec![2]).with_elements(None, vec![(0, 2), (2, 0)]),
        TrailNode::new(true, Names::default()),
    ];
    let mut hits = 0;
    for seed in 0..3_000 {
        let mut bytes = b"[[{".to_vec();
        for byte in noise(seed, 20 + seed as usize % 300) {
            // Names and numbers, which are rare otherwise.
            let piece: &[u8] = match byte {
                b'\\' => b"\"a\" :[1 ,",
                b'\t' => b"\"ab\":",
                0xC3 => b"{},",
                0xA9 => b"\"\\n\",",
                ref byte => std::slice::from_ref(byte),
            };
            bytes.extend_from_slice(piece);
        }
        let run = |backend: Backend| {
            let first = TrailLevel { node: 0, object: false, start: 0, found: 0, index: 0 };
            let unique = seed % 2 == 0;
            let mut trail =
                Trail { levels: vec![first], unique, is_first: true, limit: 9, ..Trail::default() };
            let stop = (backend.kernels().trail)(&bytes, 1, &nodes, &mut trail);
            (stop, trail.hits.clone(), trail.inspected, trail)
        };
        let expected = run(Backend::Scalar);
        hits += expected.1.len();
        for backend in Backend::available() {
            let (stop, found, inspected, trail) = run(backend);
            assert_eq!(
                (stop, &found, inspected),
                (expected.0, &expected.1, expected.2),
                "{backend:?} {seed}"
            );
            assert_eq!(
                format!("{:?}", trail.levels),
                format!("{:?}", expected.3.levels),
                "{backend:?} {seed}"
            );
        }
    }
    assert!(hits > 500, "{hits} values are found");
}
