//! Compiles the kernels with the host's C++ compiler.

fn main() {
    let kernels = "../ozfft-kernels/cuda";
    println!("cargo::rerun-if-changed={kernels}");
    println!("cargo::rerun-if-changed=src");
    let mut build = cc::Build::new();
    let (host, target) = (std::env::var("HOST"), std::env::var("TARGET"));
    if host == target {
        // Products of emulated tensor units are half of the time: they run where they were compiled, with all vectors there.
        build.flag_if_supported("-march=native");
    }
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        // Fibers jump between stacks, which this check takes for an error.
        .flag("-U_FORTIFY_SOURCE")
        // A GPU's integers wrap around, and it fuses no operations but those that are asked for.
        .flag("-fwrapv")
        .flag("-ffp-contract=off")
        .flag("-Wno-unknown-pragmas")
        // Kernels take structures of 64-byte alignment by value, which old compilers did in another way.
        .flag_if_supported("-Wno-psabi")
        // Loops whose length is not known are worth vectors too.
        .flag_if_supported("-fvect-cost-model=dynamic")
        .include(kernels)
        .file("src/general.cpp")
        .file("src/truncated.cpp")
        .file("src/residues.cpp")
        .file("src/residues_fp8.cpp")
        .file("src/tuned.cpp")
        .file("src/mixed.cpp")
        .file("src/real.cpp")
        .file("src/passes.cpp")
        .file("src/single.cpp")
        .file("src/few.cpp")
        .file("src/floats.cpp")
        .file("src/kulisch_sum.cpp")
        .file("src/kulisch_dot.cpp")
        .file("src/kulisch_spmv.cpp")
        .file("src/kulisch_gemv.cpp")
        .file("src/kulisch_stencil.cpp")
        .file("src/kulisch_naive.cpp")
        .file("src/faulty.cpp")
        .compile("ozfft_emulated_kernels");
}
