//! The kernel cache: kernels that this process has compiled, and their specialisation.
//!
//! Owns [`KernelCache`]. A kernel is found by its program and plan. Invariants: equal programs and plans are compiled
//! once, unless memory ran short or was trimmed between. A specialised kernel, in which scalars are literals, is used
//! for exactly these scalars and this shape, and only beside its general kernel.
//!
//! The driver defines the types of kernels (a handle of compiled code) and plans.
//!
//! Not here: compilation ([`KernelMaker`], which drivers implement), kernels on disk (`disk_cache.rs`).

use crate::thresholds::T;
use gpupy_core::driver::{Evaluated, Launch};
use gpupy_core::ir::Fingerprint;
use gpupy_core::{ErrorKind, Result, memory};
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use std::num::NonZeroUsize;

/// Elements computed with the same scalars after which specialisation pays for its compilation. Both the cost and the
/// gain grow with the operations, so the number of operations cancels: on lavapipe an operation costs 0.2 ms to
/// compile with literals, and runs some picoseconds an element faster.
const ELEMENTS_UNTIL_LITERALS: usize = 50_000_000;

/// The most programs that keep their kernels; their bytes are bounded, too (`kernel_bytes` of the thresholds).
const MOST_PROGRAMS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// Compiled kernels, by program and plan.
#[derive(Debug)]
pub struct KernelCache<P, K> {
    entries: LruCache<Fingerprint, Vec<CachedKernel<P, K>>, FxBuildHasher>,
    /// The bytes of all kernels, about, and the most.
    bytes: usize,
    most: usize,
    /// How often memory had been trimmed when the kernels were last let go of.
    trims: u64,
    elements_until_literals: usize,
}

#[derive(Debug)]
struct CachedKernel<P, K> {
    plan: P,
    kernel: K,
    params: Vec<u64>,
    /// Launches with these scalars, and their elements.
    launches: u32,
    elements: usize,
    literal: Literal<K>,
}

/// The key of a specialised kernel: the scalars, and the shape, on which literals of its point mapping depend.
type Literals = (Vec<u64>, Vec<usize>);

/// The specialised twin of a kernel.
#[derive(Debug)]
enum Literal<K> {
    Absent,
    /// It is compiled, for this key.
    Ready(Literals, K),
    /// It did not compile, and is not tried again.
    Refused,
}

/// The kernel to launch.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KernelChoice<K> {
    /// The kernel that takes scalars as arguments.
    General(K),
    /// The kernel with these scalars as literals.
    Specialised(K),
    /// The general kernel, though specialisation would pay by now.
    CouldSpecialise(K),
}

/// Compiles kernels for a driver.
pub trait KernelMaker {
    /// A plan with the arguments of a launch.
    type Planned: Clone;
    /// The key that distinguishes the kernels of a program.
    type Plan: Clone + PartialEq;
    /// A compiled kernel.
    type Kernel: Clone;

    /// The plan of a planned launch.
    fn plan(planned: &Self::Planned) -> &Self::Plan;

    /// The launch planned with its scalars as literals, if that is possible.
    fn literals(&self, general: &Self::Planned) -> Option<Self::Planned>;

    /// Compiles a kernel.
    ///
    /// # Errors
    /// - `Refused`: the compiler rejects it.
    /// - `DeviceLost`: the device is gone.
    fn compile(&mut self, planned: &Self::Planned) -> Result<Self::Kernel>;

    /// The bytes of memory that a kernel takes, about; all kernels together are kept within a limit.
    fn bytes(kernel: &Self::Kernel) -> usize;

    /// Releases a kernel that no later launch uses.
    fn retire(&mut self, kernel: Self::Kernel);
}

impl<P, K> Default for KernelCache<P, K> {
    fn default() -> KernelCache<P, K> {
        KernelCache::of_most(MOST_PROGRAMS, ELEMENTS_UNTIL_LITERALS)
    }
}

