//! A transform of one length in one mode: what it computes, how, and how well.

use crate::aligned::Aligned;
use crate::bound::{self, ErrorBudget};
use crate::dispatch::{Rule, Table};
use crate::lanes::InstructionSet;
use crate::lines::Lines;
use crate::lines::bluestein::convolution_length;
use crate::lines::recipe::{LineRecipe, Path, Step};
use crate::products::dft_gemm::{self, DftGemm};
use crate::products::fp16_gemm::{self, Fp16Gemm};
use crate::products::matrices::{Cut, padded};
use crate::products::refined::{self, Refined};
use crate::products::two_level::{self, TwoLevel};
use crate::unit::{Finding, MatrixUnit, Order, Rounding, TILE, Unit, probe};
use crate::{Direction, FloatError, Format, Mode};
use float_environment::DefaultEnvironment;
use num_complex::Complex;
use std::fmt;
use std::sync::Arc;

/// A transform of lines of one length. Plans are shared between threads; each thread has its own [`Workspace`].
///
/// ```
/// use floats::{Direction, FloatPlan, Mode, Unit};
/// use num_complex::Complex;
///
/// let plan = FloatPlan::new(64, Mode::Ozaki, Direction::Forward, Unit::best())?;
/// let mut lines = vec![Complex::new(1.0f32, 0.0); 10 * 64];
/// plan.process(&mut lines, &mut plan.workspace())?;
/// assert!((lines[0].re - 64.0).abs() <= 64.0 * plan.bound() as f32);
/// println!("{}", plan.describe());
/// # Ok::<(), floats::FloatError>(())
/// ```
#[derive(Debug)]
pub struct FloatPlan {
    n: usize,
    mode: Mode,
    direction: Direction,
    engine: Engine,
    rule: &'static Rule,
    set: InstructionSet,
    recipe: LineRecipe,
    cut: Option<Cut>,
    unit: Option<(String, Finding)>,
    single: ErrorBudget,
    double: Option<ErrorBudget>,
}

#[derive(Debug)]
enum Engine {
    Single(Lines<f32>),
    Double(Lines<f64>),
    Gemm(DftGemm),
    Fp16(Fp16Gemm),
    Refined(Box<Refined>),
    TwoLevel(TwoLevel),
}

/// Memory that a plan works in: made by [`FloatPlan::workspace`], for use by one thread at a time.
#[derive(Debug)]
pub struct Workspace {
    of: Owner,
    memory: Memory,
}

/// Key that must be equal for a workspace to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    n: usize,
    mode: Mode,
    cut: Option<Cut>,
    convolution: bool,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} points in the mode {}", self.n, self.mode)?;
        match self.cut {
            Some(Cut::Whole) => write!(f, " in one product"),
            Some(Cut::Blocks(n1, n2)) => write!(f, " in products of {n1} and {n2}"),
            None => Ok(()),
        }
    }
}

#[derive(Debug)]
enum Memory {
    Single(Aligned<f32>),
    Double(Aligned<f64>),
    Gemm(dft_gemm::Workspace),
    Fp16(fp16_gemm::Workspace),
    Refined(refined::Workspace),
    TwoLevel(two_level::Workspace),
}

/// The longest line.
const LONGEST: usize = 1 << 28;

/// Operation counts for predicted times: [`FloatPlan::work`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// Times that a point is read and written.
    pub passes: f64,
    /// Steps that a point takes part in: stages, where one of an odd prime counts half its points; or rows of tiles.
    pub steps: f64,
}

fn stage_work(n: usize, recipe: &LineRecipe) -> Work {
    let stages = |steps: &[Step]| -> f64 {
        let cost = |points: usize| match points.is_multiple_of(2) {
            true => 1.0,
            false => points as f64 / 2.0,
        };
        steps.iter().map(|step| cost(step.points())).sum()
    };
    match recipe {
        LineRecipe::Gemm => Work {
            passes: 1.0,
            steps: n as f64 / 2.0,
        },
        LineRecipe::Stages(steps) => Work {
            passes: 1.0,
            steps: stages(steps),
        },
        // There and back over the points of the convolution, and three products with chirps.
        LineRecipe::Bluestein(steps) => {
            let padding = convolution_length(n) as f64 / n as f64;
            Work {
                passes: 1.0 + padding,
                steps: padding * (2.0 * stages(steps) + 1.0) + 2.0,
            }
        }
    }
}

