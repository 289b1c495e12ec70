//! How fast members are, and so how large their slabs.
//!
//! Owns [`Paces`]: what a unit of work took each member, as measured, and the *shares* of a launch that follow from it.
//! Shares move in steps, and only when they are clearly wrong: members keep the elements that they computed, and each
//! change has some of these copied. Invariant: shares are positive, and their sum is 1.
//!
//! Not here: measuring (`shared_launch.rs`).

use crate::thresholds::T;
use gpupy_core::ir::Fingerprint;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::time::Duration;

/// Shares are multiples of one in so many.
const STEPS: f64 = 64.0;

/// What is told of each member, by number.
#[derive(Default)]
pub(super) struct Paces {
    /// Nanoseconds of a unit of work of all programs, on average.
    work: Vec<Option<f64>>,
    /// Nanoseconds of a unit of work of one program.
    of_programs: FxHashMap<Fingerprint, Vec<Option<f64>>>,
    /// Nanoseconds of a byte that is moved.
    moves: Vec<f64>,
    /// The shares that were measured last.
    measured: Vec<f64>,
    shares: Vec<f64>,
}

/// A new average of measurements: older ones count less and less.
fn averaged(known: Option<f64>, new: f64) -> f64 {
    known.map_or(new, |known| known + 0.3 * (new - known))
}

impl Paces {
    /// Of so many members nothing is known: their shares are equal.
    pub fn new(members: usize) -> Paces {
        let equal = vec![1.0 / members.max(1) as f64; members];
        Paces {
            work: vec![None; members],
            moves: vec![T.group_byte; members],
            measured: equal.clone(),
            shares: equal,
            ..Paces::default()
        }
    }

    /// Nanoseconds that so much work of a program takes a member; nothing where it never was measured.
    pub fn estimate(&self, program: Fingerprint, member: usize, work: f64) -> Option<f64> {
        let known = self.of_programs.get(&program).and_then(|paces| paces[member]);
        Some(known.or(self.work[member])? * work)
    }

    /// Nanoseconds that it takes to move so many bytes to a member.
    pub fn transfer(&self, member: usize, bytes: usize) -> f64 {
        self.moves[member] * bytes as f64
    }

    /// Notes how long a transfer took.
    pub fn moved(&mut self, member: usize, bytes: usize, time: Duration) {
        if bytes >= T.group_measured {
            let pace = time.as_nanos() as f64 / bytes as f64;
            self.moves[member] = averaged(Some(self.moves[member]), pace);
        }
    }

    /// Notes how long each member took for its slab of a launch of so much work all together.
    pub fn shared(&mut self, program: Fingerprint, slabs: &[(usize, f64, Duration)]) {
        if self.of_programs.len() >= T.group_programs {
            self.of_programs.clear();
        }
        let count = self.work.len();
        let of_program = self.of_programs.entry(program).or_insert_with(|| vec![None; count]);
        for (member, work, time) in slabs {
            let pace = time.as_nanos().max(1) as f64 / work.max(1.0);
            of_program[*member] = Some(averaged(of_program[*member], pace));
            self.work[*member] = Some(averaged(self.work[*member], pace));
        }
        if slabs.len() == count {
            self.balance(slabs);
        }
    }

    fn balance(&mut self, slabs: &[(usize, f64, Duration)]) {
        let speed = |(_, work, time): &(usize, f64, Duration)| work / time.as_nanos().max(1) as f64;
        let all: f64 = slabs.iter().map(speed).sum();
        for slab in slabs {
            let measured = &mut self.measured[slab.0];
            *measured = averaged(Some(*measured), speed(slab) / all);
        }
        let wrong = |(share, measured): (&f64, &f64)| (share - measured).abs() > T.group_tolerance;
        if self.shares.iter().zip(&self.measured).any(wrong) {
            let rounded = self.measured.iter().map(|share| (share * STEPS).round().max(1.0));
            self.shares = rounded.collect();
            let all: f64 = self.shares.iter().sum();
            self.shares.iter_mut().for_each(|share| *share /= all);
        }
    }

    /// The share of each member.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// What each of some members gets of so many units; those that get none are left out.
    pub fn cut(&self, members: &[usize], units: usize) -> Vec<(usize, Range<usize>)> {
        let all: f64 = members.iter().map(|member| self.shares[*member]).sum();
        let (mut sum, mut from, mut cut) = (0.0, 0, Vec::with_capacity(members.len()));
        for (number, member) in members.iter().enumerate() {
            sum += self.shares[*member] / all;
            let to = match number + 1 == members.len() {
                true => units,
                false => ((sum * units as f64).round() as usize).clamp(from, units),
            };
            if from < to {
                cut.push((*member, from..to));
            }
            from = to;
        }
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Fingerprint = Fingerprint(1);

    fn took(times: [u64; 2], shares: &[f64]) -> Vec<(usize, f64, Duration)> {
        let slabs = times.iter().zip(shares).enumerate();
        slabs.map(|(m, (time, share))| (m, share * 1e6, Duration::from_micros(*time))).collect()
    }

    #[test]
    fn shares_follow_the_measured_speed_and_are_then_left_alone() {
        let mut paces = Paces::new(2);
        assert_eq!(paces.cut(&[0, 1], 10), [(0, 0..5), (1, 5..10)]);
        // The second needs three times as long for the same work.
        for _ in 0..20 {
            let shares = paces.shares().to_vec();
            let times = [1000.0 * shares[0], 3000.0 * shares[1]].map(|time| time as u64);
            paces.shared(PROGRAM, &took(times, &shares));
        }
        let settled = paces.shares().to_vec();
        assert!((settled[0] - 0.75).abs() <= T.group_tolerance + 1.0 / STEPS, "{settled:?}");
        assert!((settled.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        // Noise does not move them.
        for time in [950.0, 1050.0] {
            let times = [time * settled[0], 3000.0 * settled[1]].map(|time| time as u64);
            paces.shared(PROGRAM, &took(times, &settled));
        }
        assert_eq!(paces.shares(), settled);
    }

    #[test]
    fn units_are_cut_without_gaps_for_any_members() {
        let mut paces = Paces::new(3);
        paces.shares = vec![0.5, 0.49, 0.01];
        for units in 1..20 {
            for members in [&[0, 1, 2][..], &[1, 2], &[2]] {
                let cut = paces.cut(members, units);
                assert_eq!((cut[0].1.start, cut[cut.len() - 1].1.end), (0, units));
                assert!(cut.windows(2).all(|pair| pair[0].1.end == pair[1].1.start));
            }
        }
    }
}
