use trommel_reader::*;
struct Chunks<'a>(&'a [u8], usize);
impl std::io::Read for Chunks<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(self.0.len()).min(into.len());
        into[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}
fn trace(mut c: Cursor<'_>) -> (Vec<String>, Option<String>) {
    let mut out = vec![];
    loop {
        match c.advance() {
            Ok(Some(e)) => {
                let text = match c.payload() { Payload::Name(t) | Payload::Scalar(Scalar::String(t)) => t.decode().into_owned(), Payload::Scalar(Scalar::Number(n)) => n.lexeme().to_string(), _ => String::new() };
                out.push(format!("{e:?} {} {text}", c.span()))
            }
            Ok(None) => return (out, None),
            Err(e) => return (out, Some(e.to_string())),
        }
    }
}
#[test]
fn suite() {
    let dir = "/work/shared/conformance/JSONTestSuite/test_parsing";
    let mut bad = 0;
    for f in std::fs::read_dir(dir).unwrap() {
        let f = f.unwrap(); let name = f.file_name().into_string().unwrap();
        let bytes = std::fs::read(f.path()).unwrap();
        for backend in Backend::available() {
        let config = Config::new().backend(backend).limits({let mut l=Limits::default(); l.depth=200_000; l});
        let whole = trace(Cursor::new(&bytes, &config));
        match &name[..2] { "y_" if whole.1.is_some() => {bad+=1; println!("{name}: {:?}", whole.1)} "n_" if whole.1.is_none() => {bad+=1;println!("{name} accepted")} _ => {} }
        if name.starts_with("i_") { println!("{name}: {:?}", whole.1); }
        for n in [1,7,63,64,65,4096] {
            for w in [16, 64, 65536] {
            let got = trace(Cursor::from_reader(Chunks(&bytes, n), Framing::Single, &config.window(w)));
            assert_eq!(got, whole, "{name} {n}");
            }
        }
        }
    }
    assert_eq!(bad, 0);
}
