//! The loaded driver equals the linked one: every answer of every function is the same, to the bit.

use gpupy_conformance::check;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Dest, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::{Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use gpupy_engine::plugin;
use std::collections::HashMap;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;

/// The library that Cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    test.with_file_name(format!("{DLL_PREFIX}gpupy_soft{DLL_SUFFIX}"))
}

/// Both drivers at once. Each call goes to both, and panics where the answers differ. Handles are those of the
/// loaded driver.
struct Twins {
    loaded: Box<dyn Driver>,
    linked: Box<dyn Driver>,
    /// The linked one's handles, living and dead.
    handles: HashMap<BlockId, BlockId>,
    /// Some answers of a driver that is not open have no meaning; then only one driver is called.
    is_open: bool,
}

impl Twins {
    fn boxed() -> Box<dyn Driver> {
        let (loaded, linked) = (plugin::driver(&library())(), driver_soft::new());
        Box::new(Twins { loaded, linked, handles: HashMap::new(), is_open: false })
    }

    fn other(&self, block: BlockId) -> BlockId {
        self.handles.get(&block).copied().unwrap_or(block)
    }
}

/// The common answer of both.
#[track_caller]
fn same<T: PartialEq + std::fmt::Debug>(loaded: Result<T>, linked: Result<T>) -> Result<T> {
    match (&loaded, &linked) {
        (Ok(loaded), Ok(linked)) => assert_eq!(loaded, linked),
        (Err(loaded), Err(linked)) => {
            assert_eq!(loaded.kind(), linked.kind());
            // For a driver that is not open, the host reports the error itself, in its own words.
            let mistake = loaded.kind() == ErrorKind::Invalid;
            assert!(mistake || loaded.to_string() == linked.to_string(), "{loaded}, not {linked}");
        }
        _ => panic!("loaded: {loaded:?}, linked: {linked:?}"),
    }
    loaded
}

impl Driver for Twins {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let found = same(self.loaded.init(config), self.linked.init(config));
        self.is_open |= found.is_ok();
        found
    }

    fn cleanup(&mut self) {
        self.loaded.cleanup();
        self.linked.cleanup();
        self.is_open = false;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        let loaded = self.loaded.get_method(op, dtype);
        if self.is_open {
            assert_eq!(loaded, self.linked.get_method(op, dtype), "{op:?} {dtype}");
        }
        loaded
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let (loaded, linked) = (self.loaded.block_alloc(spec), self.linked.block_alloc(spec));
        if let (Ok(loaded), Ok(linked)) = (&loaded, &linked) {
            self.handles.insert(*loaded, *linked);
        }
        same(loaded.clone().map(|_| ()), linked.map(|_| ()))?;
        loaded
    }

    fn block_free(&mut self, block: BlockId) {
        self.loaded.block_free(block);
        self.linked.block_free(self.other(block));
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let (twin, mut other) = (self.other(block), out.to_vec());
        same(
            self.loaded.block_read(block, offset, out),
            self.linked.block_read(twin, offset, &mut other),
        )?;
        assert!(out == other, "block {block:?} from {offset}");
        Ok(())
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let twin = self.other(block);
        same(
            self.loaded.block_write(block, offset, data),
            self.linked.block_write(twin, offset, data),
        )
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        if !self.is_open {
            return self.loaded.check_ir(program);
        }
        let (loaded, linked) = (self.loaded.check_ir(program), self.linked.check_ir(program));
        if matches!(program.form, Form::Routine { .. }) && loaded.is_err() {
            // One that is not offered has no number in the C table, which is what its reader says.
            assert_eq!(
                loaded.as_ref().err().map(Error::kind),
                linked.err().map(|error| error.kind())
            );
            return loaded;
        }
        same(loaded, linked)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        if !launch.memory.is_empty() {
            return same(self.loaded.eval_ir(launch), self.linked.eval_ir(launch));
        }
        let operands: Vec<_> = launch.operands.iter().map(|block| self.other(*block)).collect();
        let dest = |dest: &Dest| Dest { block: self.other(dest.block), ..dest.clone() };
        let dests: Vec<_> = launch.dests.iter().map(dest).collect();
        let twin = Launch { operands: &operands, dests: &dests, ..launch.clone() };
        same(self.loaded.eval_ir(launch), self.linked.eval_ir(&twin))
    }

    fn resource_get(&self, part: Part) -> Resources {
        let need = self.loaded.resource_get(part);
        if self.is_open {
            assert_eq!(need, self.linked.resource_get(part), "{part:?}");
        }
        need
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        let fits = self.loaded.resource_check(resources);
        if self.is_open {
            assert_eq!(fits, self.linked.resource_check(resources), "{resources:?}");
        }
        fits
    }
}

/// The whole suite, with its random programs, on both at once.
#[test]
fn a_loaded_driver_passes_the_suite_with_the_bits_of_the_linked_one() {
    check(Twins::boxed);
}
