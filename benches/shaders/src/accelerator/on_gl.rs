//! Programs by hand as draws of OpenGL.
//!
//! Not here: the context (`gl.rs`).

use glow::HasContext;

use super::Runs;
use super::stages::{Place, Program};
use crate::Outcome;
use crate::gl::{Gl, opened};

/// A context, and the textures that are given.
pub struct OnGl {
    gl: Gl,
    given: Vec<glow::Texture>,
    made: Vec<Vec<glow::Texture>>,
}

/// Opens a context.
///
/// # Errors
/// There is none.
pub fn open() -> Outcome<OnGl> {
    Ok(OnGl { gl: opened()?, given: Vec::new(), made: Vec::new() })
}

impl Runs for OnGl {
    fn upload(&mut self, texels: [usize; 2], given: &[Vec<f32>]) -> Outcome<()> {
        self.drop_all();
        self.given = given
            .iter()
            .map(|values| self.gl.texture(texels, Some(values)))
            .collect::<Outcome<_>>()?;
        Ok(())
    }

    fn compile(&mut self, program: &Program) -> Outcome<()> {
        for stage in &program.stages {
            let texture = |place: &Place| match *place {
                Place::Given(n) => self.given[n],
                Place::Made { stage, output } => self.made[stage][output],
            };
            let reads = stage.reads.iter().map(texture).collect();
            let text = program.glsl(stage);
            let made = self.gl.pass_into(&text, reads, program.texels, stage.writes as u32)?;
            self.made.push(made);
        }
        Ok(())
    }

    fn run(&mut self) -> Outcome<()> {
        self.gl.use_passes();
        let mut texel = [0.0f32; 4];
        // SAFETY: the frame of the last draw is bound, and the buffer has room for one texel.
        unsafe { self.gl.read([1, 1], bytemuck::cast_slice_mut(&mut texel)) };
        Ok(())
    }

    fn results(&mut self) -> Outcome<Vec<f32>> {
        let (Some(last), Some(made)) = (self.gl.passes.last(), self.made.last()) else {
            return Err("nothing was prepared".into());
        };
        let [across, down] = last.size;
        let mut all = Vec::new();
        for n in 0..made.len() {
            let mut values = vec![0.0f32; across * down * 4];
            // SAFETY: the frame of the last draw is bound and has so many textures, and there is room for all texels.
            unsafe {
                self.gl.gl.read_buffer(glow::COLOR_ATTACHMENT0 + n as u32);
                self.gl.read(last.size, bytemuck::cast_slice_mut(&mut values));
                self.gl.gl.read_buffer(glow::COLOR_ATTACHMENT0);
            }
            all.extend(values);
        }
        Ok(all)
    }
}

impl OnGl {
    /// Lets the textures of the program before go.
    fn drop_all(&mut self) {
        self.gl.passes.clear();
        for texture in self.given.drain(..).chain(self.made.drain(..).flatten()) {
            // SAFETY: the texture is this context's, and nothing draws any more.
            unsafe { self.gl.gl.delete_texture(texture) };
        }
    }
}
