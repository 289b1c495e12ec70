//! Makes Python environments and installs packages into them: by uv where it is there, otherwise by venv and pip.
//!
//! Owns [`Installer`]. Invariants: either way gives an environment with pip, and the versions that are asked for; uv
//! fetches no interpreter. Where uv fails, pip is asked, because uv knows no settings of pip's, such as the place that
//! packages come from. Not here: which environments there are, and what is in them (`venv.rs`).

use std::path::Path;
use std::process::Command;

use crate::machine::failure::Result;
use crate::machine::process;

/// The variables that let uv end soon without a network.
const SOON: [(&str, &str); 2] = [("UV_HTTP_TIMEOUT", "15"), ("UV_HTTP_RETRIES", "1")];

/// What makes environments on this machine.
#[derive(Clone, Copy)]
pub struct Installer {
    /// Whether there is uv, which makes them first.
    pub has_uv: bool,
}

impl Installer {
    /// Uv if it can be started.
    pub fn of_machine() -> Self {
        Self { has_uv: process::succeeds(process::command("uv").arg("--version")) }
    }

    /// Makes an environment, in place of one that is there.
    pub fn make(self, interpreter: &Path, folder: &Path) -> Result<()> {
        first_that_works(self.making(interpreter, folder))
    }

    /// Installs packages, given as to pip, by the environment's interpreter.
    pub fn install(self, python: &Path, packages: &[&str]) -> Result<()> {
        first_that_works(self.installing(python, packages))
    }

    /// Installs the newest versions, or fails soon where there is no network.
    pub fn upgrade(self, python: &Path, packages: &[&str]) -> Result<()> {
        first_that_works(self.upgrading(python, packages))
    }

    /// The command of uv if it is there, then the one without it.
    fn commands(self, uv: Command, without: Command) -> Vec<Command> {
        if self.has_uv { vec![uv, without] } else { vec![without] }
    }

    fn making(self, interpreter: &Path, folder: &Path) -> Vec<Command> {
        let (mut uv, mut venv) = (process::command("uv"), process::command(interpreter));
        uv.args(["venv", "--quiet", "--seed", "--clear", "--no-project", "--no-python-downloads"]);
        uv.arg("--python").arg(interpreter).arg(folder);
        venv.args(["-m", "venv", "--clear"]).arg(folder);
        self.commands(uv, venv)
    }

    fn installing(self, python: &Path, packages: &[&str]) -> Vec<Command> {
        let (mut uv, mut pip) = (process::command("uv"), process::command(python));
        uv.args(["pip", "install", "--no-progress", "--python"]).arg(python).args(packages);
        pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]);
        pip.args(packages);
        self.commands(uv, pip)
    }

    fn upgrading(self, python: &Path, packages: &[&str]) -> Vec<Command> {
        let mut commands = self.installing(python, packages);
        for command in &mut commands {
            command.args(["--quiet", "--upgrade"]);
            if command.get_program() == "uv" {
                command.envs(SOON);
            } else {
                command.args(["--retries", "1", "--timeout", "15"]);
            }
        }
        commands
    }
}

/// Runs the next command where one fails; the failure is the last one's.
fn first_that_works(commands: Vec<Command>) -> Result<()> {
    let mut result = Ok(());
    for mut command in commands {
        if let Err(failure) = result {
            println!("   {failure}; trying without uv");
        }
        result = process::run(&mut command);
        if result.is_ok() {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::failure::Failure;

    fn lines(commands: Vec<Command>) -> Vec<String> {
        let words = |command: &Command| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        commands.iter().map(words).collect()
    }

    #[test]
    fn environments_are_made_by_uv_where_it_is_there_and_by_venv_otherwise() {
        let made = |has_uv| lines(Installer { has_uv }.making(Path::new("py"), Path::new("env")));
        let venv = "py -m venv --clear env";
        assert_eq!(made(false), [venv]);
        let uv =
            "uv venv --quiet --seed --clear --no-project --no-python-downloads --python py env";
        assert_eq!(made(true), [uv, venv]);
    }

    #[test]
    fn both_ways_install_the_same_packages() {
        let packages = ["-r", "locked.txt"];
        let installed = |has_uv| lines(Installer { has_uv }.installing(Path::new("py"), &packages));
        let pip = "py -m pip install --disable-pip-version-check --progress-bar off -r locked.txt";
        assert_eq!(installed(false), [pip]);
        assert_eq!(
            installed(true),
            ["uv pip install --no-progress --python py -r locked.txt", pip]
        );
    }

    #[test]
    fn both_ways_end_soon_without_a_network_where_the_newest_is_asked_for() {
        let [uv, pip] = &Installer { has_uv: true }.upgrading(Path::new("py"), &["dask"])[..]
        else {
            panic!("not two commands");
        };
        let is_said = |command: &Command, wanted: &str| command.get_args().any(|w| w == wanted);
        assert!(is_said(uv, "--upgrade") && is_said(pip, "--upgrade"));
        // An option of pip's would make uv fail.
        assert!(is_said(pip, "--retries") && !is_said(uv, "--retries"));
        assert!(uv.get_envs().any(|(name, _)| name == "UV_HTTP_TIMEOUT"));
    }

    #[test]
    fn a_failure_of_uv_is_none_where_the_other_way_works() {
        let ends = |status: i32| {
            let mut shell = process::command("sh");
            shell.args(["-c", &format!("exit {status}")]);
            shell
        };
        assert_eq!(first_that_works(vec![ends(2), ends(0)]), Ok(()));
        assert_eq!(first_that_works(vec![ends(0), ends(3)]), Ok(()));
        let failed = first_that_works(vec![ends(2), ends(3)]);
        assert_eq!(failed, Err(Failure::new("`sh -c 'exit 3'` ended with exit status: 3")));
    }
}
