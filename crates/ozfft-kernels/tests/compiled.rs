//! What is compiled is what the sources say.

use ozfft_kernels::bailey::{BlockShape, KernelShape, Number};
use ozfft_kernels::bailey_long::{LongShape, MANY_TRANSFORMS, Pass};
use ozfft_kernels::bailey_passes::{Ends, PassesShape};
use ozfft_kernels::bailey_real::{Half, RealShape};
use ozfft_kernels::bailey_three::ThreeShape;
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

/// Kernels that plans compile, one of every kind, without conversion instructions.
fn kernels_of_plans() -> Vec<Option<Box<dyn KernelShape>>> {
    fn boxed<S: KernelShape + 'static>(shape: Option<S>) -> Option<Box<dyn KernelShape>> {
        shape.map(|shape| Box::new(shape) as Box<dyn KernelShape>)
    }
    let (number, memory) = (Number::Double, 227 << 10);
    let passes = (Ends::Complex(number), false);
    let convolution = (Ends::Convolution(number), false);
    let long = |steps, side_by_side, pass| {
        boxed(LongShape::new(
            steps,
            side_by_side,
            (number, pass),
            memory,
            false,
        ))
    };
    let by_warpgroups =
        |steps, strided| BlockShape::new(Number::DoubleWgmma, steps, strided, memory);
    let few = |shape: Option<BlockShape>| shape.and_then(|shape| shape.for_few());
    vec![
        // Steps above 32 points have the most digits in registers.
        boxed(by_warpgroups([35, 25], false)),
        boxed(by_warpgroups([42, 21], true)),
        boxed(by_warpgroups([25, 4], false)),
        few(by_warpgroups([35, 21], false)),
        boxed(BlockShape::new(number, [40, 25], false, memory)),
        boxed(BlockShape::new(Number::DoubleFp8, [40, 25], false, memory)),
        boxed(BlockShape::new(Number::DoubleF16, [40, 25], false, memory)),
        boxed(BlockShape::new(Number::Single, [40, 25], true, memory)),
        boxed(BlockShape::new(Number::fewer(7), [40, 25], false, memory)),
        boxed(RealShape::new(
            (number, Half::Input),
            [40, 25],
            false,
            memory,
        )),
        boxed(BlockShape::new(number, [20, 18], false, memory)),
        boxed(PassesShape::new([16, 4], [32, 1], passes, memory)),
        long([16, 1, 8], 128, Pass::Opening),
        long([16, 1, 8], 128, Pass::Closing),
        boxed(RealShape::new(
            (number, Half::Output),
            [9, 7],
            false,
            memory,
        )),
        boxed(ThreeShape::new([7, 7, 7], false, memory)),
        long([12, 1, 12], MANY_TRANSFORMS, Pass::ProductClosing),
        boxed(PassesShape::new([32, 1], [35, 1], convolution, memory)),
        boxed(BlockShape::new(Number::fewer(5), [16, 16], true, memory)),
        boxed(RealShape::new(
            (Number::fewer(6), Half::Output),
            [16, 16],
            false,
            memory,
        )),
    ]
}

/// Kernels of the shapes that `bench/predict.py` predicts, of a GPU whose blocks have so much shared memory.
fn predicted_kernels(kilobytes: usize) -> Vec<Option<Box<dyn KernelShape>>> {
    fn boxed<S: KernelShape + 'static>(shape: Option<S>) -> Option<Box<dyn KernelShape>> {
        shape.map(|shape| Box::new(shape) as Box<dyn KernelShape>)
    }
    let memory = kilobytes << 10;
    let block = |number, steps, strided| boxed(BlockShape::new(number, steps, strided, memory));
    let long = |pass| {
        let pass = (Number::Double, pass);
        boxed(LongShape::new([16, 1, 16], 256, pass, memory, false))
    };
    let double = Number::Double;
    let passes = (Ends::Complex(double), false);
    vec![
        block(double, [16, 4], false),
        block(double, [20, 18], false),
        block(double, [40, 25], false),
        block(double, [32, 32], false),
        block(double, [32, 16], false),
        block(double, [32, 16], true),
        block(double, [32, 32], true),
        block(Number::Single, [32, 32], false),
        boxed(PassesShape::new([16, 4], [32, 1], passes, memory)),
        long(Pass::Opening),
        long(Pass::Closing),
        boxed(RealShape::new(
            (double, Half::Output),
            [32, 32],
            false,
            memory,
        )),
    ]
}

/// Figures of GPUs that are not at hand are those of kernels that plans would launch there.
#[test]
fn predictions_are_of_kernels_of_plans() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/predict.py");
    let program = fs::read_to_string(program).expect("the program");
    for kilobytes in [227, 99] {
        for shape in predicted_kernels(kilobytes) {
            let source = shape.expect("a shape that fits").source(true);
            let shape = source
                .split_once("typedef ")
                .and_then(|(_, rest)| rest.split_once(" Shape;"));
            let (shape, _) = shape.expect("a type");
            assert!(program.contains(shape), "{kilobytes} KB: {shape}");
        }
    }
}

/// `check` looks for FP64 in the machine code of `plan_time/*.cu`. It was never asked about a kernel that is compiled by plans.
#[test]
fn what_check_compiles_is_what_plans_compile() {
    let expected: BTreeMap<String, String> = kernels_of_plans()
        .into_iter()
        .map(|shape| {
            let shape = shape.expect("a shape that fits");
            (format!("{}.cu", shape.name(false)), shape.source(false))
        })
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
