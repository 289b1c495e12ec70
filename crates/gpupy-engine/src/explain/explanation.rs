//! Explanations: how one array was evaluated, as text and as a picture.
//!
//! Owns [`Explanation`]. Not here: the text (`flush_text.rs`), the picture (`picture.rs`), the graph (`dot.rs`).

use super::dot;
use super::flush_text::flush_text;
use super::names::type_text;
use super::picture;
use super::trace::Flush;

/// How one array was evaluated.
#[derive(Clone, Debug)]
pub struct Explanation {
    heading: String,
    flush: Option<Flush>,
}

impl Explanation {
    /// The explanation of a flush.
    pub fn of_flush(flush: Flush) -> Explanation {
        let heading = format!("array of {}", type_text(&flush.value));
        Explanation { heading, flush: Some(flush) }
    }

    /// Of an array that had nothing to evaluate, for this reason.
    pub fn of_nothing(heading: impl Into<String>) -> Explanation {
        Explanation { heading: heading.into(), flush: None }
    }

    /// The record, if there was something to evaluate.
    pub fn flush(&self) -> Option<&Flush> {
        self.flush.as_ref()
    }

    /// The explanation as text: the structure, the steps, the programs, and the sums.
    pub fn text(&self) -> String {
        match &self.flush {
            Some(flush) => flush_text(flush),
            None => format!("{}\n", self.heading),
        }
    }

    /// The graph in the language of Graphviz, in which the operations of one kernel have one colour.
    pub fn dot(&self) -> String {
        dot::dot(&self.heading, self.flush.as_ref())
    }

    /// The values and kernels as a list in a picture, in which the operations of one kernel have one colour.
    pub fn svg(&self) -> String {
        picture::svg(&self.heading, self.flush.as_ref())
    }
}
