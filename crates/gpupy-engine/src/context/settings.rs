//! Settings of a context, from the environment or by hand.
//!
//! Owns [`Settings`], [`Placement`] and the names of the environment variables that the core reads.
//!
//! Not here: how drivers apply the limits (`driver::Config`).

use crate::thresholds::T;
use gpupy_core::driver::Resources;
use gpupy_core::{Error, ErrorKind, Result};
use std::time::Duration;

/// The driver that computes operations that the chosen one lacks, or that are too small for it.
///
/// With `Auto`, operations that no host driver has either are tried by the other drivers in turn, where
/// [`Settings::driver_fallback`] allows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The host driver.
    #[default]
    Auto,
    /// The chosen driver computes everything.
    Strict,
}

/// The settings of a context, which are read before it opens a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The driver's name, or `auto`. `GPUPY_DRIVER`.
    pub driver: String,
    /// Which of a driver's devices: its position, or part of its name; empty: the best.
    /// `GPUPY_DEVICE`.
    pub device: String,
    /// Largest block in bytes; 0 means the device's own. `GPUPY_BLOCK_BYTES`.
    pub block_bytes: u64,
    /// Memory for all blocks of a device in bytes; 0 means the device's own. `GPUPY_DEVICE_BYTES`.
    pub device_bytes: u64,
    /// The most bytes of host memory that values take, or 0; what is beyond goes to the disk. `GPUPY_HOST_BYTES`.
    pub host_bytes: u64,
    /// Lowered limits of the driver's resource counter; 0 keeps a slot as it is.
    pub resources: Resources,
    /// Threads that evaluate on the host's cores; 0 means as many as the process may use. `GPUPY_THREADS`, or else
    /// `OMP_NUM_THREADS`, which launchers of many processes set.
    pub threads: u32,
    /// Whether a block whose evaluation failed on one driver may be evaluated by the next.
    pub driver_fallback: bool,
    /// Whether the host driver takes part. `GPUPY_PLACEMENT`.
    pub placement: Placement,
    /// Operations that may be pending behind a value that is written before it is evaluated by itself; twice as many
    /// behind any other.
    pub flush_operations: usize,
    /// Bytes that pending operations alone may keep alive before they are evaluated by themselves; as many may
    /// be taken by what would be computed again (`rematerialisation.rs`), where computed values take less than that.
    pub flush_bytes: u64,
    /// Whether the plans of evaluations are kept, for those that look alike.
    pub plans: bool,
    /// How long an evaluation goes on before it asks whether it should (`Context::set_interrupt`).
    pub slice: Duration,
    /// Whether each flush is printed to the standard error. `GPUPY_TRACE`.
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            driver: "auto".into(),
            device: String::new(),
            block_bytes: 0,
            device_bytes: 0,
            host_bytes: 0,
            resources: Resources::default(),
            threads: 0,
            driver_fallback: true,
            placement: Placement::Auto,
            flush_operations: T.flush_operations,
            flush_bytes: 512 << 20,
            plans: true,
            slice: Duration::from_millis(100),
            trace: false,
        }
    }
}

impl Settings {
    /// The most threads that may be asked for.
    pub const MOST_THREADS: u32 = 1024;

