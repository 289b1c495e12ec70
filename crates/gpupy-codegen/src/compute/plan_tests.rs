//! Tests that plans find the elements of their accesses. The tests do a kernel's index arithmetic, in wrapping 32-bit
//! integers and float32, and compare it with the walks.
#![allow(clippy::unwrap_used)]

use super::plan::{DispatchPlan, DispatchRequest, PlannedDispatch, plan};
use crate::analysis::kernel_arguments::{AffineIndex, Divisor};
use crate::compute::kernel_features::{KernelFeatures, Language};
use crate::compute::plan::fetch::{ElementFetch, LaneLayout};
use crate::compute::plan::point_mapping::{Points, Take};
use crate::compute::plan::windows::ElementWindow;
use gpupy_core::DType;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use std::collections::HashMap;

const DEVICE: KernelFeatures = KernelFeatures {
    language: Language::Glsl,
    addresses: true,
    int64: false,
    float64: false,
    bytes: false,
    halves: false,
    group: 64,
    group_bytes: 16_384,
    groups: 8,
    push_bytes: 128,
    guards: false,
    shares: false,
};

/// Numbers from a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % n
    }
}

/// The index arithmetic of one invocation.
struct Invocation<'a> {
    plan: &'a DispatchPlan,
    words: &'a [u32],
    number: i32,
    /// The coordinates of each lane.
    coordinates: Vec<Vec<i32>>,
    /// The number of lanes that have points.
    exist: usize,
}

impl<'a> Invocation<'a> {
    fn new(planned: &'a PlannedDispatch, number: i32) -> Invocation<'a> {
        let (plan, words) = (&planned.plan, &planned.words);
        let frame = &plan.frame;
        let lanes = if frame.points == Points::One { 1 } else { 4 };
        let word = |n: u16| words[usize::from(n)] as i32;
        let mut coordinates = vec![vec![0; usize::from(plan.rank)]; lanes];
        let last_axis = usize::from(plan.rank) - 1;
        for (lane, at) in coordinates.iter_mut().enumerate() {
            let mut rest = match (frame.points, frame.tail) {
                (Points::Apart, Some(tail)) => (4 * number + lane as i32).min(word(tail)),
                (Points::Apart, None) => 4 * number + lane as i32,
                _ => number,
            };
            for step in &frame.steps {
                let count = match step.take {
                    Take::Nothing => 0,
                    Take::Rest => rest,
                    Take::Quotient(divisor) => {
                        let q = quotient(rest, divisor, words, plan.large);
                        rest -= q * word(divisor.by);
                        q
                    }
                    Take::Known(by) => {
                        let q = rest / by as i32;
                        rest %= by as i32;
                        q
                    }
                };
                let run = frame.points == Points::Run && usize::from(step.axis) == last_axis;
                at[usize::from(step.axis)] = if run { 4 * count } else { count };
            }
        }
        let first = match frame.points {
            Points::Run if plan.rank > 1 => coordinates[0][last_axis],
            _ => 4 * number,
        };
        let exist = frame.tail.map_or(lanes, |tail| lanes.min((word(tail) - first + 1) as usize));
        Invocation { plan, words, number, coordinates, exist }
    }

    fn word(&self, n: u16) -> i32 {
        self.words[usize::from(n)] as i32
    }

    fn offset(&self, n: Option<u16>) -> i32 {
        n.map_or(0, |n| self.word(n))
    }

    fn sum(&self, sum: &AffineIndex, lane: usize) -> i32 {
        sum.terms.iter().fold(self.offset(sum.constant), |all, (axis, by)| {
            let by = by.map_or(1, |by| self.word(by));
            all.wrapping_add(by.wrapping_mul(self.coordinates[lane][usize::from(*axis)]))
        })
    }

    /// The element of a lane.
    fn element(&self, fetch: &ElementFetch, lane: usize) -> i32 {
        let fours = self.plan.frame.points != Points::One;
        let near = (lane as i32).min(self.exist as i32 - 1);
        match fetch {
            ElementFetch::Uniform(element) => self.word(*element),
            ElementFetch::Linear { first, aligned: true } => {
                4 * (self.offset(*first) + self.number) + lane as i32
            }
            ElementFetch::Linear { first, .. } if fours => {
                self.offset(*first) + 4 * self.number + near
            }
            ElementFetch::Linear { first, .. } => self.offset(*first) + self.number,
            ElementFetch::Sum { sum, lanes } => match lanes {
                LaneLayout::Splat => self.sum(sum, 0),
                LaneLayout::Aligned => (self.sum(sum, 0) >> 2 << 2) + lane as i32,
                LaneLayout::Step(step) => {
                    self.sum(sum, 0) + near * step.map_or(1, |step| self.word(step))
                }
                LaneLayout::Apart => self.sum(sum, lane),
            },
        }
    }
}

/// The quotient as kernels compute it.
fn quotient(n: i32, divisor: Divisor, words: &[u32], large: bool) -> i32 {
    let by = words[usize::from(divisor.by)] as i32;
    let reciprocal = f32::from_bits(words[usize::from(divisor.reciprocal)]);
    let mut q = (n as f32 * reciprocal) as i32;
    let mut rest = n.wrapping_sub(q.wrapping_mul(by));
    if large {
        q += (rest as f32 * reciprocal).floor() as i32;
        rest = n.wrapping_sub(q.wrapping_mul(by));
    }
    q + if rest < 0 { -1 } else { i32::from(rest >= by) }
}

fn contiguous(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k] as i64;
    }
    strides
}