/// The basis of a mode, and whether a unit supports it.
fn requirement(mode: Mode, order: Order, finding: &Finding) -> Result<(), &'static str> {
    if mode.format().is_some_and(|format| format != finding.format) {
        return Err(match mode.format() {
            Some(Format::Fp16) => "products of f16 numbers",
            _ => "products of bf16 numbers",
        });
    }
    let fit = finding.keeps_f32_sums_of_exact_products();
    // A truncating unit has a bound where what it aligns is known, and no worse than what the bound is for.
    let aligned_as_said = match (order, finding.alignment) {
        (Order::Aligned { depth, guard_bits }, Some(found)) => {
            found.depth <= depth && found.guard_bits >= guard_bits
        }
        (Order::Aligned { .. }, None) => finding.rounding == Rounding::Nearest,
        (Order::Pairs | Order::Tiles, _) => false,
    };
    // f16 numbers are scaled for a range that ends with subnormal ones.
    let flushes = finding.format == Format::Fp16 && finding.flushes_factors;
    match mode {
        Mode::Fast | Mode::Kahan | Mode::Double => Ok(()),
        // Its sums are exact: there is nothing to round.
        Mode::OzakiTwoLevel if fit => Ok(()),
        Mode::OzakiTwoLevel => Err("exact products and sums of 24 bits"),
        _ if flushes => Err("subnormal f16 numbers"),
        _ if fit && (finding.rounding == Rounding::Nearest || aligned_as_said) => Ok(()),
        _ => match order {
            Order::Pairs | Order::Tiles => {
                Err("exact products and sums of 24 bits, rounded to nearest")
            }
            Order::Aligned { .. } => {
                Err("exact products and sums of 24 bits, aligned as the unit says")
            }
        },
    }
}

impl FloatPlan {
    /// A plan by the table [`Table::Measured`]. Modes without a matrix unit ignore `unit`, and so do those in f16, whose unit is
    /// plain code everywhere.
    ///
    /// The unit is probed when a plan first needs it, and rejected ([`FloatError::UnitNotFit`]) where it does not compute
    /// what the mode is built on.
    pub fn new(
        n: usize,
        mode: Mode,
        direction: Direction,
        unit: Unit,
    ) -> Result<FloatPlan, FloatError> {
        FloatPlan::with_table(n, mode, direction, unit, Table::Measured)
    }

    /// A plan by any table.
    pub fn with_table(
        n: usize,
        mode: Mode,
        direction: Direction,
        unit: Unit,
        table: Table,
    ) -> Result<FloatPlan, FloatError> {
        let probed = match mode.format() {
            Some(Format::Bf16) => Some((unit.get()?, unit.probe()?)),
            Some(Format::Fp16) => Some(Unit::fp16()),
            None => None,
        };
        FloatPlan::build(n, mode, direction, probed, table, InstructionSet::detect())
    }

    /// A plan on a unit of the caller's, which is probed first.
    ///
    /// ```
    /// use floats::unit::{Order, Scalar};
    /// use floats::{Direction, FloatPlan, Mode};
    /// use std::sync::Arc;
    /// let unit = Arc::new(Scalar::new(Order::Tiles));
    /// let plan = FloatPlan::on_unit(100, Mode::OzakiHq, Direction::Inverse, unit)?;
    /// assert!(plan.bound() < 1e-4);
    /// # Ok::<(), floats::FloatError>(())
    /// ```
    pub fn on_unit(
        n: usize,
        mode: Mode,
        direction: Direction,
        unit: Arc<dyn MatrixUnit>,
    ) -> Result<FloatPlan, FloatError> {
        FloatPlan::on_unit_with_table(n, mode, direction, unit, Table::Measured)
    }

    /// The same by any table.
    pub fn on_unit_with_table(
        n: usize,
        mode: Mode,
        direction: Direction,
        unit: Arc<dyn MatrixUnit>,
        table: Table,
    ) -> Result<FloatPlan, FloatError> {
        let finding = probe(&*unit);
        let set = InstructionSet::detect();
        FloatPlan::build(n, mode, direction, Some((unit, finding)), table, set)
    }

