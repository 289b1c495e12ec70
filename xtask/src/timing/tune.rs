//! The command `tune`: times both sides of each threshold on this machine.
//!
//! Owns the table [`SIDES`]. Each of its thresholds is timed at half of its value, at it, and at twice, with
//! either side forced by the variable `GPUPY_TUNE`, in alternating processes. Invariant: each entry is a
//! threshold of a crate, and the timing program has work for it.
//!
//! Not here: the thresholds (`crates/gpupy-engine/src/thresholds.rs` and other crates'), among which are costs and caps
//! that have no sizes at which to time two ways; the work (`crates/driver-cpu/examples/tune.rs`).

use crate::machine::command_line::GivenWords;
use crate::machine::failure::{Failure, Result};
use crate::machine::process::{announce, cargo, run as start};
use crate::machine::workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Crates that have thresholds.
const CRATES: &[&str] = &["driver-cpu", "gpupy-codegen", "gpupy-engine", "gpupy-py"];

/// Repetitions of each side at each size; the fastest counts.
const TURNS: usize = 3;

/// A value that no size reaches.
const NEVER: &str = "1000000000";

/// A threshold with two sides.
struct ThresholdSides {
    threshold: &'static str,
    /// The work, at that size.
    work: &'static str,
    /// The path at and above the threshold, and the value that forces it.
    above: (&'static str, &'static str),
    /// The path below it, and the value that forces it.
    below: (&'static str, &'static str),
    /// Settings of other thresholds that would interfere.
    beside: &'static str,
}

