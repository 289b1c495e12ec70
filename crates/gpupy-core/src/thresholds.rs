//! Thresholds: from where one of two ways is taken. Each crate has its own in one struct of constants.
//!
//! Owns the macro [`thresholds!`](crate::thresholds!), which makes that struct, and `tuned`. A build with `--cfg
//! gpupy_tune`, as `cargo xtask tune` makes one, reads other values from the variable `GPUPY_TUNE` once:
//! `gpupy-engine.most_points=0,gpupy-engine.chain=9`. In any other build they are constants, and cost nothing.
//!
//! Not here: the thresholds themselves (`thresholds.rs` of each crate), what is timed (`benches/tune`).

/// The thresholds of a crate: a struct `Thresholds` with a field for each, and its one value `T`.
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

/// The value that `GPUPY_TUNE` gives a threshold, or its own.
#[cfg(gpupy_tune)]
pub fn tuned<V: std::str::FromStr>(name: &str, own: V) -> V {
    let given = std::env::var("GPUPY_TUNE").unwrap_or_default();
    let value = given.split(',').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (key == name).then(|| value.parse().ok()).flatten()
    });
    value.unwrap_or(own)
}
