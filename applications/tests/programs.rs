//! The programs as a user runs them: published numbers, one JSON object on one line, and the same bits however transforms are computed.

use ozfft_testkit::{Requirement, available, nvcc};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn program(name: &str) -> Command {
    Command::new(match name {
        "turbulence" => env!("CARGO_BIN_EXE_turbulence"),
        "ewald" => env!("CARGO_BIN_EXE_ewald"),
        "plane_wave" => env!("CARGO_BIN_EXE_plane_wave"),
        "plasma" => env!("CARGO_BIN_EXE_plasma"),
        "mersenne" => env!("CARGO_BIN_EXE_mersenne"),
        _ => panic!("{name} is no program of this package"),
    })
}

fn output(command: &str) -> Output {
    let mut parts = command.split_whitespace();
    let name = parts.next().expect("a name");
    program(name).args(parts).output().expect("it starts")
}

/// The object that a program prints.
fn json(command: &str) -> Value {
    let output = output(&format!("{command} --json"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.lines().count(), 1, "{command}: {text}");
    serde_json::from_str(&text).expect("JSON")
}

/// What a program that runs others prints of short runs of one of them, an object a line, and what it says besides.
fn rows(program: &str, of: &str) -> (Vec<Value>, String) {
    let output = Command::new(program)
        .args(["--short", "--programs", of, "--json"])
        .output()
        .expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    let rows = text.lines().map(serde_json::from_str);
    (rows.map(|row| row.expect("JSON")).collect(), errors)
}

/// The message of a program that fails; it prints no result.
fn fail(command: &str) -> String {
    let output = output(command);
    assert!(!output.status.success(), "{command} should fail");
    assert!(output.stdout.is_empty(), "{command} printed a result");
    String::from_utf8(output.stderr).expect("text")
}

fn number(value: &Value, key: &str) -> f64 {
    let number = value[key].as_f64();
    number.unwrap_or_else(|| panic!("{key} of {value} is no number"))
}

/// Each program, short.
const SHORT: [&str; 5] = [
    "turbulence --shape 16 --time 0.24 --step 0.08",
    "ewald --crystal wurtzite --shape 12x10x15 --order 4",
    "plane_wave --cutoff 5 --bands 5",
    "plasma --velocities 64 --electrons 8 --shape 16 --step 0.1 --from 2 --time 8",
    "mersenne --exponent 1277 --iterations 40",
];

#[test]
fn digests_are_the_same_on_any_number_of_threads_and_every_unit() {
    for command in SHORT {
        let digest = json(command)["sha256"].clone();
        assert!(digest.is_string(), "{command}");
        for options in [
            "--threads 1",
            "--threads 2",
            "--threads 4",
            "--substrate scalar --threads 3",
            "--substrate wide-integer",
        ] {
            let other = json(&format!("{command} {options}"));
            assert_eq!(other["sha256"], digest, "{command} {options}");
        }
    }
}

#[test]
fn digests_are_the_same_on_a_gpu_or_its_absence_is_an_error_with_a_remedy() {
    for command in SHORT {
        let on_gpu = output(&format!("{command} --device cuda --json"));
        if on_gpu.status.success() {
            let found: Value = serde_json::from_slice(&on_gpu.stdout).expect("JSON");
            assert_eq!(found["device"], "cuda:0", "{command}");
            assert_eq!(found["sha256"], json(command)["sha256"], "{command}");
        } else {
            let message = String::from_utf8(on_gpu.stderr).expect("text");
            assert!(on_gpu.stdout.is_empty());
            assert!(message.contains("device cpu"), "{command}: {message}");
        }
    }
}

/// Nothing that was run had needed native: near the least bound there is, some lines do.
#[test]
fn lines_that_need_more_bits_are_left_to_native_and_counted() {
    let flow = "turbulence --shape 16 --time 0.08 --step 0.08 --engine residues --adaptive --native-fallback";
    let fallbacks = |accuracy: &str| {
        let report = json(&format!("{flow} --accuracy {accuracy}"));
        assert_eq!(
            report["bound_is_proven"], false,
            "what native takes has native's error"
        );
        report["native_fallbacks"].as_u64().expect("a number")
    };
    let few = fallbacks("6.5e-16");
    assert!(few > 0 && few < 36, "{few}");
    assert_eq!(fallbacks("1e-12"), 0);
}

/// Equal recipes: exact digits, and the integers that residues put together.
#[test]
fn exact_digits_and_residues_have_one_digest() {
    let command = "plasma --velocities 64 --electrons 8 --shape 16 --step 0.1 --from 2 --time 6";
    let digest = |options: &str| json(&format!("{command} {options}"))["sha256"].clone();
    let exact = digest("--products exact");
    for same in [
        "--engine residues --threads 1",
        "--engine residues --adaptive --threads 2",
        "--products exact --substrate scalar",
    ] {
        assert_eq!(digest(same), exact, "{same}");
    }
    // Truncated sums are rounded at other places.
    assert_ne!(digest(""), exact);
    for other in ["--engine native", "--engine residues", "--library fftw"] {
        let message = fail(&format!("{command} --products exact {other}"));
        assert!(message.contains("--engine digits"), "{other}: {message}");
    }
}

#[test]
fn other_engines_agree_to_their_accuracy() {
    // Exact residues and exact digits have the same integers; here digits are truncated, so that bits may differ and numbers not.
    let energy = |options: &str| {
        let report = json(&format!(
            "turbulence --shape 12 --time 0.4 --step 0.1 {options}"
        ));
        number(&report, "final_energy")
    };
    let digits = energy("");
    // 144 transforms of relative error 4e-15 at most.
    for engine in ["native", "residues"] {
        let other = energy(&format!("--engine {engine}"));
        assert!(
            (other - digits).abs() < 1e-12 * digits,
            "{engine}: {other} {digits}"
        );
    }
    let few = energy("--accuracy 1e-6");
    assert!(
        few != digits && (few - digits).abs() < 1e-4 * digits,
        "{few} {digits}"
    );
}

#[test]
fn madelung_constants_are_published_ones() {
    for (crystal, published) in [
        ("nacl", 1.747_564_594_633_182),
        ("cscl", 1.762_674_773_070_988),
        ("zincblende", 1.638_055_053_389),
    ] {
        let report = json(&format!("ewald --crystal {crystal} --shape 16 --order 6"));
        assert!(
            (number(&report, "madelung") - published).abs() < 1e-12,
            "{report}"
        );
    }
}

#[test]
fn crystals_are_read_from_files() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    // Rock salt as a cube of eight ions: the same constant.
    let mut ions = Vec::new();
    for corner in 0..8_u32 {
        let position = [corner & 1, corner >> 1 & 1, corner >> 2 & 1].map(|x| 0.5 * f64::from(x));
        let charge = if corner.count_ones() % 2 == 0 { 1 } else { -1 };
        ions.push(serde_json::json!({ "charge": charge, "position": position }));
    }
    let lattice = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
    let salt = serde_json::json!({ "lattice": lattice, "ions": ions, "formula_units": 4 });
    let path = write("salt.json", &salt.to_string());
    let report = json(&format!("ewald --lattice {path} --shape 8 --order 4"));
    assert!(
        (number(&report, "madelung") - 1.747_564_594_633_182).abs() < 1e-12,
        "{report}"
    );
    let path = write("nothing.json", "{}");
    assert!(fail(&format!("ewald --lattice {path}")).contains("not a crystal"));
    assert!(fail("ewald --lattice missing.json").contains("missing.json"));
}

