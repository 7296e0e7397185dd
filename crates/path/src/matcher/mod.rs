//! Matches queries on a pull parser.
//!
//! A matcher descends into the containers in which some query can still select something, and skips
//! all other values. Each container on the way is a `Frame`. The states of the program at its value
//! are its `Active`s. A state whose query has no segment left is a match, and becomes a `Region`
//! until its value ends. There is no recursion: the frames are a stack in the [`Scratch`], and the
//! `Phase` defines the next action.
//!
//! # States
//!
//! Queries in general. Boxes are phases, and arrows are transitions. `+` and `-` are the steps
//! [`Step::Enter`] and [`Step::Leave`], which are reported before the phase that the arrow leads
//! to. While a region wants events, every event is reported as a [`Step::Event`].
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
//! Plain paths, in `Phase::Tree`. Boxes are stages. A node of the tree replaces the states.
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
//! A search for `..name` that finds a member can also lead to `SettlingQueries`. The value of the
//! member comes after it (`before its value`).
//!
//! # Modules
//!
//! | module | contents |
//! | --- | --- |
//! | `machine` | the [`Matcher`], its [`Step`]s, and the options of a consumer |
//! | `phase` | the states above |
//! | `advance` | from record to record, and the main loop |
//! | `region` | matches that begin and end |
//! | `walk` | from child to child of a frame, and out of it |
//! | `select` | the states of a child, from those of its container |
//! | `bound` | drops states that can select nothing within a bound |
//! | `plain` | plain paths, which follow a tree |
//! | `trail` | plain paths by masks, as far as possible |
//! | `descent` | `..name` at the end of a plain path |
//! | `checkpoint` | starts and pauses in the middle of an array |
//! | `records` | filters on whole records |
//! | `subquery` | queries inside filters |
//! | `memory` | the memory of a running matcher |

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
mod trail;
mod walk;

pub use checkpoint::ArrayCheckpoint;
pub use machine::{Matcher, Step, Wants};
pub use memory::Scratch;
pub use records::RecordFilter;
