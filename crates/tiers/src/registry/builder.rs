//! Builds a registry from candidates, a ceiling and a run.

use std::collections::HashMap;
use std::sync::Arc;

use thiserror::Error;

use crate::registry::dispatch::Inner;
use crate::{
    Absence, Approver, EventSink, Guardrail, Registry, Run, Tool, Typed, TypedTool, Withheld,
};

/// Why a registry could not be built: a fault of the candidates.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two candidates have the same name.
    #[error("two tools are called `{0}`; rename one")]
    DuplicateName(String),
    /// A spec is not acceptable to every model provider.
    #[error("the spec of `{tool}` is not acceptable: {}", violations.join("; "))]
    InvalidSpec {
        /// The name of the tool.
        tool: String,
        /// What is wrong, one sentence each.
        violations: Vec<String>,
    },
}

/// Collects the candidates of a [`Registry`].
#[must_use]
pub struct RegistryBuilder {
    run: Arc<Run>,
    tools: Vec<Arc<dyn Tool>>,
    withheld: Vec<Withheld>,
    guardrails: Vec<Arc<dyn Guardrail>>,
    approver: Option<Arc<dyn Approver>>,
    events: Option<Arc<dyn EventSink>>,
}

impl RegistryBuilder {
    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self {
            approver: run.approver().cloned(),
            events: run.events().cloned(),
            run,
            tools: Vec::new(),
            withheld: Vec::new(),
            guardrails: Vec::new(),
        }
    }

    /// Adds a tool whose resource is attached; it becomes visible if the run's
    /// ceiling admits its tier.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a typed tool.
    pub fn typed(self, tool: impl TypedTool) -> Self {
        self.tool(Typed::new(tool))
    }

    /// Adds a tool that is shared already.
    pub fn shared(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Notes that the tool `name` is absent because `port` is not attached;
    /// `port` is in words, for example `language-server supervisor`.
    pub fn not_attached(mut self, name: impl Into<String>, port: impl Into<String>) -> Self {
        let why = Absence::NotAttached(port.into());
        self.withheld.push(Withheld {
            name: name.into(),
            why,
        });
        self
    }

    /// Notes that the tool `name` is absent because its mode is off.
    pub fn mode_off(mut self, name: impl Into<String>) -> Self {
        self.withheld.push(Withheld {
            name: name.into(),
            why: Absence::ModeOff,
        });
        self
    }

    /// Adds a guardrail; with several the strictest answer counts, with none
    /// every visible tool may run.
    pub fn gate(mut self, guardrail: Arc<dyn Guardrail>) -> Self {
        self.guardrails.push(guardrail);
        self
    }

    /// Sets who approves calls; the run's approver otherwise.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets where events go; the run's sink otherwise.
    pub fn events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = Some(events);
        self
    }

    /// Builds the registry.
    ///
    /// # Errors
    /// When two candidates share a name or a schema has a shape that not every
    /// provider accepts, visible or not.
    pub fn build(self) -> Result<Registry, BuildError> {
        let ceiling = self.run.ceiling();
        let mut withheld = Vec::new();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(self.tools.len());
        let mut by_name = HashMap::with_capacity(self.tools.len());
        let mut names = HashMap::with_capacity(self.tools.len() + self.withheld.len());
        for tool in self.tools {
            let spec = tool.spec();
            let violations = spec.shape_violations();
            if !violations.is_empty() {
                return Err(BuildError::InvalidSpec {
                    tool: spec.name.clone(),
                    violations,
                });
            }
            if names.insert(spec.name.clone(), ()).is_some() {
                return Err(BuildError::DuplicateName(spec.name.clone()));
            }
            if ceiling.admits(spec.tier) {
                by_name.insert(spec.name.clone(), tools.len());
                tools.push(tool);
            } else {
                withheld.push(Withheld {
                    name: spec.name.clone(),
                    why: Absence::OverCeiling {
                        tier: spec.tier,
                        ceiling,
                    },
                });
            }
        }
        for absent in self.withheld {
            if names.insert(absent.name.clone(), ()).is_some() {
                return Err(BuildError::DuplicateName(absent.name));
            }
            withheld.push(absent);
        }
        Ok(Registry::from_inner(Inner {
            run: self.run,
            tools,
            by_name,
            withheld,
            guardrails: self.guardrails,
            approver: self.approver,
            events: self.events,
        }))
    }
}
