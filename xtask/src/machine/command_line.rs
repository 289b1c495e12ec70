//! The command line: what a command takes, and what it was given.
//!
//! Owns [`CommandForm`], one row for each way to use a command, [`GivenWords`], and the reading of one into the other
//! by lexopt. Invariant: a wrong word is refused before anything is installed or built, and the refusal says what the
//! form takes. Not here: the forms (each command has its own), the help (`main.rs`).

use lexopt::prelude::*;

use crate::machine::failure::{Failure, Result};

/// One way to use a command.
#[derive(Clone, Copy)]
pub struct CommandForm {
    /// The words that choose it, among the given ones; the form without such words is the last.
    chosen_by: &'static str,
    /// What else it takes, as people are told: a word in capital letters is one that the user chooses; after an
    /// option, it is the option's value, and `N` is a positive number.
    takes: &'static str,
    does: fn(&GivenWords) -> Result<()>,
}

/// The words that a form was given.
pub struct GivenWords {
    /// The words that chose the form.
    pub chosen_by: &'static str,
    /// The others as they were typed, for a program to which they are passed on.
    pub others: Vec<String>,
    /// The words that belong to no option.
    pub words: Vec<String>,
    options: Vec<(String, String)>,
}

impl CommandForm {
    /// A form that these words choose, each with a space before the next, and what else it takes.
    pub const fn new(
        chosen_by: &'static str,
        takes: &'static str,
        does: fn(&GivenWords) -> Result<()>,
    ) -> Self {
        Self { chosen_by, takes, does }
    }

    /// Whether a word chooses it, or is one of its options.
    #[cfg(test)]
    pub fn names(&self, word: &str) -> bool {
        self.chosen_by.split(' ').any(|by| by == word) || self.value_of(word).is_some()
    }

    fn chooses(&self, given: &[String]) -> bool {
        self.chosen_by.split_whitespace().all(|word| given.iter().any(|known| known == word))
    }

    /// What people are told of an option's value, which is nothing where it has none.
    fn value_of(&self, option: &str) -> Option<&'static str> {
        let mut told = self.takes.split_whitespace().skip_while(|word| *word != option);
        told.next()?;
        Some(told.next().filter(|word| is_chosen_by_user(word)).unwrap_or_default())
    }

    fn takes_word(&self, given: &str) -> bool {
        let mut is_value = false;
        self.takes.split_whitespace().any(|word| {
            let is_option = word.starts_with("--");
            let is_word = !(is_option || is_value && is_chosen_by_user(word));
            is_value = is_option;
            is_word && (word == given || is_chosen_by_user(word))
        })
    }
}

fn is_chosen_by_user(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
}

impl GivenWords {
    /// Whether an option or a word was given.
    pub fn has(&self, name: &str) -> bool {
        self.option(name).is_some() || self.words.iter().any(|word| word == name)
    }