    pub(crate) fn build(
        n: usize,
        mode: Mode,
        direction: Direction,
        unit: Option<(Arc<dyn MatrixUnit>, Finding)>,
        table: Table,
        set: InstructionSet,
    ) -> Result<FloatPlan, FloatError> {
        let _environment = DefaultEnvironment::enter();
        if !(1..=LONGEST).contains(&n) {
            return Err(FloatError::Length { n });
        }
        let lengths_of = |mode| match table {
            Table::Only(path) if table.find(n, mode).is_none() => {
                Err(FloatError::NoSuchPath { path, n })
            }
            _ => Ok(()),
        };
        lengths_of(mode)?;
        lengths_of(mode.without_unit())?;
        let unit = unit.filter(|_| mode.needs_matrix_unit());
        if let Some((unit, finding)) = &unit {
            requirement(mode, unit.order(), finding).map_err(|needed| FloatError::UnitNotFit {
                mode,
                unit: unit.name().to_string(),
                needed,
                finding: *finding,
            })?;
        }
        let cut = unit.as_ref().and_then(|_| table.cut(n, mode));
        let rule = table.rule(n, mode);
        let recipe = table.line_recipe(n, mode);
        let single_lines = |carried, direction| Lines::new(n, &recipe, carried, direction, set);
        let single_budget = |lines: &Lines<f32>, carried| {
            bound::lines::<f32>(n, &recipe, carried, lines.spectrum_stats())
        };
        let double = || {
            let lines = Lines::<f64>::new(n, &recipe, false, direction, set);
            let budget = bound::lines::<f64>(n, &recipe, false, lines.spectrum_stats());
            (Engine::Double(lines), budget.rounded_to_f32(), Some(budget))
        };
        let parts = mode.parts();
        let numbers = (mode.format().unwrap_or(Format::Bf16), parts);
        let (engine, single, double) = match (mode, &unit, cut) {
            (Mode::OzakiTwoLevel, Some((unit, _)), Some(cut)) => {
                let budget = bound::two_level(n, cut);
                let engine = TwoLevel::new(n, cut, direction, unit.clone(), set);
                let engine = Engine::TwoLevel(engine);
                (engine, budget.rounded_to_f32(), Some(budget))
            }
            (Mode::OzakiTwoLevel | Mode::Double, ..) => double(),
            (Mode::Bf16Refined, Some((unit, _)), Some(cut)) => {
                let forward = DftGemm::new(n, parts, cut, direction, unit.clone(), set);
                let back = single_lines(false, direction.reversed());
                let budget = bound::refined(
                    n,
                    bound::dft_gemm(n, numbers, cut, unit.order()),
                    single_budget(&back, false),
                );
                let refined = Refined::new(n, forward, back, set);
                (Engine::Refined(Box::new(refined)), budget, None)
            }
            (Mode::Fp16 | Mode::Fp16Ozaki, Some((unit, _)), Some(cut)) => {
                let engine = Fp16Gemm::new(n, parts, cut, direction, unit.clone());
                let budget = bound::dft_gemm(n, numbers, cut, unit.order());
                (Engine::Fp16(engine), budget, None)
            }
            (_, Some((unit, _)), Some(cut)) => {
                let engine = DftGemm::new(n, parts, cut, direction, unit.clone(), set);
                let budget = bound::dft_gemm(n, numbers, cut, unit.order());
                (Engine::Gemm(engine), budget, None)
            }
            _ => {
                let carried = mode == Mode::Kahan;
                let lines = single_lines(carried, direction);
                let budget = single_budget(&lines, carried);
                (Engine::Single(lines), budget, None)
            }
        };
        Ok(FloatPlan {
            n,
            mode,
            direction,
            engine,
            rule,
            set,
            recipe,
            cut,
            unit: unit.map(|(unit, finding)| (unit.name().to_string(), finding)),
            single,
            double,
        })
    }

    /// Points of a line.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Never: a line has at least one point.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The direction.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The algorithm.
    pub fn path(&self) -> Path {
        self.rule.path
    }

    /// Cost per point, in units that do not depend on the machine.
    pub fn work(&self) -> Work {
        if let Some(cut) = self.cut {
            let (products, points) = match cut {
                Cut::Whole => (1.0, padded(self.n)),
                Cut::Blocks(n1, n2) => (2.0, padded(n1) + padded(n2)),
            };
            // An inverse in f32 comes with a refinement, and a second transform.
            let (again, back) = match &self.engine {
                Engine::Refined(_) => (2.0, stage_work(self.n, &self.recipe)),
                _ => (1.0, Work::default()),
            };
            return Work {
                passes: again * products + back.passes,
                steps: again * points as f64 / TILE as f64 + back.steps,
            };
        }
        stage_work(self.n, &self.recipe)
    }

    /// The matrix unit that multiplies, by name; none for modes without one, and for lengths that it cannot take.
    pub fn unit(&self) -> Option<&str> {
        let (name, _) = self.unit.as_ref()?;
        self.cut.map(|_| name.as_str())
    }

