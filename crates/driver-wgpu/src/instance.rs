//! Opens the libraries of graphics APIs.
//!
//! Owns nothing. Invariant: nothing is printed, and only the APIs' own environment variables are read.
//!
//! Not here: the choice of a device (`gpu_device.rs`).

/// The percentage of a device's memory beyond which wgpu refuses to allocate, where it knows the amount.
const MOST_MEMORY: u8 = 95;

/// An instance of these APIs.
pub fn of(backends: wgpu::Backends) -> Option<wgpu::Instance> {
    Some(wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: FLAGS,
        memory_budget_thresholds: thresholds(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    }))
}

/// An instance of Vulkan without Wayland's window extension: Mesa looks for a display server as soon as an
/// instance enables it, and libwayland prints a complaint to standard error where there is none.
#[cfg(not(target_vendor = "apple"))]
pub fn vulkan(_: wgpu::Backends) -> Option<wgpu::Instance> {
    use wgpu::hal;
    let description = hal::InstanceDescriptor {
        name: "gpupy",
        flags: FLAGS,
        memory_budget_thresholds: thresholds(),
        backend_options: wgpu::BackendOptions::default(),
        telemetry: None,
        display: None,
    };
    // SAFETY: the removed extension only serves to create surfaces for windows; none are created,
    // and wgpu checks the list again before it creates one. Other arguments are unchanged.
    let instance = unsafe {
        hal::vulkan::Instance::init_with_callback(
            &description,
            Some(Box::new(|arguments: hal::vulkan::CreateInstanceCallbackArgs<'_, '_, '_>| {
                arguments.extensions.retain(|name| *name != c"VK_KHR_wayland_surface");
            })),
        )
    };
    // SAFETY: the instance was just created, and this is its only owner.
    instance.ok().map(|instance| unsafe { wgpu::Instance::from_hal::<hal::api::Vulkan>(instance) })
}

/// On Apple's systems, Vulkan is implemented on Metal, so Metal is used directly.
#[cfg(target_vendor = "apple")]
pub fn vulkan(_: wgpu::Backends) -> Option<wgpu::Instance> {
    None
}

/// No flags: neither wgpu's debugging in debug builds, nor its environment variables.
const FLAGS: wgpu::InstanceFlags = wgpu::InstanceFlags::empty();

fn thresholds() -> wgpu::MemoryBudgetThresholds {
    wgpu::MemoryBudgetThresholds { for_resource_creation: Some(MOST_MEMORY), for_device_loss: None }
}