/// Thresholds that are timed.
const SIDES: &[ThresholdSides] = &[
    ThresholdSides {
        threshold: "gpupy-engine.most_points",
        work: "a sum of two arrays of float64",
        above: ("recorded", "0"),
        below: ("at once", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.chain_points",
        work: "twelve operations one after another, on so many points together",
        above: ("recorded", "0"),
        below: ("all at once", NEVER),
        beside: "gpupy-engine.most_points=1000000000",
    },
    ThresholdSides {
        threshold: "gpupy-engine.chained_elements",
        work: "twelve operations one after another, on so many points each",
        above: ("recorded", "0"),
        below: ("all at once", NEVER),
        beside: "gpupy-engine.chain_points=0",
    },
    ThresholdSides {
        threshold: "gpupy-engine.most_sorted",
        work: "a sort of float64",
        above: ("recorded", "0"),
        below: ("at once", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "driver-cpu.radix_keys",
        work: "a sort of int32",
        above: ("by digits", "0"),
        below: ("not by digits", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.most_products",
        work: "a matrix product of so many products",
        above: ("recorded", "0"),
        below: ("at once", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.filled",
        work: "a constant that is added to an array",
        above: ("no memory", "0"),
        below: ("in memory", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.joined_part",
        work: "300 parts of so many elements one behind the other",
        above: ("recorded", "0"),
        below: ("at once", "1000000"),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.most_searched",
        work: "the place of the least of so many float64",
        above: ("recorded", "0"),
        below: ("at once", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.most_masked",
        work: "a write by a mask of every third of so many float64",
        above: ("recorded", "0"),
        below: ("at once", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.positions_later",
        work: "so many elements by a mask of every third",
        above: ("positions recorded", "0"),
        below: ("positions at once", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.shared_bytes",
        work: "a write of so many computed bytes over all of an array",
        above: ("shared", "0"),
        below: ("copied", NEVER),
        beside: "gpupy-engine.most_points=1000000000",
    },
    ThresholdSides {
        threshold: "gpupy-engine.pooled_from",
        work: "sums of two arrays of so many bytes",
        above: ("from the pool", "0"),
        below: ("from the allocator", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "gpupy-engine.mapped_from",
        work: "a sum of two arrays of so many bytes, without a pool",
        above: ("mapped", "0"),
        below: ("from the allocator", NEVER),
        beside: "gpupy-engine.pooled_from=1000000000",
    },
    ThresholdSides {
        threshold: "driver-cpu.vector_keys",
        work: "a sort of float64",
        above: ("by digits or by vectors", "0"),
        below: ("by comparison", NEVER),
        beside: "gpupy-engine.most_sorted=1000000000",
    },
    ThresholdSides {
        threshold: "driver-cpu.few_rows",
        work: "a sum of so many rows of 8 elements",
        above: ("any rows", "0"),
        below: ("few rows", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "driver-cpu.coalesced_row",
        work: "a sum of 200000 elements, in rows of so many beside a number each",
        above: ("row by row", "0"),
        below: ("coalesced", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "driver-cpu.coalesced_points",
        work: "a sum of so many elements, in rows of 8 beside a number each",
        above: ("coalesced", "0"),
        below: ("row by row", NEVER),
        beside: "",
    },
    ThresholdSides {
        threshold: "driver-cpu.skinny_vectors",
        work: "a matrix of 1000 by 1000 times so many vectors",
        above: ("by tiles", "0"),
        below: ("by rows", NEVER),
        beside: "",
    },
];

/// Prints the ratio of both sides around each threshold.
pub fn run(_: &GivenWords) -> Result<()> {
    announce("build");
    let folder = workspace::target().join("tune");
    let mut build = cargo();
    build.args(["build", "--release", "-p", "driver-cpu", "--example", "tune", "--target-dir"]);
    start(build.arg(&folder).env("RUSTFLAGS", "--cfg gpupy_tune"))?;
    let program = folder.join("release").join("examples").join("tune");
    announce("times of the way above, by those of the way below");
    let thresholds = thresholds();
    for sides in SIDES {
        let own = thresholds.get(sides.threshold).and_then(|value| number(value));
        let own = own.ok_or_else(|| {
            Failure::new(format!("`{}` is no threshold with a size", sides.threshold))
        })?;
        println!("\n{} = {own}: {}", sides.threshold, sides.work);
        println!("   {} by {}", sides.above.0, sides.below.0);
        for size in [own / 2, own, 2 * own] {
            let (mut above, mut below) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..TURNS {
                above = above.min(timed(&program, sides, sides.above.1, size)?);
                below = below.min(timed(&program, sides, sides.below.1, size)?);
            }
            let ratio = above / below;
            println!("   {size:>9}  {above:>11.0} ns by {below:>11.0} ns  {ratio:>6.2}");
        }
    }
    Ok(())
}

/// Nanoseconds of a threshold's work while the threshold has this value.
fn timed(program: &Path, sides: &ThresholdSides, value: &str, size: usize) -> Result<f64> {
    let given = format!("{}={value},{}", sides.threshold, sides.beside);
    let mut command = Command::new(program);
    command.args([sides.threshold, &size.to_string()]).env("GPUPY_TUNE", given);
    let told = command.output().map_err(|error| Failure::new(format!("tune: {error}")))?;
    let words = String::from_utf8_lossy(&told.stdout);
    words.trim().parse().map_err(|_| {
        let error = String::from_utf8_lossy(&told.stderr);
        Failure::new(format!("`{}` was not timed: {}", sides.threshold, error.trim()))
    })
}

/// The text of a crate's thresholds; nothing where it has none.
fn text_of(name: &str) -> String {
    let path = workspace::root().join("crates").join(name).join("src/thresholds.rs");
    fs::read_to_string(path).unwrap_or_default()
}

/// The name and the value of a threshold on a line; `None` for other lines.
fn field(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().strip_suffix(',').filter(|line| !line.starts_with("//"))?;
    let (name, rest) = line.split_once(": ")?;
    Some((name, rest.split_once(" = ")?.1))
}

/// The thresholds of all crates, as `crate.name`, with their values in source form.
pub(super) fn thresholds() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for name in CRATES {
        let text = text_of(name);
        let fields = text.lines().filter_map(field);
        found.extend(fields.map(|(field, value)| (format!("{name}.{field}"), value.to_owned())));
    }
    found
}

/// A size in source form: a number, or a shifted one.
fn number(value: &str) -> Option<usize> {
    let parsed = |digits: &str| digits.trim().replace('_', "").parse::<usize>().ok();
    match value.split_once("<<") {
        Some((digits, by)) => Some(parsed(digits)? << parsed(by)?),
        None => parsed(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_timed_is_a_threshold_of_a_crate_and_has_work() {
        let thresholds = thresholds();
        let path = workspace::root().join("crates/driver-cpu/examples/tune.rs");
        let program = fs::read_to_string(path).unwrap();
        for ThresholdSides { threshold, .. } in SIDES {
            let value = thresholds.get(*threshold).and_then(|value| number(value));
            assert!(value.is_some_and(|own| own > 1), "{threshold} is no size");
            assert!(program.contains(&format!("\"{threshold}\"")), "{threshold} has no work");
        }
        for line in program.lines().filter(|line| line.contains("\" => ")) {
            let name = line.split('"').nth(1).unwrap_or_default();
            assert!(SIDES.iter().any(|sides| sides.threshold == name), "{name} is not timed");
        }
    }

    #[test]
    fn each_threshold_says_what_it_is() {
        for name in CRATES {
            let (mut told, mut count) = (false, 0);
            for line in text_of(name).lines().map(str::trim) {
                if field(line).is_some() {
                    assert!(told, "`{line}` of {name} has no words");
                    count += 1;
                }
                told = line.starts_with("///");
            }
            assert!(count > 0, "{name} has no thresholds");
        }
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        assert_eq!(
            [number("16 << 10"), number("20_000"), number("64")],
            [Some(16384), Some(20000), Some(64)]
        );
        assert_eq!([number("2 * CHUNK"), number("0.5")], [None, None]);
    }
}