#[test]
fn landau_damping_has_the_published_frequency_and_rate() {
    let report = json("plasma --k 0.5 --velocities 160 --step 0.05 --from 12 --time 40");
    // The leapfrog method: (ωh)²/24 of the frequency, and as much of the rate.
    let tolerance = 1.5 * 1.4156_f64.powi(3) * 0.05_f64.powi(2) / 24.0 + 5e-5;
    assert!(
        (number(&report, "omega") - 1.4156).abs() < tolerance,
        "{report}"
    );
    assert!(
        (number(&report, "gamma") + 0.1533).abs() < tolerance,
        "{report}"
    );
    assert!(
        (number(&report, "theory_omega") - 1.4156).abs() < 1e-4,
        "{report}"
    );
    assert!(fail("plasma --k 7").contains("0.1 and 2"));
    assert!(fail("plasma --k 0.5 --velocities 64 --time 100").contains("--velocities"));
}

#[test]
fn silicon_has_published_bands() {
    let report = json("plane_wave --cutoff 10");
    let energies = &report["energies"];
    let energy = |point: &str, band: usize| {
        let value = energies[point][band - 1].as_f64();
        value.unwrap_or_else(|| panic!("{energies}"))
    };
    assert!((energy("Gamma", 5) - 3.4).abs() < 0.1, "{energies}");
    assert!(
        (energy("X", 5) - energy("X", 4) - 4.0).abs() < 0.1,
        "{energies}"
    );
    assert!((number(&report, "gap") - 0.8).abs() < 0.1, "{report}");
    assert!(
        (number(&report, "ewald_energy") + 8.4).abs() < 0.01,
        "{report}"
    );
    assert!(fail("plane_wave --shape 6").contains("too coarse"));
}

