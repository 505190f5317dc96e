use num_complex::Complex;
use ozfft::{Accuracy, Engine, Family, Planner, Problem, Substrate};
use std::time::Instant;

fn input(n: usize) -> Vec<Complex<f64>> {
    let mut s = 88172645463325252u64;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..n).map(|_| Complex::new(next(), next())).collect()
}
fn hash(x: &[Complex<f64>]) -> u64 {
    x.iter().fold(0xcbf29ce484222325u64, |h, z| {
        let h = (h ^ z.re.to_bits()).wrapping_mul(0x100000001b3);
        (h ^ z.im.to_bits()).wrapping_mul(0x100000001b3)
    })
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let shape: Vec<usize> = args[1].split('x').map(|s| s.parse().unwrap()).collect();
    let batch: usize = args[2].parse().unwrap();
    let names = args.get(3).map(|s| s.as_str()).unwrap_or("all");
    let reps: usize = args.get(4).map_or(1, |s| s.parse().unwrap());
    let n: usize = shape.iter().product::<usize>() * batch;
    let x = input(n);
    let planner = Planner::<f64>::new();
    for (name, substrate) in [
        ("scalar", Substrate::Scalar),
        ("wide", Substrate::WideInteger),
        ("avx2", Substrate::Avx2),
        ("vnni", Substrate::Avx512Vnni),
        ("amx", Substrate::Amx),
    ] {
        if names != "all" && !names.split(',').any(|x| x == name) {
            continue;
        }
        let family = if std::env::var("EXACT").is_ok() {
            Family::Exact
        } else {
            Family::Truncated
        };
        let accuracy = if std::env::var("SINGLE").is_ok() {
            Accuracy::Single
        } else {
            Accuracy::Double
        };
        let problem = Problem::complex(&shape)
            .batch(batch)
            .engine(Engine::Digits)
            .accuracy(accuracy)
            .family(family)
            .substrate(substrate)
            .threads(std::env::var("T").map_or(1, |t| t.parse().unwrap()));
        let plan = planner.plan(&problem).unwrap();
        let mut y = vec![Complex::new(0.0, 0.0); n];
        let mut w = vec![0u64; plan.workspace_len()];
        let mut times = vec![];
        for _ in 0..reps {
            let t = Instant::now();
            plan.process_outofplace_with_workspace(&x, &mut y, &mut w)
                .unwrap();
            times.push(t.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let t = times[times.len() / 2];
        println!(
            "{name:8} hash {:016x}  {:8.3} ms  {:7.2} ns/point",
            hash(&y),
            t * 1e3,
            t * 1e9 / n as f64
        );
    }
}
