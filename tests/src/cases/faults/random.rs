//! A driver that fails at random: nothing is lost, and a second attempt works.
//!
//! Owns [`Fickle`], the driver under test with injected faults. Failures are of the contract's kinds, and leave
//! blocks as it demands.
//!
//! Not here: the actions of the user (`model_based.rs`).

use super::GROUP;
use crate::expect::samples::Rng;
use crate::model_based::ModelBasedUser;
use crate::suite::Suite;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Dest, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use gpupy_engine::{Context, Registry, Settings};

/// How often a user tries again; faults are independent, so that this is enough.
const TRIES: usize = 200;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Programs with more operations than this are refused.
    Larger(usize),
    /// One launch in so many is refused.
    Refused(usize),
    /// One allocation in so many finds no room.
    NoRoom(usize),
    /// One launch in so many finds no room, and spoils destinations that it should write whole.
    NoScratch(usize),
}

pub fn run(suite: &mut Suite<'_>) {
    let faults = [
        ("larger programs refused", Fault::Larger(2), 0),
        ("launches refused", Fault::Refused(4), TRIES),
        ("no room for blocks", Fault::NoRoom(4), TRIES),
        ("no room for launches", Fault::NoScratch(4), TRIES),
    ];
    for (name, fault, tries) in faults {
        for seed in 0..15 {
            let make = suite.constructor();
            suite.apart(GROUP, &format!("{name}, seed {seed}"), || {
                let registry =
                    Registry::new().register("faulty", move || Fickle::boxed(make(), fault, seed));
                let settings = Settings {
                    driver: "faulty".into(),
                    driver_fallback: false,
                    ..Settings::default()
                };
                ModelBasedUser::new(&Context::new(registry, settings), seed, tries)?.live(25)
            });
            let (make, good) = (suite.constructor(), suite.constructor());
            suite.apart(GROUP, &format!("{name}, and a good driver, seed {seed}"), || {
                // Without further attempts, the other driver must take over.
                let registry = Registry::new()
                    .register("faulty", move || Fickle::boxed(make(), fault, seed))
                    .register("good", move || good());
                let settings = Settings { driver: "faulty".into(), ..Settings::default() };
                ModelBasedUser::new(&Context::new(registry, settings), seed, 0)?.live(25)
            });
        }
    }
}

struct Fickle {
    inner: Box<dyn Driver>,
    fault: Fault,
    rng: Rng,
}

impl Fickle {
    fn boxed(inner: Box<dyn Driver>, fault: Fault, seed: u64) -> Box<dyn Driver> {
        Box::new(Fickle { inner, fault, rng: Rng::new(seed + 1000) })
    }

    fn strikes(&mut self, one_in: usize) -> bool {
        self.rng.below(one_in) == 0
    }
}

impl Driver for Fickle {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        self.inner.init(config)
    }

    fn cleanup(&mut self) {
        self.inner.cleanup();
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.inner.get_method(op, dtype)
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let fault = self.fault;
        match fault {
            Fault::NoRoom(one_in) if self.strikes(one_in) => {
                Err(Error::new(ErrorKind::OutOfMemory, "block_alloc").says("a fault was put in"))
            }
            _ => self.inner.block_alloc(spec),
        }
    }

    fn block_free(&mut self, block: BlockId) {
        self.inner.block_free(block);
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.inner.block_read(block, offset, out)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.inner.block_write(block, offset, data)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        self.inner.check_ir(program)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let fault = self.fault;
        let kind = match fault {
            Fault::Larger(most) if launch.program.operation_count() > most => ErrorKind::Refused,
            Fault::Refused(one_in) if self.strikes(one_in) => ErrorKind::Refused,
            Fault::NoScratch(one_in) if self.strikes(one_in) => ErrorKind::OutOfMemory,
            _ => return self.inner.eval_ir(launch),
        };
        let undefined = |dest: &Dest| dest.whole && !launch.operands.contains(&dest.block);
        if kind == ErrorKind::OutOfMemory && launch.dests.iter().all(undefined) {
            // A destination that is written whole is undefined then.
            let spoiled: Vec<_> = launch.params.iter().map(|_| 0x4640_e400).collect();
            self.inner.eval_ir(&Launch { params: &spoiled, ..*launch })?;
        }
        Err(Error::new(kind, "eval_ir").says("a fault was put in"))
    }

    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}
