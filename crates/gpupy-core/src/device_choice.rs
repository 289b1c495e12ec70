//! Which of a driver's devices a user means.
//!
//! Owns [`Config::choose`]. Invariant: the same words mean the same device with every driver.
//!
//! Not here: in which order a driver counts its devices, and which it likes best (drivers).

use crate::driver::Config;
use crate::error::{Error, ErrorKind, Result};

impl Config {
    /// The positions among `names` of the devices that [`Config::device`] can mean: the one with this
    /// number, or all whose names have these words in them, in any case; all, where it is empty. A
    /// driver takes the one that it likes best.
    ///
    /// # Errors
    /// - `Unavailable`: there is none; the message names those that there are.
    pub fn choose(&self, names: &[String]) -> Result<Vec<usize>> {
        let wanted = self.device.trim().to_lowercase();
        let all = 0..names.len();
        let meant: Vec<usize> = match wanted.parse::<usize>() {
            Ok(number) => all.filter(|position| *position == number).collect(),
            Err(_) => all.filter(|n| names[*n].to_lowercase().contains(&wanted)).collect(),
        };
        if !meant.is_empty() || names.is_empty() {
            return Ok(meant);
        }
        let listed: Vec<String> =
            names.iter().enumerate().map(|(n, name)| format!("{n}: {name}")).collect();
        Err(Error::new(ErrorKind::Unavailable, "init")
            .says("GPUPY_DEVICE is neither the number nor part of the name of a device")
            .with("value", format!("`{}`", self.device))
            .with("devices", listed.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_by_its_number_or_by_part_of_its_name() {
        let names = ["NVIDIA H100", "NVIDIA A2", "llvmpipe (LLVM 15)"].map(str::to_owned);
        let check = |device: &str, want: &[usize]| {
            let config = Config { device: device.to_owned(), ..Config::default() };
            let chosen = config.choose(&names).map_err(|error| error.to_string());
            match want {
                [] => assert!(chosen.is_err_and(|said| said.contains("1: NVIDIA A2")), "{device}"),
                _ => assert_eq!(chosen.as_deref(), Ok(want), "{device}"),
            }
        };
        check("", &[0, 1, 2]);
        check("0", &[0]);
        check(" 2 ", &[2]);
        check("nvidia", &[0, 1]);
        check("A2", &[1]);
        check("LLVM", &[2]);
        check("3", &[]);
        check("radeon", &[]);
    }
}
