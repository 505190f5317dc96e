//! Stockham's transform: every stage reads one array and writes the other, and the last leaves the spectrum in order.

use crate::lanes::{InstructionSet, Scalar, Task, Vectors};
use crate::lines::program::{LineProgram, Operation};
use crate::lines::recipe::Step;
use crate::lines::small_dft::{Matrix, Odd, Radix2, Radix4, Radix8, SmallDft};
use crate::numbers::arithmetic::Arithmetic;
use crate::numbers::number::{ComplexConstant, Number, Pair};
use crate::numbers::roots::root;
use fallible_memory::{collected, with_capacity};

/// The largest prime that has a stage of its own.
pub(crate) const LARGEST_PRIME: usize = 13;

/// One stage: `groups` rotations, each for `stride` columns.
#[derive(Debug)]
struct Stage<S> {
    step: Step,
    stride: usize,
    groups: usize,
    /// `points - 1` for every group.
    rotations: Vec<ComplexConstant<S>>,
}

/// The stages of one length.
#[derive(Debug)]
pub(crate) struct Stockham<S> {
    stages: Vec<Stage<S>>,
}

impl<S: Scalar> Stockham<S> {
    pub(crate) fn new(steps: &[Step]) -> Self {
        let mut rest: usize = steps.iter().map(|step| step.points()).product();
        let mut stride = 1;
        let stages = steps.iter().map(|&step| {
            let (points, length) = (step.points(), rest);
            rest /= points;
            let powers = (0..rest).flat_map(|p| (1..points).map(move |k| (p, k)));
            let mut rotations = with_capacity(rest * (points - 1));
            rotations.extend(powers.map(|(p, k)| {
                let turn = (length - p * k % length) as u64;
                ComplexConstant::new(root(turn, length as u64))
            }));
            let stage = Stage {
                step,
                stride,
                groups: rest,
                rotations,
            };
            stride *= points;
            stage
        });
        Stockham {
            stages: stages.collect(),
        }
    }

    /// Transforms what is in the first array; says whether the spectrum is in the second.
    pub(crate) fn transform<A: Arithmetic<Scalar = S>>(
        &self,
        set: InstructionSet,
        a: &mut [S],
        b: &mut [S],
    ) -> bool {
        let (mut from, mut to) = (a, b);
        for stage in &self.stages {
            set.enter(StageTask::<A> { stage, from, to });
            (from, to) = (to, from);
        }
        self.stages.len() % 2 == 1
    }

    /// The stages for another machine, where it has their steps.
    pub(crate) fn write(&self, program: &mut LineProgram) -> Option<()> {
        for stage in &self.stages {
            let Step::Butterfly(points) = stage.step else {
                return None;
            };
            program.push(Operation::Butterfly {
                points,
                stride: stage.stride,
                groups: stage.groups,
            });
            for k in 0..points - 1 {
                for p in 0..stage.groups {
                    program.constant(stage.rotations[p * (points - 1) + k]);
                }
            }
            let own = match points {
                8 => 1..2,
                points if points % 2 == 1 => 0..points,
                _ => 0..0,
            };
            for k in own {
                program.constant(ComplexConstant::<S>::new(root(k as u64, points as u64)));
            }
        }
        Some(())
    }
}

impl Stockham<f64> {
    /// The same transform of another number type, without computing the roots again.
    pub(crate) fn rounded<S: Scalar>(self) -> Stockham<S> {
        let stages = self.stages.into_iter().map(|stage| Stage {
            step: stage.step,
            stride: stage.stride,
            groups: stage.groups,
            rotations: collected(stage.rotations.into_iter().map(ComplexConstant::rounded)),
        });
        Stockham {
            stages: stages.collect(),
        }
    }
}

struct StageTask<'a, A: Arithmetic> {
    stage: &'a Stage<A::Scalar>,
    from: &'a [A::Scalar],
    to: &'a mut [A::Scalar],
}

impl<A: Arithmetic> Task for StageTask<'_, A> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        self.stage.run::<A::Number<V>>(self.from, self.to);
    }
}

impl<S: Scalar> Stage<S> {
    #[inline(always)]
    fn run<N: Number<Scalar = S>>(&self, from: &[S], to: &mut [S]) {
        match self.step {
            Step::Butterfly(2) => self.with::<N, 2>(&Radix2, from, to),
            Step::Butterfly(4) => self.with::<N, 4>(&Radix4, from, to),
            Step::Butterfly(8) => self.with::<N, 8>(&Radix8::new(), from, to),
            Step::Butterfly(3) => self.with::<N, 3>(&Odd::new(), from, to),
            Step::Butterfly(5) => self.with::<N, 5>(&Odd::new(), from, to),
            Step::Butterfly(7) => self.with::<N, 7>(&Odd::new(), from, to),
            Step::Butterfly(11) => self.with::<N, 11>(&Odd::new(), from, to),
            Step::Butterfly(13) => self.with::<N, 13>(&Odd::new(), from, to),
            Step::Matrix(8) => self.with::<N, 8>(&Matrix::new(), from, to),
            step => unreachable!("planning never makes {step:?}"),
        }
    }

    #[inline(always)]
    fn with<N: Number<Scalar = S>, const R: usize>(
        &self,
        dft: &impl SmallDft<N, R>,
        from: &[S],
        to: &mut [S],
    ) {
        let (stride, groups) = (self.stride, self.groups);
        // One check here instead of one for every number.
        let length = stride * groups * R * Pair::<N>::LENGTH;
        let (from, to) = (&from[..length], &mut to[..length]);
        for p in 0..groups {
            let rotations: &[ComplexConstant<S>] = &self.rotations[p * (R - 1)..][..R - 1];
            for q in 0..stride {
                let mut x = [Pair::<N>::zero(); R];
                for (i, x) in x.iter_mut().enumerate() {
                    *x = Pair::load(from, q + stride * (p + groups * i));
                }
                let y = dft.apply(x);
                y[0].store(to, q + stride * R * p);
                for k in 1..R {
                    // The first group is not rotated.
                    let value = if p == 0 {
                        y[k]
                    } else {
                        N::rotated(y[k], &rotations[k - 1])
                    };
                    value.store(to, q + stride * (R * p + k));
                }
            }
        }
    }
}
