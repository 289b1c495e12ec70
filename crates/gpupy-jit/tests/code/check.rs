//! Runs a program compiled and by `op_eval`, and compares the stored elements.
//!
//! Owns [`Case`] and [`check`]. The oracle interprets the instructions at each point.

use crate::rng::Rng;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::op_eval::eval;
use gpupy_core::{DType, Scalar};
use gpupy_jit::{
    GatherTable, Isa, Kernel, KernelStrides, RowArguments, RowGroup, RowStride, StridedPointer,
    compile_for,
};

/// Bytes around and between destinations that no code may touch.
const GUARD: usize = 256;
const UNTOUCHED: u8 = 0xa5;

/// A row of inputs for a program.
pub struct Case {
    /// The elements, or numbers, of each access at each point.
    inputs: Vec<Vec<Scalar>>,
    params: Vec<Scalar>,
    /// The elements of each operand, for gathers.
    tables: Vec<Vec<Scalar>>,
    n: usize,
}

/// The machine's instruction sets.
pub fn isas() -> Vec<Isa> {
    [Isa::Avx2, Isa::Avx512]
        .into_iter()
        .filter(|isa| Isa::detect() == Some(Isa::Avx512) || Isa::detect() == Some(*isa))
        .collect()
}

impl Case {
    /// Random elements.
    pub fn random(program: &Program, variant: &KernelStrides, n: usize, rng: &mut Rng) -> Case {
        let mut inputs = Vec::new();
        for (at, step) in KernelStrides::walks(program).zip(&variant.accesses) {
            let inst = &program.insts[at];
            let numbered = inst.op == Op::Index;
            let (first, step_by) = match rng.below(2) {
                0 => (rng.next() as i32, rng.next() as i32 % 1000),
                // Places of neighbours in a short table, and before and behind it.
                _ => (rng.below(70) as i32 - 10, 1),
            };
            let mut elements: Vec<Scalar> = (0..n)
                .map(|k| match numbered {
                    true => Scalar::i32(first.wrapping_add(step_by.wrapping_mul(k as i32))),
                    false => rng.element(inst.dtype),
                })
                .collect();
            // Often equal at all points, so that a branch is not taken at all.
            if *step == RowStride::Zero || rng.below(3) == 0 && !numbered {
                elements = vec![elements[0]; n];
            }
            inputs.push(elements);
        }
        let params = program.params.iter().map(|dtype| rng.element(*dtype)).collect();
        let mut table = |dtype: &DType| {
            let len = 1 + rng.below(90);
            (0..len).map(|_| rng.element(*dtype)).collect()
        };
        let tables = program.operands.iter().map(&mut table).collect();
        Case { inputs, params, tables, n }
    }

    /// A case with these elements for each access.
    pub fn of(inputs: Vec<Vec<Scalar>>) -> Case {
        Case { n: inputs[0].len(), inputs, params: Vec::new(), tables: Vec::new() }
    }

    /// The expected element of each destination at a point.
    fn wanted(&self, program: &Program, point: usize) -> Vec<Scalar> {
        let mut values: Vec<Scalar> = Vec::new();
        let mut stored = vec![Scalar::bool(false); program.dests.len()];
        let mut walk = 0;
        for inst in &program.insts {
            let [a, b, _] = inst.args;
            values.push(match inst.op {
                Op::Const => Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32),
                Op::Param => self.params[a as usize],
                Op::Load | Op::Index => {
                    walk += 1;
                    self.inputs[walk - 1][point]
                }
                Op::Gather => {
                    let table = &self.tables[a as usize];
                    table[values[b as usize].as_i32().clamp(0, table.len() as i32 - 1) as usize]
                }
                Op::Store => {
                    stored[a as usize] = values[b as usize];
                    stored[a as usize]
                }
                // Both branches have been computed: they have no effects but their values.
                Op::If => values[a as usize],
                Op::Else | Op::End => Scalar::bool(false),
                Op::Result => {
                    let first = values[a as usize] == Scalar::bool(true);
                    let mut ends = program.insts.iter().filter(|end| {
                        end.args[0] == a && end.op == if first { Op::Else } else { Op::End }
                    });
                    let list = ends.next().expect("a branch ends").args[1];
                    values[program.extra[(list + b) as usize] as usize]
                }
                op => {
                    let arity = op.info().arity as usize;
                    let args: Vec<_> =
                        inst.args[..arity].iter().map(|arg| values[*arg as usize]).collect();
                    eval(op, inst.dtype, &args).expect("the oracle has the operation")
                }
            });
        }
        stored
    }
}

/// Strided elements in memory.
struct Strip {
    bytes: Vec<u8>,
    first: usize,
    step: isize,
}

impl Strip {
    fn new(step: RowStride, size: usize, n: usize, rng: &mut Rng) -> Strip {
        let step = match step {
            RowStride::Unit | RowStride::Listed => size as isize,
            RowStride::Zero => 0,
            _ => size as isize * [-1, 2, -3, 7][rng.below(4)],
        };
        let reach = step.unsigned_abs() * (n - 1);
        let first = if step < 0 { GUARD + reach } else { GUARD };
        Strip { bytes: vec![UNTOUCHED; 2 * GUARD + reach + size], first, step }
    }

    fn at(&self, k: usize) -> usize {
        self.first.wrapping_add_signed(self.step * k as isize)
    }

    fn walk(&mut self) -> StridedPointer {
        StridedPointer { ptr: self.bytes[self.first..].as_mut_ptr(), step: self.step }
    }
}

