//! Thresholds: the sizes at which one algorithm takes over from another. Each crate has one struct of them.
//!
//! Owns the macro [`thresholds!`](crate::thresholds!), which defines that struct, and `tuned`. A build with `--cfg
//! gpupy_tune`, as `cargo xtask tune` makes, reads values once from the variable `GPUPY_TUNE`:
//! `gpupy-engine.most_points=0,gpupy-engine.chain=9`. In other builds thresholds are constants, without cost.
//!
//! Not here: the thresholds themselves (`thresholds.rs` of each crate), the timed work (`benches/tune`).

/// Defines the thresholds of a crate: a struct `Thresholds` with a field for each, and its value `T`.
#[macro_export]
macro_rules! thresholds {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty = $value:expr,)*) => {
        /// The thresholds of this crate.
        pub(crate) struct Thresholds {
            $($(#[doc = $doc])* pub $name: $type,)*
        }

        /// The thresholds in use.
        #[cfg(not(gpupy_tune))]
        pub(crate) const T: Thresholds = Thresholds { $($name: $value,)* };

        /// The thresholds in use.
        #[cfg(gpupy_tune)]
        pub(crate) static T: std::sync::LazyLock<Thresholds> =
            std::sync::LazyLock::new(|| Thresholds {
                $($name: $crate::thresholds::tuned(
                    concat!(env!("CARGO_PKG_NAME"), ".", stringify!($name)),
                    $value,
                ),)*
            });
    };
}

/// The value of a threshold in `GPUPY_TUNE`, or its default.
#[cfg(gpupy_tune)]
pub fn tuned<V: std::str::FromStr>(name: &str, own: V) -> V {
    let given = std::env::var("GPUPY_TUNE").unwrap_or_default();
    let value = given.split(',').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (key == name).then(|| value.parse().ok()).flatten()
    });
    value.unwrap_or(own)
}
