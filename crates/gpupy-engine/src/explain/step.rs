//! Steps of a flush as they are told: each with what it reads, writes and frees, its expected cost, and its time.
//!
//! Owns [`Step`] and [`StepWork`], by which its cost is estimated with the [`Prices`] of a device. Invariant: a step
//! names values by their ids; nothing here holds a value.
//!
//! Not here: when steps are recorded and what they free (`tracer.rs`), the prices (`schedule/cost.rs`), the text of a
//! step (`event_words.rs`).

use crate::graph::value::{Value, ValueId};
use gpupy_core::DType;
use gpupy_core::shape::Shape;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A value by its name and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The value's name.
    pub id: ValueId,
    /// The elements' dtype.
    pub dtype: DType,
    /// The value's extents.
    pub shape: Shape,
}

/// The action of a step.
#[derive(Clone, Debug)]
pub enum StepAction {
    /// A program is launched.
    Kernel(Box<KernelEvent>),
    /// Host memory is copied to a block; gathered through a view, or as it lies.
    Upload {
        /// Whether it is a view's elements.
        gathered: bool,
    },
    /// The device reads a block in the value's host memory.
    Import,
    /// A block, or one element of it, is copied to host memory.
    Download,
    /// A block is taken from the device to make room.
    Evict,
    /// An operation of this name is done in host memory.
    Host(&'static str),
}

/// One launch.
#[derive(Clone, Debug)]
pub struct KernelEvent {
    /// The program's text form.
    pub program: String,
    /// The program's fingerprint.
    pub fingerprint: u128,
    /// The iteration space, after axes were merged.
    pub space: Shape,
    /// The values whose operations the program computes.
    pub computes: Vec<ValueId>,
    /// Computing instructions.
    pub operations: usize,
    /// The operations by which points are reduced.
    pub reductions: Vec<&'static str>,
    /// The name of an operation that is a whole program, such as a matrix product.
    pub library: Option<&'static str>,
    /// Whether it reads elements at positions that it computes.
    pub gathers: bool,
    /// Programs that the driver compiled for it, with those made again for their scalars.
    pub compiled: u32,
    /// Launches, draws or dispatches that it took.
    pub launches: u32,
    /// The code that the device ran, where the driver tells.
    pub code: Option<Arc<str>>,
}

/// Elements of a value, by positions in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementRange {
    /// The value.
    pub value: Subject,
    /// From the first that is meant to behind the last.
    pub range: Range<usize>,
}

impl ElementRange {
    /// Whether these are all elements.
    pub fn is_all(&self) -> bool {
        self.range == (0..self.value.shape.iter().product())
    }
}

/// Memory that is freed after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freed {
    /// A value that nothing holds any more, with all its memory.
    Value(Subject),
    /// A block of a value that is still held, as it can be computed again.
    Block(Subject),
}

/// The amount of work of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepWork {
    /// Operations on elements.
    pub operations: u64,
    /// Elements that are read.
    pub loads: u64,
    /// Elements that are written.
    pub stores: u64,
    /// Bytes that are read and written, or moved.
    pub bytes: u64,
}

/// The prices of work on a device, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prices {
    pub operation: f64,
    /// The price of an operation in host memory.
    pub on_host: f64,
    /// The price of reading an element, in operations.
    pub load: f64,
    /// The price of writing an element, in operations.
    pub store: f64,
    pub launch: f64,
    /// Of a small launch whose result is read back.
    pub round_trip: f64,
    /// Of a byte from host memory.
    pub upload: f64,
    /// Of a byte to host memory.
    pub download: f64,
}

impl Prices {
    /// How long a step is expected to take.
    pub fn estimate(&self, what: &StepAction, work: StepWork) -> Duration {
        let StepWork { operations, loads, stores, bytes } = work;
        let elements = self.load * loads as f64 + self.store * stores as f64;
        let all = operations as f64 + elements;
        let time = match what {
            StepAction::Kernel(_) => self.launch + all * self.operation,
            StepAction::Host(_) => all * self.on_host,
            StepAction::Upload { .. } => bytes as f64 * self.upload,
            // It waits for the launch that writes the block.
            StepAction::Download => self.round_trip + bytes as f64 * self.download,
            StepAction::Import | StepAction::Evict => 0.0,
        };
        // A driver may have measured anything.
        Duration::try_from_secs_f64(time / 1e9).unwrap_or(Duration::MAX)
    }
}

/// One thing that a flush does.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its action.
    pub what: StepAction,
    /// The driver's name; of a step in host memory, nothing.
    pub driver: &'static str,
    /// The elements that it reads; of a kernel, from blocks.
    pub reads: Vec<ElementRange>,
    /// The elements that it writes; nothing where their block became no value's.
    pub writes: Vec<ElementRange>,
    /// Whether it writes only some of these elements.
    pub partly: bool,
    /// The value whose memory it writes into, and which is no more then.
    pub in_place_of: Option<Subject>,
    /// The values and blocks that are not needed after it.
    pub frees: Vec<Freed>,
    /// Its amount of work.
    pub work: StepWork,
    /// How long it was expected to take.
    pub expected: Duration,
    /// How long it took on the host's clock; a kernel's device may go on then.
    pub time: Duration,
}

/// A value's name and type.
pub(crate) fn subject(value: &Value) -> Subject {
    Subject { id: value.id(), dtype: value.dtype(), shape: value.shape().into() }
}
