//! The command `demo`: the example programs with their pictures and times.
//!
//! Owns its command line. The programs and the table are in Python (`examples/demo.py`). Invariant: a wrong
//! argument is refused before anything is installed or built.

use crate::develop;
use crate::machine::failure::{Failure, Result};
use crate::machine::{process, workspace};

/// The options whose value is a positive number, here and in `bench`.
const NUMBERS: [&str; 5] = ["--points", "--size", "--rounds", "--steps", "--threads"];

/// Sets up, builds and runs the demo.
pub fn run(arguments: &[String]) -> Result<()> {
    check(arguments, &["--driver", "--points", "--size"], &["--sweep"])?;
    develop::prepare()?;
    process::announce("demo");
    process::run(process::command(workspace::python()).arg("examples/demo.py").args(arguments))
}

/// Refuses an option that is not in the lists, an option without its value, and a value that is no number.
pub fn check(arguments: &[String], with_value: &[&str], plain: &[&str]) -> Result<()> {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        if inline.is_none() && plain.contains(&name) {
            continue;
        }
        if !with_value.contains(&name) {
            let known = [with_value, plain].concat().join(", ");
            return Err(Failure::new(format!("no option `{word}`; there are {known}")));
        }
        let Some(value) = inline.or_else(|| rest.next().map(String::as_str)) else {
            return Err(Failure::new(format!("option `{name}` needs a value")));
        };
        if NUMBERS.contains(&name) && !value.parse::<u32>().is_ok_and(|number| number > 0) {
            return Err(Failure::new(format!(
                "option `{name}` needs a positive number, got `{value}`"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let result = check(&words, &["--driver", "--size"], &["--sweep"]);
        result.map_or_else(|failure| failure.to_string(), |()| String::new())
    }

    #[test]
    fn wrong_options_are_refused_before_anything_is_done() {
        assert_eq!(refused(&[]), "");
        assert_eq!(refused(&["--driver", "gl", "--sweep", "--size=128"]), "");
        assert_eq!(
            refused(&["--sizes", "1"]),
            "no option `--sizes`; there are --driver, --size, --sweep"
        );
        assert_eq!(refused(&["--size"]), "option `--size` needs a value");
        assert_eq!(
            refused(&["--size", "big"]),
            "option `--size` needs a positive number, got `big`"
        );
        assert_eq!(refused(&["--size=0"]), "option `--size` needs a positive number, got `0`");
    }
}
