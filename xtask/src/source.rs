//! A parsed Rust file, as input of the rules: its tokens with their lines, its functions, its
//! test-only parts.

mod imports;

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

pub(crate) use imports::{Import, Imports};

/// One token. The contents of a group are between its `Open` and `Close`. Doc comments are omitted
/// like other comments, because they are written for people.
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// The first and the last line, counted from 1.
    pub(crate) lines: RangeInclusive<usize>,
    bytes: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word(String),
    Mark(char),
    Literal,
    Open(char),
    Close(char),
}

/// A function with a body, in any item.
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line of its `fn`.
    pub(crate) line: usize,
    /// Lines from its `fn` to its closing brace, comments included.
    pub(crate) lines: usize,
    pub(crate) parameters: usize,
    /// The number of parameters, counting each element of a tuple.
    pub(crate) real_parameters: usize,
    /// True if a parameter's pattern is a tuple.
    pub(crate) takes_tuple: bool,
    /// True if it is compiled only for tests.
    pub(crate) test: bool,
}

pub(crate) struct Source {
    /// The file's path from the workspace's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
    /// Doc comments and other comments, by line, with line numbers.
    pub(crate) comments: Vec<(usize, String)>,
    pub(crate) functions: Vec<Function>,
    /// Imports from other modules, without those of test-only parts.
    pub(crate) imports: Imports,
    /// The number of nonempty `//!` lines before the first item.
    pub(crate) front_lines: usize,
    /// Files that this one includes only for tests: `#[cfg(test)] mod NAME;`.
    pub(crate) test_modules: Vec<String>,
    test_lines: Vec<RangeInclusive<usize>>,
}

impl Source {
    /// Reads a file's text.
    ///
    /// # Errors
    /// Returns the line and the reason if the text is not valid Rust.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, (usize, String)> {
        let stream: TokenStream = text
            .parse()
            .map_err(|error: proc_macro2::LexError| (first_line(error.span()), error.to_string()))?;
        let file: syn::File =
            syn::parse2(stream.clone()).map_err(|error| (first_line(error.span()), error.to_string()))?;
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        let mut items = Items::default();
        items.visit_file(&file);
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            comments: comments(text, &tokens),
            tokens,
            functions: items.functions,
            imports: Imports::of(&file),
            front_lines: file.attrs.iter().filter(|attribute| is_front_line(attribute)).count(),
            test_modules: items.modules.iter().map(|module| module_path(path, module)).collect(),
            test_lines: items.lines,
        })
    }

    /// Returns the number of lines with code, without comments, blank lines, and test-only items.
    pub(crate) fn net_lines(&self) -> usize {
        let code = self.tokens.iter().flat_map(|token| token.lines.clone()).collect::<BTreeSet<_>>();
        code.into_iter().filter(|&line| !self.is_test_line(line)).count()
    }

    /// True if the line is part of an item under `#[cfg(test)]`.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// Returns the lines where these tokens appear in sequence.
    pub(crate) fn find(&self, pattern: &[Kind]) -> Vec<usize> {
        let rows = self.tokens.windows(pattern.len());
        rows.filter(|tokens| tokens.iter().map(|token| &token.kind).eq(pattern))
            .filter_map(|tokens| tokens.first())
            .map(Token::first_line)
            .collect()
    }

    /// True if the source has a function of that name, inside a macro call or outside.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        !self.find(&[word("fn"), word(name)]).is_empty()
    }
}

impl Token {
    fn new(kind: Kind, span: Span) -> Self {
        Self { kind, lines: first_line(span)..=span.end().line, bytes: span.byte_range() }
    }

    pub(crate) fn first_line(&self) -> usize {
        *self.lines.start()
    }

    pub(crate) fn is_word(&self, text: &str) -> bool {
        matches!(&self.kind, Kind::Word(word) if word == text)
    }
}

/// A token pattern: this identifier or keyword.
pub(crate) fn word(text: &str) -> Kind {
    Kind::Word(text.to_owned())
}

fn first_line(span: Span) -> usize {
    span.start().line
}

/// Returns the text between the tokens, without the white space.
fn comments(text: &str, tokens: &[Token]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut start, mut line) = (0, 1);
    let end = Range { start: text.len(), end: text.len() };
    for token in tokens.iter().map(|token| &token.bytes).chain([&end]) {
        let gap = text[start..token.start].split('\n').zip(line..);
        found.extend(
            gap.filter(|(part, _)| !part.trim().is_empty()).map(|(part, line)| (line, part.to_owned())),
        );
        line += text[start..token.end].matches('\n').count();
        start = token.end;
    }
    found
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let span = tree.span();
        match tree {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                // A doc comment is lexed into an attribute. All tokens of that attribute have the
                // comment's span.
                let here = |next: &TokenTree| next.span().start() == span.start();
                if trees.peek().is_none_or(|next| !here(next)) {
                    tokens.push(Token::new(Kind::Mark('#'), span));
                } else {
                    while trees.next_if(here).is_some() {}
                }
            }
            TokenTree::Punct(mark) => tokens.push(Token::new(Kind::Mark(mark.as_char()), span)),
            TokenTree::Ident(ident) => tokens.push(Token::new(Kind::Word(ident.to_string()), span)),
            TokenTree::Literal(_) => tokens.push(Token::new(Kind::Literal, span)),
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                tokens.push(Token::new(Kind::Open(open), group.span_open()));
                flatten(group.stream(), tokens);
                tokens.push(Token::new(Kind::Close(close), group.span_close()));
            }
        }
    }
}