/// The document's `--form-factors V3,V8,V11` was taken as one of three values, and never accepted.
#[test]
fn form_factors_are_three_numbers_with_commas() {
    let silicon = json("plane_wave --cutoff 5 --bands 5");
    let named = json("plane_wave --cutoff 5 --bands 5 --form-factors -0.21,0.04,0.08");
    assert_eq!(named["sha256"], silicon["sha256"]);
    let weaker = json("plane_wave --cutoff 5 --bands 5 --form-factors=-0.2,0.04,0.08");
    assert_eq!(
        weaker["form_factors"],
        serde_json::json!([-0.2, 0.04, 0.08])
    );
    assert_ne!(weaker["sha256"], silicon["sha256"]);
    for (wrong, message) in [
        ("-0.21,0.04", "2 numbers"),
        ("-0.21,0.04,0.08,0", "4 numbers"),
        ("-0.21,,0.08", "write three numbers"),
        ("9,0,0", "not within 5 rydberg"),
    ] {
        let said = fail(&format!("plane_wave --form-factors {wrong}"));
        assert!(said.contains(message), "{wrong}: {said}");
    }
}

#[test]
fn dissipation_is_known_at_the_beginning_and_rises() {
    let report = json("turbulence --shape 16 --time 2 --step 0.1");
    let history = report["history"].as_array().expect("rows");
    let first = history[0].as_array().expect("a row");
    // 2ν·3/8.
    assert!((first[2].as_f64().expect("a number") - 0.75 / 1600.0).abs() < 1e-17);
    assert_eq!(report["peak_is_inside"], false);
    assert!(number(&report, "peak_dissipation") > 0.75 / 1600.0);
    assert!(fail("turbulence --shape 2").contains("4 or more points"));
    assert!(fail("turbulence --shape 16 --time 10 --step 2").contains("shorter --step"));
    assert!(fail("turbulence --threads 0 --time 0.1").contains("threads"));
}

/// As it was before lines of zeros were left out, with all transforms whole.
#[test]
fn digests_of_flows_do_not_change() {
    for (command, digest) in [
        (
            "turbulence --shape 16 --time 0.24 --step 0.08",
            "a6731b913c6d2471260019c8b59c14ee5d0726a4a2dabc09c86fdd70fe4c0612",
        ),
        (
            "turbulence --shape 24x20x18 --time 0.4 --step 0.1",
            "33993a37e8ca5e62fc77f865f4d976a57749f2ed16944d3c7ee50e3a62b68bf6",
        ),
    ] {
        assert_eq!(json(command)["sha256"], digest, "{command}");
    }
}

