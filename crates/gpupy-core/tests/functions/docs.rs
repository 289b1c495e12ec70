//! The documentation page of functions agrees with the code.

use gpupy_core::op::OPS;
use gpupy_core::{DType, functions};

const PAGE: &str = include_str!("../../../../docs/functions.md");
const HEAD: &str =
    "| | NumPy | bound | operations, float32 | measured | operations, float64 | measured |
|---|---|---|---|---|---|---|
";

#[test]
fn the_page_of_functions_has_every_function_with_errors_within_its_bound() {
    let (before, after) = PAGE.split_once(HEAD).expect("the table");
    let (table, after) = after.split_once("\n\n").unwrap_or(("", after.trim_start()));
    let mut wanted = String::new();
    for row in OPS {
        let count = |dtype| functions::program(row.op, dtype).map(|p| p.operation_count());
        let (Some(single), Some(double)) = (count(DType::F32), count(DType::F64)) else { continue };
        let name = format!("| `{}` |", row.name);
        let told = table.lines().find(|line| line.starts_with(&name)).unwrap_or_default();
        let measured = |column: usize| told.split('|').nth(column).unwrap_or_default().trim();
        for column in [5, 7] {
            let error: f32 = measured(column).parse().unwrap_or(f32::INFINITY);
            assert!(error <= row.ulp, "{}: column {column} of `{told}`", row.name);
        }
        wanted += &format!(
            "{name} `{}` | {} | {single} | {} | {double} | {} |\n",
            row.numpy.join("`, `"),
            row.ulp,
            measured(5),
            measured(7)
        );
    }
    if std::env::var_os("GPUPY_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/functions.md");
        let page = format!("{before}{HEAD}{wanted}\n{after}");
        return std::fs::write(path, page).expect("the page is written");
    }
    assert_eq!(format!("{table}\n"), wanted, "GPUPY_BLESS=1 rewrites all but what was measured");
}
