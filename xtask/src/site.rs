//! The command `site`: the pages of `docs/` and of the root as a site of HTML, in `out/site/`.
//!
//! Owns the call of Sphinx. Invariants: a warning is a failure, and a link to a page, heading or file that is not
//! there is a warning; the notebook runs; nothing but the environment's packages is fetched. Not here: the pages and
//! their order (`docs/index.md`), the settings (`docs/conf.py`), the programs in pages (`examples/tests`).

use std::fs;

use crate::develop;
use crate::machine::command_line::GivenWords;
use crate::machine::failure::{Failure, Result};
use crate::machine::{process, venv, workspace};

/// The packages of the environment, with those that they need, each at one version.
const REQUIREMENTS: &str = "docs/requirements.txt";

/// The command.
pub fn run(_: &GivenWords) -> Result<()> {
    develop::prepare()?;
    build()?;
    println!("\nThe site is there: out/site/index.html");
    Ok(())
}

/// Builds the site anew; the module has to be there, whose functions are documented.
pub fn build() -> Result<()> {
    let python = venv::locked("site", REQUIREMENTS)?;
    let out = workspace::root().join("out/site");
    if out.exists() {
        // Of an earlier build nothing stays, neither pages nor what was read of them.
        fs::remove_dir_all(&out).map_err(|error| Failure::file("remove", &out, &error))?;
    }
    process::announce("site");
    let mut sphinx = process::command(python);
    sphinx.env("PYTHONPATH", workspace::root().join(develop::PACKAGES));
    sphinx.args([
        "-m",
        "sphinx",
        "-b",
        "html",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        "target/site-pages",
    ]);
    process::run(sphinx.args(["--fresh-env", "docs", "out/site"]))
}