    /// The vectors that do the rest, by name.
    pub fn vectors(&self) -> &'static str {
        self.set.name()
    }

    /// Upper bound of the relative L2 error of [`FloatPlan::process`], for any line of finite numbers whose spectrum
    /// is finite; see the documentation of the crate for the theorem. Subnormal results are rounded to their spacing on
    /// top.
    pub fn bound(&self) -> f64 {
        self.single.bound
    }

    /// As [`FloatPlan::bound`] for the first `n/2 + 1` numbers of a real line's spectrum, by themselves: they may carry all of the
    /// error and half of the squares, which is `√2` on everything but a last rounding of every number.
    pub fn bound_of_half(&self) -> f64 {
        self.single.half_spectrum()
    }

    /// The relative L2 error to expect for random lines.
    pub fn expected(&self) -> f64 {
        self.single.expected
    }

    /// As [`FloatPlan::bound`] for [`FloatPlan::process_f64`], where the mode has it.
    pub fn bound_f64(&self) -> Option<f64> {
        self.double.map(|budget| budget.bound)
    }

    /// As [`FloatPlan::bound_of_half`] for [`FloatPlan::process_f64`], where the mode has it.
    pub fn bound_of_half_f64(&self) -> Option<f64> {
        self.double.map(|budget| budget.half_spectrum())
    }

    /// As [`FloatPlan::expected`] for [`FloatPlan::process_f64`], where the mode has it.
    pub fn expected_f64(&self) -> Option<f64> {
        self.double.map(|budget| budget.expected)
    }

    fn owner(&self) -> Owner {
        Owner {
            n: self.n,
            mode: self.mode,
            cut: self.cut,
            convolution: matches!(self.recipe, LineRecipe::Bluestein(_)),
        }
    }

    /// Memory for [`FloatPlan::process`] and [`FloatPlan::process_f64`], which allocate nothing themselves.
    pub fn workspace(&self) -> Workspace {
        Workspace {
            of: self.owner(),
            memory: match &self.engine {
                Engine::Single(lines) => Memory::Single(lines.workspace()),
                Engine::Double(lines) => Memory::Double(lines.workspace()),
                Engine::Gemm(gemm) => Memory::Gemm(gemm.workspace()),
                Engine::Fp16(gemm) => Memory::Fp16(gemm.workspace()),
                Engine::Refined(refined) => Memory::Refined(refined.workspace()),
                Engine::TwoLevel(two_level) => Memory::TwoLevel(two_level.workspace()),
            },
        }
    }

    fn whole_lines(&self, values: usize) -> Result<(), FloatError> {
        if values.is_multiple_of(self.n) {
            Ok(())
        } else {
            Err(FloatError::NotWholeLines { values, n: self.n })
        }
    }

    fn foreign(&self, workspace: &Workspace) -> FloatError {
        FloatError::ForeignWorkspace {
            found: workspace.of.to_string(),
            needed: self.owner().to_string(),
        }
    }

    /// Transforms lines that lie one after the other, in place.
    ///
    /// A line that holds a NaN or an infinite number becomes NaN in all places; other lines do not notice. A spectrum that
    /// does not fit f32 has infinite numbers where it does not. On an error nothing is written.
    pub fn process(
        &self,
        lines: &mut [Complex<f32>],
        workspace: &mut Workspace,
    ) -> Result<(), FloatError> {
        let _environment = DefaultEnvironment::enter();
        self.whole_lines(lines.len())?;
        if workspace.of != self.owner() {
            return Err(self.foreign(workspace));
        }
        match (&self.engine, &mut workspace.memory) {
            (Engine::Single(engine), Memory::Single(memory)) => engine.process(lines, memory),
            (Engine::Double(engine), Memory::Double(memory)) => engine.process(lines, memory),
            (Engine::Gemm(engine), Memory::Gemm(memory)) => engine.process(lines, memory),
            (Engine::Fp16(engine), Memory::Fp16(memory)) => engine.process(lines, memory),
            (Engine::Refined(engine), Memory::Refined(memory)) => engine.process(lines, memory),
            (Engine::TwoLevel(engine), Memory::TwoLevel(memory)) => engine.process(lines, memory),
            _ => return Err(self.foreign(workspace)),
        }
        Ok(())
    }

    /// As [`FloatPlan::process`] for f64 data, in the modes that have more than f32 to give: `double` and
    /// `ozaki_two_level`.
    pub fn process_f64(
        &self,
        lines: &mut [Complex<f64>],
        workspace: &mut Workspace,
    ) -> Result<(), FloatError> {
        let _environment = DefaultEnvironment::enter();
        self.whole_lines(lines.len())?;
        if !self.mode.takes_f64() {
            return Err(FloatError::DataTooWide { mode: self.mode });
        }
        if workspace.of != self.owner() {
            return Err(self.foreign(workspace));
        }
        match (&self.engine, &mut workspace.memory) {
            (Engine::Double(engine), Memory::Double(memory)) => engine.process(lines, memory),
            (Engine::TwoLevel(engine), Memory::TwoLevel(memory)) => engine.process(lines, memory),
            _ => return Err(self.foreign(workspace)),
        }
        Ok(())
    }

    /// Which path on which unit, why, and how well with f32 data.
    pub fn describe(&self) -> String {
        format!(
            "{}; relative L2 error at most {:.1e}, about {:.1e}",
            self.how(),
            // Two digits are off by less than a twentieth: the text is not below the bound.
            1.05 * self.single.bound,
            self.single.expected
        )
    }

    /// Which path on which unit, and why.
    pub fn how(&self) -> String {
        let direction = match self.direction {
            Direction::Forward => "forward",
            Direction::Inverse => "inverse",
        };
        let steps = |steps: &[Step]| {
            let points: Vec<String> = steps.iter().map(|step| step.points().to_string()).collect();
            points.join("·")
        };
        let how = match (&self.engine, self.cut, &self.recipe) {
            (Engine::Single(_) | Engine::Double(_), _, LineRecipe::Stages(list)) => {
                format!(" {}", steps(list))
            }
            (Engine::Single(_) | Engine::Double(_), _, LineRecipe::Bluestein(list)) => {
                format!(" over {}", steps(list))
            }
            (_, Some(Cut::Blocks(n1, n2)), _) => format!(" {n1} × {n2}"),
            _ => String::new(),
        };
        let place = match (&self.unit, self.cut) {
            (Some((name, finding)), Some(_)) => format!("on {name} ({finding})"),
            (Some(_), None) => {
                let number = match self.engine {
                    Engine::Double(_) => "f64",
                    _ => "f32",
                };
                format!(
                    "in {number} on {} vectors instead of a matrix unit, because the length has no two factors to 256",
                    self.set.name()
                )
            }
            (None, _) => format!("on {} vectors", self.set.name()),
        };
        format!(
            "{}, {} points {direction}: {}{how}, {place}; {}",
            self.mode, self.n, self.rule.path, self.rule.reason
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft_testkit::oracle::inputs;

    /// Everything is IEEE arithmetic in a fixed order, fused in the same places.
    #[test]
    fn bits_are_the_same_on_every_instruction_set() {
        for mode in Mode::ALL {
            for (n, table) in [
                (3, Table::Measured),
                (64, Table::Posted),
                (100, Table::Measured),
                (256, Table::Measured),
                (1000, Table::Measured),
                (1009, Table::Measured),
                (4096, Table::Posted),
            ] {
                // Plain code for f16 numbers takes long for long lines.
                if mode.format() == Some(Format::Fp16) && n > 300 {
                    continue;
                }
                // More lines than a unit has columns, where that takes no time.
                let count = if n > 300 { 3 } else { 19 };
                let lines = inputs::uniform_complex(count * n, 12);
                let results: Vec<_> = InstructionSet::available()
                    .into_iter()
                    .map(|set| {
                        let best = Unit::best();
                        let unit = match mode.format() {
                            Some(Format::Fp16) => Unit::fp16(),
                            _ => (best.get().unwrap(), best.probe().unwrap()),
                        };
                        let unit = Some(unit);
                        let plan = FloatPlan::build(n, mode, Direction::Inverse, unit, table, set)
                            .unwrap();
                        let mut single: Vec<_> = lines
                            .iter()
                            .map(|value| Complex::new(value.re as f32, value.im as f32))
                            .collect();
                        let mut double = lines.clone();
                        let mut workspace = plan.workspace();
                        plan.process(&mut single, &mut workspace).unwrap();
                        if mode.takes_f64() {
                            plan.process_f64(&mut double, &mut workspace).unwrap();
                        }
                        (single, double)
                    })
                    .collect();
                let same = results.windows(2).all(|pair| pair[0] == pair[1]);
                assert!(same, "{mode} n={n} {table:?}, seed 12");
            }
        }
    }
}
