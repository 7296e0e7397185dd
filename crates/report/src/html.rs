//! Writes HTML. Markup is static; everything else is text with its special characters escaped.

use trommel_base::text::{clip, safe};

/// The maximum number of characters of a path.
pub(crate) const MAX_PATH: usize = 2_000;

/// A part of a page.
#[derive(Debug, Default)]
pub(crate) struct Html {
    out: String,
}

impl Html {
    /// Appends markup. It is part of the program, so no input can be in it.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.out.push_str(markup);
        self
    }

    /// Appends a text as it can be in an element or in a quoted attribute. Characters that control
    /// or hide text are written as JSON escapes.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        for c in safe(text).chars() {
            self.push(c);
        }
        self
    }

    /// Appends a text of several lines, as it can be in `pre`.
    pub(crate) fn lines(&mut self, text: &str) -> &mut Self {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.out.push('\n');
            }
            self.text(line);
        }
        self
    }

    fn push(&mut self, c: char) {
        match c {
            '&' => self.out.push_str("&amp;"),
            '<' => self.out.push_str("&lt;"),
            '>' => self.out.push_str("&gt;"),
            '"' => self.out.push_str("&quot;"),
            '\'' => self.out.push_str("&#39;"),
            c => self.out.push(c),
        }
    }

    /// Appends at most `max` characters of a text.
    pub(crate) fn clipped(&mut self, text: &str, max: usize) -> &mut Self {
        self.text(&clip(text, max))
    }

    /// Appends a row of a list of facts.
    pub(crate) fn fact(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.raw("<div><dt>").raw(name).raw("</dt><dd>").text(value).raw("</dd></div>\n")
    }

    /// Appends a number.
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        self.out.push_str(&number.to_string());
        self
    }

    /// Appends a script or a style of this program.
    pub(crate) fn asset(&mut self, asset: &'static str) -> &mut Self {
        self.raw(asset)
    }

    /// Appends JSON as the data of a script element. It cannot end the element, and is ASCII where
    /// scripts would read something else.
    pub(crate) fn json(&mut self, json: &str) -> &mut Self {
        for c in json.chars() {
            match c {
                // Outside of strings, JSON has none of these characters.
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    trommel_base::text::push_escape(c, &mut self.out);
                }
                c => self.out.push(c),
            }
        }
        self
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_markup() {
        let mut html = Html::default();
        html.text("<a href='x' b=\"&\">\u{202e}\n");
        assert_eq!(html.finish(), "&lt;a href=&#39;x&#39; b=&quot;&amp;&quot;&gt;\\u202e\\u000a");
        let mut html = Html::default();
        html.lines("a<\nb").clipped("abc", 2).number(7);
        assert_eq!(html.finish(), "a&lt;\nbab…7");
    }

    #[test]
    fn json_cannot_end_its_element() {
        let text = serde_json::to_string("</script><!--&\u{2028}\u{2029}é").unwrap();
        let mut html = Html::default();
        html.json(&text);
        let found = html.finish();
        assert_eq!(found, r#""\u003c/script\u003e\u003c!--\u0026\u2028\u2029é""#);
        assert_eq!(serde_json::from_str::<String>(&found).unwrap(), "</script><!--&\u{2028}\u{2029}é");
    }
}
