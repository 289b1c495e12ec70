//! Devices on which a launch of full size finds no room: values are cut into smaller tiles, and no other driver
//! takes over.
//!
//! Not here: lack of memory that goes away (`every.rs`).

use super::GROUP;
use super::every::Ground;
use super::faulty::Log;
use super::programs::{Program, with_user};
use super::user::User;
use crate::reporting::outcome::{Outcome, ensure};
use crate::suite::Suite;
use gpupy_core::op::Op;
use gpupy_engine::Settings;

/// Elements of the user's arrays.
const LEN: usize = 2048;

/// A device for a tenth of an array more than one whole, where a launch needs three.
const NARROW: Program = Program {
    name: "little memory",
    settings: || Settings { device_bytes: (LEN * 4 * 11 / 10) as u64, ..Settings::default() },
    run: |stage| with_user(stage, usual),
};

/// A device with memory for all blocks, but none for its own work on many points.
const CRAMPED: Program = Program {
    name: "little memory for launches",
    settings: Settings::default,
    run: |stage| with_user(stage, usual),
};

pub fn run(suite: &mut Suite<'_>, ground: &Ground) {
    suite.apart(GROUP, NARROW.name, || cut(ground, &NARROW, Log::new(None)));
    for points in [LEN / 2, 300] {
        suite.apart(GROUP, &format!("{}: {points} points", CRAMPED.name), || {
            cut(ground, &CRAMPED, Log::new(None).with_room_for(points))
        });
    }
}

fn cut(ground: &Ground, program: &Program, log: Log) -> Outcome {
    let stats = ground.perform(program, &log, None, true)?;
    ensure(stats.smaller_cuts > 0, || "nothing was cut smaller".to_string())?;
    ensure(stats.driver_fallbacks == 0, || "another driver helped".to_string())
}

fn usual(user: &mut User<'_>) -> Outcome {
    let (x, y) = (user.given(&[LEN])?, user.given(&[LEN])?);
    let z = user.binary(Op::Mul, x, y)?;
    let w = user.binary(Op::Add, z, x)?;
    user.read(w)?;
    let sum = user.reduce(Op::Add, z, 0)?;
    let scaled = user.binary(Op::Mul, w, sum)?;
    user.read(scaled)?;
    let part = user.slice(w, 0, (5, LEN - 10, 1))?;
    let turned = user.slice(y, 0, (LEN - 1, LEN - 10, -1))?;
    user.assign(part, turned)?;
    user.evaluate(w)?;
    user.assign(part, 2.0)?;
    user.read(w)
}
