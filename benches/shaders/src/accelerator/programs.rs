//! Six of the article's programs as shaders by hand, on square images of a size that is a multiple of four.
//!
//! Four pixels of a grey image are one texel, and so is a pixel in colour that is read at any place. Owns the
//! texts. The
//! algorithms are those of `examples/accelerator/`, in its order of operations.
//! Not here: the meaning of `VEC4` and the like (`stages.rs`).

use crate::accelerator::stages::{Place, Program, Stage};

/// A program by the name of its example, for images of so many pixels each way.
pub fn named(name: &str, size: usize) -> Option<Program> {
    let fours = [size / 4, size];
    let program = |texels, stages| Some(Program { texels, stages });
    match name {
        "life" => program(fours, vec![life()]),
        "demosaic" => program(fours, vec![demosaic()]),
        "convolve" => program(fours, convolve()),
        "rotate" => program([size, size], vec![rotate()]),
        "corners" => program(fours, corners()),
        "stereo" => program(fours, stereo()),
        _ => None,
    }
}

const GIVEN: Place = Place::Given(0);

fn life() -> Stage {
    // Three rows, each the sum of a cell, its left and its right neighbour.
    let row = |name: &str, y: &str| {
        format!(
            "    VEC4 {name} = T0(x, {y});
    VEC4 sum_{name} = vec4(T0(WHICH(x == 0, W - 1, x - 1), {y}).w, {name}.xyz) + {name} + vec4({name}.yzw, T0(WHICH(x == W - 1, 0, x + 1), {y}).x);
"
        )
    };
    let rows = row("above", "WHICH(y == 0, H - 1, y - 1)")
        + &row("here", "y")
        + &row("below", "WHICH(y == H - 1, 0, y + 1)");
    // With the cell itself: 3 live around it, or 2 and it lives.
    let text = rows
        + "    VEC4 nine = sum_above + sum_here + sum_below;
    VEC4 three = CHOOSE(abs(nine - 3.0), vec4(0.5), vec4(1.0), vec4(0.0));
    VEC4 four = CHOOSE(abs(nine - 4.0), vec4(0.5), here, vec4(0.0));
    o0 = three + four;
";
    Stage { reads: vec![GIVEN], writes: 1, text }
}

fn demosaic() -> Stage {
    let row = |name: &str, y: &str| {
        format!(
            "    INT y_{name} = {y};
    VEC4 {name} = T0(x, y_{name});
    VEC4 l_{name} = PICK(x == 0, {name}.xwzy, T0(max(x - 1, 0), y_{name}));
    VEC4 r_{name} = PICK(x == W - 1, {name}.zyxw, T0(min(x + 1, W - 1), y_{name}));
    VEC4 beside_{name} = vec4(l_{name}.w, {name}.xyz) + vec4({name}.yzw, r_{name}.x);
"
        )
    };
    let rows =
        row("above", "abs(y - 1)") + &row("raw", "y") + &row("below", "min(y + 1, 2 * H - 3 - y)");
    let text = rows
        + "    VEC4 far_beside = vec4(l_raw.zw, raw.xy) + vec4(raw.zw, r_raw.xy);
    VEC4 far_above_below = T0(x, abs(y - 2)) + T0(x, min(y + 2, 2 * H - 4 - y));
    VEC4 above_below = above + below;
    VEC4 diagonal = beside_above + beside_below;
    VEC4 plus = (4.0 * raw + 2.0 * (beside_raw + above_below) - (far_beside + far_above_below)) * 0.125;
    VEC4 of_row = (5.0 * raw + 4.0 * beside_raw - diagonal - far_beside + 0.5 * far_above_below) * 0.125;
    VEC4 of_column = (5.0 * raw + 4.0 * above_below - diagonal - far_above_below + 0.5 * far_beside) * 0.125;
    VEC4 opposite = (6.0 * raw + 2.0 * diagonal - 1.5 * (far_beside + far_above_below)) * 0.125;
    VEC4 red = PICK((y & 1) == 0, vec4(raw.x, of_row.y, raw.z, of_row.w), vec4(of_column.x, opposite.y, of_column.z, opposite.w));
    VEC4 green = PICK((y & 1) == 0, vec4(plus.x, raw.y, plus.z, raw.w), vec4(raw.x, plus.y, raw.z, plus.w));
    VEC4 blue = PICK((y & 1) == 0, vec4(opposite.x, of_column.y, opposite.z, of_column.w), vec4(of_row.x, raw.y, of_row.z, raw.w));
    o0 = clamp(red, vec4(0.0), vec4(255.0));
    o1 = clamp(green, vec4(0.0), vec4(255.0));
    o2 = clamp(blue, vec4(0.0), vec4(255.0));
";
    Stage { reads: vec![GIVEN], writes: 3, text }
}

