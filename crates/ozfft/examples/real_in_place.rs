//! A real field of three dimensions, transformed to its half-spectrum and back within one array.
//!
//! ```sh
//! cargo run --release -p ozfft --example real_in_place
//! ```
//!
//! As FFTW's `r2c` in place: rows of `n` reals lie in the room of `n/2 + 1` complex numbers, so that each has one or two reals of padding
//! at its end. The array is one of complex numbers; `bytemuck` shows the same memory as reals (`num-complex` with its feature `bytemuck`).

use num_complex::Complex;
use ozfft::{FftError, Layout, Planner, Problem};
use std::process::ExitCode;

const SHAPE: [usize; 3] = [4, 6, 10];
/// Complex numbers of a row, and reals in their room.
const ROW: usize = SHAPE[2] / 2 + 1;
const ROOM: usize = 2 * ROW;

fn transform() -> Result<(), FftError> {
    let planner = Planner::<f64>::new();
    // The reals are the input of one direction and the output of the other; half-spectra lie without gaps.
    let padded = Layout::padded_real(&SHAPE);
    let forward = planner.plan(&Problem::real_to_complex(&SHAPE).input_layout(padded.clone()))?;
    let back = planner.plan(&Problem::complex_to_real(&SHAPE).output_layout(padded))?;

    let field: Vec<f64> = (0..SHAPE.iter().product())
        .map(|i| (i % 7) as f64)
        .collect();
    let mut array = vec![Complex::new(0.0, 0.0); SHAPE[0] * SHAPE[1] * ROW];
    let reals: &mut [f64] = bytemuck::cast_slice_mut(&mut array);
    for (room, row) in reals.chunks_mut(ROOM).zip(field.chunks(SHAPE[2])) {
        room[..SHAPE[2]].copy_from_slice(row);
    }

    forward.process_real_in_place(&mut array)?;
    // The same bits as out of place.
    assert_eq!(array, ozfft::rfftn(&field, &SHAPE)?);
    println!("sum of the field: {}", array[0].re);

    back.process_complex_to_real_in_place(&mut array)?;
    let reals: &[f64] = bytemuck::cast_slice(&array);
    let rows = reals.chunks(ROOM).zip(field.chunks(SHAPE[2]));
    let apart = rows.flat_map(|(room, row)| room.iter().zip(row).map(|(x, y)| (x - y).abs()));
    println!("there and back: {:.1e} apart", apart.fold(0.0, f64::max));
    Ok(())
}

fn main() -> ExitCode {
    match transform() {
        Ok(()) => ExitCode::SUCCESS,
        // Printed with `{}`: that is the text with the remedy.
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
