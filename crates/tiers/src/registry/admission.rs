//! Admission: calls on one resource run one after the other, and no cycle of
//! waits can form.
//!
//! The rule: a call that already holds a group, itself or through a call it is
//! nested in (across child runs too), never waits for another; it takes it
//! free or gets `Conflict`. So whoever is waited for waits for nobody.

use std::sync::{Arc, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{CallContext, ToolError};

/// The calls that share one resource: a kernel, a session.
///
/// It belongs to the resource and not to a registry, so that every registry
/// that reaches the resource shares it.
#[derive(Debug)]
pub struct Group {
    name: String,
    permit: Arc<Semaphore>,
}

impl Group {
    /// Builds a group; `name` says what is busy, for example `python kernel`.
    pub fn new(name: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            permit: Arc::new(Semaphore::new(1)),
        })
    }

    /// Returns what the group is called in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether a call (or the resource, on its behalf) holds it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.permit.available_permits() == 0
    }
}

/// How one call shares its resource.
#[derive(Debug, Clone)]
pub enum Admission {
    /// It may overlap with any other call.
    Parallel,
    /// It runs alone in its group.
    ///
    /// A call nested in a holder of the same group gets `Conflict`: the
    /// resource is busy with the outer call, and waiting would be for ever.
    Serial(Arc<Group>),
}

/// A group that is held; it is free again when the last clone is dropped.
///
/// Dispatch holds one while the call runs. A tool whose resource may be busy
/// longer (an interrupt that takes time) keeps a clone
/// ([`CallContext::hold`]) until the resource is idle.
#[derive(Debug, Clone)]
pub struct Hold(Arc<HoldState>);

#[derive(Debug)]
pub(crate) struct HoldState {
    group: Arc<Group>,
    _permit: OwnedSemaphorePermit,
}

impl Hold {
    /// Returns the group.
    #[must_use]
    pub fn group(&self) -> &Arc<Group> {
        &self.0.group
    }

    pub(crate) fn downgrade(&self) -> Weak<HoldState> {
        Arc::downgrade(&self.0)
    }

    pub(crate) fn upgrade(state: &Weak<HoldState>) -> Option<Self> {
        state.upgrade().map(Self)
    }
}

/// Admits a call; waits only where the rule allows it.
pub(crate) async fn admit(
    admission: Admission,
    context: &CallContext,
) -> Result<Option<Hold>, ToolError> {
    let Admission::Serial(group) = admission else {
        return Ok(None);
    };
    let busy = || ToolError::conflict(format!("`{}` cannot run now", context.tool()));
    let semaphore = Arc::clone(&group.permit);
    let permit = match Arc::clone(&semaphore).try_acquire_owned() {
        Ok(permit) => permit,
        Err(_) => {
            if let Some(held) = context.held_by_ancestor() {
                return Err(if Arc::ptr_eq(held.group(), &group) {
                    busy()
                        .why(format!(
                            "this call is nested in one that uses the {}",
                            group.name
                        ))
                        .next("call it after the outer call has returned")
                } else {
                    busy()
                        .why(format!(
                            "the {} is busy, and this call is nested in one that holds the {}, so it must not wait",
                            group.name,
                            held.group().name
                        ))
                        .next("try again later, or call it outside of the other tool")
                });
            }
            context.progress(format!("waiting for the {}", group.name));
            let wait = context.run().limits().admission_wait;
            match tokio::time::timeout(wait, semaphore.acquire_owned()).await {
                Ok(Ok(permit)) => permit,
                Ok(Err(closed)) => {
                    return Err(ToolError::internal("a group was closed").source(closed));
                }
                Err(_) => {
                    return Err(ToolError::timeout(format!(
                        "`{}` could not start",
                        context.tool()
                    ))
                    .why(format!(
                        "the {} was busy for {} s",
                        group.name,
                        wait.as_secs()
                    ))
                    .next("try again later"));
                }
            }
        }
    };
    let hold = Hold(Arc::new(HoldState {
        group,
        _permit: permit,
    }));
    context.link().hold(&hold);
    Ok(Some(hold))
}
