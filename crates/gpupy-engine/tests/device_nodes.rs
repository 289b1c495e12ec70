//! Whether a system shows a GPU, by the nodes below a folder that stands for its root.
#![allow(clippy::unwrap_used)]

use gpupy_engine::device_nodes::shown_below;
use std::fs;
use std::path::PathBuf;

/// A folder with these files in it, which goes when the test ends.
struct Root(PathBuf);

impl Root {
    fn with(name: &str, files: &[&str]) -> Root {
        let root = std::env::temp_dir().join(format!("gpupy-nodes-{}-{name}", std::process::id()));
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        Root(root)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_gpu_is_seen_by_its_node_and_by_nothing_else() {
    let check = |name: &str, files: &[&str], want: bool| {
        let root = Root::with(name, files);
        assert_eq!(shown_below(&root.0), want, "{files:?}");
    };
    check("nothing", &[], false);
    check("plain", &["dev/null", "dev/zero", "dev/shm/nvidia"], false);
    check("empty", &["dev/dri/by-path/x", "dev/null"], false);
    check("render", &["dev/dri/renderD128"], true);
    check("card", &["dev/dri/card0", "dev/null"], true);
    check("nvidia", &["dev/nvidia0", "dev/nvidiactl"], true);
    check("windows", &["dev/null", "dev/dxg"], true);
    check("qualcomm", &["dev/kgsl-3d0"], true);
    check("arm", &["dev/mali0"], true);
    check("elsewhere", &["nvidia0", "run/dri/card0"], false);
}