    /// The value of an option, the last one if there are several.
    pub fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().rev().find(|(option, _)| option == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Does what the given words ask of a command with these forms; false if they ask for help.
pub fn run(command: &str, forms: &[CommandForm], given: &[String]) -> Result<bool> {
    let choices = || forms.iter().map(|form| form.chosen_by).filter(|by| !by.is_empty());
    let Some(form) = forms.iter().find(|form| form.chooses(given)) else {
        let choices = choices().collect::<Vec<_>>().join(" | ");
        return Err(Failure::new(format!("`{command}` needs one of {choices}")));
    };
    match read(form, given) {
        Ok(Some(given)) => (form.does)(&given).map(|()| true),
        Ok(None) => Ok(false),
        Err(error) => {
            // The form that nothing chooses tells of the others.
            let choices = choices().filter(|_| form.chosen_by.is_empty());
            let told =
                Some(form.takes).filter(|takes| !takes.is_empty()).into_iter().chain(choices);
            let told = told.collect::<Vec<_>>().join(" | ");
            let told = if told.is_empty() { "no argument" } else { &told };
            let title = format!("{command} {}", form.chosen_by);
            Err(Failure::new(format!("`{}` takes {told}: {error}", title.trim_end())))
        }
    }
}

/// Reads the words of a form; nothing if they ask for help.
fn read(
    form: &CommandForm,
    given: &[String],
) -> std::result::Result<Option<GivenWords>, lexopt::Error> {
    let mut others = given.to_vec();
    for by in form.chosen_by.split(' ') {
        others.iter().position(|word| word == by).map(|place| others.remove(place));
    }
    let mut parser = lexopt::Parser::from_args(&others);
    let (mut options, mut words) = (Vec::new(), Vec::new());
    while let Some(word) = parser.next()? {
        match word {
            Short('h') | Long("help") => return Ok(None),
            Short(letter) => return Err(format!("got `-{letter}`").into()),
            Value(word) => {
                let word = word.string()?;
                if !form.takes_word(&word) {
                    return Err(format!("got `{word}`").into());
                }
                words.push(word);
            }
            Long(name) => {
                let name = format!("--{name}");
                let Some(kind) = form.value_of(&name) else {
                    return Err(format!("got `{name}`").into());
                };
                let value =
                    if kind.is_empty() { String::new() } else { parser.value()?.string()? };
                if kind == "N" && !value.parse::<u32>().is_ok_and(|number| number > 0) {
                    return Err(format!("{name} needs a positive number, got `{value}`").into());
                }
                options.push((name, value));
            }
        }
    }
    Ok(Some(GivenWords { chosen_by: form.chosen_by, others, words, options }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [CommandForm; 3] = [
        CommandForm::new("--scale --model", "--check", shown),
        CommandForm::new("quick", "", shown),
        CommandForm::new("", "rust DIR --driver NAME --size N --sweep", shown),
    ];

    /// What a form was given, as a failure, which the tests can see.
    fn shown(given: &GivenWords) -> Result<()> {
        let GivenWords { chosen_by, others, words, options } = given;
        Err(Failure::new(format!("{chosen_by}|{others:?}|{options:?}|{words:?}")))
    }

    fn check(given: &str, wanted: &str) {
        let given: Vec<_> = given.split_whitespace().map(str::to_owned).collect();
        let said = run("do", &FORMS, &given).map_or_else(|f| f.to_string(), |ran| ran.to_string());
        assert_eq!(said, wanted, "{given:?}");
    }

    #[test]
    fn a_form_gets_its_options_and_words_and_all_as_they_were_typed() {
        check("", "|[]|[]|[]");
        check(
            "rust --size=12 --driver gl",
            r#"|["rust", "--size=12", "--driver", "gl"]|[("--size", "12"), ("--driver", "gl")]|["rust"]"#,
        );
        check("--sweep a/b", r#"|["--sweep", "a/b"]|[("--sweep", "")]|["a/b"]"#);
    }

    #[test]
    fn a_form_is_chosen_by_all_of_its_words_wherever_they_are() {
        check("quick", "quick|[]|[]|[]");
        check("--model --check --scale", r#"--scale --model|["--check"]|[("--check", "")]|[]"#);
        let takes = "`do` takes rust DIR --driver NAME --size N --sweep | --scale --model | quick";
        check("--model", &format!("{takes}: got `--model`"));
    }

    #[test]
    fn a_wrong_word_is_refused_with_what_the_form_takes() {
        check("quick now", "`do quick` takes no argument: got `now`");
        check("--scale --model --size 3", "`do --scale --model` takes --check: got `--size`");
        let refused = |given: &str, why: &str| {
            let takes = "rust DIR --driver NAME --size N --sweep | --scale --model | quick";
            check(given, &format!("`do` takes {takes}: {why}"));
        };
        refused("-s", "got `-s`");
        refused("--sizes 1", "got `--sizes`");
        refused("--size", "missing argument for option '--size'");
        refused("--size big", "--size needs a positive number, got `big`");
        refused("--size=0", "--size needs a positive number, got `0`");
        refused("--sweep=1", "unexpected argument for option '--sweep': \"1\"");
    }

    #[test]
    fn help_is_for_whoever_asks_and_values_are_none_of_the_form() {
        check("--size 3 --help", "false");
        check("quick -h", "false");
        check("--driver --help", r#"|["--driver", "--help"]|[("--driver", "--help")]|[]"#);
    }
}
