//! Tracing: arrays while a function is recorded, with placeholders for their elements.
//!
//! Owns the [`JitRecording`] in progress, of which a process has one, in one thread. On that thread an array from
//! before shows an argument (a placeholder) instead of its elements, so that all operations on it are recorded,
//! writes included; arrays made meanwhile are as usual. A decision, `bool()` of an open array, ends a [`Segment`]:
//! the arrays that are alive are computed from the real elements, and arguments take their place again. Invariant:
//! while a recording is in progress no array from before changes; the function's effects are applied together, at
//! its end. `recorded_repr.rs` has the elements that arrays show, `materialise.rs` the real elements,
//! `unrecordable.rs` the refusals.
//!
//! Not here: the use of a recording (`jit`), segments (`gpupy_engine::Segment`).

use gpupy_core::{Error, ErrorKind, Result};
use gpupy_engine::{Array, Segment, View, WeakArray};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

pub mod materialise;
pub mod recorded_repr;
pub mod unrecordable;

/// The number of the recording that goes on in some thread, or 0.
static CURRENT: AtomicU32 = AtomicU32::new(0);
/// The number of the last one.
static LAST: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The recording of this thread.
    static OURS: RefCell<Option<JitRecording>> = const { RefCell::new(None) };
}

/// A virtual register for a base: one from before, or one that was made and was alive at a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedRegister {
    /// By its number among the inputs.
    Input(u32),
    /// By its number among the outputs of segments.
    Made(u32),
}

/// A base from before.
pub struct RecordedInput {
    /// The base itself, seen whole.
    pub real: Array,
    /// Its placeholder, seen whole.
    shadow: Array,
}

/// An array from before that the function looked at.
pub struct TouchedArray {
    /// Where the object lies.
    object: usize,
    /// The number of its base among the inputs.
    pub input: u32,
    /// The array as it was.
    pub array: Array,
}

/// A register with its placeholder and its elements.
struct RegisterBinding {
    register: RecordedRegister,
    /// The open placeholder, in a base of its own.
    argument: Array,
    /// The elements.
    real: Array,
}

/// A segment with its inputs and outputs.
pub struct RecordedSegment {
    pub segment: Segment,
    pub takes: Vec<RecordedRegister>,
    /// The number of its first output; the others follow.
    pub gives: u32,
    /// For a decision: the view of the last output, and its truth.
    pub decision: Option<(View, bool)>,
}

/// A tag on an array object or a scalar that was made in a recording.
pub struct RecordingTag {
    /// The recording.
    pub number: u32,
}

/// An array or a scalar that was made, as long as there is one.
struct RecordedObject {
    /// The object's tag: gone with the object.
    object: Weak<RecordingTag>,
    array: WeakArray,
}

impl RecordedObject {
    /// The array, if there is the object.
    fn living(&self) -> Option<Array> {
        if self.object.strong_count() > 0 { self.array.upgrade() } else { None }
    }
}

/// A function's operations, while they are recorded.
#[derive(Default)]
pub struct JitRecording {
    pub inputs: Vec<RecordedInput>,
    pub touched: Vec<TouchedArray>,
    pub done: Vec<RecordedSegment>,
    /// Why it cannot be done again without the function.
    pub refused: Option<String>,
    /// Whether the function might tell a selection from an array.
    pub tells_classes: bool,
    /// Why it has to run once more, without being recorded.
    pub spoiled: Option<String>,
    held: Vec<RegisterBinding>,
    made: Vec<RecordedObject>,
    /// How many of these were alive at the last sweep for dead ones.
    looked_at: usize,
    given: u32,
}

/// Whether a function is recorded, perhaps by another thread.
#[inline(always)]
pub fn is_on() -> bool {
    CURRENT.load(Ordering::Relaxed) != 0
}

/// The number of the recording of this thread, or 0.
pub fn number() -> u32 {
    let current = CURRENT.load(Ordering::Relaxed);
    if current != 0 && OURS.with_borrow(Option::is_some) { current } else { 0 }
}

/// Begins a recording in this thread; false where one goes on somewhere.
pub fn begin() -> bool {
    let number = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
    if CURRENT.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return false;
    }
    OURS.set(Some(JitRecording::default()));
    true
}

/// Ends the recording of this thread: arrays show their own elements again.
pub fn end() -> Option<JitRecording> {
    let ours = OURS.take();
    if ours.is_some() {
        CURRENT.store(0, Ordering::Relaxed);
    }
    ours
}

/// Forgets the recording of a thread that is not there: of another one, after a fork.
pub fn forget_others() {
    if OURS.with_borrow(Option::is_none) {
        CURRENT.store(0, Ordering::Relaxed);
    }
}