impl<P, K> KernelCache<P, K> {
    /// An empty cache of so many programs that specialises after this many elements.
    fn of_most(programs: NonZeroUsize, elements: usize) -> KernelCache<P, K> {
        let entries = LruCache::with_hasher(programs, FxBuildHasher);
        let (bytes, most, trims) = (0, T.kernel_bytes, memory::trims());
        KernelCache { entries, bytes, most, trims, elements_until_literals: elements }
    }
}

/// All kernels of some entries.
fn kernels<P, K>(entries: Vec<CachedKernel<P, K>>) -> impl Iterator<Item = K> {
    entries.into_iter().flat_map(|entry| {
        let twin = match entry.literal {
            Literal::Ready(_, twin) => Some(twin),
            Literal::Absent | Literal::Refused => None,
        };
        [Some(entry.kernel), twin].into_iter().flatten()
    })
}

impl<P: Clone + PartialEq, K: Clone> KernelCache<P, K> {
    /// The kernel of a planned launch, compiled now if necessary, and the plan to launch it with. Compilations are
    /// counted in `evaluated`.
    ///
    /// # Errors
    /// The errors of [`KernelMaker::compile`], unless a general kernel exists.
    pub fn provide<M: KernelMaker<Plan = P, Kernel = K>>(
        &mut self,
        maker: &mut M,
        launch: &Launch<'_>,
        planned: M::Planned,
        evaluated: &mut Evaluated,
    ) -> Result<(K, M::Planned)> {
        let (name, params) = (launch.fingerprint, launch.params);
        self.trimmed().into_iter().for_each(|kernel| maker.retire(kernel));
        let plan = M::plan(&planned);
        match self.find(name, plan, params, launch.shape) {
            Some(KernelChoice::General(kernel)) => Ok((kernel, planned)),
            Some(KernelChoice::Specialised(kernel)) => {
                let special = maker.literals(&planned).unwrap_or(planned);
                Ok((kernel, special))
            }
            Some(KernelChoice::CouldSpecialise(kernel)) => {
                let special = maker.literals(&planned);
                let compiled = special.as_ref().map(|special| maker.compile(special)).transpose();
                let twin = compiled.as_ref().ok().cloned().flatten();
                self.bytes += twin.as_ref().map_or(0, M::bytes);
                if let Some(old) = self.specialise(name, plan, (params, launch.shape), twin) {
                    self.retire(maker, old);
                }
                self.keep_within(maker, name);
                match (compiled, special) {
                    (Ok(Some(twin)), Some(special)) => {
                        evaluated.specialised += 1;
                        Ok((twin, special))
                    }
                    (Err(error), _) if error.kind() == ErrorKind::DeviceLost => Err(error),
                    // The general kernel serves instead.
                    _ => Ok((kernel, planned)),
                }
            }
            None => {
                let kernel = maker.compile(&planned)?;
                evaluated.compiled += 1;
                self.bytes += M::bytes(&kernel);
                let old = self.add(name, plan.clone(), kernel.clone(), params, launch.shape);
                old.into_iter().for_each(|kernel| self.retire(maker, kernel));
                self.keep_within(maker, name);
                Ok((kernel, planned))
            }
        }
    }

    /// Whether there is a kernel for a plan of a program.
    pub fn has(&self, program: Fingerprint, plan: &P) -> bool {
        let known = self.entries.peek(&program);
        known.is_some_and(|entries| entries.iter().any(|entry| entry.plan == *plan))
    }

    /// All kernels, to be released, where memory was trimmed since the last call; none otherwise.
    pub fn trimmed(&mut self) -> Vec<K> {
        let trims = memory::trims();
        if std::mem::replace(&mut self.trims, trims) == trims {
            return Vec::new();
        }
        self.bytes = 0;
        let mut gone = Vec::new();
        while let Some((_, entries)) = self.entries.pop_lru() {
            gone.extend(kernels(entries));
        }
        gone
    }