fn convolve() -> Vec<Stage> {
    let down =
        "    o0 = 0.0625 * T0(x, max(y - 2, 0)) + 0.25 * T0(x, max(y - 1, 0)) + 0.375 * T0(x, y)
        + 0.25 * T0(x, min(y + 1, H - 1)) + 0.0625 * T0(x, min(y + 2, H - 1));
";
    let across = "    VEC4 c = T0(x, y);
    VEC4 l = PICK(x == 0, c.xxxx, T0(max(x - 1, 0), y));
    VEC4 r = PICK(x == W - 1, c.wwww, T0(min(x + 1, W - 1), y));
    o0 = 0.0625 * vec4(l.zw, c.xy) + 0.25 * vec4(l.w, c.xyz) + 0.375 * c
        + 0.25 * vec4(c.yzw, r.x) + 0.0625 * vec4(c.zw, r.xy);
";
    let reads = [GIVEN, Place::Made { stage: 0, output: 0 }];
    let stages = reads.into_iter().zip([down, across]);
    stages
        .map(|(read, text)| Stage { reads: vec![read], writes: 1, text: text.to_owned() })
        .collect()
}

fn rotate() -> Stage {
    let (sine, cosine) = 10.0_f64.to_radians().sin_cos();
    let (less, sine) = ((cosine - 1.0) as f32, sine as f32);
    let text = format!(
        "    FLOAT i = REAL(y) - REAL(H - 1) * 0.5;
    FLOAT j = REAL(x) - REAL(W - 1) * 0.5;
    FLOAT down = {less:?} * i - {sine:?} * j;
    FLOAT right = {sine:?} * i + {less:?} * j;
    FLOAT rows = floor(down);
    FLOAT columns = floor(right);
    FLOAT lower = down - rows;
    FLOAT righter = right - columns;
    INT row = y + WHOLE(rows);
    INT column = x + WHOLE(columns);
    INT top = clamp(row, 0, H - 2);
    INT left = clamp(column, 0, W - 2);
    VEC4 above = (1.0 - righter) * T0(left, top) + righter * T0(left + 1, top);
    VEC4 below = (1.0 - righter) * T0(left, top + 1) + righter * T0(left + 1, top + 1);
    o0 = PICK(row == top && column == left, (1.0 - lower) * above + lower * below, vec4(0.0));
"
    );
    Stage { reads: vec![GIVEN], writes: 1, text }
}

/// The image smoothed, products of its derivatives, these smoothed, and their eigenvalues.
fn corners() -> Vec<Stage> {
    let made = |stage, outputs| (0..outputs).map(|output| Place::Made { stage, output }).collect();
    let mut stages = convolve();
    // A pixel at an edge is its own neighbour beyond it, and the difference is not halved.
    let products = "    VEC4 c = T0(x, y);
    VEC4 l = PICK(x == 0, c.xxxx, T0(max(x - 1, 0), y));
    VEC4 r = PICK(x == W - 1, c.wwww, T0(min(x + 1, W - 1), y));
    VEC4 first = PICK(x == 0, vec4(1.0, 0.5, 0.5, 0.5), vec4(0.5));
    VEC4 last = PICK(x == W - 1, vec4(1.0, 1.0, 1.0, 2.0), vec4(1.0));
    VEC4 scale = PICK(y == 0 || y == H - 1, vec4(1.0), vec4(0.5));
    VEC4 right = (vec4(c.yzw, r.x) - vec4(l.w, c.xyz)) * (first * last);
    VEC4 down = (T0(x, min(y + 1, H - 1)) - T0(x, max(y - 1, 0))) * scale;
    o0 = down * down;
    o1 = right * right;
    o2 = down * right;
";
    stages.push(Stage { reads: made(1, 1), writes: 3, text: products.to_owned() });
    const NINE: [f32; 9] = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0];
    let sum = |parts: Vec<String>| parts.join("\n        + ");
    let mut down = String::new();
    for n in 0..3 {
        let row =
            |k: usize| format!("{:?} * T{n}(x, clamp(y + {k} - 4, 0, H - 1))", NINE[k] / 256.0);
        down += &format!("    o{n} = {};\n", sum((0..9).map(row).collect()));
    }
    stages.push(Stage { reads: made(2, 3), writes: 3, text: down });
    let mut across = String::new();
    for n in 0..3 {
        let near = ["l0", "vec4(l0.yzw, c0.x)", "vec4(l0.zw, c0.xy)", "vec4(l0.w, c0.xyz)", "c0"];
        let far = ["vec4(c0.yzw, r0.x)", "vec4(c0.zw, r0.xy)", "vec4(c0.w, r0.xyz)", "r0"];
        let texels = near.iter().chain(&far).zip(NINE);
        let texels = texels.map(|(texel, tap)| {
            format!("{:?} * {}", tap / 256.0, texel.replace('0', &n.to_string()))
        });
        across += &format!(
            "    VEC4 c{n} = T{n}(x, y);
    VEC4 l{n} = PICK(x == 0, c{n}.xxxx, T{n}(max(x - 1, 0), y));
    VEC4 r{n} = PICK(x == W - 1, c{n}.wwww, T{n}(min(x + 1, W - 1), y));
    VEC4 blurred{n} = {};
",
            sum(texels.collect())
        );
    }
    across += "    VEC4 mean = (blurred0 + blurred1) * 0.5;
    VEC4 part = (blurred0 - blurred1) * 0.5;
    VEC4 apart = sqrt(part * part + blurred2 * blurred2);
    o0 = 0.5 * (mean + apart) + (mean - apart);