    /// The defaults, changed by the environment.
    ///
    /// # Errors
    /// - `Invalid`: a size is not a number of bytes, there are no threads or too many, a switch is not what it can
    ///   be, or the folder for caches is not an absolute path.
    pub fn from_env() -> Result<Settings> {
        let mut settings = Settings::default();
        if let Some(name) = read("GPUPY_DRIVER") {
            settings.driver = name;
        }
        settings.device = read("GPUPY_DEVICE").unwrap_or_default();
        if let Some(words) = read("GPUPY_BLOCK_BYTES") {
            settings.block_bytes = parse_bytes("GPUPY_BLOCK_BYTES", &words)?;
        }
        if let Some(words) = read("GPUPY_DEVICE_BYTES") {
            settings.device_bytes = parse_bytes("GPUPY_DEVICE_BYTES", &words)?;
        }
        if let Some(words) = read("GPUPY_HOST_BYTES") {
            settings.host_bytes = parse_bytes("GPUPY_HOST_BYTES", &words)?;
        }
        check_cache_folder()?;
        settings.threads = match read("GPUPY_THREADS") {
            Some(words) => parse_threads(&words)?,
            None => read("OMP_NUM_THREADS").map_or(0, |words| openmps_threads(&words)),
        };
        settings.placement = match read("GPUPY_PLACEMENT").as_deref() {
            None | Some("auto") => Placement::Auto,
            Some("strict") => Placement::Strict,
            Some(other) => {
                return Err(Error::new(ErrorKind::Invalid, "settings")
                    .says("GPUPY_PLACEMENT is neither auto nor strict")
                    .with("value", format!("`{other}`")));
            }
        };
        settings.trace = match read("GPUPY_TRACE").as_deref() {
            None | Some("0") => false,
            Some("1") => true,
            Some(other) => {
                return Err(Error::new(ErrorKind::Invalid, "settings")
                    .says("GPUPY_TRACE is neither 0 nor 1")
                    .with("value", format!("`{other}`")));
            }
        };
        Ok(settings)
    }
}

fn read(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|v| v.trim().to_string()).filter(|v| !v.is_empty())
}

/// The folder is the drivers' to use; here a user is told of one that they would not take.
fn check_cache_folder() -> Result<()> {
    let name = "GPUPY_CACHE_DIR";
    match std::env::var_os(name).filter(|path| !path.is_empty()).map(std::path::PathBuf::from) {
        Some(path) if !path.is_absolute() => Err(Error::new(ErrorKind::Invalid, "settings")
            .says(format!("{name} is not an absolute path"))
            .with("value", format!("`{}`", path.display()))),
        _ => Ok(()),
    }
}

/// A number of threads, at least one.
fn parse_threads(words: &str) -> Result<u32> {
    const MOST: u32 = Settings::MOST_THREADS;
    words.parse().ok().filter(|count| (1..=MOST).contains(count)).ok_or_else(|| {
        Error::new(ErrorKind::Invalid, "settings")
            .says(format!("GPUPY_THREADS is not a number of threads from 1 to {MOST}"))
            .with("value", format!("`{words}`"))
    })
}

/// The threads of OpenMP's variable: the first number of its list, which is of the outermost level. What is no
/// such list means nothing, as to OpenMP.
fn openmps_threads(words: &str) -> u32 {
    let first = words.split(',').next().unwrap_or_default().trim();
    first.parse().map_or(0, |count: u32| count.min(Settings::MOST_THREADS))
}

/// A number of bytes, with an optional `K`, `M` or `G` (powers of 1024) behind it.
fn parse_bytes(name: &'static str, words: &str) -> Result<u64> {
    let upper = words.to_ascii_uppercase();
    let digits = upper.trim_end_matches(['K', 'M', 'G']);
    let unit = match &upper[digits.len()..] {
        "" => Some(1u64),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        _ => None,
    };
    unit.zip(digits.trim().parse::<u64>().ok())
        .and_then(|(unit, count)| count.checked_mul(unit))
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "settings")
                .says(format!("{name} is not a number of bytes (such as 65536, 64K, 512M, 2G)"))
                .with("value", format!("`{words}`"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_with_binary_units() {
        let check = |words: &str, want: Option<u64>| {
            assert_eq!(parse_bytes("X", words).ok(), want, "{words}");
        };
        check("4096", Some(4096));
        check("64k", Some(65536));
        check("2G", Some(2 << 30));
        check("0", None);
        check("64 KB", None);
        check("many", None);
        check("99999999999G", None);
    }

    #[test]
    fn there_is_at_least_one_thread() {
        let check = |words: &str, want: Option<u32>| {
            assert_eq!(parse_threads(words).ok(), want, "{words}");
        };
        check("1", Some(1));
        check("1024", Some(1024));
        check("0", None);
        check("1025", None);
        check("-2", None);
        check("two", None);
    }

    #[test]
    fn openmps_threads_are_the_first_of_its_list() {
        let check = |words: &str, want: u32| assert_eq!(openmps_threads(words), want, "{words}");
        check("3", 3);
        check(" 4 , 2", 4);
        check("99999", 1024);
        check("0", 0);
        check("-1", 0);
        check("many", 0);
        check("", 0);
    }
}
