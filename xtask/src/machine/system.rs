//! The packages of the operating system that GPU drivers link or open at run time.
//!
//! Owns the list [`PACKAGES`] and its installation by apt. Invariant: it never makes a task fail. A machine
//! where nothing can be installed uses the drivers that start there. Not here: whether a driver really starts,
//! which only the driver knows (`gpupy.drivers()`).

use std::process::Command;

use crate::machine::process;

/// Debian's packages of an OpenGL and a Vulkan that need neither display nor GPU, of the kernel compiler that
/// the Vulkan driver links if present, and of the layers that check its calls in tests.
const PACKAGES: [&str; 7] = [
    "libegl1",
    "libgl1-mesa-dri",
    "libvulkan1",
    "mesa-vulkan-drivers",
    "libshaderc-dev",
    "spirv-tools",
    "vulkan-validationlayers",
];

/// The requirements on other systems, where nothing is installed automatically.
const ELSEWHERE: &str = "the gl driver needs libEGL.so.1 with an OpenGL 4 driver, the vulkan driver \
                         libvulkan.so.1 with a Vulkan 1.2 driver (a vendor's, or Mesa's)";

/// Installs missing packages if permitted, and otherwise says what to do.
pub fn prepare() {
    if !cfg!(target_os = "linux") {
        return;
    }
    if !process::succeeds(Command::new("dpkg-query").arg("--version")) {
        if !has_egl() {
            process::announce("system packages");
            println!("   {ELSEWHERE}; going on with the drivers that start");
        }
        return;
    }
    let missing: Vec<&str> = PACKAGES.into_iter().filter(|name| !installed(name)).collect();
    if missing.is_empty() {
        return;
    }
    process::announce(&format!("system packages: {}", missing.join(", ")));
    let Some(elevate) = elevation() else {
        println!("   not root, and `sudo -n` is not allowed; to use OpenGL and Vulkan, run:");
        println!(
            "   sudo apt-get update && sudo apt-get install -y --no-install-recommends {}",
            missing.join(" ")
        );
        println!("   going on with the drivers that start");
        return;
    };
    // A stale third-party source makes the update fail and does not matter to us.
    if let Err(failure) = process::run(&mut apt(elevate, &["update", "-q"])) {
        println!("   {failure}; trying to install all the same");
    }
    let mut arguments = vec!["install", "-q", "-y", "--no-install-recommends"];
    arguments.extend(&missing);
    if let Err(failure) = process::run(&mut apt(elevate, &arguments)) {
        println!("   {failure}; going on with the drivers that start");
    }
}

/// True if dpkg knows the package as installed.
fn installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f=${db:Status-Status}", package]);
    process::capture(&mut query).is_ok_and(|status| status == "installed")
}

/// True if the dynamic linker knows an EGL.
fn has_egl() -> bool {
    ["ldconfig", "/sbin/ldconfig"].iter().any(|ldconfig| {
        process::capture(Command::new(ldconfig).arg("-p"))
            .is_ok_and(|list| list.contains("libEGL.so.1"))
    })
}

/// The command that makes `apt-get` run as root; `None` if that is not permitted.
fn elevation() -> Option<&'static [&'static str]> {
    let user = process::capture(Command::new("id").arg("-u")).unwrap_or_default();
    if user.trim() == "0" {
        Some(&[])
    } else if process::succeeds(Command::new("sudo").args(["-n", "true"])) {
        Some(&["sudo", "-n"])
    } else {
        None
    }
}

/// An `apt-get` that asks nothing, and waits for another one to end.
fn apt(elevate: &[&str], arguments: &[&str]) -> Command {
    // Through `env`, because sudo drops the variables of its caller.
    let words = [elevate, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]].concat();
    let mut command = process::command(words[0]);
    command.args(&words[1..]).args(["-o", "DPkg::Lock::Timeout=120"]).args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apt_never_asks_and_works_through_sudo() {
        let command = apt(&["sudo", "-n"], &["update"]);
        let words: Vec<_> = command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        assert_eq!(command.get_program(), "sudo");
        assert_eq!(words[..3], ["-n", "env", "DEBIAN_FRONTEND=noninteractive"]);
        assert_eq!(apt(&[], &["update"]).get_program(), "env");
    }
}
