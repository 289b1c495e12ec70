//! Starts other programs, shows their command lines, and turns their failures into text.
//!
//! Owns [`run`], [`run_counting`], [`answer`], [`told`] and [`capture`]. Invariants: a long-running program shows its
//! output as it comes, but where several run at a time; a failure names the whole command line. Not here: which
//! programs to start.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::machine::failure::{Failure, Result};
use crate::machine::workspace;

/// A command that will run in the root of the repository.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}

/// The `cargo` that started this program.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Announces a step of the work.
pub fn announce(step: &str) {
    println!("\n== {step}");
}

/// Runs a command with its output shown.
pub fn run(command: &mut Command) -> Result<()> {
    println!("   $ {}", line(command));
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{}` ended with {status}", line(command))))
    }
}

/// Runs a command with its output shown, and counts the lines on its standard error that begin with this word.
pub fn run_counting(command: &mut Command, word: &str) -> Result<usize> {
    println!("   $ {}", line(command));
    let mut child =
        command.stderr(Stdio::piped()).spawn().map_err(|error| not_started(command, &error))?;
    let mut count = 0;
    let mut errors = child.stderr.take().map(BufReader::new);
    let mut text = Vec::new();
    while let Some(errors) = &mut errors
        && errors.read_until(b'\n', &mut text).is_ok_and(|length| length > 0)
    {
        count += usize::from(text.starts_with(word.as_bytes()));
        // Where nobody reads, the command goes on.
        let _ = std::io::stderr().write_all(&text);
        text.clear();
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(count),
        Ok(status) => Err(Failure::new(format!("`{}` ended with {status}", line(command)))),
        Err(error) => Err(not_started(command, &error)),
    }
}

/// Runs a command whose messages are shown; returns its standard output.
pub fn answer(command: &mut Command) -> Result<String> {
    println!("   $ {}", line(command));
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| not_started(command, &error))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Failure::new(format!("`{}` ended with {}", line(command), output.status))),
    }
}

/// What a program printed, and whether it passed.
pub struct Told {
    pub output: String,
    pub errors: String,
    pub passed: bool,
}

/// Runs a command whose output the caller shows once it has ended; only the command line is shown at once.
pub fn told(command: &mut Command) -> Result<Told> {
    println!("   $ {}", line(command));
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    Ok(Told {
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        passed: output.status.success(),
    })
}

/// Runs a command silently and returns its standard output.
pub fn capture(command: &mut Command) -> Result<String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("no message");
    Err(Failure::new(format!("`{}` ended with {}: {}", line(command), output.status, last.trim())))
}

/// True if a command can be started, and succeeds. Shows nothing.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("cannot start `{}`: {error}", command.get_program().to_string_lossy()))
}

/// The command as a person would type it, with paths inside the repository made short.
fn line(command: &Command) -> String {
    let root = format!("{}/", workspace::root().display());
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), quoted(&value?.to_string_lossy())))
    });
    let program = command.get_program().to_string_lossy();
    // The path of the toolchain does not help the reader.
    let program = if program.ends_with("/cargo") { "cargo".into() } else { program };
    let arguments = command.get_args().map(|argument| quoted(&argument.to_string_lossy()));
    let words: Vec<String> = variables.chain([program.into_owned()]).chain(arguments).collect();
    words.join(" ").replace(&root, "")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_shown_as_one_would_type_it() {
        let mut command = command(workspace::root().join(".venv/bin/python"));
        command.args(["-c", "print('a b')"]).env("A", "1 2");
        assert_eq!(line(&command), r"A='1 2' .venv/bin/python -c 'print('\''a b'\'')'");
    }

    #[test]
    fn lines_that_begin_with_a_word_are_counted_on_standard_error() {
        let script = |end| format!("echo odd: a >&2; echo even: b >&2; echo odd: c; {end}");
        let count = |end| run_counting(command("sh").args(["-c", &script(end)]), "odd: ");
        assert_eq!(count("printf 'odd: d' >&2"), Ok(2));
        assert!(
            count("exit 3").is_err_and(|failure| failure.to_string().ends_with("exit status: 3"))
        );
    }

    #[test]
    fn a_failure_carries_the_last_line_of_the_program() {
        let failed = capture(command("sh").args(["-c", "echo one >&2; echo two >&2; exit 3"]));
        let text = failed.map_err(|f| f.to_string()).err().unwrap_or_default();
        assert!(text.contains("exit status: 3: two"), "{text}");
        let failed = capture(&mut command("no-such-program-here"));
        assert!(failed.is_err_and(|f| f.to_string().starts_with("cannot start `no-such")));
    }
}
