//! Groups of devices: bits as of one device, whatever the members do, and work that others take over when one fails.
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::*;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Error, ErrorKind, Op, Result};
use gpupy_engine::{
    Array, ArrayOrScalar, Context, MemberStats, Placement, Registry, Settings, Sharing,
};
use std::sync::{Arc, Mutex};

/// What a member does wrong, and what it was asked.
#[derive(Default)]
struct Plan {
    /// Evaluations until it fails, and how.
    fails: Option<(usize, ErrorKind)>,
    /// It fails from then on.
    for_good: bool,
    /// It does not open again.
    stays_away: bool,
    evaluations: usize,
    open: usize,
    openings: Vec<Config>,
    gone: bool,
    spoiled: Vec<BlockId>,
    live: usize,
}

/// A driver of `soft` that fails as planned.
struct Failing {
    inner: Box<dyn Driver>,
    plan: Arc<Mutex<Plan>>,
}

impl Failing {
    fn there(&self) -> Result<()> {
        match self.plan.lock().unwrap().gone {
            true => Err(Error::new(ErrorKind::DeviceLost, "test")),
            false => Ok(()),
        }
    }
}

impl Driver for Failing {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let mut plan = self.plan.lock().unwrap();
        if plan.stays_away && plan.gone {
            return Err(Error::new(ErrorKind::Unavailable, "init"));
        }
        plan.gone = false;
        plan.open += 1;
        plan.openings.push(config.clone());
        self.inner.init(config)
    }
    fn cleanup(&mut self) {
        self.inner.cleanup();
        self.plan.lock().unwrap().live = 0;
    }
    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.inner.get_method(op, dtype)
    }
    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.there()?;
        let id = self.inner.block_alloc(spec)?;
        self.plan.lock().unwrap().live += 1;
        Ok(id)
    }
    fn block_free(&mut self, block: BlockId) {
        self.inner.block_free(block);
        let mut plan = self.plan.lock().unwrap();
        plan.live = plan.live.saturating_sub(1);
    }
    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.there()?;
        if self.plan.lock().unwrap().spoiled.contains(&block) {
            return Err(Error::new(ErrorKind::Poisoned, "test"));
        }
        self.inner.block_read(block, offset, out)
    }
    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.there()?;
        self.inner.block_write(block, offset, data)
    }
    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        self.inner.check_ir(program)
    }
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        self.there()?;
        let mut plan = self.plan.lock().unwrap();
        plan.evaluations += 1;
        if let Some((after, kind)) = plan.fails {
            if after > 0 {
                plan.fails = Some((after - 1, kind));
            } else {
                if !plan.for_good {
                    plan.fails = None;
                }
                match kind {
                    ErrorKind::DeviceLost => plan.gone = true,
                    // The device was asked, and fails later.
                    ErrorKind::Poisoned => {
                        plan.spoiled.extend(launch.dests.iter().map(|dest| dest.block));
                        return Ok(Evaluated { launches: 1, ..Evaluated::default() });
                    }
                    _ => {}
                }
                return Err(Error::new(kind, "test"));
            }
        }
        drop(plan);
        self.inner.eval_ir(launch)
    }
    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }
    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}

/// A context with a group of two failing drivers, and their plans; `alone` has no group.
fn context(words: &str, settings: Settings) -> (Context, [Arc<Mutex<Plan>>; 2]) {
    let plans = [(); 2].map(|()| Arc::new(Mutex::new(Plan::default())));
    let new = |plan: &Arc<Mutex<Plan>>| -> Box<dyn Driver> {
        Box::new(Failing { inner: driver_soft::new(), plan: plan.clone() })
    };
    let [one, two] = plans.clone();
    let registry = Registry::new()
        .register("one", move || new(&one))
        .register("two", move || new(&two))
        .sharing(Sharing::Always);
    let settings = Settings { driver: words.into(), placement: Placement::Strict, ..settings };
    (Context::new(registry, settings), plans)
}

fn pair() -> (Context, [Arc<Mutex<Plan>>; 2]) {
    context("one,two", Settings::default())
}

