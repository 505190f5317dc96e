//! Decides whether the vector units are compiled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(vector_unit)");
    let x86 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    // Fuzzing looks at planning and indexing; instrumenting the unrolled vector code takes minutes and finds nothing
    // that the comparison of bits does not.
    let fuzzing = std::env::var_os("CARGO_CFG_FUZZING").is_some();
    if x86 && !fuzzing {
        println!("cargo::rustc-cfg=vector_unit");
    }
}
