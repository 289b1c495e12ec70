//! The table of operations in the specification is that of the code.
//!
//! `GPUPY_BLESS=1` rewrites it.

use gpupy_core::op::{OPS, Rule};

const START: &str = "<!-- operations:";
const END: &str = "<!-- end of operations -->";

fn table() -> String {
    let mut table = String::from("\n| | code | operands | dtypes | NumPy | ULP |\n");
    table += "|---|---|---|---|---|---|\n";
    for row in OPS {
        let rule = match row.rule {
            Rule::Special => continue,
            Rule::Number => "numbers",
            Rule::Float => "floats",
            Rule::Bits => "bits",
            Rule::Compare => "comparison",
            Rule::FloatTest => "float test",
            Rule::Logic => "logic",
            Rule::Cast => "cast",
            Rule::Bitcast => "bitcast",
            Rule::Select => "select",
        };
        let numpy: Vec<_> = row.numpy.iter().map(|name| format!("`{name}`")).collect();
        let (name, code, numpy) = (row.name, row.op as u16, numpy.join(", "));
        table +=
            &format!("| `{name}` | {code} | {} | {rule} | {numpy} | {} |\n", row.arity, row.ulp);
    }
    table + "\n"
}

#[test]
fn the_specification_has_every_operation() {
    let path = format!("{}/../../docs/ir.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(START).unwrap();
    let start = start + text[start..].find('\n').unwrap() + 1;
    let end = text.find(END).unwrap();
    if std::env::var_os("GPUPY_BLESS").is_some() {
        std::fs::write(&path, format!("{}{}{}", &text[..start], table(), &text[end..])).unwrap();
        return;
    }
    assert_eq!(&text[start..end], table(), "GPUPY_BLESS=1 rewrites the table in {path}");
}

#[test]
fn the_specifications_examples_are_programs() {
    let text = std::fs::read_to_string(format!("{}/../../docs/ir.md", env!("CARGO_MANIFEST_DIR")));
    let text = text.unwrap();
    let whole: Vec<_> =
        text.split("```").filter(|block| block.starts_with("text\nform ")).collect();
    assert!(!whole.is_empty());
    for example in whole {
        let example = example.trim_start_matches("text\n");
        let program: gpupy_core::ir::Program = example.parse().unwrap();
        program.verify().unwrap();
        assert_eq!(program.to_string(), example);
    }
}