/// Results were lost, and the program ended as if they had been written.
#[cfg(unix)]
#[test]
fn results_for_a_closed_standard_output_are_an_error() {
    for command in SHORT {
        let name = command.split_whitespace().next().expect("a name");
        let path = program(name).get_program().to_owned();
        let line = format!("exec \"$0\" {} >&-", &command[name.len()..]);
        let mut shell = Command::new("sh");
        let output = shell.arg("-c").arg(line).arg(path).output();
        let output = output.expect("a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {errors}");
        assert!(errors.contains("standard output"), "{command}: {errors}");
    }
}

#[test]
fn mersenne_numbers_are_decided() {
    assert_eq!(json("mersenne --exponent 2203")["prime"], true);
    let composite = json("mersenne --exponent 1277");
    assert_eq!(composite["prime"], false);
    assert_eq!(composite["res64"].as_str().map(str::len), Some(16));
    assert_eq!(json("mersenne --exponent 2200")["exponent_factor"], 2);
    assert!(fail("mersenne --exponent 0").contains("from 2 to"));
}

/// The tables of CUDALucas's self-tests, after 10,000 iterations: composites (the first seven), then exponents of primes. Larger ones take a while.
#[test]
fn residues_of_composites_and_primes_are_published_ones() {
    for (exponent, published, quick) in [
        (22133, "B3ED67A5D4BE2A9F", true),
        (43633, "A3F3E669E061BFBE", false),
        (85933, "474E01B06D9698F8", false),
        (169409, "3D32414583AC7D9A", false),
        (190097, "F681A2A2AD0397FB", false),
        (210739, "7E3B5A8B4E4C43A0", false),
        (292921, "ADE86FD9A4AD99F1", false),
        (86243, "23992CCD735A03D9", false),
        (132049, "4C52A92B54635F9E", false),
        (216091, "30247786758B8792", false),
    ] {
        if quick || ozfft_testkit::everything() {
            let report = json(&format!(
                "mersenne --exponent {exponent} --iterations 10000"
            ));
            assert_eq!(report["res64"], published, "{exponent}");
            assert_eq!(report["proven"], true, "{exponent}");
        }
    }
}

#[test]
fn plots_are_written_beside_the_result() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for command in SHORT {
        let name = command.split_whitespace().next().expect("a name");
        let path = folder.join(format!("{name}.svg"));
        json(&format!("{command} --plot {}", path.display()));
        let picture = std::fs::read_to_string(&path).expect("a picture");
        assert!(
            picture.starts_with("<svg") && picture.contains("polyline"),
            "{name}"
        );
    }
}

#[test]
fn text_names_the_number_that_is_published() {
    for (command, part) in [
        (SHORT[0], "largest dissipation"),
        (SHORT[1], "Madelung constant"),
        (SHORT[2], "gap"),
        (SHORT[3], "omega"),
        (SHORT[4], "residue"),
    ] {
        let output = output(command);
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(
            output.status.success() && text.contains(part),
            "{command}: {text}"
        );
    }
}

