//! The arithmetics that transforms are computed in, for whichever vectors there are.

use super::kahan::Carried;
use super::number::{Number, Plain};
use crate::lanes::{InstructionSet, Lanes, Scalar, Task, Vectors};
use std::marker::PhantomData;

/// An arithmetic, for whichever vectors there are.
pub(crate) trait Arithmetic {
    type Scalar: Scalar;
    type Number<V: Vectors>: Number<Scalar = Self::Scalar>;
    /// The same for a line that is alone and would not fill a vector's lanes.
    type Alone: Arithmetic<Scalar = Self::Scalar>;
}

macro_rules! arithmetics {
    ($($(#[$doc:meta])* $name:ident: $scalar:ty, $number:ty, $alone:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;

        impl Arithmetic for $name {
            type Scalar = $scalar;
            type Number<V: Vectors> = $number;
            type Alone = $alone;
        }
    )*};
}
arithmetics! {
    /// f32.
    Single: f32, Plain<V::Single>, SingleAlone;
    /// f32, one line.
    SingleAlone: f32, Plain<f32>, SingleAlone;
    /// f64.
    Double: f64, Plain<V::Double>, DoubleAlone;
    /// f64, one line.
    DoubleAlone: f64, Plain<f64>, DoubleAlone;
    /// f32 with errors.
    Compensated: f32, Carried<V::Single>, CompensatedAlone;
    /// f32 with errors, one line.
    CompensatedAlone: f32, Carried<f32>, CompensatedAlone;
    /// f64 with errors, one line: tables are checked by it.
    DoubleCompensatedAlone: f64, Carried<f64>, DoubleCompensatedAlone;
}

/// Lines that are transformed together.
pub(crate) fn lanes<A: Arithmetic>(set: InstructionSet) -> usize {
    struct Count<'a, A>(&'a mut usize, PhantomData<A>);
    impl<A: Arithmetic> Task for Count<'_, A> {
        #[inline(always)]
        fn run<V: Vectors>(self) {
            *self.0 = <A::Number<V> as Number>::Lanes::COUNT;
        }
    }
    let mut count = 0;
    set.enter(Count::<A>(&mut count, PhantomData));
    count
}
