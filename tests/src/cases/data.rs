//! The programs of `tests/data`: a driver writes what the documents expect.
//!
//! Not here: the documents (`data/`).

use super::Suite;
use crate::data::{self, Case, FILES};
use crate::drivers::device::Device;
use crate::drivers::launch::{FEWER_REDUCTIONS, TOO_LARGE};
use crate::expect::compare::Mismatches;
use crate::expect::oracle::Run;
use crate::reporting::outcome::{Outcome, fail, skip};
use gpupy_core::Scalar;
use gpupy_core::driver::{BlockId, Method};
use gpupy_core::functions;
use gpupy_core::ir::{Builder, Inst, Program, pieces_lowering};
use gpupy_core::op::{Op, Rule};

pub const GROUP: &str = "data";

pub fn run(suite: &mut Suite<'_>) {
    for (file, text) in FILES {
        match data::cases(text) {
            Ok(cases) => {
                for case in cases {
                    let name = format!("{file}, {}", case.name);
                    suite.case(GROUP, &name, |device| replay(device, &case));
                }
            }
            Err(stop) => suite.apart(GROUP, file, || Err(stop)),
        }
    }
}

fn replay(device: &mut Device, case: &Case) -> Outcome {
    let mut run = case.run()?;
    let dtypes = run.program.operands.iter().chain(&run.program.dests);
    dtypes.into_iter().try_for_each(|dtype| device.need_dtype(*dtype))?;
    if run.program.dests.len() > device.caps.max_dests {
        return skip("fewer destinations at a time");
    }
    if !device.caps.takes_reductions(&run.program) {
        return skip(FEWER_REDUCTIONS);
    }
    if !device.caps.has(run.program.form.kind()) {
        return skip(format!("no {} form", run.program.form.kind()));
    }
    if !device.caps.pieces {
        run.program = pieces_lowering::lowered(&run.program);
    }
    // Lowered programs may have operations that are lowered themselves.
    while lower(device, &mut run)? {}
    if !device.check_ir(&run.program)?.fits {
        return skip(TOO_LARGE);
    }
    let mut blocks = Vec::new();
    let outcome = replay_with(device, case, &run, &mut blocks);
    blocks.into_iter().for_each(|block| device.driver.block_free(block));
    outcome
}

fn replay_with(device: &mut Device, case: &Case, run: &Run, blocks: &mut Vec<BlockId>) -> Outcome {
    for (dtype, data) in run.program.operands.iter().zip(&run.operands) {
        blocks.push(device.upload(*dtype, data)?);
    }
    for ((dtype, target), dest) in run.program.dests.iter().zip(&run.targets).zip(&case.dests) {
        blocks.push(device.upload(*dtype, &vec![dest.fill()?; target.len])?);
    }
    let (operands, dests) = blocks.split_at(run.operands.len());
    device.eval(run, operands, dests)?;
    for (slot, dest) in case.dests.iter().enumerate() {
        let wanted = dest.after()?;
        let got = device.read(dests[slot], run.program.dests[slot], 0, wanted.len())?;
        let mut mismatches = Mismatches::default();
        for (at, (got, wanted)) in got.into_iter().zip(wanted).enumerate() {
            // Results on devices that flush subnormals belong to another group (`elementwise.rs`).
            if device.caps.flushes_subnormals && dest.subnormal.contains(&at) {
                mismatches.right();
            } else {
                mismatches.compare(at, got, wanted, case.ulp, Vec::new);
            }
        }
        mismatches.outcome()?;
    }
    Ok(())
}

