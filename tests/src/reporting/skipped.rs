//! The line of a test that this machine cannot run.
//!
//! Owns [`skipped`]. A Rust test has no such outcome: one that returns has passed, and the harness shows nothing
//! that it printed. Invariants: the line goes to standard error itself, which the harness does not capture, in one
//! write; it begins with `skipped: `, by which `cargo xtask test` counts them. Not here: skipped cases of the suite,
//! which its table counts (`table.rs`).

use std::fmt::Display;
use std::io::Write as _;

/// Says that the test that calls this is skipped, or a part of it, and why.
pub fn skipped(reason: impl Display) {
    let thread = std::thread::current();
    let line = line(thread.name().unwrap_or("a test"), &reason.to_string());
    // There is nowhere else to say it.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn line(test: &str, reason: &str) -> String {
    let words: Vec<&str> = reason.split_whitespace().collect();
    format!("skipped: {test}: {}\n", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_one_line_with_the_test_and_the_reason() {
        assert_eq!(line("opens", "no device:\n  none"), "skipped: opens: no device: none\n");
    }
}
