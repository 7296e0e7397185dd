//! Runs: questions and answers as JSON, values by callback, progress, and cancellation.

use std::ffi::{CString, c_char, c_void};
use std::io;

use engine::{Analysis, Cancel, Error, Match, Measure, Report, Sink};
use trommel_answer::Questions;

use crate::abi::{self, Context};
use crate::document::TrommelDocument;
use crate::handle::{self, Object};
use crate::status::{Failure, TrommelStatus, call};
use crate::text::TrommelText;

/// Questions. Free them with `trommel_free`.
pub struct TrommelQuestions(());

/// A token that cancels runs. Free it with `trommel_free`.
pub struct TrommelCancel(());

/// A value of a request of the kind `values`. It is valid during the call.
#[repr(C)]
pub struct TrommelValue {
    /// The number of the request, from 0.
    pub request: usize,
    /// The bytes of the value, as they are in the input.
    pub bytes: *const u8,
    /// The number of bytes.
    pub length: usize,
    /// The offset of the value in the input.
    pub start: u64,
    /// The record that contains the value, from 0.
    pub record: u64,
    /// The normalized path, or null if locations were not asked for.
    pub location: *const c_char,
}

/// Receives a value, on the thread that runs. The run ends if the function does not return 0.
pub type TrommelOnValue =
    Option<unsafe extern "C" fn(context: *mut c_void, value: *const TrommelValue) -> i32>;

/// Receives the bytes that were read and their total, 0 if it is not known. Called on any thread,
/// but not on two at the same time.
pub type TrommelOnProgress = Option<unsafe extern "C" fn(context: *mut c_void, bytes: u64, total: u64)>;

/// The options of a run. A structure of zeros has the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TrommelOptions {
    /// Receives values; null only counts them.
    pub on_value: TrommelOnValue,
    /// Passed to `on_value`.
    pub value_context: *mut c_void,
    /// Receives progress, or null.
    pub on_progress: TrommelOnProgress,
    /// Passed to `on_progress`.
    pub progress_context: *mut c_void,
    /// Cancels the run, or null.
    pub cancel: *const TrommelCancel,
    /// The number of threads, or 0 for one per core.
    pub threads: usize,
    /// True if values need their location.
    pub locations: bool,
}

impl Default for TrommelOptions {
    fn default() -> Self {
        Self {
            on_value: None,
            value_context: std::ptr::null_mut(),
            on_progress: None,
            progress_context: std::ptr::null_mut(),
            cancel: std::ptr::null(),
            threads: 0,
            locations: false,
        }
    }
}

/// Passes values to the callback.
struct CallbackSink {
    options: TrommelOptions,
    location: CString,
    is_stopped: bool,
}

impl Sink for CallbackSink {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let Some(on_value) = self.options.on_value else { return Ok(()) };
        if let Some(location) = found.location {
            // Normalized paths escape control characters, so none has a zero byte.
            self.location = CString::new(location).map_err(io::Error::other)?;
        }
        let value = TrommelValue {
            request: found.measure,
            bytes: found.value.as_ptr(),
            length: found.value.len(),
            start: found.span.start,
            record: found.record,
            location: if found.location.is_some() { self.location.as_ptr() } else { std::ptr::null() },
        };
        // SAFETY: the caller of the run promises that the function may be called with its context.
        // The value lives until it returns.
        match unsafe { on_value(self.options.value_context, &raw const value) } {
            0 => Ok(()),
            _ => {
                self.is_stopped = true;
                Err(io::Error::other("the callback ended the run"))
            }
        }
    }

    fn wants_location(&self) -> bool {
        self.options.locations && self.options.on_value.is_some()
    }
}

