//! The share of the cases that runs on variants of drivers.
//!
//! Owns [`CaseShare`]. A driver's test runs every case on the driver as users have it; other tests run them again on
//! a variant: with another compiler, by addresses, through OpenGL. `cargo xtask test` sets [`VARIABLE`] to the
//! commit, and a variant then runs the cases that a hash of their names and the commit chooses; `cargo xtask test
//! all` and `cargo test` run all. Not here: the shares of the Python tests (`crates/gpupy-py/tests/duties.py`).

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Has the commit whose share runs.
const VARIABLE: &str = "GPUPY_TEST_SHARE";
/// A share is one case of so many.
pub const PARTS: u64 = 5;

/// A commit's choice of cases.
pub struct CaseShare(String);

impl CaseShare {
    /// The share that the environment asks for, if it does.
    pub fn wanted() -> Option<Self> {
        std::env::var(VARIABLE).ok().filter(|commit| !commit.is_empty()).map(Self)
    }

    /// Whether it has this case.
    pub fn has(&self, group: &str, name: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (self.0.as_str(), group, name).hash(&mut hasher);
        hasher.finish().is_multiple_of(PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_has_about_one_case_of_so_many_and_each_case_its_commit() {
        let commits: Vec<CaseShare> =
            (0..100).map(|number| CaseShare(number.to_string())).collect();
        let cases = crate::list();
        let has = |share: &CaseShare, case: &str| {
            case.split_once('/').is_some_and(|(group, name)| share.has(group, name))
        };
        for share in &commits[..10] {
            let parts = cases.len() / cases.iter().filter(|case| has(share, case)).count().max(1);
            assert!((3..=8).contains(&parts), "one of {parts}");
        }
        assert!(cases.iter().all(|case| commits.iter().any(|share| has(share, case))));
    }
}
