//! The registry of one run: what the model sees, and the only way to run it.

mod admission;
mod builder;
mod dispatch;
mod withheld;

pub(crate) use admission::HoldState;
pub use admission::{Admission, Group, Hold};
pub use builder::{BuildError, RegistryBuilder};
pub use dispatch::{Call, Dispatch, Registry};
pub use withheld::{Absence, Withheld};