    fn retire<M: KernelMaker<Kernel = K>>(&mut self, maker: &mut M, kernel: K) {
        self.bytes = self.bytes.saturating_sub(M::bytes(&kernel));
        maker.retire(kernel);
    }

    /// Lets go of the programs that were used least recently, until the kernels are within the limit; never of one.
    fn keep_within<M: KernelMaker<Kernel = K>>(&mut self, maker: &mut M, kept: Fingerprint) {
        while self.bytes > self.most
            && self.entries.peek_lru().is_some_and(|(program, _)| *program != kept)
            && let Some((_, entries)) = self.entries.pop_lru()
        {
            kernels(entries).for_each(|kernel| self.retire(maker, kernel));
        }
    }

    /// The kernel for a launch over a shape, or `None` if none has been compiled.
    fn find(
        &mut self,
        program: Fingerprint,
        plan: &P,
        params: &[u64],
        shape: &[usize],
    ) -> Option<KernelChoice<K>> {
        let enough = self.elements_until_literals;
        let entry = self.entry(program, plan)?;
        if entry.params != params {
            entry.params = params.to_vec();
            (entry.launches, entry.elements) = (0, 0);
        }
        if let Literal::Ready((scalars, over), kernel) = &entry.literal
            && scalars == params
            && over == shape
        {
            // Launches over other shapes in between are too few to specialise.
            (entry.launches, entry.elements) = (0, 0);
            return Some(KernelChoice::Specialised(kernel.clone()));
        }
        entry.launches += 1;
        entry.elements = entry.elements.saturating_add(shape.iter().product());
        let pays = params.len() >= T.literal_params
            && entry.launches >= T.literal_launches
            && entry.elements >= enough;
        Some(match &entry.literal {
            Literal::Refused => KernelChoice::General(entry.kernel.clone()),
            _ if pays => KernelChoice::CouldSpecialise(entry.kernel.clone()),
            _ => KernelChoice::General(entry.kernel.clone()),
        })
    }

    /// Adds a compiled kernel, launched once so far. Returns the kernels of the least recently used program if there
    /// are too many programs.
    fn add(
        &mut self,
        program: Fingerprint,
        plan: P,
        kernel: K,
        params: &[u64],
        shape: &[usize],
    ) -> Vec<K> {
        let entry = CachedKernel {
            plan,
            kernel,
            params: params.to_vec(),
            launches: 1,
            elements: shape.iter().product(),
            literal: Literal::Absent,
        };
        if let Some(entries) = self.entries.get_mut(&program) {
            entries.push(entry);
            return Vec::new();
        }
        let gone = self.entries.push(program, vec![entry]);
        gone.into_iter().flat_map(|(_, entries)| kernels(entries)).collect()
    }

    /// Adds a specialised kernel for these scalars and this shape, or the fact that it does not compile. Returns the
    /// specialised kernel that it replaces.
    fn specialise(
        &mut self,
        program: Fingerprint,
        plan: &P,
        (params, shape): (&[u64], &[usize]),
        kernel: Option<K>,
    ) -> Option<K> {
        let entry = self.entry(program, plan)?;
        let literal = match kernel {
            Some(kernel) => Literal::Ready((params.to_vec(), shape.to_vec()), kernel),
            None => Literal::Refused,
        };
        (entry.launches, entry.elements) = (0, 0);
        match std::mem::replace(&mut entry.literal, literal) {
            Literal::Ready(_, old) => Some(old),
            _ => None,
        }
    }

