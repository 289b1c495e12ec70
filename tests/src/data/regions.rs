//! Programs with loops and choices, as texts.

use super::named::{Named, named, ordinary};
use crate::expect::oracle::{Run, affine, contiguous};
use gpupy_core::ir::{AccessKind, Program};
use gpupy_core::{DType, Scalar};

/// A launch of each program.
pub fn regions() -> Vec<Named> {
    let case = |(name, text): &(&str, &str)| {
        let program: Program = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        let shape = [50];
        let mut run = Run::new(program, &shape);
        for dtype in run.program.operands.clone() {
            run = run.operand(match dtype {
                // Of counts, some are 0 and less.
                DType::I32 => (0..50).map(|k| Scalar::i32(k * 7 % 12 - 3)).collect(),
                dtype => ordinary(dtype, 50, 120),
            });
        }
        for kind in run.program.accesses.clone() {
            let affine = affine(-3, &[1]);
            run = run.access(if kind == AccessKind::Affine { affine } else { contiguous(&shape) });
        }
        for dtype in run.program.params.clone() {
            run = run.param(ordinary(dtype, 1, 121)[0]);
        }
        named(*name, run)
    };
    REGIONS.iter().map(case).collect()
}

/// Names and programs over one axis; operands are float32 numbers and int32 counts.
const REGIONS: &[(&str, &str)] = &[
    (
        "a loop with two carried values that change places",
        "form map
        rank 1
        operands float32 int32
        params
        accesses contiguous
        dests float32
        %0 = load float32 o0 a0
        %1 = load int32 o1 a0
        %2 = const float32 0x00000000
        %3 = loop %1 (%0 %2)
          %4 = carry float32 %3 0
          %5 = carry float32 %3 1
          %6 = sub float32 %4 %5
        end %3 (%5 %6)
        %8 = result float32 %3 0
        %9 = result float32 %3 1
        %10 = sub float32 %8 %9
        store d0 %10",
    ),
    (
        "a loop in a loop",
        "form map
        rank 1
        operands int32
        params
        accesses contiguous
        dests int32
        %0 = load int32 o0 a0
        %1 = const int32 0x00000000
        %2 = loop %0 (%1)
          %3 = iter int32 %2
          %4 = carry int32 %2 0
          %5 = loop %3 (%4)
            %6 = iter int32 %5
            %7 = carry int32 %5 0
            %8 = mul int32 %3 %6
            %9 = add int32 %7 %8
          end %5 (%9)
          %11 = result int32 %5 0
          %12 = add int32 %11 %0
        end %2 (%12)
        %14 = result int32 %2 0
        store d0 %14",
    ),
    (
        "a choice of two values",
        "form map
        rank 1
        operands float32 int32
        params
        accesses contiguous
        dests float32
        %0 = load float32 o0 a0
        %1 = load int32 o1 a0
        %2 = const int32 0x00000001
        %3 = and int32 %1 %2
        %4 = eq bool %3 %2
        %5 = if %4
          %6 = abs float32 %0
          %7 = sqrt float32 %6
        else %5 (%7 %1)
          %9 = neg int32 %1
        end %5 (%0 %9)
        %11 = result float32 %5 0
        %12 = result int32 %5 1
        %13 = cast float32 %12
        %14 = add float32 %11 %13
        store d0 %14",
    ),
    (
        "a choice in a loop over a table",
        "form map
        rank 1
        operands float32
        params
        accesses affine
        dests float32
        %0 = index int32 a0
        %1 = const float32 0x00000000
        %2 = loop %0 (%1)
          %3 = iter int32 %2
          %4 = carry float32 %2 0
          %5 = gather float32 o0 %3
          %6 = signbit bool %5
          %7 = if %6
            %8 = sub float32 %4 %5
          else %7 (%8)
            %10 = add float32 %4 %5
          end %7 (%10)
          %12 = result float32 %7 0
        end %2 (%12)
        %14 = result float32 %2 0
        store d0 %14",
    ),
    (
        "a loop in a choice",
        "form map
        rank 1
        operands float32 int32
        params
        accesses contiguous
        dests float32
        %0 = load float32 o0 a0
        %1 = load int32 o1 a0
        %2 = signbit bool %0
        %3 = if %2
          %4 = loop %1 (%0)
            %5 = iter int32 %4
            %6 = carry float32 %4 0
            %7 = cast float32 %5
            %8 = add float32 %6 %7
          end %4 (%8)
          %10 = result float32 %4 0
        else %3 (%10)
        end %3 (%0)
        %13 = result float32 %3 0
        store d0 %13",
    ),
    (
        "regions without values",
        "form map
        rank 1
        operands float32 int32
        params
        accesses contiguous
        dests float32
        %0 = load float32 o0 a0
        %1 = load int32 o1 a0
        %2 = loop %1 ()
          %3 = add float32 %0 %0
        end %2 ()
        %5 = signbit bool %0
        %6 = if %5
        else %6 ()
        end %6 ()
        %9 = add float32 %0 %0
        store d0 %9",
    ),
    (
        "choices before and after a reduction",
        "form reduce max
        rank 1
        operands float32
        params float32
        accesses contiguous
        dests float32
        %0 = load float32 o0 a0
        %1 = param float32 p0
        %2 = gt bool %0 %1
        %3 = if %2
          %4 = sub float32 %1 %0
        else %3 (%4)
        end %3 (%0)
        %7 = result float32 %3 0
        %8 = reduce float32 %7
        %9 = signbit bool %8
        %10 = if %9
          %11 = neg float32 %8
        else %10 (%11)
        end %10 (%8)
        %14 = result float32 %10 0
        store d0 %14",
    ),
];