/// Runs work that is no part of what this thread records: arrays show their own elements meanwhile, and no other
/// recording begins.
pub fn aside<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(Option<JitRecording>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OURS.set(self.0.take());
        }
    }
    let _restore = Restore(OURS.take());
    work()
}

/// Does something with the recording of this thread, which runs no Python.
pub fn with<R>(work: impl FnOnce(&mut JitRecording) -> R) -> Option<R> {
    OURS.with_borrow_mut(|ours| ours.as_mut().map(work))
}

/// Notes that an array object or a scalar is made in this thread's recording; returns its tag.
#[cold]
pub fn made(array: &Array) -> Option<Arc<RecordingTag>> {
    let number = number();
    if number == 0 {
        return None;
    }
    let made = Arc::new(RecordingTag { number });
    with(|recording| recording.note(array, &made));
    Some(made)
}

/// A segment that was cut off, and is still to be computed.
pub struct PendingSegment {
    pub done: RecordedSegment,
    /// The elements that it takes.
    pub given: Vec<Array>,
    /// The arrays that are alive, each with the number of its output of the segment.
    alive: Vec<(Array, usize)>,
}

impl JitRecording {
    /// The placeholder of an array from before; `None` where it cannot have one.
    pub fn touch(&mut self, object: usize, array: &Array) -> Option<Array> {
        if array.is_shown() {
            self.refuse("it reads an array whose memory is shown to other code");
        }
        let known = self.inputs.iter().position(|input| input.real.shares_base(array));
        let input = match known {
            Some(input) => input,
            None => {
                if self.inputs.iter().any(|input| input.real.aliases(array)) {
                    let why = "it reads arrays of several dtypes that share their memory";
                    self.spoiled.get_or_insert_with(|| why.to_owned());
                }
                let whole = whole_base(array).ok()?;
                let shadow = whole.argument_of().ok()?;
                let argument = shadow.snapshot().ok()?;
                let number = self.inputs.len();
                let register = RecordedRegister::Input(number as u32);
                self.held.push(RegisterBinding { register, argument, real: whole.clone() });
                self.inputs.push(RecordedInput { real: whole, shadow });
                number
            }
        };
        self.touched.push(TouchedArray { object, input: input as u32, array: array.clone() });
        self.inputs[input].shadow.seen(array.layout().clone()).ok()
    }

    /// Says why this cannot be done without the function; the first reason stays.
    pub fn refuse(&mut self, why: impl Into<String>) {
        self.refused.get_or_insert_with(|| why.into());
    }

    fn note(&mut self, array: &Array, object: &Arc<RecordingTag>) {
        if self.made.len() > 2 * self.looked_at + 64 {
            self.made.retain(|made| made.array.upgrade().is_some());
            self.looked_at = self.made.len();
        }
        self.made.push(RecordedObject { object: Arc::downgrade(object), array: array.downgrade() });
    }

    /// The number of the object at this address among those that were looked at.
    pub fn find(&self, address: usize) -> Option<usize> {
        self.touched.iter().position(|touched| touched.object == address)
    }

    /// The register that an open base is, where it is one as it stands.
    pub fn register(&self, array: &Array) -> Option<RecordedRegister> {
        let id = array.value().ok()?.id();
        let is_it =
            |held: &&RegisterBinding| held.argument.value().is_ok_and(|value| value.id() == id);
        self.held.iter().find(is_it).map(|held| held.register)
    }

    /// The input whose base stands under this one, if it is one.
    pub fn input_of(&self, array: &Array) -> Option<u32> {
        let found = self.inputs.iter().position(|input| input.shadow.shares_base(array));
        found.map(|number| number as u32)
    }

    /// The inputs that were written, each with its present elements.
    pub fn written(&self) -> Vec<(u32, Array)> {
        let inputs = (0..).zip(&self.inputs);
        let written = inputs.filter(|(number, input)| {
            self.register(&input.shadow) != Some(RecordedRegister::Input(*number))
        });
        written.map(|(number, input)| (number, input.shadow.clone())).collect()
    }

    /// The bases that are alive and are no register as they stand: each once.
    fn alive(&self) -> Vec<Array> {
        let made = self.made.iter().filter_map(|made| made.array.upgrade());
        let inputs = self.inputs.iter().map(|input| input.shadow.clone());
        let mut alive: Vec<Array> = Vec::new();
        for array in made.chain(inputs).filter(Array::is_open) {
            let is_known = alive.iter().any(|other| other.shares_base(&array));
            if !is_known && self.register(&array).is_none() {
                alive.push(array);
            }
        }
        alive
    }

    /// The open arrays that were made and whose bases are alive.
    fn open(&self) -> impl Iterator<Item = Array> {
        self.made.iter().filter_map(|made| made.array.upgrade()).filter(Array::is_open)
    }

