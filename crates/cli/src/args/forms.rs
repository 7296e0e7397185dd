use clap::{Args, ValueEnum};

use crate::output::{JsonStyle, LineForm, RowForm, Stream};

/// The style of printed values.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ValueStyle {
    /// Print strings decoded and without quotes
    ///
    /// Other values are printed as JSON. Works with -o values, verbatim, and keys; csv, tsv, and
    /// paths are text anyway.
    #[arg(short = 'r', long, conflicts_with = "json")]
    pub(crate) raw_strings: bool,

    /// End each value with NUL instead of a newline
    ///
    /// Use it for xargs -0. A string that contains NUL is an error with -r.
    #[arg(short = '0', conflicts_with = "json")]
    pub(crate) nul: bool,

    /// Indent JSON
    ///
    /// Works with --json and with -o values, located, and objects.
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
    /// A row per record: a JSON object with the values of all queries
    Objects,
    /// A row per record: comma-separated values (RFC 4180)
    Csv,
    /// A row per record: tab-separated values
    Tsv,
    /// The names of an object's members, one per line
    Keys,
    /// Assignments, json.path = value;, which gron reads
    Gron,
    /// A row per record: an Apache Parquet file with typed columns
    #[cfg(feature = "table")]
    Parquet,
    /// A row per record: Arrow record batches in the streaming format
    #[cfg(feature = "table")]
    Arrow,
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

impl SampleForm {
    /// The same form of matches.
    pub(crate) fn form(self) -> Form {
        match self {
            Self::Values => Form::Values,
            Self::Verbatim => Form::Verbatim,
            Self::Paths => Form::Paths,
            Self::Located => Form::Located,
            Self::Gron => Form::Gron,
        }
    }

    pub(crate) fn lines(self) -> LineForm {
        match self {
            Self::Values => LineForm::Values,
            Self::Verbatim => LineForm::Verbatim,
            Self::Paths => LineForm::Paths,
            Self::Located => LineForm::Located,
            Self::Gron => LineForm::Gron,
        }
    }
}

/// The printer of a form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Printer {
    /// Lines for each value.
    Lines(LineForm),
    /// A row for each record.
    Rows(RowForm),
    /// A table with typed columns.
    #[cfg(feature = "table")]
    Table(TableForm),
}

/// The file format of a table.
#[cfg(feature = "table")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableForm {
    Parquet,
    Arrow,
}

impl Form {
    pub(crate) fn printer(self) -> Printer {
        match self {
            Self::Values => Printer::Lines(LineForm::Values),
            Self::Verbatim => Printer::Lines(LineForm::Verbatim),
            Self::Paths => Printer::Lines(LineForm::Paths),
            Self::Located => Printer::Lines(LineForm::Located),
            Self::Objects => Printer::Rows(RowForm::Objects),
            Self::Csv => Printer::Rows(RowForm::Csv),
            Self::Tsv => Printer::Rows(RowForm::Tsv),
            Self::Keys => Printer::Lines(LineForm::Keys),
            Self::Gron => Printer::Lines(LineForm::Gron),
            #[cfg(feature = "table")]
            Self::Parquet => Printer::Table(TableForm::Parquet),
            #[cfg(feature = "table")]
            Self::Arrow => Printer::Table(TableForm::Arrow),
        }
    }

    /// True if the form has one row per record.
    pub(crate) fn has_rows(self) -> bool {
        !matches!(self.printer(), Printer::Lines(_))
    }

    /// The description of the form in messages.
    fn description(self) -> &'static str {
        match self {
            Self::Values => "-o values prints JSON",
            Self::Verbatim => "-o verbatim prints the bytes of the input",
            Self::Paths => "-o paths prints paths",
            Self::Located => "-o located prints JSON objects",
            Self::Objects => "-o objects prints JSON objects",
            Self::Csv => "-o csv prints rows of text",
            Self::Tsv => "-o tsv prints rows of text",
            Self::Keys => "-o keys prints names",
            Self::Gron => "-o gron prints assignments",
            #[cfg(feature = "table")]
            Self::Parquet => "-o parquet writes a table",
            #[cfg(feature = "table")]
            Self::Arrow => "-o arrow writes a table",
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
        let has_raw_strings = !matches!(form, Form::Located | Form::Objects | Form::Gron);
        let has_nul = !matches!(form, Form::Csv | Form::Tsv | Form::Gron);
        #[cfg(feature = "table")]
        let (has_raw_strings, has_nul) = match form.printer() {
            Printer::Table(_) => (false, false),
            _ => (has_raw_strings, has_nul),
        };
        let is_indented = matches!(form, Form::Values | Form::Located | Form::Objects);
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
