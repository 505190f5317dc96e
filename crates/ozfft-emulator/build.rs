//! Compiles the kernels with the host's C++ compiler.

mod sample;

use ozfft_kernels::template::{Block, KernelSpec, Listed, Number, listed};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Kernels of a file: what a compiler takes seconds for.
const KERNELS_OF_A_FILE: usize = 16;

/// Writes the sample's source, and the list of its kernels' names.
fn write_template(folder: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-env-changed=OZFFT_EVERYTHING");
    let everything = std::env::var_os("OZFFT_EVERYTHING").is_some();
    let kernels = sample::Sample::kernels(everything);
    let written = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the build's folder can be written to");
        path
    };
    let mut names = String::new();
    let mut declarations = String::new();
    let mut calls = String::new();
    let mut files = Vec::new();
    for (file, specs) in kernels.chunks(KERNELS_OF_A_FILE).enumerate() {
        let mut kernels = String::from(
            "#include \"passes/bailey_convolution.cuh\"\n#include \"block/bailey_f16.cuh\"\n#include \"block/bailey_fewer.cuh\"\n#include \"block/bailey_fp8.cuh\"\n#include \"passes/bailey_long.cuh\"\n#include \"passes/bailey_real_passes.cuh\"\n#include \"block/bailey_single.cuh\"\n#include \"block/bailey_three.cuh\"\n#include \"block/bailey_wgmma.cuh\"\n#include \"launch.h\"\n",
        );
        let mut table = String::new();
        for (count, (spec, conversions)) in specs.iter().enumerate() {
            let name = spec.name(*conversions);
            // Every source declares a type `Shape`.
            let source = spec.source(*conversions);
            writeln!(kernels, "namespace shape_{count} {{\n{source}}}").expect("a string");
            let parameters = spec.parameters();
            writeln!(
                table,
                "        {{{name:?}, launch_kernel<{parameters}, shape_{count}::{name}>}},"
            )
            .expect("a string");
            writeln!(names, "    {name:?},").expect("a string");
        }
        let signature = format!(
            "extern \"C\" bool ozfft_emulate_template_{file}(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes)"
        );
        write!(
            kernels,
            "{signature} {{\n\
             \u{20}   static const NamedKernel kernels[] = {{\n{table}    }};\n\
             \u{20}   return launch_named(kernels, name, parameters, blocks, threads, shared_bytes);\n}}\n"
        )
        .expect("a string");
        writeln!(declarations, "{signature};").expect("a string");
        write!(
            calls,
            " || ozfft_emulate_template_{file}(name, parameters, blocks, threads, shared_bytes)"
        )
        .expect("a string");
        let kernels = in_namespace(&kernels);
        files.push(written(&format!("template_{file}.cpp"), &kernels));
    }
    let all = format!(
        "#include <cstddef>\n#include <cstdint>\n{declarations}\
         extern \"C\" bool ozfft_emulate_template(const char *name, const void *parameters, uint64_t blocks, int threads, size_t shared_bytes) {{\n\
         \u{20}   return false{calls};\n}}\n"
    );
    files.push(written("template.cpp", &all));
    written("template_names.rs", &format!("[\n{names}]"));
    files.push(written("template_shapes.cpp", &in_namespace(&assertions())));
    files
}

/// What the host knows of every length of the list, at both sizes of shared memory, is what the kernels' source says.
fn assertions() -> String {
    let mut asserts = String::from(
        "#include \"block/bailey_f16.cuh\"\n#include \"block/bailey_fewer.cuh\"\n#include \"block/bailey_fp8.cuh\"\n#include \"block/bailey_wgmma.cuh\"\n",
    );
    let one_more = Number::DoubleFewer {
        digits: 5,
        diagonals: 6,
    };
    let numbers = [
        Number::Double,
        Number::fewer(3),
        Number::fewer(6),
        one_more,
        Number::DoubleFp8,
        Number::DoubleF16,
        Number::DoubleWgmma,
    ];
    for (Listed { steps, strided, .. }, number) in
        listed().flat_map(|entry| numbers.map(|number| (entry, number)))
    {
        for kilobytes in [227, 99] {
            let found = KernelSpec::new(Block { steps }, number, strided, kilobytes << 10);
            // Warps that multiply together need room for the tables, which Hopper has.
            let Some(spec) = found else {
                assert_eq!((number, kilobytes), (Number::DoubleWgmma, 99), "{steps:?}");
                continue;
            };
            writeln!(
                asserts,
                "static_assert({shape}::THREADS == {} && {shape}::SHARED == {}, \"KernelSpec\");",
                spec.threads(),
                spec.shared_bytes(),
                shape = spec.type_name()
            )
            .expect("a string");
        }
    }
    asserts
}

/// A translation unit for every file of `src`, or for those of linear algebra.
fn write_units(folder: &Path, all: bool) -> Vec<PathBuf> {
    let files = std::fs::read_dir("src").expect("the sources");
    let names = files.map(|file| file.expect("an entry").file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".cpp") && (all || name.starts_with("ozaki")));
    names.sort();
    let unit_of = |name: &String| {
        let unit = folder.join(format!("unit_{name}"));
        let text = in_namespace(&format!("#include \"{name}\"\n"));
        std::fs::write(&unit, text).expect("the build's folder can be written to");
        unit
    };
    names.iter().map(unit_of).collect()
}

/// Sources in an anonymous namespace, after the headers of the system that they include: kernels of two files may have functions and types
/// of one name, of which the linker would otherwise take either one for both.
fn in_namespace(sources: &str) -> String {
    format!("#include \"system.h\"\nnamespace {{\n{sources}}}\n")
}

fn main() {
    let kernels = "../ozfft-kernels/cuda";
    println!("cargo::rerun-if-changed={kernels}");
    println!("cargo::rerun-if-changed=src");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo has set it"));
    let all = std::env::var_os("CARGO_FEATURE_TRANSFORMS").is_some();
    let mut units = write_units(&folder, all);
    if all {
        units.extend(write_template(&folder));
    }
    // Clippy links nothing, and cargo keeps what it builds apart: kernels would be compiled once more, for nobody.
    println!("cargo::rerun-if-env-changed=RUSTC_WORKSPACE_WRAPPER");
    let wrapper = std::env::var("RUSTC_WORKSPACE_WRAPPER").unwrap_or_default();
    if wrapper.contains("clippy-driver") {
        return;
    }
    let mut build = cc::Build::new();
    let (host, target) = (std::env::var("HOST"), std::env::var("TARGET"));
    if host == target {
        // Products of emulated tensor units are half of the time: they run where they were compiled, with all vectors there.
        build.flag_if_supported("-march=native");
    }
    build
        .files(units)
        .include("src")
        .cpp(true)
        .std("c++17")
        // Kernels take longer to compile than they run; what they spend most of their time in, emulator.h, asks for more.
        .opt_level_str("g")
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
        .compile("ozfft_emulated_kernels");
}
