//! Resolves the device that a user's configuration names.
//!
//! Owns [`Config::choose`]. Invariant: a name is resolved alike by every driver.
//!
//! Not here: the order of a driver's devices, and its preference among them (drivers).

use crate::driver::{Capabilities, Config};
use crate::error::{Error, ErrorKind, Result};

impl Config {
    /// The positions in `names` of the devices that match [`Config::device`]: the device of this number, or all names
    /// that contain these words, in any case; all devices if it is empty. A driver takes the match that it prefers.
    ///
    /// # Errors
    /// - `Unavailable`: no device matches; the message names the devices.
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
            .says("no device has this number, or these words in its name")
            .with("value", format!("`{}`", self.device))
            .with("devices", listed.join("; ")))
    }
}

impl Capabilities {
    /// Refuses a device that words chose (`vulkan:1`) and the driver does not have: one that lists no devices has the
    /// one that is open, as number 0.
    ///
    /// # Errors
    /// - `Unavailable`: no device matches; the message names the devices.
    pub fn check_chosen(&self, device: &str) -> Result<()> {
        if !self.devices.is_empty() || device.is_empty() {
            // The driver has chosen among those that it lists.
            return Ok(());
        }
        let config = Config { device: device.to_owned(), ..Config::default() };
        config.choose(std::slice::from_ref(&self.device)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_device_of_a_driver_is_number_0() {
        let caps = Capabilities { device: "the CPU (2 threads)".into(), ..Capabilities::default() };
        for device in ["", "0", " 0", "cpu"] {
            assert!(caps.check_chosen(device).is_ok(), "{device}");
        }
        for device in ["1", "99", "-1", "gpu"] {
            let error = caps.check_chosen(device).map_err(|error| error.to_string());
            assert!(error.is_err_and(|error| error.contains("0: the CPU")), "{device}");
        }
        let listed = Capabilities { devices: vec!["an A2".into()], ..caps };
        assert!(listed.check_chosen("7").is_ok());
    }

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
