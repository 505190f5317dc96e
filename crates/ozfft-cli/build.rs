//! Tells the program which RustFFT and which crates for sums it is compared with, because the crates themselves do not say
//! their versions, and which compiler made it.

fn main() {
    let lock = "../../Cargo.lock";
    println!("cargo::rerun-if-changed={lock}");
    let text = std::fs::read_to_string(lock).unwrap_or_default();
    for (name, variable) in [
        ("rustfft", "RUSTFFT_VERSION"),
        ("xsum", "XSUM_VERSION"),
        ("accurate", "ACCURATE_VERSION"),
    ] {
        let version = text
            .split("[[package]]")
            .find(|package| package.contains(&format!("name = \"{name}\"")))
            .and_then(|package| package.split("version = \"").nth(1))
            .and_then(|rest| rest.split('"').next())
            .unwrap_or("of unknown version");
        println!("cargo::rustc-env={variable}={version}");
    }
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(compiler)
        .arg("--version")
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let version = text.unwrap_or_else(|_| "rustc of unknown version".into());
    println!("cargo::rustc-env=RUSTC_VERSION={version}");
}
