//! What has been found out about a device, kept for all of its plans: whoever asks has a type of his own for the answers.

use crate::sync::lock;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

type Finding = Arc<dyn Any + Send + Sync>;

/// Findings by their type, each made empty when it is first asked for.
#[derive(Default)]
pub(crate) struct Findings(Mutex<HashMap<TypeId, Finding>>);

impl Findings {
    pub(crate) fn of<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut all = lock(&self.0);
        let place = all.entry(TypeId::of::<T>());
        let finding = place.or_insert_with(|| Arc::new(T::default()));
        let finding = Arc::clone(finding).downcast::<T>();
        finding.unwrap_or_else(|_| unreachable!("it is kept by its type"))
    }
}
