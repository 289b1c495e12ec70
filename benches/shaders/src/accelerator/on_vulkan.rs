//! Programs by hand as dispatches of Vulkan.
//!
//! Not here: the device (`vulkan.rs`).

use super::Runs;
use super::stages::{Place, Program};
use crate::vulkan::{Buffer, Vulkan, opened};
use crate::{ByHand, Outcome};

/// A device, and the buffers that are given and made.
pub struct OnVulkan {
    vulkan: Vulkan,
    given: Vec<Buffer>,
    results: Vec<Buffer>,
}

/// Opens a device.
///
/// # Errors
/// There is none.
pub fn open() -> Outcome<OnVulkan> {
    Ok(OnVulkan { vulkan: opened()?, given: Vec::new(), results: Vec::new() })
}

impl Runs for OnVulkan {
    fn upload(&mut self, _texels: [usize; 2], given: &[Vec<f32>]) -> Outcome<()> {
        let upload = |values: &Vec<f32>| self.vulkan.upload(bytemuck::cast_slice(values));
        self.given = given.iter().map(upload).collect::<Outcome<_>>()?;
        Ok(())
    }

    fn compile(&mut self, program: &Program) -> Outcome<()> {
        let bytes = (program.texels[0] * program.texels[1] * 16) as u64;
        let mut made: Vec<Vec<Buffer>> = Vec::new();
        self.vulkan.record(|vulkan| {
            for stage in &program.stages {
                let buffer = |place: &Place| match *place {
                    Place::Given(n) => self.given[n],
                    Place::Made { stage, output } => made[stage][output],
                };
                let mut buffers: Vec<Buffer> = stage.reads.iter().map(buffer).collect();
                let writes: Vec<Buffer> = (0..stage.writes)
                    .map(|_| vulkan.device_buffer(bytes))
                    .collect::<Outcome<_>>()?;
                buffers.extend(&writes);
                vulkan.dispatch(&program.wgsl(stage), &buffers, program.groups())?;
                made.push(writes);
            }
            Ok(made.last().ok_or("no stages")?[0])
        })?;
        self.results = made.pop().unwrap_or_default();
        Ok(())
    }

    fn run(&mut self) -> Outcome<()> {
        self.vulkan.run().map(|_| ())
    }

    fn results(&mut self) -> Outcome<Vec<f32>> {
        let mut all = Vec::new();
        for buffer in &self.results {
            all.extend(self.vulkan.values(*buffer)?);
        }
        Ok(all)
    }
}
