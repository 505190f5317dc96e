//! What is compiled is what the sources say.

use ozfft_kernels::template::{
    Block, Ends, Family, KernelSpec, LongPass, MANY_TRANSFORMS, Number, Pass, Real, ThreeSteps,
    TwoPasses,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files_below(&path),
            false => vec![path],
        })
        .collect()
}

#[test]
fn sources_have_not_changed_since_they_were_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recorded = fs::read_to_string(folder.join("compiled/sources")).expect("the record");
    let recorded: BTreeMap<String, String> = recorded
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(hash, name)| (name.into(), hash.into()))
        .collect();
    let mut found = BTreeMap::new();
    let sources = folder.join("cuda");
    for path in files_below(&sources) {
        let extension = path.extension().and_then(|e| e.to_str());
        if matches!(extension, Some("cu" | "cuh" | "def")) {
            let name = path.strip_prefix(&sources).expect("a path within");
            let hash = Sha256::digest(fs::read(&path).expect("a source"));
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            found.insert(name.to_str().expect("a name").replace('\\', "/"), hash);
        }
    }
    assert_eq!(
        recorded, found,
        "run crates/ozfft-kernels/generate and commit what it makes"
    );
}

fn block(steps: [usize; 2]) -> Family {
    Block { steps }.into()
}

fn real(steps: [usize; 2], ends: Ends) -> Family {
    Real { steps, ends }.into()
}

fn two_passes(steps: [[usize; 2]; 2], ends: Ends) -> Family {
    TwoPasses { steps, ends }.into()
}

fn long_pass(steps: [usize; 3], side_by_side: u64, pass: Pass) -> Family {
    LongPass::new(steps, side_by_side, pass).into()
}

fn specs_of<const N: usize>(
    kernels: [(Family, Number, bool); N],
    kilobytes: usize,
) -> Vec<KernelSpec> {
    let spec =
        |(family, number, strided)| KernelSpec::new(family, number, strided, kilobytes << 10);
    kernels
        .map(|kernel| spec(kernel).expect("a kernel that fits"))
        .into()
}

/// Kernels that plans compile, one of every kind, without conversion instructions.
fn kernels_of_plans() -> Vec<KernelSpec> {
    let (double, wgmma) = (Number::Double, Number::DoubleWgmma);
    let three = ThreeSteps { steps: [7, 7, 7] }.into();
    let kernels = [
        // Steps above 32 points have the most digits in registers.
        (block([35, 25]), wgmma, false),
        (block([42, 21]), wgmma, true),
        (block([25, 4]), wgmma, false),
        (block([40, 25]), double, false),
        (block([40, 25]), Number::DoubleFp8, false),
        (block([40, 25]), Number::DoubleF16, false),
        (block([40, 25]), Number::Single, true),
        (block([40, 25]), Number::fewer(7), false),
        (real([40, 25], Ends::HalfToReal), double, false),
        (block([20, 18]), double, false),
        (two_passes([[16, 4], [32, 1]], Ends::Complex), double, false),
        (long_pass([16, 1, 8], 128, Pass::Opening), double, false),
        (long_pass([16, 1, 8], 128, Pass::Closing), double, false),
        (real([9, 7], Ends::RealToHalf), double, false),
        (three, double, false),
        (
            long_pass([12, 1, 12], MANY_TRANSFORMS, Pass::ProductClosing),
            double,
            false,
        ),
        (
            two_passes([[32, 1], [35, 1]], Ends::Convolution),
            double,
            false,
        ),
        (block([16, 16]), Number::fewer(5), true),
        (real([16, 16], Ends::RealToHalf), Number::fewer(6), false),
    ];
    let few = KernelSpec::new(block([35, 21]), wgmma, false, 227 << 10);
    let few = few.and_then(|spec| spec.for_few());
    let mut kernels = specs_of(kernels, 227);
    kernels.push(few.expect("a kernel that fits"));
    kernels
}

/// Kernels that `bench/predict.py` predicts, of a GPU whose blocks have so much shared memory.
fn predicted_kernels(kilobytes: usize) -> Vec<KernelSpec> {
    let double = Number::Double;
    let kernels = [
        (block([16, 4]), double, false),
        (block([20, 18]), double, false),
        (block([40, 25]), double, false),
        (block([32, 32]), double, false),
        (block([32, 16]), double, false),
        (block([32, 16]), double, true),
        (block([32, 32]), double, true),
        (block([32, 32]), Number::Single, false),
        (two_passes([[16, 4], [32, 1]], Ends::Complex), double, false),
        (long_pass([16, 1, 16], 256, Pass::Opening), double, false),
        (long_pass([16, 1, 16], 256, Pass::Closing), double, false),
        (real([32, 32], Ends::RealToHalf), double, false),
    ];
    specs_of(kernels, kilobytes)
}

/// Figures of GPUs that are not at hand are those of kernels that plans would launch there.
#[test]
fn predictions_are_of_kernels_of_plans() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/predict.py");
    let program = fs::read_to_string(program).expect("the program");
    for kilobytes in [227, 99] {
        for spec in predicted_kernels(kilobytes) {
            let shape = spec.type_name();
            assert!(program.contains(&shape), "{kilobytes} KB: {shape}");
        }
    }
}

/// `check` looks for FP64 in the machine code of `plan_time/*.cu`. It was never asked about a kernel that is compiled by plans.
#[test]
fn what_check_compiles_is_what_plans_compile() {
    let expected: BTreeMap<String, String> = kernels_of_plans()
        .into_iter()
        .map(|spec| (format!("{}.cu", spec.name(false)), spec.source(false)))
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plan_time");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the sample") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        let text = fs::read_to_string(&path).expect("a source");
        found.insert(name.to_string(), text);
    }
    if found != expected {
        let right = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plan_time");
        fs::create_dir_all(&right).expect("a folder");
        for (name, source) in &expected {
            fs::write(right.join(name), source).expect("a file");
        }
        panic!("plan_time should hold what is in {}", right.display());
    }
}

/// `bench/matrix_ntt.cu` under the emulator: it compares all residues with those of the vectors' passes, and some with their definition.
#[test]
fn a_transform_on_tensor_units_has_the_residues_of_vectors() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix_ntt");
    let flags = "-std=c++17 -O1 -fwrapv -U_FORTIFY_SOURCE -Wno-unknown-pragmas -I../cuda";
    let compiled = Command::new("c++")
        .current_dir(bench)
        .args(flags.split(' '))
        .arg("-o")
        .arg(&program)
        .args(["-x", "c++", "matrix_ntt.cu"])
        .status();
    assert!(compiled.expect("a C++ compiler").success());
    let run = Command::new(program).output().expect("it starts");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}");
    assert_eq!(text.matches(": 0 of ").count(), 2, "{text}");
}
