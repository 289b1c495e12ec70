//! Opening the libraries of graphics APIs.
//!
//! Owns nothing. Invariant: nothing is printed, and no environment variable but the APIs' own is
//! read.
//!
//! Not here: which device is taken (`open_device.rs`).

/// Part of a device's memory, in percent, beyond which wgpu refuses to allocate, where it knows.
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

/// An instance of Vulkan without Wayland's windows: Mesa looks for a server as soon as an instance
/// may have them, and libwayland complains on the standard error stream where there is none.
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
    // SAFETY: what is taken from the list is only used to make surfaces for windows; none are made,
    // and wgpu asks the list again before it makes one. Nothing else of the arguments is touched.
    let instance = unsafe {
        hal::vulkan::Instance::init_with_callback(
            &description,
            Some(Box::new(|arguments: hal::vulkan::CreateInstanceCallbackArgs<'_, '_, '_>| {
                arguments.extensions.retain(|name| *name != c"VK_KHR_wayland_surface");
            })),
        )
    };
    // SAFETY: the instance was just made, and nobody else has it.
    instance.ok().map(|instance| unsafe { wgpu::Instance::from_hal::<hal::api::Vulkan>(instance) })
}

/// Where Vulkan stands on Metal, Metal is asked itself.
#[cfg(target_vendor = "apple")]
pub fn vulkan(_: wgpu::Backends) -> Option<wgpu::Instance> {
    None
}

/// None of wgpu's: neither its debugging in debug builds, nor its variables.
const FLAGS: wgpu::InstanceFlags = wgpu::InstanceFlags::empty();

fn thresholds() -> wgpu::MemoryBudgetThresholds {
    wgpu::MemoryBudgetThresholds { for_resource_creation: Some(MOST_MEMORY), for_device_loss: None }
}