fn brackets(delimiter: Delimiter) -> (char, char) {
    match delimiter {
        Delimiter::Parenthesis => ('(', ')'),
        Delimiter::Brace => ('{', '}'),
        Delimiter::Bracket | Delimiter::None => ('[', ']'),
    }
}

/// The results of a visit of all items.
#[derive(Default)]
struct Items {
    functions: Vec<Function>,
    /// The lines of the outermost items under `#[cfg(test)]`.
    lines: Vec<RangeInclusive<usize>>,
    modules: Vec<String>,
    in_test: bool,
}

impl Items {
    fn function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let line = first_line(signature.fn_token.span);
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line,
            lines: body.brace_token.span.close().end().line - line + 1,
            parameters: signature.inputs.len(),
            real_parameters: signature.inputs.iter().map(real_parameters).sum(),
            takes_tuple: signature.inputs.iter().any(takes_tuple),
            test: self.in_test,
        });
    }

    fn test_item(&mut self, item: &syn::Item) {
        let span = item.span();
        self.lines.push(first_line(span)..=span.end().line);
        if let syn::Item::Mod(module) = item
            && module.content.is_none()
        {
            self.modules.push(module.ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Items {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let outer = self.in_test;
        if !outer && is_test_only(item) {
            self.in_test = true;
            self.test_item(item);
        }
        visit::visit_item(self, item);
        self.in_test = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Returns the number of parameters, counting the elements of a tuple.
fn real_parameters(parameter: &syn::FnArg) -> usize {
    let syn::FnArg::Typed(parameter) = parameter else { return 1 };
    let mut kind = &*parameter.ty;
    while let syn::Type::Reference(reference) = kind {
        kind = &reference.elem;
    }
    match kind {
        syn::Type::Tuple(tuple) => tuple.elems.len().max(1),
        _ => 1,
    }
}

fn takes_tuple(parameter: &syn::FnArg) -> bool {
    let syn::FnArg::Typed(parameter) = parameter else { return false };
    matches!(&*parameter.pat, syn::Pat::Tuple(tuple) if !tuple.elems.is_empty())
}

/// Returns the attributes of an item, for the kinds that occur under `#[cfg(test)]` in practice.
fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// True if an item is compiled only for tests.
fn is_test_only(item: &syn::Item) -> bool {
    attributes(item).iter().any(is_cfg_test)
}

/// True for `#[cfg(test)]`, also as a part of `all(…)`.
fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let text = list.tokens.to_string();
    attribute.path().is_ident("cfg") && (text == "test" || text.starts_with("all") && text.contains("test"))
}

/// True for a line of `//!` with text.
fn is_front_line(attribute: &syn::Attribute) -> bool {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return false };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return false };
    attribute.path().is_ident("doc") && !text.value().trim().is_empty()
}

/// Returns the path of the module `name` of the file at `path`, in the `NAME.rs` form.
fn module_path(path: &str, name: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or((".", path));
    match file {
        "lib.rs" | "main.rs" | "mod.rs" => format!("{folder}/{name}.rs"),
        _ => format!("{folder}/{}/{name}.rs", file.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Source {
        Source::parse("crates/x/src/lib.rs", text).unwrap()
    }

    #[test]
    fn net_lines_exclude_comments_blanks_and_tests() {
        let source = parsed(concat!(
            "//! Front.\n//!\n//! More.\n\n",
            "/// About a.\n#[inline]\nfn a() {\n    // why\n    b(\"one\n\ntwo\"); /* x */\n}\n\n",
            "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n",
        ));
        // The attribute, `fn a() {`, three lines of the string, and the closing brace.
        assert_eq!(source.net_lines(), 6);
        assert_eq!(source.front_lines, 2);
    }

    #[test]
    fn finds_comments_between_tokens() {
        let source = parsed("//! Front.\nfn a() { \"// é\n//\" } // b é\n\n/* c\n   d */ fn e() {}\n");
        let found: Vec<_> = source.comments.iter().map(|(line, text)| (*line, text.trim())).collect();
        assert_eq!(found, [(1, "//! Front."), (3, "// b é"), (5, "/* c"), (6, "d */")]);
    }

    #[test]
    fn measures_functions_with_their_comments() {
        let source = parsed(
            "impl X {\n    fn f(&self, a: u8) {\n        // one\n        // two\n    }\n}\n#[cfg(test)]\nfn t() {}",
        );
        let found: Vec<_> =
            source.functions.iter().map(|f| (&*f.name, f.lines, f.parameters, f.test)).collect();
        assert_eq!(found, [("f", 4, 2, false), ("t", 1, 0, true)]);
    }

    #[test]
    fn names_test_modules_in_separate_files() {
        assert_eq!(parsed("#[cfg(test)]\nmod tests;\nmod scan;").test_modules, ["crates/x/src/tests.rs"]);
        let nested = Source::parse("crates/x/src/scan.rs", "#[cfg(all(test, unix))] mod tests;").unwrap();
        assert_eq!(nested.test_modules, ["crates/x/src/scan/tests.rs"]);
    }

    #[test]
    fn finds_functions_inside_macro_calls() {
        let source = parsed("proptest! {\n    #[test]\n    fn holds(x in 0..9) {}\n}\n// fn gone() {}\n");
        assert!(source.has_function("holds"));
        assert!(!source.has_function("gone"));
    }

    #[test]
    fn reports_the_line_of_invalid_rust() {
        assert_eq!(Source::parse("x.rs", "fn a() {}\nfn {").map(drop).unwrap_err().0, 2);
    }
}
