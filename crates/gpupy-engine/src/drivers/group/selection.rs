//! The words that choose devices: `vulkan:1`, or `vulkan:0,vulkan:1` for a group.
//!
//! Owns [`Selected`]. A driver is named alone or with one of its devices behind a colon: its position, or part of its
//! name. Several of these with commas between them are a group. A path of a plug-in is taken as it is.
//!
//! Not here: the names that there are (`registry.rs`), what a driver makes of the device (`choice` of the contract).

use crate::drivers::plugin;

/// A driver, and which of its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selected<'n> {
    pub driver: &'n str,
    /// Empty where none was given.
    pub device: &'n str,
}

/// What words choose beyond the plain name of a driver or the path of a plug-in; nothing where they do not.
pub(crate) fn selected(words: &str) -> Option<Vec<Selected<'_>>> {
    let is_plain = !words.contains([',', ':']);
    // A path may have these, too.
    if is_plain || plugin::is_path(words) && std::path::Path::new(words).exists() {
        return None;
    }
    let parts: Vec<Selected<'_>> = words.split(',').map(|word| one(word.trim())).collect();
    // The path of one plug-in that does not exist stays one, for the error to say so.
    match &parts[..] {
        [one] if one.device.is_empty() => None,
        _ => Some(parts),
    }
}

fn one(word: &str) -> Selected<'_> {
    match word.split_once(':') {
        Some((driver, device)) if !plugin::is_path(word) => {
            Selected { driver: driver.trim(), device: device.trim() }
        }
        _ => Selected { driver: word, device: "" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_chosen_by_colons_and_groups_by_commas() {
        let check = |words: &str, want: Option<&[(&str, &str)]>| {
            let found = selected(words);
            let found: Option<Vec<_>> = found
                .as_ref()
                .map(|parts| parts.iter().map(|part| (part.driver, part.device)).collect());
            assert_eq!(found.as_deref(), want, "{words}");
        };
        check("vulkan", None);
        check("auto", None);
        check("./driver.so", None);
        check("vulkan:1", Some(&[("vulkan", "1")]));
        check("vulkan:0,vulkan:1", Some(&[("vulkan", "0"), ("vulkan", "1")]));
        check("vulkan , cpu", Some(&[("vulkan", ""), ("cpu", "")]));
        check("wgpu:A Name: 2", Some(&[("wgpu", "A Name: 2")]));
        check("cpu,./a:b.so", Some(&[("cpu", ""), ("./a:b.so", "")]));
        check("cpu,", Some(&[("cpu", ""), ("", "")]));
    }
}
