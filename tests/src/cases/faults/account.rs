//! The values that a lost device may take from a user.
//!
//! Owns [`Account`]: the possible places of every value that a user recorded. It errs on the user's side: a
//! value is safe if it was given, or read as a whole, or not computed yet with only safe operands. Intermediate
//! values of the core that the user never sees (the steps of a reduction, for example) may be lost with the
//! device too.
//!
//! Not here: the contents of values (`user.rs`).

/// The known facts of a value: the elements of a base between two writes.
struct Known {
    /// It is in host memory for certain.
    on_host: bool,
    /// It may be on the device only.
    computed: bool,
    /// It may have been lost.
    at_risk: bool,
    /// The core may compute it in several steps, which the user does not see.
    steps: bool,
    /// Launches before it was recorded.
    born: usize,
    needs: Vec<usize>,
}

/// The known facts of all values, by their numbers.
#[derive(Default)]
pub struct Account {
    values: Vec<Known>,
}

impl Account {
    /// A new value, recorded after so many launches from others.
    pub fn add(&mut self, needs: Vec<usize>, steps: bool, born: usize) -> usize {
        let (on_host, computed, at_risk) = (false, false, false);
        self.values.push(Known { on_host, computed, at_risk, steps, born, needs });
        self.values.len() - 1
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn set_on_host(&mut self, value: usize) {
        self.values[value].on_host = true;
    }

    /// Notes, after `launched` launches, which values are still held and pending.
    pub fn look(&mut self, launched: usize, pending: &[bool]) {
        for (value, pending) in self.values.iter_mut().zip(pending) {
            // A value without a handle may have been computed for another one.
            value.computed |= launched > value.born && (value.steps || !pending);
        }
    }

    /// Notes that the device was lost while this value was wanted.
    pub fn lose(&mut self, wanted: usize) {
        let below = self.below(wanted);
        for at in 0..self.values.len() {
            // A value that shares operands with it may have been computed together with it.
            let shares =
                self.below(at).iter().any(|n| below.contains(n) && !self.values[*n].on_host);
            let value = &mut self.values[at];
            value.at_risk |= !value.on_host && (value.computed || shares);
        }
    }

    /// Whether a value may be nowhere any more.
    pub fn may_be_lost(&self, value: usize) -> bool {
        let Known { on_host, at_risk, needs, .. } = &self.values[value];
        !on_host && (*at_risk || needs.iter().any(|need| self.may_be_lost(*need)))
    }

    /// A value with all that it was recorded from.
    fn below(&self, value: usize) -> Vec<usize> {
        let mut found = vec![value];
        let mut at = 0;
        while at < found.len() {
            for need in &self.values[found[at]].needs {
                if !found.contains(need) {
                    found.push(*need);
                }
            }
            at += 1;
        }
        found
    }
}