/// The elements that an invocation loads for a window, and of them those at its accesses' places.
fn check_window(window: &ElementWindow, invocation: &Invocation<'_>, accesses: &[Access]) {
    let first = invocation.sum(&window.first, 0);
    let wanted = |access: u32, lane: usize| {
        let Access { offset, strides } = &accesses[access as usize];
        let at = &invocation.coordinates[0];
        let steps: i64 = strides.iter().zip(at).map(|(step, at)| step * i64::from(*at)).sum();
        (offset + steps) as i32 + lane as i32
    };
    let mut all = Vec::new();
    for (access, place) in &window.accesses {
        for lane in 0..invocation.exist {
            assert_eq!(first + i32::from(*place) + lane as i32, wanted(*access, lane));
            all.push(wanted(*access, lane));
        }
    }
    let (low, high) = (*all.iter().min().unwrap(), *all.iter().max().unwrap());
    let vectors: Vec<u8> = window.vectors().collect();
    for start in &vectors {
        let start = first + i32::from(*start);
        assert!(start % 4 == 0 && start + 3 >= low && start <= high, "{window:?}");
    }
    let is_single = |place: &u8| !vectors.iter().any(|start| (*start..start + 4).contains(place));
    for place in (0..window.length).filter(is_single) {
        let most = invocation.exist as i32 - 1 + i32::from(window.span());
        let own = if window.short { i32::from(place).min(most) } else { i32::from(place) };
        assert!((low..=high).contains(&(first + own)), "{window:?}");
    }
}

#[test]
fn accesses_that_overlap_share_their_elements() {
    let mut random = Random(11);
    let mut shared = 0;
    for _ in 0..3000 {
        let rank = 1 + random.below(3) as usize;
        let most = [600, 40, 21][rank - 1];
        let shape: Vec<usize> = (0..rank).map(|_| 1 + random.below(most) as usize).collect();
        // Rows of a larger array, some of them aligned.
        let larger: Vec<usize> = shape
            .iter()
            .map(|n| (n + 20 + random.below(5) as usize) & !3 | random.below(2) as usize)
            .collect();
        let mut accesses = Vec::new();
        let mut b = Builder::new(Form::Map, rank as u32);
        let operands = [b.operand(DType::F32), b.operand(DType::F32)];
        let mut sum = None;
        for _ in 0..2 + random.below(6) {
            let mut strides = contiguous(&larger);
            if random.below(6) == 0 {
                strides[0] *= 2;
            }
            accesses.push(Access { offset: 40 + random.below(24), strides: strides.into() });
            let (access, operand) =
                (b.access(AccessKind::Affine), operands[random.below(2) as usize]);
            let x = b.load(operand, access);
            sum = Some(sum.map_or(x, |sum| b.op(Op::Add, &[sum, x])));
        }
        b.store(sum.unwrap());
        let program = b.finish();
        let target = Access { offset: 0, strides: contiguous(&shape).into() };
        let request = DispatchRequest {
            program: &program,
            shape: &shape,
            accesses: &accesses,
            params: &[],
            lengths: &[1 << 20, 1 << 20],
            stores: &[0],
            targets: &[(&target, true)],
            adds: false,
            specialise: random.below(2) == 0,
        };
        let planned = plan(&DEVICE, &request).unwrap();
        // The plan's axes must be the shape's.
        if usize::from(planned.plan.rank) != rank {
            continue;
        }
        for number in 0..planned.words[usize::from(planned.plan.frame.count)] as i32 {
            let invocation = Invocation::new(&planned, number);
            for window in &planned.plan.windows {
                check_window(window, &invocation, &accesses);
                shared += 1;
            }
        }
    }
    assert!(shared > 10_000, "{shared}");
}

