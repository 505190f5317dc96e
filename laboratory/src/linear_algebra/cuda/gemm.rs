//! Products of matrices on a GPU.
#![allow(unsafe_code)]

use super::Bench;
use super::kernels::{Blocks, Kernels, Work};
use super::library::{Library, Matrices};
use crate::failure::Failure;
use crate::linear_algebra::accuracy::sample;
use crate::linear_algebra::problems::Dense;
use crate::linear_algebra::processor::{PHASES_B, dense_errors, method_name};
use crate::linear_algebra::{Phases, Row, rejected};
use crate::sums::cuda::reductions::{poisoned, upload};
use ozaki::conjugate_gradient::digest;
use ozaki::device::DeviceTables;
use ozaki::{Operand, PhaseB, Scheme, Side, multiply_rows};
use ozfft_kernels::ozaki as kernels;
use ozfft_measure::gpu::Memory;

/// Rows, and columns, whose bits are compared with the processor's.
const COMPARED: usize = 128;
/// Multiples that rows of bytes have: what the library wants.
const PITCH: usize = 16;

/// What a product by residues launches.
struct Pipeline {
    transpose: kernels::TransposeTask,
    rows: [kernels::RowsTask; 2],
    bytes: Matrices,
    reconstruct: kernels::ReconstructTask,
}

/// Memory of a pipeline, for as many moduli as it was made for.
struct Workspace {
    turned: Memory,
    residues: [Memory; 2],
    fields: [Memory; 2],
    sums: Memory,
}

impl Workspace {
    fn new(kernels: &Kernels<'_>, side: usize, moduli: usize) -> Result<Workspace, Failure> {
        let new = |bytes: usize| Memory::new(&kernels.gpu.context, bytes);
        let plane = side * side.next_multiple_of(PITCH);
        Ok(Workspace {
            turned: new(8 * side * side)?,
            residues: [new(moduli * plane)?, new(moduli * plane)?],
            fields: [new(4 * side)?, new(4 * side)?],
            sums: new(4 * moduli * side * side)?,
        })
    }
}

impl Pipeline {
    fn new(
        scheme: &Scheme,
        side: usize,
        workspace: &Workspace,
        [a, b, c]: [u64; 3],
    ) -> Result<Pipeline, Failure> {
        let tables = DeviceTables::new(scheme).map_err(rejected)?;
        let (count, pitch) = (tables.count, side.next_multiple_of(PITCH));
        let (numbers, plane) = (side * side, side * pitch);
        let turned = workspace.turned.range(0, 8 * numbers)?;
        let short = side as u32;
        let mut residues = [0; 2];
        let mut fields = [0; 2];
        for number in 0..2 {
            residues[number] = workspace.residues[number].range(0, count * plane)?;
            fields[number] = workspace.fields[number].range(0, 4 * side)?;
        }
        let sums = workspace.sums.range(0, 4 * count * numbers)?;
        let rows = |side: Side, values: u64| kernels::RowsTask {
            values,
            fields: fields[side as usize],
            residues: residues[side as usize],
            plane: (plane / 4) as u64,
            rows: short,
            length: short,
            pitch: (pitch / 4) as u32,
            bits: tables.bits as i32,
            count: count as i32,
            moduli: tables.reductions[side as usize],
        };
        Ok(Pipeline {
            transpose: kernels::TransposeTask {
                from: b,
                to: turned,
                rows: short,
                columns: short,
            },
            rows: [rows(Side::Left, a), rows(Side::Right, turned)],
            bytes: Matrices {
                shape: (side, pitch, side),
                a: residues[0],
                b: residues[1],
                c: sums,
            },
            reconstruct: kernels::ReconstructTask {
                sums,
                row_fields: fields[0],
                column_fields: fields[1],
                result: c,
                plane: numbers as u64,
                rows: short,
                columns: short,
                bits: tables.bits as i32,
                count: count as i32,
                weights: tables.weights,
            },
        })
    }

