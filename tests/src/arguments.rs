//! The arguments of the command line.
//!
//! Owns [`Command`] and the text of `--help`. Invariant: every argument is understood or refused; none is
//! ignored.
//!
//! Not here: running the command (`main.rs`).

use gpupy_engine::Constructor;
use gpupy_engine::registry::Registry;
use lexopt::prelude::*;
use std::path::PathBuf;

/// The requested action.
pub enum Command {
    /// Print the help.
    Help,
    /// Print the names of all cases.
    List,
    /// Run cases.
    Run(Wanted),
}

/// The cases to run, and options.
#[derive(Default)]
pub struct Wanted {
    /// The drivers, by name; all drivers when none is named.
    pub drivers: Vec<(String, Constructor)>,
    /// The groups; all of them when none is named.
    pub groups: Vec<String>,
    /// The one case that is run, with everything about it.
    pub repeat: Option<String>,
    /// The number of runs of that case.
    pub times: usize,
    /// A file for the report in JSON.
    pub json: Option<PathBuf>,
}

/// The text of `--help`.
pub fn help(registry: &Registry) -> String {
    let drivers: Vec<_> = registry.names().collect();
    let groups: Vec<_> = gpupy_conformance::groups().collect();
    format!(
        "Runs the conformance suite on drivers of gpupy.

gpupy-conformance [DRIVER]… [GROUP]… [OPTION]…

Drivers: {}, or the path of a plug-in, or several with commas between them, as a group that shares
         every launch; all of the named ones when none is given.
Groups:  {}; all of them when none is named.

--list           print the full name of every case
--repeat CASE    run one case by its full name, `group/case`, and print everything about it
--times N        repeat it so often
--json FILE      write the report there as well
--help           print this

Exit codes: 0 when every case passed, 1 when one failed, 2 for a wrong word, 3 when a driver cannot
start here.",
        drivers.join(", "),
        groups.join(", ")
    )
}

impl Command {
    /// Parses the arguments, or says which one is wrong.
    pub fn parse(
        words: impl IntoIterator<Item = std::ffi::OsString>,
        registry: &Registry,
    ) -> Result<Command, lexopt::Error> {
        let mut words = lexopt::Parser::from_args(words);
        let mut wanted = Wanted { times: 1, ..Wanted::default() };
        while let Some(word) = words.next()? {
            match word {
                Short('h') | Long("help") => return Ok(Command::Help),
                Long("list") => return Ok(Command::List),
                Long("json") => wanted.json = Some(words.value()?.into()),
                Long("times") => wanted.times = words.value()?.parse()?,
                Long("repeat") => wanted.repeat = Some(case(words.value()?.string()?)?),
                Value(word) => wanted.add(word.string()?, registry)?,
                _ => return Err(word.unexpected()),
            }
        }
        if wanted.drivers.is_empty() {
            wanted.drivers.extend(registry.names().filter_map(|name| driver(name, registry)));
        }
        Ok(Command::Run(wanted))
    }
}

impl Wanted {
    /// Takes the name of a driver or a group.
    fn add(&mut self, word: String, registry: &Registry) -> Result<(), lexopt::Error> {
        if let Some(driver) = driver(&word, registry) {
            self.drivers.push(driver);
        } else if gpupy_conformance::groups().any(|group| group == word) {
            self.groups.push(word);
        } else {
            let known = registry.names().chain(gpupy_conformance::groups());
            let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
            let known = known.join(", ");
            return Err(
                format!("there is no driver and no group `{word}`; choose of {known}").into()
            );
        }
        Ok(())
    }
}

/// The driver that a word means: one of ours, the plug-in of a path, or a group of several.
fn driver(word: &str, registry: &Registry) -> Option<(String, Constructor)> {
    let mut registry = registry.clone();
    registry.register_words(word);
    let (name, new) = registry.get(registry.find(word).ok()?)?;
    Some((name.to_string(), new))
}

/// The full name of a case, which must exist.
fn case(name: String) -> Result<String, lexopt::Error> {
    if gpupy_conformance::list().contains(&name) {
        return Ok(name);
    }
    Err(format!("there is no case `{name}`; `--list` prints all of them").into())
}