/// Plans a copy through a view and checks every invocation.
fn check(shape: &[usize], from: &Access, to: &Access, whole: bool, specialise: bool) {
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (view, x) = (b.access(AccessKind::Affine), b.operand(DType::F32));
    let x = b.load(x, view);
    b.store(x);
    let program = b.finish();
    let request = DispatchRequest {
        program: &program,
        shape,
        accesses: std::slice::from_ref(from),
        params: &[],
        lengths: &[1 << 20],
        stores: &[0],
        targets: &[(to, whole)],
        adds: false,
        specialise,
    };
    let planned = plan(&DEVICE, &request).unwrap();
    let mut wanted = HashMap::new();
    let points: usize = shape.iter().product();
    for point in 0..points {
        let mut rest = point;
        let (mut source, mut target) = (from.offset, to.offset);
        for k in (0..shape.len()).rev() {
            let i = (rest % shape[k]) as i64;
            rest /= shape[k];
            source += from.strides[k] * i;
            target += to.strides[k] * i;
        }
        wanted.insert(target as i32, source as i32);
    }
    let plan = &planned.plan;
    let invocations = planned.words[usize::from(plan.frame.count)] as i32;
    let groups: u32 = planned.groups.iter().product();
    assert!(groups * DEVICE.group >= invocations as u32, "{shape:?}");
    assert!(planned.groups.iter().all(|n| *n <= DEVICE.groups || *n > 1), "{shape:?}");
    let mut found = HashMap::new();
    for number in 0..invocations {
        let invocation = Invocation::new(&planned, number);
        for lane in 0..invocation.exist {
            let target = invocation.element(&plan.targets[0].0, lane);
            let source = invocation.element(&plan.fetches[0].1, lane);
            // Padding of a block that is written whole may be written too.
            if whole && target as usize >= points {
                continue;
            }
            let twice = found.insert(target, source);
            assert_eq!(twice, None, "{shape:?} {from:?} {to:?}: {target} twice");
        }
    }
    assert_eq!(found, wanted, "{shape:?} {from:?} {to:?} {plan:?}");
}

#[test]
fn plans_find_the_elements_of_affine_accesses() {
    let mut random = Random(5);
    for _ in 0..3000 {
        let rank = 1 + random.below(4) as usize;
        let most = [600, 40, 12, 7][rank - 1];
        let shape: Vec<usize> = (0..rank).map(|_| 1 + random.below(most) as usize).collect();
        let whole = random.below(2) == 0;
        let mut target = Access { offset: 0, strides: contiguous(&shape).into() };
        if !whole {
            // A view into a larger array, with some axes reversed.
            let larger: Vec<usize> = shape.iter().map(|n| n + random.below(4) as usize).collect();
            target.strides = contiguous(&larger).into();
            target.offset = random.below(9);
            for (stride, n) in target.strides.iter_mut().zip(&shape) {
                if random.below(4) == 0 {
                    target.offset += *stride * (*n as i64 - 1);
                    *stride = -*stride;
                }
            }
        }
        let mut source = Access { offset: 4 * random.below(9), strides: contiguous(&shape).into() };
        match random.below(4) {
            0 => {}
            1 => source.offset += 1,
            2 => source.strides.iter_mut().for_each(|s| *s *= random.below(2)),
            _ => source.strides.iter_mut().for_each(|s| *s = random.below(41) - 20),
        }
        source.offset += 20_000;
        check(&shape, &source, &target, whole, random.below(2) == 0);
    }
}

#[test]
fn quotients_are_exact_up_to_the_largest_number_of_points() {
    let mut random = Random(9);
    for _ in 0..200_000 {
        let n = random.below(1 << 31) as i32 >> random.below(31);
        let by = 1 + (random.below(1 << 30) as i32 >> random.below(30));
        let mut words = crate::analysis::kernel_arguments::ArgumentWords::default();
        let divisor = Divisor::new(&mut words, by.into());
        let words: Vec<u32> = words.list.iter().map(|word| *word as u32).collect();
        assert_eq!(quotient(n, divisor, &words, true), n / by, "{n} / {by}");
        if n <= 1 << 22 {
            assert_eq!(quotient(n, divisor, &words, false), n / by, "{n} / {by}");
        }
    }
}