    /// Numbers to residues.
    fn residues(&self, kernels: &Kernels<'_>) -> Result<(), Failure> {
        let squares = u64::from(self.transpose.rows).div_ceil(kernels::SQUARE as u64);
        // SAFETY: addresses and lengths were checked when the pipeline was made, and the memory is alive.
        unsafe {
            let blocks = Blocks::Exactly(squares * squares);
            kernels.launch(kernels::TRANSPOSE_NAME, &self.transpose, blocks)?;
            for rows in &self.rows {
                let blocks = Blocks::Exactly(u64::from(rows.rows));
                kernels.launch(kernels::ROWS_NAME, rows, blocks)?;
            }
        }
        Ok(())
    }

    /// Products of bytes.
    fn products(&self, library: &Library) -> Result<(), Failure> {
        // SAFETY: as above.
        unsafe { library.multiply_bytes(self.bytes, self.reconstruct.count as usize) }
    }

    /// Sums to numbers.
    fn reconstruction(&self, kernels: &Kernels<'_>, phase_b: PhaseB) -> Result<(), Failure> {
        let task = &self.reconstruct;
        let chunks = u64::from(task.columns).div_ceil(u64::from(kernels::THREADS));
        let blocks = Blocks::Exactly(u64::from(task.rows) * chunks);
        let name = kernels::RECONSTRUCT_NAMES[phase_b as usize];
        // SAFETY: as above.
        unsafe { kernels.launch(name, task, blocks) }
    }

    fn all(
        &self,
        kernels: &Kernels<'_>,
        library: &Library,
        phase_b: PhaseB,
    ) -> Result<(), Failure> {
        self.residues(kernels)?;
        self.products(library)?;
        self.reconstruction(kernels, phase_b)
    }
}

/// Compares some rows and columns with the processor's bits; says how many results were compared.
fn compare(
    dense: &Dense,
    scheme: &Scheme,
    phase_b: PhaseB,
    found: &[f64],
) -> Result<usize, Failure> {
    let places = sample(dense.side, COMPARED);
    let rows: Vec<f64> = places
        .iter()
        .flat_map(|&row| dense.row(row))
        .copied()
        .collect();
    let columns: Vec<f64> = places
        .iter()
        .flat_map(|&column| dense.column(column))
        .collect();
    let left = Operand::new(scheme, Side::Left, &rows, dense.side);
    let right = Operand::new(scheme, Side::Right, &columns, dense.side);
    let mut expected = vec![0.0; places.len()];
    for (number, &row) in places.iter().enumerate() {
        multiply_rows(scheme, phase_b, (&left, number), (&right, 0), &mut expected);
        for (&column, expected) in places.iter().zip(&expected) {
            let found = found[row * dense.side + column];
            if found.to_bits() != expected.to_bits() {
                return Err(Failure::Check(format!(
                    "gemm, {}, {} moduli, {phase_b:?}: the result at {row}, {column} is {found:e} on the GPU and {expected:e} on the processor",
                    dense.side,
                    scheme.moduli().len()
                )));
            }
        }
    }
    Ok(places.len() * places.len())
}

