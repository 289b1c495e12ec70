//! The tables and examples of the IR's specification agree with the code.
//!
//! `GPUPY_BLESS=1` rewrites the table of operations in the specification, and the list of operations and dtypes for
//! tests in other languages.

use gpupy_core::dtype::DTYPES;
use gpupy_core::ir::Program;
use gpupy_core::op::{OPS, Rule};
use gpupy_core::routines::{BitsDependOn, Routine};
use serde_json::{Value, json};

const START: &str = "<!-- operations:";
const END: &str = "<!-- end of operations -->";
const ROUTINES_START: &str = "<!-- routines:";
const ROUTINES_END: &str = "<!-- end of routines -->";

/// A rule in words; `None` for instructions that are not scalar operations.
fn words(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::Special => return None,
        Rule::Number => "numbers",
        Rule::Arithmetic => "arithmetic",
        Rule::Float => "floats",
        Rule::Bits => "bits",
        Rule::Integer => "integers",
        Rule::Compare => "comparison",
        Rule::FloatTest => "float test",
        Rule::Cast => "cast",
        Rule::Bitcast => "bitcast",
        Rule::Select => "select",
        Rule::Part => "complex",
        Rule::Complex => "parts",
    })
}

fn table() -> String {
    let mut table = String::from("\n| | code | operands | dtypes | NumPy | ULP |\n");
    table += "|---|---|---|---|---|---|\n";
    for row in OPS {
        let Some(rule) = words(row.rule) else { continue };
        let numpy: Vec<_> = row.numpy.iter().map(|name| format!("`{name}`")).collect();
        let (name, code, numpy) = (row.name, row.op as u16, numpy.join(", "));
        table +=
            &format!("| `{name}` | {code} | {} | {rule} | {numpy} | {} |\n", row.arity, row.ulp);
    }
    table + "\n"
}

/// The list of operations and dtypes for tests in other languages.
fn document() -> String {
    let operations = OPS.iter().filter_map(|row| {
        let traits: Vec<_> = row.traits.iter().map(|holds| format!("{holds:?}")).collect();
        Some(json!({
            "name": row.name, "numpy": row.numpy, "arity": row.arity, "dtypes": words(row.rule)?,
            "traits": traits, "ulp": row.ulp, "cost": row.cost,
        }))
    });
    let dtypes = DTYPES.iter().map(|row| {
        let class = format!("{:?}", row.class).to_lowercase();
        json!({"name": row.name, "size": row.size, "class": class, "held": row.held.name()})
    });
    // A row is a line.
    let rows = |rows: Vec<Value>| {
        let lines: Vec<_> = rows.iter().map(|row| format!("  {row}")).collect();
        format!("[\n{}\n ]", lines.join(",\n"))
    };
    let (operations, dtypes) = (rows(operations.collect()), rows(dtypes.collect()));
    format!("{{\n \"operations\": {operations},\n \"dtypes\": {dtypes}\n}}\n")
}

fn path() -> String {
    format!("{}/../../docs/ir.md", env!("CARGO_MANIFEST_DIR"))
}

fn text() -> String {
    std::fs::read_to_string(path()).unwrap()
}

/// The code blocks that start like this, without their fences.
fn blocks(start: &str) -> Vec<String> {
    let text = text();
    let found: Vec<_> = text.split("```").filter(|block| block.starts_with(start)).collect();
    assert!(!found.is_empty(), "{start}");
    found.iter().filter_map(|block| Some(block.split_once('\n')?.1.to_owned())).collect()
}

#[test]
fn the_specification_has_every_operation() {
    is_in_the_specification(START, END, &table());
    is_in_the_specification(ROUTINES_START, ROUTINES_END, &routines());
}

fn is_in_the_specification(start: &str, end: &str, table: &str) {
    let (path, text) = (path(), text());
    let start = text.find(start).unwrap();
    let start = start + text[start..].find('\n').unwrap() + 1;
    let end = text.find(end).unwrap();
    if std::env::var_os("GPUPY_BLESS").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    assert_eq!(&text[start..end], table, "GPUPY_BLESS=1 rewrites the table in {path}");
}

/// The table of routines.
fn routines() -> String {
    let rows = Routine::all().map(|routine| {
        let info = routine.info();
        let dtypes = info.dtypes.iter().map(|(from, to)| format!("{from} → {to}"));
        let attributes = info.attributes.iter().map(|(name, dtype)| format!("`{name}` {dtype}"));
        let (dtypes, attributes): (Vec<_>, Vec<_>) = (dtypes.collect(), attributes.collect());
        let (dtypes, attributes) = (dtypes.join(", "), attributes.join(", "));
        let bits = match info.bits {
            BitsDependOn::Nothing => "nothing",
            BitsDependOn::Driver => "the driver",
        };
        format!("| `{routine}` | {} | {dtypes} | {attributes} | {bits} |\n", routine.number())
    });
    let head =
        "| routine | number | dtypes | attributes | bits depend on |\n|---|---|---|---|---|\n";
    format!("\n{head}{}\n", rows.collect::<String>())
}

#[test]
fn tests_in_other_languages_know_every_operation_and_dtype() {
    let path = format!("{}/../../tests/data/core/tables.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("GPUPY_BLESS").is_some() {
        std::fs::write(&path, document()).unwrap();
        return;
    }
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        document(),
        "GPUPY_BLESS=1 rewrites {path}"
    );
}

#[test]
fn the_specification_has_the_code_of_every_other_instruction() {
    for row in OPS.iter().filter(|row| row.rule == Rule::Special) {
        let start = format!("\n| `{}` | {} |", row.name, row.op as u16);
        assert!(text().contains(&start), "{start}");
    }
}

#[test]
fn the_specifications_examples_are_programs() {
    for example in blocks("text\nform ") {
        let program: Program = example.parse().unwrap();
        program.verify().unwrap();
        assert_eq!(program.to_string(), example);
    }
}

#[test]
fn the_first_example_has_the_json_form_and_the_fingerprint_that_are_told() {
    let program: Program = blocks("text\nform ")[0].parse().unwrap();
    let json: Program = serde_json::from_str(&blocks("json\n")[0]).unwrap();
    assert_eq!(json, program);
    let fingerprint = format!("`{}`", program.fingerprint());
    assert!(text().contains(&fingerprint), "{fingerprint}");
}
