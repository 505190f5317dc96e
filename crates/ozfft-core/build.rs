//! Decides whether the vector units are compiled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(vector_unit)");
    println!("cargo::rustc-check-cfg=cfg(neon_unit)");
    let target = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    // Fuzzing looks at planning and indexing; instrumenting the unrolled vector code takes minutes and finds nothing
    // that the comparison of bits does not.
    let fuzzing = std::env::var_os("CARGO_CFG_FUZZING").is_some();
    if target == "x86_64" && !fuzzing {
        println!("cargo::rustc-cfg=vector_unit");
    }
    if target == "aarch64" && !fuzzing {
        println!("cargo::rustc-cfg=neon_unit");
    }
}
