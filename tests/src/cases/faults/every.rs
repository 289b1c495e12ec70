//! Every call of every run is made to fail, in every way that the contract permits.
//!
//! Owns [`run`]. A program runs once without faults, to count the calls; then once for each call, kind and
//! duration of a fault, with and without another driver that can take over. Where calls are many, the durations
//! take turns from call to call. Invariants after each run: no block
//! is left, no dead handle was used, and the counters are consistent.
//!
//! Not here: whether read values are right (`user.rs`).

use super::GROUP;
use super::faulty::{Faulty, Log, NAME};
use super::kept::Kept;
use super::plan::{Call, Lasts, Plan};
use super::programs::{GOOD, PROGRAMS, Program};
use super::user::Stage;
use crate::reporting::outcome::{Outcome, Stop, ensure, fail};
use crate::suite::Suite;
use gpupy_core::ErrorKind;
use gpupy_engine::{Constructor, Context, Registry, Settings, Stats};
use std::cell::Cell;
use std::time::Duration;

/// How long faults last.
const LASTS: [Lasts; 3] = [Lasts::Once, Lasts::Times(3), Lasts::ForEver];

/// The most calls of a function in one run for which each fault is tried in all durations.
const FEW_CALLS: usize = 24;

/// Runs with a fault, and those of them in which it did no harm.
#[derive(Clone, Copy, Default)]
struct Tally {
    injected: usize,
    survived: usize,
}

pub fn run(suite: &mut Suite<'_>, ground: &Ground) {
    let tally = Cell::new(Tally::default());
    for program in PROGRAMS {
        suite.apart(GROUP, &format!("{}, no fault", program.name), || ground.clean(program));
        suite.apart(GROUP, &format!("{}, slowly", program.name), || ground.slow(program));
        for call in Call::ALL {
            for kind in call.kinds() {
                let name = format!("{}, {}: {}", program.name, call.name(), kind.words());
                suite.apart(GROUP, &name, || ground.every(program, call, *kind, &tally));
            }
        }
    }
    let Tally { injected, survived } = tally.get();
    if injected > 0 {
        suite.note(format!("faults: {injected} injected, {survived} survived"));
    }
}

/// The drivers on which programs run.
pub struct Ground {
    kept: Kept,
    good: Kept,
}

impl Ground {
    pub fn new(make: Constructor) -> Ground {
        Ground { kept: Kept::new(make.clone()), good: Kept::new(make) }
    }

    /// A run without faults: everything is right, and nothing is left.
    fn clean(&self, program: &Program) -> Outcome {
        self.perform(program, &Log::new(None), None, true).map(|_| ())
    }

    /// A slow device changes nothing but that an evaluation may pause.
    fn slow(&self, program: &Program) -> Outcome {
        let counts = |stats: Stats| Stats { kernels_compiled: 0, kernels_specialised: 0, ..stats };
        let usual = counts(self.perform(program, &Log::new(None), None, true)?);
        let log = Log::new(None).slow(Duration::from_millis(1), 20);
        let slow = counts(self.perform(program, &log, None, true)?);
        ensure(usual == slow, || format!("{slow:?}, not {usual:?}"))
    }

    /// One function fails in one way: at each of its calls, for a while and for ever.
    fn every(
        &self,
        program: &Program,
        call: Call,
        kind: ErrorKind,
        tally: &Cell<Tally>,
    ) -> Outcome {
        for alone in [true, false] {
            let log = Log::new(None);
            self.perform(program, &log, None, alone)?;
            let calls = log.calls(call);
            for after in 0..calls {
                let turn = (after + usize::from(alone)) % LASTS.len();
                let lasts = if calls <= FEW_CALLS { &LASTS } else { &LASTS[turn..=turn] };
                for lasts in lasts {
                    let plan = Plan { call, kind, after, lasts: *lasts };
                    let mut count = tally.get();
                    count.injected += 1;
                    tally.set(count);
                    self.fail(program, plan, alone).map_err(|stop| match stop {
                        Stop::Fail(said) => {
                            let who = if alone { "alone" } else { "with a good driver" };
                            Stop::Fail(format!("{plan}, {who}: {said}"))
                        }
                        skip => skip,
                    })?;
                    count.survived += 1;
                    tally.set(count);
                }
            }
        }
        Ok(())
    }

    /// A run with a fault.
    fn fail(&self, program: &Program, plan: Plan, alone: bool) -> Outcome {
        let log = Log::new(Some(plan));
        let stats = self.perform(program, &log, Some(plan), alone)?;
        ensure(log.struck() > 0, || "the fault did not happen".to_string())?;
        let helped = plan.call == Call::Eval && plan.lasts == Lasts::ForEver && !alone;
        if helped && !plan.loses() {
            ensure(stats.driver_fallbacks > 0, || "no fallback is counted".to_string())?;
        }
        Ok(())
    }

    /// Runs a program; gives the counts.
    pub fn perform(
        &self,
        program: &Program,
        log: &Log,
        plan: Option<Plan>,
        alone: bool,
    ) -> Outcome<Stats> {
        let (kept, good) = (self.kept.clone(), self.good.clone());
        let (seen, quiet) = (log.clone(), Log::new(None));
        let unfailing = quiet.clone();
        let registry = Registry::new()
            .register(NAME, move || Faulty::boxed(kept.clone(), seen.clone()))
            .register(GOOD, move || Faulty::boxed(good.clone(), unfailing.clone()));
        let driver = if alone { NAME } else { "auto" };
        let (driver, driver_fallback) = (driver.to_string(), !alone);
        let settings = Settings { driver, driver_fallback, ..(program.settings)() };
        let context = Context::new(registry, settings);
        (program.run)(&Stage { context: &context, log, plan, alone })?;
        let stats = context.stats();
        ensure(stats.blocks == 0, || format!("{} blocks are left", stats.blocks))?;
        ensure(context.trim().is_ok(), || {
            "nothing is read, and memory is not given back".to_owned()
        })?;
        for log in [log, &quiet] {
            if let Some(said) = log.broken() {
                return fail(format!("the core does not keep its promise: {said}"));
            }
            ensure(log.live() == 0, || format!("{} blocks have leaked", log.live()))?;
        }
        Ok(stats)
    }
}
