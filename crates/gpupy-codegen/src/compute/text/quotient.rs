//! Functions for integer division in kernels: `quotient` for one number, `quotients` for four; `quotient_large` and
//! `quotients_large` for numbers above 2^22.
//!
//! Not here: their calls (`map.rs`).

use crate::compute::kernel_features::Language;

/// The definitions of the functions that `main` calls.
pub(crate) fn definitions(language: Language, main: &str) -> String {
    let called = QUOTIENTS.iter().filter(|q| q.language == language && main.contains(q.call));
    called.map(|q| q.definition).collect()
}

/// A division function.
struct QuotientFunction {
    language: Language,
    /// The text that begins a call of it.
    call: &'static str,
    definition: &'static str,
}

/// Quotients of non-negative numbers, computed by the divisor's reciprocal: integer division is slow, most of all on
/// CPUs. An estimate is at most one off for numbers below 2^22. A larger number takes a second estimate, of the first
/// one's remainder.
const QUOTIENTS: &[QuotientFunction] = &[
    QuotientFunction {
        language: Language::Glsl,
        call: "quotient(",
        definition: "int quotient(int n, int d, float r) { int q = int(float(n) * r); \
            int m = n - q * d; return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }\n",
    },
    QuotientFunction {
        language: Language::Glsl,
        call: "quotients(",
        definition: "ivec4 quotients(ivec4 n, int d, float r) { \
            ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; \
            return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }\n",
    },
    QuotientFunction {
        language: Language::Glsl,
        call: "quotient_large(",
        definition: "int quotient_large(int n, int d, float r) { int q = int(float(n) * r); \
            int m = n - q * d; q += int(floor(float(m) * r)); m = n - q * d; \
            return q + (m < 0 ? -1 : (m >= d ? 1 : 0)); }\n",
    },
    QuotientFunction {
        language: Language::Glsl,
        call: "quotients_large(",
        definition: "ivec4 quotients_large(ivec4 n, int d, float r) { \
            ivec4 q = ivec4(vec4(n) * r); ivec4 m = n - q * d; \
            q += ivec4(floor(vec4(m) * r)); m = n - q * d; \
            return q - ivec4(lessThan(m, ivec4(0))) + ivec4(greaterThanEqual(m, ivec4(d))); }\n",
    },
    QuotientFunction {
        language: Language::Wgsl,
        call: "quotient(",
        definition: "fn quotient(n: i32, d: i32, r: f32) -> i32 { let q = i32(f32(n) * r); \
            let m = n - q * d; return q + select(select(0, 1, m >= d), -1, m < 0); }\n",
    },
    QuotientFunction {
        language: Language::Wgsl,
        call: "quotients(",
        definition: "fn quotients(n: vec4<i32>, d: i32, r: f32) -> vec4<i32> { \
            let q = vec4<i32>(vec4<f32>(n) * r); let m = n - q * d; \
            return q - vec4<i32>(m < vec4<i32>(0)) + vec4<i32>(m >= vec4<i32>(d)); }\n",
    },
    QuotientFunction {
        language: Language::Wgsl,
        call: "quotient_large(",
        definition: "fn quotient_large(n: i32, d: i32, r: f32) -> i32 { \
            var q = i32(f32(n) * r); var m = n - q * d; q += i32(floor(f32(m) * r)); \
            m = n - q * d; return q + select(select(0, 1, m >= d), -1, m < 0); }\n",
    },
    QuotientFunction {
        language: Language::Wgsl,
        call: "quotients_large(",
        definition: "fn quotients_large(n: vec4<i32>, d: i32, r: f32) -> vec4<i32> { \
            var q = vec4<i32>(vec4<f32>(n) * r); var m = n - q * d; \
            q += vec4<i32>(floor(vec4<f32>(m) * r)); m = n - q * d; \
            return q - vec4<i32>(m < vec4<i32>(0)) + vec4<i32>(m >= vec4<i32>(d)); }\n",
    },
];
