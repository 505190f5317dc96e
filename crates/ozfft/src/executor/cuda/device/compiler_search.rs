//! Where CUDA's compiler as a library (NVRTC) may lie on a machine: toolkits, and packages of Python, whoever brought them.

use crate::sync::lock;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Names of the library, by the loader's own search.
const NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// Folders of Python packages that a program has named.
static NAMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Looks for CUDA's compiler (NVRTC) in these folders of Python packages as well, such as `…/site-packages`: packages of PyPI have it in
/// `nvidia/*/lib`, older ones of PyTorch in `torch/lib`. It is looked for when a plan first needs it; folders that are named after that
/// come too late. Later calls replace earlier ones.
///
/// The Python package of ozfft names those of its interpreter. Programs that know none need not call this: active environments, the
/// system's Python and the user's are looked at in any case.
pub fn look_for_cuda_compiler_in(packages: &[PathBuf]) {
    *lock(&NAMED) = packages.to_vec();
}

/// What decides where the library is looked for.
struct Machine<'a> {
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    packages: &'a [PathBuf],
    root: &'a Path,
}

/// Where the library may be on this machine, in the order of trial.
pub(crate) fn candidates() -> Vec<PathBuf> {
    let named = lock(&NAMED).clone();
    let machine = Machine {
        variable: &|name| std::env::var_os(name),
        packages: &named,
        root: Path::new("/"),
    };
    machine.candidates()
}

impl Machine<'_> {
    fn folder_of(&self, variable: &str) -> Option<PathBuf> {
        let value = (self.variable)(variable).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    }

    /// The loader's folders, toolkits, packages of the program's Python, those of active environments, the user's and the system's.
    fn candidates(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let toolkits = ["CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"];
        for root in toolkits.iter().filter_map(|name| self.folder_of(name)) {
            folders
                .extend(["lib64", "lib", "targets/x86_64-linux/lib"].map(|part| root.join(part)));
        }
        folders.push(self.root.join("usr/local/cuda/lib64"));
        let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].map(|name| self.folder_of(name));
        let user = self.folder_of("HOME").map(|home| home.join(".local"));
        let system = ["usr/local", "usr"].map(|part| Some(self.root.join(part)));
        let pythons = environments.into_iter().chain([user]).chain(system);
        let installed = pythons.flatten().flat_map(|root| packages_below(&root));
        for packages in self.packages.iter().cloned().chain(installed) {
            let of_nvidia = entries(&packages.join("nvidia"));
            folders.extend(of_nvidia.into_iter().map(|package| package.join("lib")));
            folders.push(packages.join("torch/lib"));
        }
        let mut found: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
        for library in folders.iter().flat_map(|folder| libraries(folder)) {
            if !found.contains(&library) {
                found.push(library);
            }
        }
        found
    }
}

/// Folders of packages of every Python that is installed below a folder.
fn packages_below(root: &Path) -> Vec<PathBuf> {
    let is_python = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("python3")
    };
    let pythons = entries(&root.join("lib")).into_iter().filter(is_python);
    // The second is Debian's name for packages that are not its own.
    pythons
        .flat_map(|python| ["site-packages", "dist-packages"].map(|part| python.join(part)))
        .collect()
}

/// The library in a folder under its usual names, then under those that packages give their own copies (`libnvrtc-….so.12`).
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let usual = NAMES.map(|name| folder.join(name));
    let mut found: Vec<PathBuf> = usual.into_iter().filter(|path| path.exists()).collect();
    found.extend(entries(folder).into_iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libnvrtc-") && name.contains(".so") && !name.contains("builtins")
    }));
    found
}

/// What is in a folder, in the order of names; nothing where there is none.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system with a library in each of these places.
    fn tree(name: &str, libraries: &[&str]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("ozfft-nvrtc-{name}-{}", std::process::id()));
        for library in libraries {
            let path = root.join(library);
            fs::create_dir_all(path.parent().unwrap()).expect("a folder");
            fs::write(path, b"").expect("a file");
        }
        root
    }

    /// The libraries that are found, without the loader's names, relative to the root.
    fn found(root: &Path, variables: &[(&str, &str)], packages: &[&str]) -> Vec<String> {
        let packages: Vec<PathBuf> = packages.iter().map(|path| root.join(path)).collect();
        let machine = Machine {
            variable: &|name| {
                let known = variables.iter().find(|(known, _)| *known == name);
                known.map(|(_, folder)| root.join(folder).into_os_string())
            },
            packages: &packages,
            root,
        };
        let all = machine.candidates();
        assert_eq!(all[..3], NAMES.map(PathBuf::from));
        let relative = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
        all[3..].iter().map(relative).collect()
    }

    /// Without an active environment nothing of Python was looked at before, so that containers and users' packages fell to the portable
    /// kernel.
    #[test]
    fn packages_of_the_system_and_of_the_user_are_found_without_an_environment() {
        let of_user =
            "home/me/.local/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
        let of_container = "usr/local/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13";
        let of_debian = "usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
        let root = tree("system", &[of_user, of_container, of_debian]);
        let all = found(&root, &[("HOME", "home/me")], &[]);
        assert_eq!(all, [of_user, of_container, of_debian]);
        assert_eq!(found(&root, &[], &[]), [of_container, of_debian]);
        fs::remove_dir_all(root).expect("the folder is there");
    }

    #[test]
    fn toolkits_come_first_then_the_programs_packages_then_environments() {
        let of_toolkit = "opt/cuda/lib64/libnvrtc.so.12";
        let usual = "usr/local/cuda/lib64/libnvrtc.so";
        let named = "opt/python/site-packages/nvidia/cu13/lib/libnvrtc.so.13";
        let of_torch = "opt/python/site-packages/torch/lib/libnvrtc-672ee683.so.11.2";
        let of_environment =
            "venv/lib/python3.13/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
        let root = tree(
            "order",
            &[
                of_toolkit,
                usual,
                named,
                of_torch,
                "opt/python/site-packages/torch/lib/libnvrtc-builtins.so.11.8",
                of_environment,
            ],
        );
        let variables = [("CUDA_HOME", "opt/cuda"), ("VIRTUAL_ENV", "venv")];
        let all = found(&root, &variables, &["opt/python/site-packages"]);
        assert_eq!(all, [of_toolkit, usual, named, of_torch, of_environment]);
        // An environment that is named in two ways is tried once.
        let twice = found(&root, &variables, &["venv/lib/python3.13/site-packages"]);
        assert_eq!(twice, [of_toolkit, usual, of_environment]);
        fs::remove_dir_all(root).expect("the folder is there");
    }
}
