//! Float controls (`SPV_KHR_float_controls`): modes of float arithmetic, added to compiled shaders.
//!
//! Owns [`with_modes`]. GLSL and WGSL cannot express them, so they are added to the compiler's output:
//! capabilities after its own, with the extension that SPIR-V before 1.4 requires, and execution modes after
//! its entry point. Invariant: only modes for float sizes that the shader declares are added.
//!
//! Not here: the modes that a device offers (`gpu_device.rs`), the compiler (`kernel_compiler.rs`).

use crate::vulkan::gpu::gpu_device::FloatModes;

/// Words before the first instruction.
const HEADER: usize = 5;

/// The first version in which the modes need no extension.
const MODES_SINCE: u32 = 0x0001_0400;

const OP_EXTENSION: u32 = 10;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_TYPE_FLOAT: u32 = 22;

/// A mode's capability and its number as an execution mode.
const KEEPS_SUBNORMALS: (u32, u32) = (4464, 4459);
const KEEPS_SPECIAL: (u32, u32) = (4466, 4461);
const ROUNDS_TO_EVEN: (u32, u32) = (4467, 4462);

/// The sizes of floats, in bits, as [`FloatModes`] has them.
const SIZES: [u32; 3] = [16, 32, 64];

/// Adds the modes to a shader with one entry point; other words are returned unchanged.
pub fn with_modes(words: &[u32], modes: &FloatModes) -> Vec<u32> {
    let (mut capabilities_end, mut modes_end, mut entry) = (HEADER, HEADER, None);
    let mut sizes = Vec::new();
    let mut at = HEADER;
    while let Some(head) = words.get(at) {
        let (length, op) = ((head >> 16) as usize, head & 0xffff);
        let Some(instruction) = words.get(at..at + length).filter(|i| !i.is_empty()) else { break };
        match (op, instruction) {
            (OP_CAPABILITY, _) => capabilities_end = at + length,
            (OP_ENTRY_POINT, [_, _, function, ..]) => {
                (entry, modes_end) = (Some(*function), at + length);
            }
            (OP_EXECUTION_MODE, _) => modes_end = at + length,
            (OP_TYPE_FLOAT, [_, _, size, ..]) => sizes.push(*size),
            _ => {}
        }
        at += length;
    }
    let Some(entry) = entry else { return words.to_vec() };
    let (mut capabilities, mut executions) = (Vec::new(), Vec::new());
    let wanted = [
        (KEEPS_SUBNORMALS, modes.keeps_subnormals),
        (KEEPS_SPECIAL, modes.keeps_special),
        (ROUNDS_TO_EVEN, modes.rounds_to_even),
    ];
    for ((capability, mode), offered) in wanted {
        let sizes = SIZES.iter().zip(offered).filter(|(size, on)| *on && sizes.contains(size));
        for (n, (size, _)) in sizes.enumerate() {
            if n == 0 {
                capabilities.extend([2 << 16 | OP_CAPABILITY, capability]);
            }
            executions.extend([4 << 16 | OP_EXECUTION_MODE, entry, mode, *size]);
        }
    }
    if !capabilities.is_empty() && words[1] < MODES_SINCE {
        capabilities.extend(extension(b"SPV_KHR_float_controls\0\0"));
    }
    let (before, rest) = words.split_at(capabilities_end);
    let (between, after) = rest.split_at(modes_end - capabilities_end);
    [before, &capabilities, between, &executions, after].concat()
}

/// The instruction that declares an extension. Its name fills whole words and ends in zeros.
fn extension(name: &[u8]) -> Vec<u32> {
    let name =
        name.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
    let mut instruction = vec![OP_EXTENSION];
    instruction.extend(name);
    instruction[0] |= (instruction.len() as u32) << 16;
    instruction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_stand_where_they_must_and_only_for_floats_that_are_there() {
        // A header, a capability, an entry point, its local size, the type float32.
        let head = [0x0723_0203, 0x0001_0500, 0, 9, 0];
        let (capability, float) = ([2 << 16 | 17, 1], [3 << 16 | 22, 5, 32]);
        let (entry, local) = ([4 << 16 | 15, 5, 4, 0], [6 << 16 | 16, 4, 17, 64, 1, 1]);
        let shader = [&head[..], &capability, &entry, &local, &float].concat();
        let modes = FloatModes { keeps_subnormals: [true; 3], ..FloatModes::default() };
        let added = ([2 << 16 | 17, 4464], [4 << 16 | 16, 4, 4459, 32]);
        let wanted = [&head[..], &capability, &added.0, &entry, &local, &added.1, &float].concat();
        assert_eq!(with_modes(&shader, &modes), wanted);
        assert_eq!(with_modes(&shader, &FloatModes::default()), shader);
        let earlier = |words: &[u32]| [&[words[0], 0x0001_0300], &words[2..]].concat();
        let name = "SPV_KHR_float_controls\0\0".as_bytes().chunks(4);
        let mut extension = vec![7 << 16 | 10];
        extension.extend(name.map(|four| u32::from_le_bytes(four.try_into().unwrap_or_default())));
        let (behind, rest) = wanted.split_at(5 + 2 + 2);
        let wanted = [&earlier(behind), &extension[..], rest].concat();
        assert_eq!(with_modes(&earlier(&shader), &modes), wanted);
        for nonsense in [&[][..], &head, &[0, 0, 0, 0, 0, 7], &[0, 0, 0, 0, 0, 9 << 16]] {
            assert_eq!(with_modes(nonsense, &modes), nonsense);
        }
    }
}
