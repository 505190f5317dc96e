//! Tells the program which RustFFT it is compared with, because the crate itself does not say its version, and which
//! compiler made it.

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
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(compiler)
        .arg("--version")
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let version = text.unwrap_or_else(|_| "rustc of unknown version".into());
    println!("cargo::rustc-env=RUSTC_VERSION={version}");
}