/// Computes `n` points as the rows of a group, which lie behind each other, and a row of the rest.
///
/// # Safety
/// As of `Kernel::run` for one row of `n` points.
pub unsafe fn run_in_rows(kernel: &Kernel, group: RowGroup<'_>, n: usize) {
    let RowGroup { n: each, count, walks, accesses, params, tables, .. } = group;
    let steps: Vec<isize> = walks.iter().map(|walk| walk.step * each as isize).collect();
    let group = RowGroup { n: each, count, walks, accesses, steps: &steps, params, tables };
    // SAFETY: the rows are parts of one whose elements exist.
    unsafe { kernel.run_rows(group) };
    // The walks have moved behind the group.
    let (of_accesses, of_dests) = walks.split_at(accesses);
    let (accesses, dests) = (of_accesses.as_ptr(), of_dests.as_ptr());
    let rest = RowArguments { n: n - each * count, accesses, dests, params, tables };
    // SAFETY: as above.
    unsafe { kernel.run(&rest) };
}

/// Runs the code and compares. `Err` describes the first difference.
pub fn check(
    kernel: &Kernel,
    program: &Program,
    variant: &KernelStrides,
    case: &Case,
    rng: &mut Rng,
) -> Result<(), String> {
    let n = case.n;
    let mut strips = Vec::new();
    let mut walks = Vec::new();
    for ((at, step), elements) in
        KernelStrides::walks(program).zip(&variant.accesses).zip(&case.inputs)
    {
        if program.insts[at].op == Op::Index && *step != RowStride::Listed {
            let grow =
                if n > 1 { elements[1].as_i32().wrapping_sub(elements[0].as_i32()) } else { 3 };
            let first = elements[0].bits as usize as *mut u8;
            walks.push(StridedPointer { ptr: first, step: grow as isize });
            continue;
        }
        let size = program.insts[at].dtype.size();
        let mut strip = Strip::new(*step, size, n, rng);
        for (k, element) in elements.iter().enumerate() {
            let place = strip.at(k);
            strip.bytes[place..place + size].copy_from_slice(&element.bytes()[..size]);
        }
        walks.push(strip.walk());
        strips.push(strip);
    }
    let sized = |dtype: &DType| dtype.size();
    let mut dests: Vec<Strip> = variant
        .dests
        .iter()
        .zip(&program.dests)
        .map(|(step, dtype)| Strip::new(*step, sized(dtype), n, rng))
        .collect();
    let dest_walks: Vec<StridedPointer> = dests.iter_mut().map(Strip::walk).collect();
    let params: Vec<u64> = case.params.iter().map(|param| param.bits).collect();
    let bytes = |table: &Vec<Scalar>| {
        let of = |element: &Scalar| element.bytes()[..element.dtype.size()].to_vec();
        let mut bytes: Vec<u8> = table.iter().flat_map(of).collect();
        bytes.resize(bytes.len().max(GatherTable::LEAST_BYTES), 0xff);
        bytes.into_boxed_slice()
    };
    let memory: Vec<Box<[u8]>> = case.tables.iter().map(bytes).collect();
    let tables = memory.iter().zip(&case.tables);
    let tables: Vec<_> =
        tables.map(|(bytes, table)| GatherTable::new(bytes.as_ptr(), table.len())).collect();
    let accesses = walks.len();
    walks.extend(dest_walks);
    let (params, tables) = (params.as_ptr(), tables.as_ptr());
    let in_rows = !variant.dests.contains(&RowStride::Lanes) && rng.below(2) == 0;
    let (each, count) = if in_rows {
        let each = 1 + rng.below(n);
        (each, n / each)
    } else {
        (n, 0)
    };
    let row = RowGroup { n: each, count, walks: &mut walks, accesses, steps: &[], params, tables };
    // SAFETY: all walks stay inside their strips.
    unsafe { run_in_rows(kernel, row, n) };
    for point in 0..n {
        let wanted = case.wanted(program, point);
        for (dest, (strip, wanted)) in dests.iter_mut().zip(wanted).enumerate() {
            let size = wanted.dtype.size();
            let place = strip.at(point);
            let got = Scalar::read(wanted.dtype, &strip.bytes[place..place + size]);
            let got = got.ok_or("no element")?;
            if !same(got, wanted) {
                let inputs: Vec<_> = case.inputs.iter().map(|of| of[point].to_string()).collect();
                return Err(format!(
                    "dest {dest}, point {point} of {n}: got {got} ({:#x}), wanted {wanted} ({:#x}) \
                     from {inputs:?}",
                    got.bits, wanted.bits
                ));
            }
            strip.bytes[place..place + size].fill(UNTOUCHED);
        }
    }
    match dests.iter().position(|strip| strip.bytes.iter().any(|byte| *byte != UNTOUCHED)) {
        Some(dest) => Err(format!("dest {dest} was written outside of its {n} points")),
        None => Ok(()),
    }
}

/// Equal bits, or both NaN.
fn same(a: Scalar, b: Scalar) -> bool {
    let is_nan = |x: Scalar| {
        let sign = 1u64 << (8 * x.dtype.size() - 1);
        x.dtype.is_float() && x.bits & (sign - 1) > x.dtype.infinity()
    };
    a.bits == b.bits || is_nan(a) && is_nan(b)
}

/// One stride for all walks of the program.
pub fn variant(program: &Program, step: RowStride) -> KernelStrides {
    let accesses = KernelStrides::walks(program).map(|_| step).collect();
    KernelStrides { accesses, dests: vec![RowStride::Unit; program.dests.len()] }
}

/// The kernel of a program that this crate should compile.
pub fn compiled(program: &Program, variant: &KernelStrides, isa: Isa) -> Kernel {
    program.verify().expect("the program verifies");
    compile_for(program, variant, isa).expect("there is code for this program")
}