";
    stages.push(Stage { reads: made(3, 3), writes: 1, text: across });
    stages
}

/// Four offsets at a time: squared differences summed down into four arrays, then across, where the least so
/// far is kept.
fn stereo() -> Vec<Stage> {
    let mut stages = Vec::new();
    for group in 0..4 {
        stages.push(Stage {
            reads: vec![GIVEN, Place::Given(1)],
            writes: 4,
            text: sums_down(group),
        });
        let sums = stages.len() - 1;
        let mut reads: Vec<Place> =
            (0..4).map(|output| Place::Made { stage: sums, output }).collect();
        if group > 0 {
            reads.extend([0, 1].map(|output| Place::Made { stage: sums - 1, output }));
        }
        stages.push(Stage { reads, writes: 2, text: least_across(group) });
    }
    stages
}

fn sums_down(group: usize) -> String {
    let mut text = String::new();
    for k in 0..7 {
        // Left of the image it is as its first pixel.
        text += &format!(
            "    INT y{k} = clamp(y + {k} - 3, 0, H - 1);
    VEC4 left{k} = T0(x, y{k});
    VEC4 near{k} = PICK(x < {group}, T1(0, y{k}).xxxx, T1(max(x - {group}, 0), y{k}));
    VEC4 far{k} = PICK(x < {next}, T1(0, y{k}).xxxx, T1(max(x - {next}, 0), y{k}));
    VEC4 a{k} = left{k} - near{k};
    VEC4 b{k} = left{k} - vec4(far{k}.w, near{k}.xyz);
    VEC4 c{k} = left{k} - vec4(far{k}.zw, near{k}.xy);
    VEC4 d{k} = left{k} - vec4(far{k}.yzw, near{k}.x);
",
            next = group + 1
        );
    }
    for (n, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let squares: Vec<String> = (0..7).map(|k| format!("{name}{k} * {name}{k}")).collect();
        text += &format!("    o{n} = {};\n", squares.join(" + "));
    }
    text
}

fn least_across(group: usize) -> String {
    let (mut nearest, mut least) = match group {
        0 => ("vec4(0.0)".to_owned(), "vec4(1e30)".to_owned()),
        _ => ("T4(x, y)".to_owned(), "T5(x, y)".to_owned()),
    };
    let mut text = String::new();
    for k in 0..4 {
        text += &format!(
            "    VEC4 c{k} = T{k}(x, y);
    VEC4 l{k} = PICK(x == 0, c{k}.xxxx, T{k}(max(x - 1, 0), y));
    VEC4 r{k} = PICK(x == W - 1, c{k}.wwww, T{k}(min(x + 1, W - 1), y));
    VEC4 cost{k} = vec4(l{k}.yzw, c{k}.x) + vec4(l{k}.zw, c{k}.xy) + vec4(l{k}.w, c{k}.xyz) + c{k}
        + vec4(c{k}.yzw, r{k}.x) + vec4(c{k}.zw, r{k}.xy) + vec4(c{k}.w, r{k}.xyz);
    VEC4 before{k} = {least};
    VEC4 nearest{k} = CHOOSE(cost{k}, before{k}, vec4({offset:?}), {nearest});
    VEC4 least{k} = min(cost{k}, before{k});
",
            offset = (4 * group + k) as f32
        );
        (nearest, least) = (format!("nearest{k}"), format!("least{k}"));
    }
    text + &format!("    o0 = {nearest};\n    o1 = {least};\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_is_a_shader_and_reads_what_is_there() {
        use naga::valid::{Capabilities, ValidationFlags, Validator};
        let mut seen = 0;
        for name in ["life", "demosaic", "convolve", "rotate", "corners", "stereo"] {
            let program = named(name, 64).expect(name);
            for (number, stage) in program.stages.iter().enumerate() {
                let text = program.wgsl(stage);
                let module =
                    naga::front::wgsl::parse_str(&text).map_err(|e| e.emit_to_string(&text));
                let module = module.unwrap_or_else(|error| panic!("{name}, {number}: {error}"));
                let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
                let valid = validator.validate(&module);
                assert!(valid.is_ok(), "{name}, {number}: {:?}\n{text}", valid.err());
                for place in &stage.reads {
                    if let Place::Made { stage: from, output } = *place {
                        assert!(
                            from < number && output < program.stages[from].writes,
                            "{name}, {number}"
                        );
                    }
                }
                seen += 1;
            }
        }
        assert_eq!(seen, 18);
        assert!(named("nothing", 64).is_none());
    }
}
