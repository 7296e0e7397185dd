//! Matching while pulling.
//!
//! A matcher walks down the containers in which some query can still select something and skips
//! everything else. Each container on the way is a `Frame`; the states of the program at its value
//! are its `Active`s. A state whose query has no segment left is a match, and becomes a `Region`
//! for as long as its value lasts. There is no recursion: the frames are a stack in the
//! [`Scratch`], and the `Phase` decides what comes next.
//!
//! # States
//!
//! Queries in general. Boxes are phases, arrows are what happened; `+` and `-` are the steps
//! [`Step::Enter`] and [`Step::Leave`] that come before the phase they lead to, and every event
//! that passes while a region wants events is a [`Step::Event`].
//!
//! ```text
//!                    ┌─────────────┐   regions entered (+)   ┌─────────┐
//! record begins ────▶│ BeforeValue │────────────────────────▶│ Entered │
//!                    └─────────────┘                         └─────────┘
//!                           ▲                                 │   │   │
//!          child with       │           something in it can   │   │   │ nothing in it can
//!          states           │           be selected           │   │   │ matter, or a scalar
//!                           │         ┌───────────────────────┘   │   │
//!                           │         ▼        only events wanted │   │
//!                    ┌─────────────┐              ┌───────────────┘   │
//!           ┌───────▶│   Walking   │              ▼                   │
//!           │        └─────────────┘       ┌────────────┐             │
//! regions   │         │     │     │        │ Forwarding │             │
//! left (-), │         │     │     │ end    └────────────┘             │
//! in a      │         │     │     ▼               │ end               │
//! frame     │         │     │   ┌────────────┐◀───┘                   │
//!           └─────────┼─────┼───│ AfterValue │◀───────────────────────┘
//!                     │     │   └────────────┘
//! nothing more        │     │         │ regions left (-),
//! can matter          ▼     │         ▼ no frame
//!                   Done    ▼       Done
//!                        Paused (between two elements; `resume` leads back to Walking)
//! ```
//!
//! Plain paths, in `Phase::Tree`. Boxes are stages; a node of the tree takes the place of the
//! states.
//!
//! ```text
//!     record begins                          ┌─────────────────┐  more queries
//!           │                      queries   │ EnteringQueries │◀───┐
//!           ▼                     ┌─────────▶│        +        │────┘
//!    ┌─────────────┐              │          └─────────────────┘
//!    │ BeforeValue │──────────────┤ none        │           │ nothing in it can be selected,
//!    └─────────────┘              └──────┬──────┘           │ or a scalar
//!     ▲     ▲    │ one step, nothing in  │ container        ▼
//!     │     │    │ it: reported at once  ▼        end  ┌────────────────┐  more queries
//!     │     │    └─────────────▶┌─────────────┐───────▶│ LeavingQueries │◀───┐
//!     │     │ child             │   Walking   │        │        -       │────┘
//!     │     └───────────────────│             │◀───────└────────────────┘
//!     │                         └─────────────┘             │ held matches
//!     │                          │  │  │     ▲              ▼ have settled
//!     │ before its value         │  │  │     │        ┌─────────────────┐  more queries
//!     └──────────────────────────┼──┼──┼─────┼────────│ SettlingQueries │◀───┐
//!                                │  │  │     └────────│     Settled     │────┘
//!                                │  │  │  search:     └─────────────────┘
//!                 nothing more   │  │  └─────────────▶ ReportingCounts (+), ReportingHits (-):
//!                 can matter     │  │ between two      nodes that a search has passed; then the
//!                                ▼  ▼ elements         stage that it led to
//!                             Done  Pausing
//! ```
//!
//! A search for `..name` that finds a member may also come to `SettlingQueries`, with the member's
//! value after it (`before its value`).
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | `machine` | the [`Matcher`], its [`Step`]s, and what a consumer asks of it |
//! | `phase` | the states above |
//! | `advance` | from record to record, and the main loop |
//! | `region` | matches that begin and end |
//! | `walk` | from child to child of a frame, and out of it |
//! | `select` | the states of a child, from those of its container |
//! | `bound` | states that can select nothing that is still wanted |
//! | `plain` | plain paths, which need little of that |
//! | `descent` | their end in `..name` |
//! | `checkpoint` | beginning in the middle of an array, and pausing there |
//! | `records` | filters on whole records |
//! | `subquery` | queries inside filters |
//! | `memory` | the memory of all that |

mod advance;
mod bound;
mod checkpoint;
mod descent;
mod machine;
mod memory;
mod phase;
mod plain;
mod records;
mod region;
mod select;
mod subquery;
mod walk;

pub use checkpoint::ArrayCheckpoint;
pub use machine::{Matcher, Step, Wants};
pub use memory::Scratch;
pub use records::RecordFilter;