    /// The open arrays that were made and whose objects are alive.
    fn living(&self) -> impl Iterator<Item = (&RecordedObject, Array)> {
        let living = self.made.iter().filter_map(|made| Some((made, made.living()?)));
        living.filter(|(_, array)| array.is_open())
    }

    /// Whether a view of an array from before is still alive.
    pub fn leaks_views(&self) -> bool {
        self.living().any(|(_, array)| self.input_of(&array).is_some())
    }

    /// Whether an open array is still alive that is not among a function's results, which are these.
    pub fn leaks(&self, results: &[(Option<Arc<RecordingTag>>, Array)]) -> bool {
        self.living().any(|(made, array)| {
            let own = Some(made.object.as_ptr());
            let is_result = results.iter().any(|(object, result)| {
                let same = object.as_ref().map(Arc::as_ptr) == own;
                // Of a base that was made, a result keeps the object that has it.
                result.shares_base(&array) && (same || self.input_of(&array).is_none())
            });
            !is_result
        })
    }

    /// The operations since the last decision, as a segment: its outputs are all arrays that are alive, and last the
    /// one that decides.
    pub fn cut(&mut self, decides: Option<&Array>) -> Result<PendingSegment> {
        let mut alive: Vec<(Array, usize)> = Vec::new();
        let mut results: Vec<Array> = Vec::new();
        for array in self.alive() {
            // Several bases may have one value.
            let id = array.value()?.id();
            let same = |result: &Array| result.value().is_ok_and(|value| value.id() == id);
            let place = results.iter().position(same).unwrap_or(results.len());
            if place == results.len() {
                results.push(array.clone());
            }
            alive.push((array, place));
        }
        results.extend(decides.cloned());
        let arguments: Vec<Array> = self.held.iter().map(|held| held.argument.clone()).collect();
        let (segment, used) = Segment::of(&arguments, &results)?;
        let takes = used.iter().map(|number| self.held[*number].register).collect();
        let given = used.iter().map(|number| self.held[*number].real.clone()).collect();
        let done = RecordedSegment { segment, takes, gives: self.given, decision: None };
        self.given += results.len() as u32;
        Ok(PendingSegment { done, given, alive })
    }

    /// Keeps a segment that was computed: the arrays that are alive get placeholders again.
    fn keep(&mut self, cut: PendingSegment, results: &[Array]) -> Result<()> {
        let PendingSegment { done, alive, .. } = cut;
        let mut arguments: SmallVec<[(usize, Array); 4]> = SmallVec::new();
        for (array, place) in alive {
            let known = arguments.iter().find(|(other, _)| *other == place);
            let argument = match known {
                Some((_, argument)) => argument.clone(),
                None => {
                    let argument = whole_base(&array)?.argument_of()?.snapshot()?;
                    let register = RecordedRegister::Made(done.gives + place as u32);
                    let real = results[place].clone();
                    self.held.push(RegisterBinding { register, argument: argument.clone(), real });
                    arguments.push((place, argument.clone()));
                    argument
                }
            };
            array.take_elements(&argument.snapshot()?)?;
        }
        self.done.push(done);
        Ok(())
    }

    /// The register that an open base is after the last segment.
    pub fn register_after(&self, cut: &PendingSegment, array: &Array) -> Option<RecordedRegister> {
        let computed = cut.alive.iter().find(|(alive, _)| alive.shares_base(array));
        match computed {
            Some((_, place)) => Some(RecordedRegister::Made(cut.done.gives + *place as u32)),
            None => self.register(array),
        }
    }

    /// The outputs of the segments, by their numbers, where they stayed alive; and those of the last one.
    pub fn made_with(&self, results: &[Array], last: &PendingSegment) -> Vec<Option<Array>> {
        let mut made = vec![None; last.done.gives as usize];
        for held in &self.held {
            if let RecordedRegister::Made(number) = held.register {
                made[number as usize] = Some(held.real.clone());
            }
        }
        made.extend(results.iter().cloned().map(Some));
        made
    }

    /// The elements of the register that an open base is.
    fn real_of(&self, array: &Array) -> Option<Array> {
        let register = self.register(array)?;
        let held = self.held.iter().find(|held| held.register == register)?;
        Some(held.real.clone())
    }
}

impl Drop for JitRecording {
    fn drop(&mut self) {
        // Objects keep their placeholders until they are recorded again, but not the operations on them.
        let open = self.inputs.iter().filter(|input| input.shadow.is_open());
        open.for_each(|input| input.shadow.dispose());
    }
}

/// An array's base, seen whole.
///
/// # Errors
/// - `Disposed`: it has no elements any more.
pub fn whole_base(array: &Array) -> Result<Array> {
    array.seen(View::contiguous(&array.base_shape()?))
}

pub fn of_another() -> Error {
    Error::new(ErrorKind::Open, "record").says("an array belongs to another recording")
}
