//! Random plans of the guru interface on this library and on the real FFTW: `cargo run -p ozfft-fftw --example fuzz --
//! --cases 100000 --seed 1`.

mod cases;
#[path = "../../tests/common/mod.rs"]
mod common;

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
    let ours = common::Doors::ours();
    let Some(real) = common::Doors::real() else {
        eprintln!(
            "libfftw3.so.3 or libfftw3_threads.so.3 is not installed: there is nothing to compare with"
        );
        std::process::exit(2);
    };
    let start = std::time::Instant::now();
    let [agreed, only_ours, not_asked, contradicts, neither] =
        cases::fuzz(total as usize, seed, &ours, &real);
    println!("{total} plans in {:.0} s", start.elapsed().as_secs_f64());
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
}
