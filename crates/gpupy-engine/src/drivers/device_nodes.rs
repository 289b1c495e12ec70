//! Device nodes: whether the system shows a GPU, told without loading a graphics library.
//!
//! Owns [`shown_below`] and the names of the nodes. Opening a software rasteriser to learn that there is no
//! hardware takes 120 to 250 ms, and Mesa ends the process where the address space is small. Invariant: nothing
//! is opened, only names of files are read.
//!
//! Not here: which driver is chosen (`driver_selection.rs`).

use std::path::Path;

/// How the names of nodes in `/dev` begin through which user space reaches a GPU: NVIDIA's, of Windows'
/// subsystem for Linux, AMD's compute, Qualcomm's, ARM's, Tegra's, Imagination's, Vivante's. Those of Linux's
/// and the BSDs' own drivers lie in a folder.
const NODES: [&str; 9] =
    ["nvidia", "dxg", "kfd", "kgsl", "mali", "nvhost-gpu", "nvgpu", "pvr", "galcore"];

/// The folder of direct rendering, and how its nodes begin.
const FOLDER: &str = "dri";
const IN_FOLDER: [&str; 2] = ["render", "card"];

/// Whether this machine shows a GPU. True where a system has no such nodes: only opening a driver tells there.
pub fn are_there() -> bool {
    !HAS_NODES || shown_below(Path::new("/"))
}

/// Systems that show a GPU as a node.
const HAS_NODES: bool = cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "netbsd",
    target_os = "dragonfly"
));

/// Whether a system whose files lie below `root` shows a GPU. A folder that is there and cannot be read may
/// hold one.
pub fn shown_below(root: &Path) -> bool {
    let devices = root.join("dev");
    holds(&devices, &NODES) || holds(&devices.join(FOLDER), &IN_FOLDER)
}

/// Whether a folder has an entry whose name begins so.
fn holds(folder: &Path, beginnings: &[&str]) -> bool {
    let Ok(entries) = folder.read_dir() else { return folder.exists() };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        beginnings.iter().any(|beginning| name.starts_with(beginning))
    })
}