/// Measures products of square matrices; says what the library said when it was asked to emulate.
pub fn measure(
    bench: &Bench<'_>,
    library: &Library,
    side: usize,
    schemes: &[Scheme],
) -> Result<(Vec<Row>, String), Failure> {
    let kernels = &bench.kernels;
    let dense = Dense::new(side);
    let (a_memory, a) = upload(kernels.gpu, &dense.a)?;
    let (b_memory, b) = upload(kernels.gpu, &dense.b)?;
    let (result, c) = poisoned(kernels.gpu, side * side)?;
    let most = schemes.iter().map(|scheme| scheme.moduli().len()).max();
    let workspace = Workspace::new(kernels, side, most.unwrap_or(1))?;
    let pipelines: Result<Vec<Pipeline>, Failure> = schemes
        .iter()
        .map(|scheme| Pipeline::new(scheme, side, &workspace, [a, b, c]))
        .collect();
    let pipelines = &pipelines?;
    let matrices = Matrices {
        shape: (side, side, side),
        a,
        b,
        c,
    };
    let results = || -> Result<Vec<f64>, Failure> {
        kernels.wait()?;
        let mut results = vec![0.0; side * side];
        result.download(0, &mut results)?;
        Ok(results)
    };
    // Bits and errors first.
    // SAFETY: the addresses are of arrays of these lengths, which live until the end of this function and are waited for.
    let plain = || unsafe { library.multiply(matrices) };
    // SAFETY: as above.
    let emulated = || unsafe { library.multiply_emulated(matrices) };
    plain()?;
    let of_library = results()?;
    let mut judged = vec![(dense_errors(&dense, &of_library, None), None)];
    let (has_emulation, said) = match emulated() {
        Err(error) => (false, error.to_string()),
        Ok(()) => {
            let found = results()?;
            let same = digest(&found) == digest(&of_library);
            judged.push((dense_errors(&dense, &found, None), None));
            match same {
                true => (
                    true,
                    format!(
                        "{}: it returned the bits of FP64, so it did not emulate",
                        library.version
                    ),
                ),
                false => (
                    true,
                    format!(
                        "{}: it emulated, with other bits than FP64",
                        library.version
                    ),
                ),
            }
        }
    };
    for (scheme, pipeline) in schemes.iter().zip(pipelines) {
        for (phase_b, _) in PHASES_B {
            pipeline.all(kernels, library, phase_b)?;
            let found = results()?;
            let equal = compare(&dense, scheme, phase_b, &found)?;
            judged.push((dense_errors(&dense, &found, Some(scheme)), Some(equal)));
        }
    }
    // Then times: whole products, and phases.
    let mut works: Vec<Box<Work<'_>>> = vec![Box::new(plain)];
    if has_emulation {
        works.push(Box::new(emulated));
    }
    for pipeline in pipelines {
        for (phase_b, _) in PHASES_B {
            works.push(Box::new(move || pipeline.all(kernels, library, phase_b)));
        }
    }
    let whole = works.len();
    for pipeline in pipelines {
        works.push(Box::new(move || pipeline.residues(kernels)));
        works.push(Box::new(move || pipeline.products(library)));
        for (phase_b, _) in PHASES_B {
            works.push(Box::new(move || pipeline.reconstruction(kernels, phase_b)));
        }
    }
    let times = kernels.times(&mut works, bench.seconds)?;
    drop(works);
    drop((a_memory, b_memory));
    let products = (side as f64).powi(3);
    let first = 1 + usize::from(has_emulation);
    let mut rows = Vec::new();
    for (number, (time, (errors, equal_bits))) in times[..whole].iter().zip(judged).enumerate() {
        let place = number.checked_sub(first);
        let scheme = place.map(|place| &schemes[place / PHASES_B.len()]);
        let phases = place.map(|place| {
            let times = &times[whole + 4 * (place / PHASES_B.len())..][..4];
            Phases {
                residues: times[0].median,
                products: times[1].median,
                reconstruction_integers: times[2].median,
                reconstruction_doubles: times[3].median,
            }
        });
        let both = place.map(|place| {
            let integers = first + place / PHASES_B.len() * PHASES_B.len();
            (times[integers].median, times[integers + 1].median)
        });
        let count = scheme.map(|scheme| scheme.moduli().len());
        rows.push(Row {
            operation: "gemm",
            data: side.to_string(),
            products,
            method: match (scheme, place) {
                (Some(scheme), Some(place)) => method_name(scheme, PHASES_B[place % 2].1),
                _ if number == 0 => "FP64".into(),
                _ => "FP64 emulated by cuBLAS".into(),
            },
            moduli: count,
            bits: scheme.map(Scheme::bits),
            byte_products: count,
            seconds: time.median,
            shortest_seconds: time.shortest,
            runs: time.runs,
            tera_operations: 2e-12 * products / time.median,
            gain_over_fp64: Some(times[0].median / time.median),
            share_of_phase_b: phases
                .zip(both)
                .map(|(phases, (_, doubles))| phases.reconstruction_doubles / doubles),
            gain_of_integers: both.map(|(integers, doubles)| doubles / integers),
            phases,
            error: Some(errors.largest()),
            relative_error: Some(errors.relative()),
            bound: errors.bound(),
            equal_bits,
        });
    }
    Ok((rows, said))
}