/// Elements of a hundred different values.
fn made(shape: &[usize], seed: usize) -> Array {
    let len: usize = shape.iter().product();
    let values = (0..len).map(|k| ((k * 7919 + seed * 31) % 1009) as f32 * 0.37 - 150.0);
    let bytes: Vec<u8> = values.flat_map(f32::to_ne_bytes).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

/// The results of programs of all forms, one after another, as bytes.
fn programs(context: &Context) -> Vec<Vec<u8>> {
    try_programs(context).into_iter().map(Result::unwrap).collect()
}

/// Results of the programs, where elements on a device may be lost with it.
fn try_programs(context: &Context) -> Vec<Result<Vec<u8>>> {
    let apply = |op: Op, args: &[&Array]| {
        let args: Vec<ArrayOrScalar<'_>> =
            args.iter().map(|array| ArrayOrScalar::Array(array)).collect();
        context.apply(op, &args).unwrap()
    };
    let (x, y) = (made(&[37, 19], 1), made(&[37, 19], 2));
    let (long, row) = (made(&[5000], 3), made(&[19], 4));
    let sum = apply(Op::Add, &[&x, &y]);
    let product = apply(Op::Mul, &[&sum, &x]);
    let spread = row.broadcast_to(&[37, 19]).unwrap();
    let shifted =
        apply(Op::Sub, &[&long.slice_axis(0, 1, 4999, 1), &long.slice_axis(0, 0, 4999, 1)]);
    let backwards = long.slice_axis(0, 4999, 5000, -1);
    let ends = long.slice_axis(0, 4000, 1000, 1);
    let joined = context.join(0, &[ends, long.slice_axis(0, 0, 4000, 1)]).unwrap();
    let sides = context.join(1, &[product.clone(), x.clone(), y.clone()]).unwrap();
    let written = context.copy(&x).unwrap();
    context
        .assign(&written.slice_axis(1, 3, 5, 3), ArrayOrScalar::Array(&y.slice_axis(1, 0, 5, 1)))
        .unwrap();
    let results = [
        product.clone(),
        apply(Op::Mul, &[&product, &spread]),
        apply(Op::Add, &[&shifted, &backwards.slice_axis(0, 0, 4999, 1)]),
        apply(Op::Add, &[&joined, &long]),
        sides,
        apply(Op::Add, &[&x.transpose(&[1, 0]), &y.transpose(&[1, 0])]),
        context.reduce(Op::Add, &long, &[0], false).unwrap(),
        context.reduce(Op::Add, &apply(Op::Mul, &[&long, &long]), &[0], false).unwrap(),
        context.reduce(Op::Add, &product, &[1], false).unwrap(),
        context.reduce(Op::Max, &product, &[0], false).unwrap(),
        context.scan(Op::Add, &x, 1).unwrap(),
        context.scan(Op::Add, &long, 0).unwrap(),
        context.sort(&x, 1).unwrap(),
        context.sort(&long, 0).unwrap(),
        context.argsort(&y, 0).unwrap(),
        context.matmul(&x, &y.transpose(&[1, 0])).unwrap(),
        written,
        apply(Op::Exp, &[&context.cast(&context.index(&[300], 0).unwrap(), DType::F32).unwrap()]),
    ];
    results.iter().map(|array| context.read(array)?.to_vec()).collect()
}

/// Results of the programs on one device.
fn wanted() -> Vec<Vec<u8>> {
    programs(&context("one", Settings::default()).0)
}

fn members(context: &Context) -> Vec<MemberStats> {
    let mut groups = context.group_stats();
    assert_eq!(groups.len(), 1);
    groups.remove(0).1
}

#[test]
fn a_group_gives_the_bits_of_one_device_whatever_the_form() {
    let wanted = wanted();
    let (context, _) = pair();
    assert_eq!(programs(&context), wanted);
    for member in members(&context) {
        assert!(member.slabs > 20, "{member:?}");
        assert_eq!((member.failures, member.taken_over), (0, 0));
    }
    let (name, found) = context.driver().unwrap();
    assert_eq!(name, "one,two");
    assert_eq!(found.device.matches("one operation at a time").count(), 2);
}

#[test]
fn an_oracle_that_is_none_of_ours_says_the_same() {
    let (context, _) = pair();
    let x = made(&[1000], 5);
    let values: Vec<f32> =
        (0..1000).map(|k| ((k * 7919 + 155) % 1009) as f32 * 0.37 - 150.0).collect();
    let double =
        context.apply(Op::Add, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| (v + v).to_ne_bytes()).collect();
    assert_eq!(context.read(&double).unwrap().to_vec().unwrap(), bytes);
}

#[test]
fn large_arrays_of_the_host_are_read_where_they_lie_each_part_by_one_member() {
    let values = |context: &Context| {
        let x = made(&[300, 1000], 9);
        let y =
            context.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
        let sums = context.reduce(Op::Add, &y, &[1], false).unwrap();
        context.read(&sums).unwrap().to_vec().unwrap()
    };
    let (context, _) = pair();
    assert_eq!(values(&context), values(&self::context("one", Settings::default()).0));
    assert_eq!(context.stats().bytes_imported, 1_200_000);
    let [one, two] = members(&context).try_into().unwrap();
    assert_eq!(one.bytes_in + two.bytes_in, 1_200_000);
    assert!(one.bytes_in.abs_diff(two.bytes_in) < 10_000, "{one:?} {two:?}");
}

#[test]
fn three_members_and_one_device_twice_are_groups() {
    let wanted = wanted();
    for words in ["one,one", "one,two,one", "one:0,one:the CPU", " one , two"] {
        let (context, _) = context(words, Settings::default());
        assert_eq!(programs(&context), wanted, "{words}");
        assert!(members(&context).iter().all(|member| member.slabs > 0), "{words}");
    }
}

#[test]
fn tiles_beyond_the_memory_of_the_devices_have_the_same_bits() {
    let wanted = wanted();
    for (block_bytes, device_bytes) in [(2048, 0), (64, 16 << 10), (4096, 64 << 10)] {
        let settings = Settings { block_bytes, device_bytes, ..Settings::default() };
        let (context, _) = context("one,two", settings);
        assert_eq!(programs(&context), wanted, "{block_bytes} {device_bytes}");
        if device_bytes > 0 {
            assert!(context.stats().evictions > 0);
        }
        assert!(members(&context).iter().all(|member| member.slabs > 0));
    }
}

#[test]
fn what_one_member_fails_the_other_does_and_it_is_counted() {
    let wanted = wanted();
    for kind in
        [ErrorKind::Refused, ErrorKind::OutOfMemory, ErrorKind::Poisoned, ErrorKind::Unsupported]
    {
        for member in [0, 1] {
            for after in [0, 1, 5, 14] {
                let (context, plans) = pair();
                plans[member].lock().unwrap().fails = Some((after, kind));
                assert_eq!(programs(&context), wanted, "{kind:?} of {member} after {after}");
                let stats = members(&context);
                assert!(stats[member].failures > 0, "{kind:?} of {member} after {after}");
                assert_eq!(stats[1 - member].failures, 0);
                assert!(stats[1 - member].taken_over + stats[1 - member].launches > 0);
            }
        }
    }
}

#[test]
fn a_member_that_fails_for_good_leaves_all_to_the_other() {
    let wanted = wanted();
    for kind in [ErrorKind::Refused, ErrorKind::Poisoned, ErrorKind::OutOfMemory] {
        let (context, plans) = pair();
        {
            let mut plan = plans[1].lock().unwrap();
            (plan.fails, plan.for_good) = (Some((0, kind)), true);
        }
        assert_eq!(programs(&context), wanted, "{kind:?}");
        assert_eq!(members(&context)[1].slabs, 0);
    }
}

#[test]
fn what_only_a_lost_member_had_is_an_error_and_all_else_goes_on() {
    let wanted = wanted();
    for member in [0, 1] {
        for after in [0, 1, 5, 17, 40] {
            let (context, plans) = pair();
            {
                let mut plan = plans[member].lock().unwrap();
                plan.fails = Some((after, ErrorKind::DeviceLost));
                plan.stays_away = true;
            }
            for (found, wanted) in try_programs(&context).iter().zip(&wanted) {
                match found {
                    Ok(found) => assert_eq!(found, wanted, "{member} after {after}"),
                    Err(error) => {
                        let is_loss =
                            [ErrorKind::Lost, ErrorKind::Poisoned].contains(&error.kind());
                        assert!(is_loss && after > 0, "{error}");
                    }
                }
            }
            // What is computed from now on is the other's.
            assert_eq!(programs(&context), wanted);
            let stats = members(&context);
            assert!(stats[member].failures > 0 && stats[1 - member].failures == 0, "{stats:?}");
            assert_eq!((stats[member].share, stats[1 - member].share), (0.0, 1.0));
            assert_eq!(context.stats().driver_fallbacks, 0);
        }
    }
}

#[test]
fn the_loss_of_the_last_member_is_that_of_the_driver() {
    let wanted = wanted();
    let (context, plans) = pair();
    plans.iter().for_each(|plan| {
        plan.lock().unwrap().fails = Some((7, ErrorKind::DeviceLost));
    });
    try_programs(&context);
    assert!(plans.iter().any(|plan| plan.lock().unwrap().openings.len() > 1), "it opens again");
    plans.iter().for_each(|plan| plan.lock().unwrap().fails = None);
    assert_eq!(programs(&context), wanted);
}

#[test]
fn a_group_that_is_closed_opens_again_without_the_member_that_does_not() {
    let wanted = wanted();
    let (context, plans) = pair();
    assert_eq!(programs(&context), wanted);
    context.close();
    assert_eq!(plans.each_ref().map(|plan| plan.lock().unwrap().live), [0, 0]);
    {
        let mut plan = plans[0].lock().unwrap();
        (plan.gone, plan.stays_away) = (true, true);
    }
    assert_eq!(programs(&context), wanted);
    let stats = members(&context);
    assert_eq!((stats[0].failures, stats[1].share), (1, 1.0));
}

#[test]
fn a_flush_of_a_known_structure_is_replayed_on_a_group() {
    let (context, _) = pair();
    let step = |seed: usize| {
        let x = made(&[1000], seed);
        let y =
            context.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
        let z =
            context.apply(Op::Add, &[ArrayOrScalar::Array(&y), ArrayOrScalar::Array(&x)]).unwrap();
        context.read(&z).unwrap().to_vec().unwrap()
    };
    let known: Vec<Vec<u8>> = (0..4).map(step).collect();
    assert!(context.stats().flushes_replayed > 0);
    let (alone, _) = self::context("one", Settings::default());
    for (seed, known) in known.into_iter().enumerate() {
        let x = made(&[1000], seed);
        let y =
            alone.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
        let z =
            alone.apply(Op::Add, &[ArrayOrScalar::Array(&y), ArrayOrScalar::Array(&x)]).unwrap();
        assert_eq!(alone.read(&z).unwrap().to_vec().unwrap(), known);
    }
}

#[test]
fn each_member_hears_of_its_device_and_blocks_are_freed() {
    let (context, plans) = context("one:0, two:the CPU", Settings::default());
    let x = made(&[1000], 1);
    let y = context.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
    context.evaluate(&[&y]).unwrap();
    let devices = plans.each_ref().map(|plan| plan.lock().unwrap().openings[0].device.clone());
    assert_eq!(devices, ["0", "the CPU"]);
    assert!(plans.iter().all(|plan| plan.lock().unwrap().live > 0));
    drop((x, y));
    context.trim().unwrap();
    assert_eq!(plans.each_ref().map(|plan| plan.lock().unwrap().live), [0, 0]);
    // One device of a driver is no group.
    let (context, plans) =
        self::context("one:0", Settings { device: "9".into(), ..Settings::default() });
    assert_eq!(context.driver().unwrap().0, "one:0");
    assert_eq!(plans[0].lock().unwrap().openings[0].device, "0");
    assert!(context.group_stats().is_empty());
}

#[test]
fn words_that_choose_nothing_are_errors_and_leave_the_choice() {
    let (context, plans) = context("one", Settings::default());
    context.driver().unwrap();
    for words in ["one,cuda", "cuda:0,one", "one,", ",", "cuda:1"] {
        let error = context.use_driver(words).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{words}");
        assert!(error.to_string().contains("choose one of `one`, `two`, `auto`"), "{error}");
    }
    let error = context.use_driver("one,auto").unwrap_err();
    assert!(
        error.to_string().contains("`auto` is no driver of a group; choose of `one`, `two`,"),
        "{error}"
    );
    plans[1].lock().unwrap().gone = true;
    plans[1].lock().unwrap().stays_away = true;
    let error = context.use_driver("one,two").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("driver: two"), "{error}");
    assert_eq!(context.driver().unwrap().0, "one");
    assert_eq!(context.driver_names().unwrap(), ["one", "two"]);
}
