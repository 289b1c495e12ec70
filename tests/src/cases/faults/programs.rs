//! The programs of the user while drivers fail.
//!
//! Owns [`PROGRAMS`]. Each is about one way in which the core uploads values, keeps them on a device or evicts
//! them; sizes are small, because every call of every run is made to fail.
//!
//! Not here: the comparison with models (`user.rs`).

use super::faulty::NAME;
use super::user::{Stage, User};
use crate::model_based::ModelBasedUser;
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_core::ErrorKind;
use gpupy_core::driver::Resources;
use gpupy_core::op::Op;
use gpupy_engine::Settings;

/// The name of the driver that does not fail.
pub const GOOD: &str = "good";

/// A program of a user, and its limits.
pub struct Program {
    pub name: &'static str,
    pub settings: fn() -> Settings,
    pub run: fn(&Stage<'_>) -> Outcome,
}

/// Bytes of a block and of the whole device.
fn limited(block_bytes: u64, device_bytes: u64) -> Settings {
    Settings { block_bytes, device_bytes, ..Settings::default() }
}

pub const PROGRAMS: &[Program] = &[
    Program {
        name: "a chain in blocks",
        settings: || Settings { resources: Resources([12; 8]), ..limited(64, 0) },
        run: |stage| with_user(stage, chain),
    },
    Program {
        name: "reductions",
        settings: Settings::default,
        run: |stage| with_user(stage, reductions),
    },
    Program {
        name: "reductions in blocks",
        settings: || limited(1024, 0),
        run: |stage| with_user(stage, long_reductions),
    },
    Program {
        name: "writes into views",
        settings: Settings::default,
        run: |stage| with_user(stage, writes),
    },
    Program {
        name: "writes in blocks",
        settings: || limited(20, 0),
        run: |stage| with_user(stage, writes),
    },
    Program {
        name: "views across blocks",
        settings: || limited(40, 0),
        run: |stage| with_user(stage, views),
    },
    Program {
        name: "more than the device holds",
        settings: || limited(64, 512),
        run: |stage| with_user(stage, much),
    },
    Program {
        name: "siblings",
        settings: Settings::default,
        run: |stage| with_user(stage, siblings),
    },
    Program {
        name: "two drivers in turns",
        settings: || limited(64, 0),
        run: |stage| with_user(stage, turns),
    },
    Program { name: "random 1", settings: Settings::default, run: |stage| random(stage, 1) },
    Program { name: "random 2", settings: || limited(64, 4096), run: |stage| random(stage, 2) },
    Program { name: "random 3", settings: || limited(20, 0), run: |stage| random(stage, 3) },
    Program { name: "random 4", settings: || limited(256, 4096), run: |stage| random(stage, 4) },
];

pub fn with_user(stage: &Stage<'_>, program: fn(&mut User<'_>) -> Outcome) -> Outcome {
    let mut user = User::new(stage);
    program(&mut user)?;
    user.end()
}

fn random(stage: &Stage<'_>, seed: u64) -> Outcome {
    if let Err(error) = stage.context.driver() {
        let planned = stage.alone && stage.plan.is_some_and(|plan| plan.kind == error.kind());
        ensure(planned, || format!("{error}, which nothing excuses"))?;
        stage.log.heal();
    }
    let mut user = ModelBasedUser::new(stage.context, seed, 0)?;
    if let Some(plan) = stage.plan {
        let lost = [ErrorKind::Lost, ErrorKind::Poisoned].into_iter().filter(|_| plan.loses());
        let planned = [plan.kind].into_iter().filter(|_| stage.alone);
        user.forgive(lost.chain(planned).collect());
    }
    user.live(20)
}

/// Elementwise operations that are more than a kernel, on more than a block.
fn chain(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[40])?;
    let mut y = x;
    for turn in 0..4 {
        let scaled = user.binary(Op::Mul, y, 0.75)?;
        let next = user.binary(Op::Add, scaled, x)?;
        if turn != 2 {
            user.drop(scaled);
        }
        y = next;
    }
    let last = user.binary(Op::Sub, y, 2.5)?;
    user.read(last)?;
    user.read(y)
}

