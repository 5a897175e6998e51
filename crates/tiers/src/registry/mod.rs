//! The registry of one run: what the model sees, and the only way to run it.

mod admission;
mod builder;
mod call;
mod dispatch;
mod panics;
mod withheld;

pub(crate) use admission::HoldState;
pub use admission::{Admission, Group, Hold};
pub use builder::{BuildError, RegistryBuilder};
pub use call::{Call, Dispatch};
pub use dispatch::Registry;
pub use withheld::{Absence, Withheld};
