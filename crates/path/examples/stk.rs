use trommel_path::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let forms = [("(", "@", ")", 127), ("!(", "@", ")", 63), ("@[?", "@", "]", 127), ("@..a[1,?", "@", "]", 127), ("length(", "@", ")", 127), ("1==count(@[?", "@", "])", 63), ("match(@.a,value(@[?(", "@", ")]))", 31)];
    let (o, c, e, t) = forms[a[1].parse::<usize>().unwrap()];
    let text = format!("$[?{}{c}{}{}]", o.repeat(t), e.repeat(t), if o == "length(" { "==1" } else { "" });
    let kb: usize = a[3].parse().unwrap();
    let q = text.parse::<Query>().unwrap();
    let op = a[2].clone();
    std::thread::Builder::new().stack_size(kb << 10).spawn(move || {
        match op.as_str() {
            "parse" => std::mem::forget(text.parse::<Query>()),
            "err" => { let t = text.replace("@", "@ x"); std::mem::forget(t.parse::<Query>()) }
            "show" => { let _ = q.to_string(); }
            "debug" => { let _ = format!("{q:?}"); }
            "clone" => std::mem::forget(q.clone()),
            "bad" => { q.bad_patterns(); }
            "eq" => { let _ = q == q; }
            _ => { drop(q); return }
        }
        std::mem::forget(q);
    }).unwrap().join().unwrap();
}
