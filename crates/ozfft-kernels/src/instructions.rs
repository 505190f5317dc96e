//! Instructions of the kernels with products by residues, counted in their machine code by `./count`.

/// Lines of kernel, pipe and instructions; the others begin with a hash sign.
const TABLE: &str = include_str!("step_instructions.csv");

/// Instructions of a thread for one point in both steps of a line, by pipe, where they were counted. Reading, quantising and writing are not
/// among them.
///
/// ```
/// let pipes = ozfft_kernels::instructions::of_a_point("residues_kulisch32").unwrap();
/// assert!(pipes.iter().any(|&(pipe, count)| pipe == "tensor" && count > 0.0));
/// assert!(ozfft_kernels::instructions::of_a_point("no_such_kernel").is_none());
/// ```
pub fn of_a_point(kernel: &str) -> Option<Vec<(&'static str, f64)>> {
    let row = |line: &'static str| {
        let mut cells = line.split(',');
        let (name, pipe, count) = (cells.next()?, cells.next()?, cells.next()?);
        (name == kernel).then_some((pipe, count.parse().ok()?))
    };
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<(&str, f64)> = lines.filter_map(row).collect();
    (!rows.is_empty()).then_some(rows)
}
