//! Random plans of the guru interface on this library and on the real FFTW: `cargo run -p ozfft-fftw --example fuzz --
//! --cases 100000 --seed 1`, for both precisions or for `--precision double` or `single`.

mod cases;
#[path = "../../tests/common/mod.rs"]
mod common;

use common::{Api, Sample};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, otherwise: u64| {
        let position = arguments.iter().position(|argument| argument == name);
        let value = position.and_then(|position| arguments.get(position + 1));
        value.map_or(otherwise, |text| {
            text.parse()
                .unwrap_or_else(|_| panic!("{name} takes a number, and {text:?} is none"))
        })
    };
    let (total, seed) = (number("--cases", 100_000), number("--seed", 1));
    let wanted = |precision: &str| {
        let position = arguments
            .iter()
            .position(|argument| argument == "--precision");
        let named = position.and_then(|position| arguments.get(position + 1));
        named.is_none_or(|named| named == precision)
    };
    let mut precisions = Vec::new();
    if wanted("double") {
        let real = Api::<f64>::real();
        precisions.push(("double", fuzz(Api::<f64>::ours(), real, total, seed)));
    }
    if wanted("single") {
        let real = Api::<f32>::real();
        precisions.push(("single", fuzz(Api::<f32>::ours(), real, total, seed)));
    }
    if precisions.iter().all(|(_, ran)| !ran) {
        eprintln!("FFTW is not installed: there is nothing to compare with");
        std::process::exit(2);
    }
    for (precision, _) in precisions.iter().filter(|(_, ran)| !ran) {
        eprintln!(
            "{precision} precision: FFTW's library is not installed, and nothing was compared"
        );
    }
}

/// Whether there was something to compare with.
fn fuzz<T: Sample>(ours: Api<T>, real: Option<Api<T>>, total: u64, seed: u64) -> bool {
    let Some(real) = real else {
        return false;
    };
    let start = std::time::Instant::now();
    let [agreed, only_ours, not_asked, contradicts, neither] =
        cases::fuzz(total as usize, seed, &ours, &real);
    println!(
        "{total} plans of {}-bit numbers in {:.0} s",
        8 * size_of::<T>(),
        start.elapsed().as_secs_f64()
    );
    println!("{agreed} agree with FFTW");
    println!(
        "{only_ours} agree with FFTW on contiguous arrays, and FFTW has no plan for these strides"
    );
    println!(
        "{not_asked} agree likewise, and FFTW was not asked, as it overflows its stack on some of them"
    );
    println!("{contradicts} agree likewise, and FFTW's result for these strides is another");
    println!("{neither} have no plan in either library");
    println!("0 wrong, 0 writes outside");
    true
}
