//! All tests of the library, in one program: compiled and linked once, and run side by side.
//! `cargo test -p ozfft --test all bits::` runs one file of them. What counts allocations is a program of its own.

mod common_arrays;
mod support;

mod accuracy;
mod api;
mod attack;
mod axis_parts;
mod bad_input;
mod bad_requests;
mod batch_invariance;
mod bits;
mod bounds;
mod convolution;
mod cuda;
mod cuda_fewer;
mod cuda_tuned;
mod double_double;
mod dynamic_range;
mod few_lines;
mod float_environment;
mod floats;
mod half_spectra;
mod hard_shapes;
mod ladder;
mod layouts;
mod line_parts;
mod low_precision;
mod native;
mod not_finite;
mod ntt;
mod properties;
mod random_problems;
mod referee;
mod residues;
mod targets;
mod units;
mod wide;
mod wisdom;

/// Cargo looks for no programs here, so a file that is not named above would never run.
#[test]
fn every_file_of_tests_is_part_of_a_program() {
    let programs = ["all", "allocation"];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of this file") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let name = path.file_stem().and_then(|name| name.to_str());
        let name = name.expect("a name in text");
        let named = include_str!("all.rs").contains(&format!("\nmod {name};\n"));
        assert!(
            named || programs.contains(&name),
            "{name}.rs is in no program"
        );
        files += 1;
    }
    assert!(files > 10, "{files} files in {folder}");
}
