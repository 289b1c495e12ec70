//! Valid programs to begin with: some of those that implementations of the IR are tested with, and
//! the core's own.
//!
//! Owns [`all`].

use gpupy_core::ir::Program;
use gpupy_core::op::OPS;
use gpupy_core::{DType, functions};
use std::collections::HashSet;
use std::sync::LazyLock;

/// The documents; see `tests/data/README.md`.
const DOCUMENTS: [&str; 6] = [
    include_str!("../../tests/data/accesses.json"),
    include_str!("../../tests/data/destinations.json"),
    include_str!("../../tests/data/forms.json"),
    include_str!("../../tests/data/programs.json"),
    include_str!("../../tests/data/reductions.json"),
    include_str!("../../tests/data/regions.json"),
];

/// The longest program: a run should be short.
const LONGEST: usize = 40;

/// Some dozens of programs, each once.
pub fn all() -> &'static [Program] {
    static ALL: LazyLock<Vec<Program>> = LazyLock::new(|| {
        let documents = DOCUMENTS.iter().flat_map(|text| cases(text));
        let functions = OPS.iter().filter_map(|row| functions::program(row.op, DType::F32));
        let mut seen = HashSet::new();
        documents
            .chain(functions.cloned())
            .filter(|program| program.insts.len() <= LONGEST && seen.insert(program.fingerprint()))
            .collect()
    });
    &ALL
}

fn cases(text: &str) -> Vec<Program> {
    let mut document: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let cases = document["cases"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let programs = cases.into_iter().map(|mut case| serde_json::from_value(case["program"].take()));
    programs.filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use gpupy_core::ir::FormKind;

    #[test]
    fn there_are_programs_of_all_forms_and_they_verify() {
        let all = super::all();
        assert!(all.len() > 50, "{}", all.len());
        for kind in FormKind::ALL.into_iter().filter(|kind| *kind != FormKind::Routine) {
            assert!(all.iter().filter(|p| p.form.kind() == kind).count() > 3, "{kind}");
        }
        assert!(all.iter().all(|program| program.verify().is_ok()));
    }
}