/// Everything between transforms is the same operations as on the processor; a fused one would round once instead of twice.
#[test]
fn kernels_of_the_flow_fuse_no_operations() {
    let Some(nvcc) = available(Requirement::Nvrtc, nvcc()) else {
        return;
    };
    let text = Path::new(env!("CARGO_TARGET_TMPDIR")).join("device_flow.ptx");
    let output = Command::new(nvcc)
        .args(["-std=c++17", "-Werror", "all-warnings", "-arch=compute_80"])
        .args(["-fmad=false", "-ptx", "-o"])
        .arg(&text)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/device_flow.cu"))
        .output()
        .expect("nvcc runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = std::fs::read_to_string(text).expect("the compiler's output");
    assert!(text.contains("mul.rn.f64") || text.contains("mul.f64"));
    assert!(!text.contains("fma."), "a fused operation");
}

#[test]
fn the_vortex_has_the_processors_bits_in_a_gpus_memory() {
    if available(Requirement::Gpu, ozfft_measure::gpu::Gpu::open(0)).is_none() {
        return;
    }
    let flow = "turbulence --shape 24x20x16 --time 1 --reynolds 100";
    let (processor, device) = (json(flow), json(&format!("{flow} --device cuda")));
    assert_eq!(device["arrays_on_device"], true);
    for key in ["sha256", "history", "peak_dissipation"] {
        assert_eq!(processor[key], device[key], "{key}");
    }
}

/// What a program prints on so many ranks, within a minute.
#[cfg(feature = "mpi")]
fn on_ranks(ranks: usize, command: &str) -> Option<Value> {
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let found = Command::new("mpirun").arg("--version").output();
    available(
        Requirement::Mpi,
        found.map_err(|error| format!("mpirun: {error}")),
    )?;
    let mut child = Command::new("mpirun")
        .args(["--oversubscribe", "--allow-run-as-root", "-n"])
        .arg(ranks.to_string())
        .arg(env!("CARGO_BIN_EXE_turbulence_ranks"))
        .args(command.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let start = Instant::now();
    while child.try_wait().expect("its status").is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{ranks} ranks did not end within a minute: {command}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("its output");
    assert!(output.status.success(), "{ranks} ranks: {command}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[cfg(feature = "mpi")]
#[test]
fn the_vortex_has_one_digest_on_any_number_of_ranks() {
    let flow = "--shape 24x20x16 --time 0.15 --step 0.05 --reynolds 100";
    let alone = json(&format!("turbulence {flow}"));
    for (ranks, grid) in [
        (1, ""),
        (2, ""),
        (3, ""),
        (4, "--grid 4"),
        (4, "--grid 2x2"),
    ] {
        let Some(found) = on_ranks(ranks, &format!("{flow} {grid} --json")) else {
            return;
        };
        assert_eq!(found["ranks"], ranks);
        assert_eq!(found["sha256"], alone["sha256"], "{ranks} ranks, {found}");
        assert_eq!(found["bytes_sent"].as_u64() > Some(0), ranks > 1);
    }
}

#[test]
fn other_libraries_give_the_same_physics_and_ozfft_one_digest() {
    let (rows, errors) = rows(env!("CARGO_BIN_EXE_last_digits"), "ewald");
    let numbers: Vec<f64> = rows
        .iter()
        .filter(|row| row["number"].is_number())
        .map(|row| number(row, "number"))
        .collect();
    // Three numbers of threads and two units at least; FFTW where it is installed.
    assert!(numbers.len() >= 4, "{errors}");
    // The number is an error itself: it has fewer digits than the constant.
    let far = |&number: &f64| (number / numbers[0] - 1.0).abs() > 1e-9;
    assert_eq!(numbers.iter().find(|number| far(number)), None);
    let message = fail("mersenne --exponent 127 --library fftw");
    assert!(message.contains("--library ozfft"), "{message}");
}

#[test]
fn costs_of_every_engine_are_told() {
    let (rows, errors) = rows(env!("CARGO_BIN_EXE_costs"), "mersenne");
    let of = |setting: &str| {
        let mut all = rows.iter();
        let found = all.find(|row| row["setting"] == setting);
        found.unwrap_or_else(|| panic!("no {setting}: {errors}"))
    };
    for setting in ["digits", "native", "residues"] {
        assert_eq!(of(setting)["difference"], 0.0, "{setting}");
        assert!(number(of(setting), "transform_seconds") > 0.0, "{setting}");
    }
    assert!(of("residues")["columns_by_moduli"].is_array());
    assert!(of("digits")["columns_by_moduli"].is_null());
}
