//! Whether anyone vouches for a checkout.

/// Whether the user vouches for what a workspace contains.
///
/// There is no default: the harness says it for each workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trust {
    /// What the workspace supplies may be started: its executables, build
    /// scripts and commands from its configuration.
    Trusted,
    /// Nothing that the workspace supplies or steers is started below the exec
    /// tier.
    Untrusted,
}
