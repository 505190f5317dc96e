//! Compiles the kernels with the host's C++ compiler.

fn main() {
    let kernels = "../ozfft-kernels/cuda";
    println!("cargo::rerun-if-changed={kernels}");
    println!("cargo::rerun-if-changed=src");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        // Fibers jump between stacks, which this check takes for an error.
        .flag("-U_FORTIFY_SOURCE")
        .flag("-Wno-unknown-pragmas")
        .include(kernels)
        .file("src/launch.cpp")
        .file("src/launch_truncated.cpp")
        .compile("ozfft_emulated_kernels");
}