/// Sums and maxima along axes that are longer than a step of the tree.
fn reductions(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[3, 300])?;
    let shifted = user.binary(Op::Add, x, 1.5)?;
    let sum = user.reduce(Op::Add, shifted, 1)?;
    let highest = user.reduce(Op::Max, x, 0)?;
    let scaled = user.binary(Op::Mul, shifted, highest)?;
    user.read(sum)?;
    let total = user.reduce(Op::Add, sum, 0)?;
    user.read(total)?;
    let low = user.reduce(Op::Min, scaled, 1)?;
    user.read(low)?;
    user.read(scaled)
}

/// Reductions of more than a block, whose results are of several blocks.
fn long_reductions(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[2, 264])?;
    let shifted = user.binary(Op::Mul, x, x)?;
    let sum = user.reduce(Op::Add, shifted, 1)?;
    let few = user.slice(shifted, 1, (255, 4, 1))?;
    let low = user.reduce(Op::Min, few, 0)?;
    user.read(sum)?;
    let total = user.reduce(Op::Add, sum, 0)?;
    user.read(low)?;
    user.read(total)
}

/// Writes into parts of arrays that others are still to read.
fn writes(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[9])?;
    let a = user.binary(Op::Mul, x, 2.0)?;
    let before = user.binary(Op::Add, a, 1.0)?;
    let middle = user.slice(a, 0, (1, 6, 1))?;
    let first = user.slice(a, 0, (0, 6, 1))?;
    user.assign(middle, first)?;
    user.evaluate(a)?;
    let even = user.slice(a, 0, (0, 5, 2))?;
    user.assign(even, -1.0)?;
    user.element(a, &[2])?;
    let after = user.binary(Op::Mul, a, 3.0)?;
    let turned = user.slice(x, 0, (8, 9, -1))?;
    user.assign(a, turned)?;
    user.read(before)?;
    let five = user.slice(before, 0, (0, 5, 1))?;
    user.assign(even, five)?;
    user.read(after)?;
    user.read(a)
}

/// Transposed, flipped and strided views of values in several blocks.
fn views(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[5, 7])?;
    let row = user.index(&[5, 7], 0)?;
    let y = user.binary(Op::Add, x, row)?;
    user.evaluate(y)?;
    let across = user.view(y, |a| a.transpose(&[1, 0]), |m| m.transpose(&[1, 0]))?;
    let part = user.slice(across, 0, (1, 5, 1))?;
    let turned = user.slice(part, 1, (4, 5, -1))?;
    let z = user.binary(Op::Mul, turned, turned)?;
    let w = user.binary(Op::Sub, z, part)?;
    user.read(w)?;
    user.element(z, &[4, 0])?;
    user.read(part)
}

/// Values that do not fit on the device together.
fn much(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[16])?;
    let mut parts = Vec::new();
    for k in 0..10 {
        let part = user.binary(Op::Mul, x, k as f32 - 4.5)?;
        user.evaluate(part)?;
        parts.push(part);
    }
    let mut sum = parts[0];
    for part in &parts[1..] {
        sum = user.binary(Op::Add, sum, *part)?;
    }
    user.read(sum)?;
    parts.into_iter().step_by(3).try_for_each(|part| user.read(part))
}

/// Values that share most of their operations, and are computed side by side.
fn siblings(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[12])?;
    let mut common = x;
    for k in 0..18 {
        let next = user.binary(if k % 2 == 0 { Op::Add } else { Op::Mul }, common, 0.9375)?;
        if k > 0 {
            user.drop(common);
        }
        common = next;
    }
    let channels = [0.5, 0.25, 2.0].map(|scale| user.binary(Op::Mul, common, scale));
    let [red, green, blue] = channels;
    let (red, green, blue) = (red?, green?, blue?);
    user.read(red)?;
    let root = user.unary(Op::Neg, green)?;
    user.read(blue)?;
    user.read(root)?;
    user.read(green)
}

/// Values that go from one driver to another and back.
fn turns(user: &mut User<'_>) -> Outcome {
    let x = user.given(&[24])?;
    let a = user.binary(Op::Mul, x, 1.25)?;
    user.evaluate(a)?;
    let b = user.binary(Op::Add, a, 3.0)?;
    user.change_driver(GOOD)?;
    let c = user.binary(Op::Mul, a, b)?;
    user.read(c)?;
    user.assign(a, 4.0)?;
    user.change_driver(NAME)?;
    let d = user.binary(Op::Sub, c, a)?;
    user.evaluate(d)?;
    user.change_driver(GOOD)?;
    let e = user.binary(Op::Max, d, b)?;
    user.read(e)?;
    user.read(d)
}
