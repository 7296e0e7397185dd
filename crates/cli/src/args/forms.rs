use clap::{Args, ValueEnum};

use crate::output::{JsonStyle, LineForm, Stream};

/// The style of printed values.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ValueStyle {
    /// Print strings decoded and without quotes
    ///
    /// Other values are printed as JSON. Works with -o values, verbatim, and keys; the other forms
    /// for text print strings decoded anyway.
    #[arg(short = 'r', long, conflicts_with = "json")]
    pub(crate) raw_strings: bool,

    /// End each value with NUL instead of a newline
    ///
    /// Use it for xargs -0. A string that contains NUL is an error with -r.
    #[arg(short = '0', conflicts_with = "json")]
    pub(crate) nul: bool,

    /// Indent JSON
    ///
    /// Works with --json and with -o values and located.
    #[arg(long)]
    pub(crate) pretty: bool,
}

/// The form of printed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// The value without insignificant white space
    Values,
    /// The bytes as written in the input
    Verbatim,
    /// The normalized path
    Paths,
    /// A JSON object with path, value, and byte offsets
    Located,
    /// The names of an object's members, one per line
    Keys,
    /// Assignments, json.path = value;, which gron reads
    Gron,
}

/// The form of sampled values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SampleForm {
    /// The value without insignificant white space
    Values,
    /// The bytes as written in the input
    Verbatim,
    /// The normalized path
    Paths,
    /// A JSON object with path, value, and byte offsets
    Located,
    /// Assignments, json.path = value;, which gron reads
    Gron,
}

impl From<SampleForm> for Form {
    fn from(form: SampleForm) -> Self {
        match form {
            SampleForm::Values => Self::Values,
            SampleForm::Verbatim => Self::Verbatim,
            SampleForm::Paths => Self::Paths,
            SampleForm::Located => Self::Located,
            SampleForm::Gron => Self::Gron,
        }
    }
}

impl From<Form> for LineForm {
    fn from(form: Form) -> Self {
        match form {
            Form::Values => Self::Values,
            Form::Verbatim => Self::Verbatim,
            Form::Paths => Self::Paths,
            Form::Located => Self::Located,
            Form::Keys => Self::Keys,
            Form::Gron => Self::Gron,
        }
    }
}

impl Form {
    /// The description of the form in messages.
    fn description(self) -> &'static str {
        match self {
            Self::Values => "-o values prints JSON",
            Self::Verbatim => "-o verbatim prints the bytes of the input",
            Self::Paths => "-o paths prints paths",
            Self::Located => "-o located prints JSON objects",
            Self::Keys => "-o keys prints names",
            Self::Gron => "-o gron prints assignments",
        }
    }
}

impl ValueStyle {
    /// Returns an error message if an option does not apply to a form, or if the form needs a
    /// single file and `files` is another number.
    pub(crate) fn check(self, form: Form, files: usize) -> Result<(), String> {
        if form == Form::Gron && files > 1 {
            return Err("-o gron takes one file, unless -H names the file of each line".into());
        }
        let has_raw_strings = !matches!(form, Form::Located | Form::Gron);
        let has_nul = form != Form::Gron;
        let is_indented = matches!(form, Form::Values | Form::Located);
        for (is_given, applies, option) in [
            (self.raw_strings, has_raw_strings, "-r"),
            (self.nul, has_nul, "-0"),
            (self.pretty, is_indented, "--pretty"),
        ] {
            if is_given && !applies {
                return Err(format!("{}, so {option} does not apply", form.description()));
            }
        }
        Ok(())
    }

    /// Returns the style of values on a stream.
    pub(crate) fn of(self, out: Stream) -> JsonStyle {
        JsonStyle {
            indented: self.pretty,
            colored: out.is_colored,
            raw_strings: self.raw_strings,
            nul: self.nul,
            escaped: out.is_terminal,
            prefixed: false,
        }
    }
}