    fn entry(&mut self, program: Fingerprint, plan: &P) -> Option<&mut CachedKernel<P, K>> {
        self.entries.get_mut(&program)?.iter_mut().find(|entry| entry.plan == *plan)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::ir::{Builder, Form};

    /// A maker of numbers in place of kernels, which records the released ones.
    #[derive(Default)]
    struct NumberMaker {
        made: u32,
        retired: Vec<u32>,
    }

    impl KernelMaker for NumberMaker {
        type Planned = u8;
        type Plan = u8;
        type Kernel = u32;

        fn plan(planned: &u8) -> &u8 {
            planned
        }

        fn literals(&self, general: &u8) -> Option<u8> {
            Some(*general)
        }

        fn compile(&mut self, _: &u8) -> Result<u32> {
            self.made += 1;
            Ok(self.made)
        }

        fn bytes(_: &u32) -> usize {
            100
        }

        fn retire(&mut self, kernel: u32) {
            self.retired.push(kernel);
        }
    }

    /// The kernel of a launch of program `name` by a plan.
    fn provide(
        kernels: &mut KernelCache<u8, u32>,
        numbers: &mut NumberMaker,
        name: u128,
        plan: u8,
    ) -> u32 {
        let program = Builder::new(Form::Map, 1).finish();
        let launch = Launch {
            program: &program,
            fingerprint: Fingerprint(name),
            shape: &[1000],
            operands: &[],
            params: &[0; T.literal_params],
            accesses: &[],
            dests: &[],
            memory: &[],
            lend: None,
            rest: None,
        };
        kernels.provide(numbers, &launch, plan, &mut Evaluated::default()).unwrap().0
    }

    #[test]
    fn kernels_of_the_program_that_was_used_least_recently_are_given_back() {
        let two = NonZeroUsize::MIN.saturating_add(1);
        let (mut kernels, mut numbers) =
            (KernelCache::of_most(two, usize::MAX), NumberMaker::default());
        // The first program has kernels of two plans.
        let first = [0, 1].map(|plan| provide(&mut kernels, &mut numbers, 1, plan));
        let second = provide(&mut kernels, &mut numbers, 2, 0);
        assert_eq!(provide(&mut kernels, &mut numbers, 1, 1), first[1]);
        assert_eq!(numbers.retired, []);
        let third = provide(&mut kernels, &mut numbers, 3, 0);
        assert_eq!(numbers.retired, [second]);
        provide(&mut kernels, &mut numbers, 4, 0);
        assert_eq!(numbers.retired, [second, first[0], first[1]]);
        assert!(!first.contains(&provide(&mut kernels, &mut numbers, 1, 0)));
        assert_eq!(numbers.retired, [second, first[0], first[1], third]);
    }

    #[test]
    fn kernels_are_bounded_in_bytes_and_given_back_when_memory_is_trimmed() {
        let (mut kernels, mut numbers) = (KernelCache::default(), NumberMaker::default());
        kernels.most = 350;
        let made: Vec<u32> =
            (0..4).map(|name| provide(&mut kernels, &mut numbers, name, 0)).collect();
        assert_eq!((numbers.retired.as_slice(), kernels.bytes), (&made[..1], 300));
        // A program with more than the limit allows stays while it is used.
        kernels.most = 50;
        let large = provide(&mut kernels, &mut numbers, 9, 0);
        assert_eq!((provide(&mut kernels, &mut numbers, 9, 0), kernels.bytes), (large, 100));
        assert_eq!(numbers.retired, made);
        // As after `memory::trim`, which other tests would see, too.
        kernels.trims = kernels.trims.wrapping_sub(1);
        assert_eq!((kernels.trimmed(), kernels.bytes), (vec![large], 0));
        assert_ne!(provide(&mut kernels, &mut numbers, 9, 0), large);
    }

    #[test]
    fn a_twin_goes_with_its_kernel() {
        let (mut kernels, mut numbers) =
            (KernelCache::of_most(NonZeroUsize::MIN, 1), NumberMaker::default());
        let mut made: Vec<u32> =
            (0..4).map(|_| provide(&mut kernels, &mut numbers, 1, 0)).collect();
        made.dedup();
        assert_eq!(made.len(), 2, "the scalars never became literals");
        provide(&mut kernels, &mut numbers, 2, 0);
        assert_eq!(numbers.retired, made);
    }
}
