//! Names the shared library: programs linked with `-lozfft_mpi_c` ask for this file.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libozfft_mpi_c.so.0");
    }
}
