//! Partial answers: to parts of an input, which are stored, sent, and merged.

use std::sync::Arc;

use engine::Match;
use trommel_answer::PartialAnswers;

use crate::abi;
use crate::document::TrommelDocument;
use crate::handle::{self, Object};
use crate::run::{TrommelOptions, TrommelQuestions, configured, report_text};
use crate::status::{Failure, TrommelStatus, call};
use crate::text::TrommelText;

/// The answers to a part of an input. Free them with `trommel_free`.
pub struct TrommelPartial(());

/// Answers the questions over one part of an input. `number` is the number of the part among those
/// to be merged. Values are refused: read them with `trommel_run`.
///
/// # Safety
/// `options` is null or a structure whose functions may be called with their contexts, and
/// `partial` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_run_part(
    questions: *const TrommelQuestions,
    document: *const TrommelDocument,
    number: u64,
    options: *const TrommelOptions,
    partial: *mut *mut TrommelPartial,
) -> TrommelStatus {
    call(|| {
        abi::check_out(partial)?;
        let (questions, source) = (handle::questions(questions)?, handle::document(document)?);
        if questions.measures()?.iter().any(crate::run::is_extraction) {
            return Err(Failure::argument("partial answers have no values: read them with trommel_run"));
        }
        // SAFETY: promised by the caller.
        let options = unsafe { abi::copied(options) };
        let analysis = configured(questions.analysis()?, &options)?;
        let answers = analysis.run_part(&mut source.open()?, number, &mut |_: &Match<'_>| Ok(()))?;
        let answers = PartialAnswers { questions: (*questions).clone(), partial: answers };
        // SAFETY: promised by the caller.
        unsafe { abi::put(partial, handle::add(Object::Partial(Arc::new(answers)))) }
    })
}

/// Merges the answers to two parts, of which `later` follows in the input. All three handles must
/// be freed.
///
/// # Safety
/// `merged` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_partial_merge(
    earlier: *const TrommelPartial,
    later: *const TrommelPartial,
    merged: *mut *mut TrommelPartial,
) -> TrommelStatus {
    call(|| {
        abi::check_out(merged)?;
        let (earlier, later) = (handle::partial(earlier)?, handle::partial(later)?);
        let both = (*earlier).clone().merge((*later).clone())?;
        // SAFETY: promised by the caller.
        unsafe { abi::put(merged, handle::add(Object::Partial(Arc::new(both)))) }
    })
}

/// The stored form of partial answers, which must be freed. The Python package reads it, too.
///
/// # Safety
/// `bytes` is the address of a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_partial_to_bytes(
    partial: *const TrommelPartial,
    bytes: *mut TrommelText,
) -> TrommelStatus {
    call(|| {
        abi::check_out(bytes)?;
        let stored = handle::partial(partial)?.to_bytes()?;
        // SAFETY: promised by the caller.
        unsafe { abi::put(bytes, TrommelText::new(stored)) }
    })
}

/// Reads the stored form.
///
/// # Safety
/// `bytes` points to `length` bytes, and `partial` is the address of a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_partial_from_bytes(
    bytes: *const u8,
    length: usize,
    partial: *mut *mut TrommelPartial,
) -> TrommelStatus {
    call(|| {
        abi::check_out(partial)?;
        // SAFETY: promised by the caller.
        let answers = PartialAnswers::from_bytes(unsafe { abi::bytes(bytes, length) }?)?;
        // SAFETY: promised by the caller.
        unsafe { abi::put(partial, handle::add(Object::Partial(Arc::new(answers)))) }
    })
}

/// The report of merged partial answers, as of `trommel_run`.
///
/// # Safety
/// `report` is the address of a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trommel_partial_finish(
    partial: *const TrommelPartial,
    report: *mut TrommelText,
) -> TrommelStatus {
    call(|| {
        abi::check_out(report)?;
        let partial = handle::partial(partial)?;
        let done = (*partial).clone().finish()?;
        let text = report_text(&partial.questions, &done)?;
        // SAFETY: promised by the caller.
        unsafe { abi::put(report, text) }
    })
}
