//! Tells the program which RustFFT it is compared with: the crate itself does not say its version.

fn main() {
    let lock = "../../Cargo.lock";
    println!("cargo::rerun-if-changed={lock}");
    let text = std::fs::read_to_string(lock).unwrap_or_default();
    let version = text
        .split("[[package]]")
        .find(|package| package.contains("name = \"rustfft\""))
        .and_then(|package| package.split("version = \"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .unwrap_or("of unknown version");
    println!("cargo::rustc-env=RUSTFFT_VERSION={version}");
}
