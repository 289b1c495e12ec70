//! The stages of a program by hand, and their text in GLSL and in WGSL.
//!
//! Owns [`Stage`] and [`Program`]. A text is written once, in the common part of both languages: swizzles,
//! constructors and functions. `VEC4`, `INT` and `FLOAT` declare constants, `REAL(…)` and `WHOLE(…)` are the
//! conversions; `T0(x, y)` is a texel of the first array that is read, `x` and `y` are the place that is
//! written, `o0 = …` writes it; `CHOOSE(a, b, c, d)` is `c` where `a < b` and otherwise `d`, `PICK(p, a, b)` is
//! `a` if `p` holds and otherwise `b`, and so is `WHICH` for integers. Invariant: every array of a program has
//! as many texels of four numbers, across and down. Not here: the programs (`programs.rs`), and running them
//! (`on_gl.rs`, `on_vulkan.rs`).

/// Invocations of a group, across and down.
const GROUP: [usize; 2] = [256, 1];

/// An array that a stage reads.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// One that is given.
    Given(usize),
    /// One that a stage has written.
    Made {
        /// Which stage.
        stage: usize,
        /// Which of those that it writes.
        output: usize,
    },
}

/// One draw, or dispatch.
pub struct Stage {
    /// The arrays that it reads.
    pub reads: Vec<Place>,
    /// How many arrays it writes.
    pub writes: usize,
    /// The inside of its main function.
    pub text: String,
}

/// Stages, the last of which writes the result.
pub struct Program {
    /// Texels across and down.
    pub texels: [usize; 2],
    /// In the order in which they run.
    pub stages: Vec<Stage>,
}

impl Program {
    /// The fragment shader of a stage.
    pub fn glsl(&self, stage: &Stage) -> String {
        let [across, down] = self.texels;
        let mut text = format!("#version 400 core\nconst int W = {across}, H = {down};\n");
        for n in 0..stage.reads.len() {
            text += &format!(
                "uniform sampler2D t{n};\n\
                 vec4 T{n}(int x, int y) {{ return texelFetch(t{n}, ivec2(x, y), 0); }}\n"
            );
        }
        for n in 0..stage.writes {
            text += &format!("layout(location = {n}) out vec4 o{n};\n");
        }
        text += "#define CHOOSE(a, b, c, d) mix(d, c, lessThan(a, b))\n#define PICK(p, a, b) ((p) ? a : b)\n\
                 #define WHICH(p, a, b) ((p) ? a : b)\n";
        let body = [
            ("VEC4 ", "vec4 "),
            ("INT ", "int "),
            ("FLOAT ", "float "),
            ("REAL(", "float("),
            ("WHOLE(", "int("),
        ]
        .iter()
        .fold(stage.text.clone(), |text, (word, by)| text.replace(word, by));
        text + "void main() {\n    int x = int(gl_FragCoord.x), y = int(gl_FragCoord.y);\n"
            + &body
            + "}\n"
    }

    /// The compute shader of a stage: bindings are the arrays that it reads, then those that it writes.
    pub fn wgsl(&self, stage: &Stage) -> String {
        let [across, down] = self.texels;
        let mut text = format!("const W = {across};\nconst H = {down};\n");
        let binding = |n: usize, access: &str, name: String| {
            format!("@group(0) @binding({n}) var<storage, {access}> {name}: array<vec4<f32>>;\n")
        };
        for n in 0..stage.reads.len() {
            text += &binding(n, "read", format!("t{n}"));
            text +=
                &format!("fn T{n}(x: i32, y: i32) -> vec4<f32> {{ return t{n}[y * W + x]; }}\n");
        }
        for n in 0..stage.writes {
            text += &binding(n + stage.reads.len(), "read_write", format!("o{n}"));
        }
        text += "fn CHOOSE(a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>) -> vec4<f32> { return select(d, c, a < b); }
fn PICK(p: bool, a: vec4<f32>, b: vec4<f32>) -> vec4<f32> { return select(b, a, p); }
fn WHICH(p: bool, a: i32, b: i32) -> i32 { return select(b, a, p); }
";
        let [group_across, group_down] = GROUP;
        let declare = ["VEC4 ", "INT ", "FLOAT "];
        let body = declare.iter().fold(stage.text.clone(), |text, word| text.replace(word, "let "));
        let body = (0..stage.writes)
            .fold(body, |text, n| text.replace(&format!("o{n} ="), &format!("o{n}[at] =")));
        let body = body.replace("REAL(", "f32(").replace("WHOLE(", "i32(");
        format!(
            "{text}@compute @workgroup_size({group_across}, {group_down})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let x = i32(id.x);
    let y = i32(id.y);
    if (x >= W || y >= H) {{ return; }}
    let at = y * W + x;
{body}}}
"
        )
    }

    /// Groups of a dispatch.
    pub fn groups(&self) -> [u32; 3] {
        let [across, down] = [0, 1].map(|axis| self.texels[axis].div_ceil(GROUP[axis]) as u32);
        [across, down, 1]
    }
}