/// The analysis with the options of a run.
pub(crate) fn configured(analysis: Analysis, options: &TrommelOptions) -> Result<Analysis, Failure> {
    let mut analysis = analysis;
    if options.threads > 0 {
        analysis = analysis.threads(options.threads);
    }
    if !options.cancel.is_null() {
        analysis = analysis.cancel_with(&handle::cancel(options.cancel)?);
    }
    if let Some(on_progress) = options.on_progress {
        let context = Context(options.progress_context);
        analysis = analysis.on_progress(move |progress| {
            // SAFETY: the caller of the run promises that the function may be called with its
            // context, on any thread.
            unsafe { on_progress(context.get(), progress.bytes, progress.total.unwrap_or(0)) };
        });
    }
    Ok(analysis)
}

/// Runs `work` with a sink that calls the callback of the options.
pub(crate) fn with_sink<T>(
    options: TrommelOptions,
    work: impl FnOnce(&mut dyn Sink) -> Result<T, Error>,
) -> Result<T, Failure> {
    let mut sink = CallbackSink { options, location: CString::default(), is_stopped: false };
    let done = work(&mut sink);
    if sink.is_stopped {
        return Err(Failure::new(TrommelStatus::Stopped, "the callback ended the run"));
    }
    Ok(done?)
}

/// The answers as JSON: `{"answers":[…],"coverage":{…}}`.
pub(crate) fn report_text(questions: &Questions, report: &Report) -> Result<TrommelText, Failure> {
    let mut text = Vec::new();
    questions.push_report(report, &mut text)?;
    Ok(TrommelText::new(text))
}

/// Reads questions: a JSON object with `requests`, an array; and optionally `each`, a query;
/// `filters`, an array; and `strict`, a boolean.
///
/// # Safety
/// `json` is a text that ends with a zero, and `questions` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_questions(
    json: *const c_char,
    questions: *mut *mut TrommelQuestions,
) -> TrommelStatus {
    call(|| {
        abi::check_out(questions)?;
        // SAFETY: promised by the caller.
        let text = unsafe { abi::text(json) }?;
        let read: Questions = serde_json::from_str(text)
            .map_err(|error| Failure::argument(format!("the questions are not valid: {error}")))?;
        read.analysis()?;
        // SAFETY: promised by the caller.
        unsafe { abi::put(questions, handle::add(Object::Questions(std::sync::Arc::new(read)))) }
    })
}

/// Answers the questions in one pass. `report` receives a text, which must be freed: an object with
/// `answers`, in the order of the requests, and `coverage`.
///
/// # Safety
/// `options` is null or a structure whose functions may be called with their contexts, and `report`
/// is the address of a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_run(
    questions: *const TrommelQuestions,
    document: *const TrommelDocument,
    options: *const TrommelOptions,
    report: *mut TrommelText,
) -> TrommelStatus {
    call(|| {
        abi::check_out(report)?;
        let (questions, source) = (handle::questions(questions)?, handle::document(document)?);
        // SAFETY: promised by the caller.
        let options = unsafe { abi::copied(options) };
        let analysis = configured(questions.analysis()?, &options)?;
        let done = with_sink(options, |sink| analysis.run_with(&mut source.open()?, sink))?;
        let text = report_text(&questions, &done)?;
        // SAFETY: promised by the caller.
        unsafe { abi::put(report, text) }
    })
}

/// Makes a token that cancels runs.
///
/// # Safety
/// `cancel` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_cancel_new(cancel: *mut *mut TrommelCancel) -> TrommelStatus {
    call(|| {
        abi::check_out(cancel)?;
        // SAFETY: promised by the caller.
        unsafe { abi::put(cancel, handle::add(Object::Cancel(Cancel::new()))) }
    })
}

/// Cancels the runs of a token, from any thread. They end with `TROMMEL_STATUS_CANCELLED`.
#[unsafe(no_mangle)]
pub extern "C" fn trommel_cancel(cancel: *const TrommelCancel) -> TrommelStatus {
    call(|| {
        handle::cancel(cancel)?.cancel();
        Ok(())
    })
}

/// True if a measure extracts values.
pub(crate) fn is_extraction(measure: &Measure) -> bool {
    matches!(measure, Measure::Extract(_))
}