/// Replaces operations that a driver lacks by programs, as the core does. Returns false when there are none;
/// skips the case if the core has no program either.
fn lower(device: &Device, run: &mut Run) -> Outcome<bool> {
    let methods = run.program.insts.iter().map(|inst| method(device, &run.program, inst));
    let methods = methods.collect::<Outcome<Vec<_>>>()?;
    if methods.iter().all(|method| *method == Method::Native) {
        return Ok(false);
    }
    let program = &run.program;
    let mut b = Builder::new(program.form, program.rank);
    for dtype in &program.operands {
        b.operand(*dtype);
    }
    for kind in &program.accesses {
        b.access(*kind);
    }
    let mut params: Vec<Scalar> = Vec::new();
    let mut stores = Vec::new();
    let mut renamed: Vec<u32> = Vec::new();
    for (inst, method) in program.insts.iter().zip(methods) {
        let [a, second, third] = inst.args;
        let name = |value: u32| renamed[value as usize];
        let list = || -> Vec<u32> {
            let listed = &program.extra[second as usize..(second + third) as usize];
            listed.iter().map(|value| name(*value)).collect()
        };
        renamed.push(match (inst.op, method) {
            (op, Method::Lowered(callee)) => {
                let values: Vec<_> = program.uses(inst).map(name).collect();
                callee.verify().or_else(|e| fail(format!("{} lowered: {e}", op.info().name)))?;
                b.inline(&callee, &values)
            }
            (Op::Const, _) => {
                let bits = u64::from(a) | u64::from(second) << 32;
                b.constant(Scalar::new(inst.dtype, bits))
            }
            (Op::Param, _) => {
                params.push(run.params[a as usize]);
                b.param(inst.dtype)
            }
            (Op::Index, _) => b.index(a),
            (Op::Load, _) => b.load(a, second),
            (Op::Gather, _) => b.gather(a, name(second)),
            (Op::Piece, _) => b.piece(name(a), &list()),
            (Op::Choose, _) => b.choose(name(a), &list()),
            (Op::Loop, _) => b.begin_loop(name(a), &list()),
            (Op::If, _) => b.begin_if(name(a)),
            (Op::Carry, _) => b.carry(name(a), second),
            (Op::Iter, _) => b.iter(name(a)),
            (Op::Else, _) => {
                b.begin_else(name(a), &list());
                0
            }
            (Op::End, _) => {
                b.end(name(a), &list());
                0
            }
            (Op::Result, _) => b.result(name(a), second, inst.dtype),
            (Op::Reduce, _) => {
                let at = renamed.len();
                let by = program.reductions().find(|reduction| reduction.at == at);
                by.map_or(0, |by| b.reduce_by(by.op, name(a)))
            }
            (op @ (Op::Scan | Op::Sort | Op::ArgSort | Op::MatMul), _) => {
                let values: Vec<_> = program.uses(inst).map(name).collect();
                b.library_op(op, &values)
            }
            (Op::Store, _) => {
                stores.push((a, name(second)));
                0
            }
            (op @ (Op::Cast | Op::Bitcast), _) => b.convert(op, name(a), inst.dtype),
            (op, _) => {
                let values: Vec<_> = program.uses(inst).map(name).collect();
                b.op(op, &values)
            }
        });
    }
    // The builder numbers destinations as they come.
    stores.sort_unstable();
    stores.into_iter().for_each(|(_, value)| b.store(value));
    (run.program, run.params) = (b.finish(), params);
    Ok(true)
}

/// The driver's method for an instruction; skips the case where it is absent.
fn method(device: &Device, program: &Program, inst: &Inst) -> Outcome<Method> {
    let row = inst.op.info();
    let first = || program.insts[inst.args[0] as usize].dtype;
    let dtype = match (inst.op, row.rule) {
        (Op::Gather | Op::Loop | Op::If, _) => inst.dtype,
        (op, _) if op.form().is_some() => first(),
        (_, Rule::Special) => return Ok(Method::Native),
        (_, Rule::Cast | Rule::Bitcast | Rule::Select) => inst.dtype,
        _ => first(),
    };
    if device.driver.get_method(inst.op, dtype) == Method::Absent
        && let Some(program) = functions::program(inst.op, dtype)
    {
        return Ok(Method::Lowered(program.clone()));
    }
    match device.need_method(inst.op, dtype)? {
        Method::Lowered(_) if row.rule == Rule::Special => {
            fail(format!("`{}` is lowered", row.name))
        }
        method => Ok(method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::outcome::ensure;

    #[test]
    fn every_document_can_be_read() {
        for (file, text) in FILES {
            let cases = data::cases(text).unwrap_or_else(|stop| panic!("{file}: {stop:?}"));
            assert!(!cases.is_empty(), "{file}");
            for case in cases {
                let run =
                    case.run().and_then(|run| ensure(run.program.verify().is_ok(), String::new));
                run.unwrap_or_else(|stop| panic!("{file}, {}: {stop:?}", case.name));
            }
        }
    }
}
