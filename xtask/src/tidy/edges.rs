//! Which crate may depend on which.

use anyhow::Result;
use serde::Deserialize;

use crate::process::{capture, cargo};

/// The families; each stands beside the others and knows none of them.
const FAMILIES: [&str; 6] = [
    "toolset-structural",
    "toolset-lsp-bridge",
    "toolset-debug-session",
    "toolset-kernel",
    "toolset-ask",
    "toolset-vibe",
];

/// Packages that speak a protocol or embed an interpreter or a parser.
const PROTOCOLS: [&str; 11] = [
    "gen-lsp-types",
    "lsp-types",
    "tower-lsp",
    "dap-types",
    "tree-sitter",
    "tree-sitter-language",
    "tree-sitter-language-pack",
    "pyo3",
    "pyo3-ffi",
    "deno_core",
    "v8",
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev` and `build`; nothing for an ordinary one.
    kind: Option<String>,
    path: Option<String>,
}

/// Reports every edge that the architecture does not draw.
pub(super) fn check(wrong: &mut Vec<String>) -> Result<()> {
    let metadata = capture(&mut cargo([
        "metadata",
        "--no-deps",
        "--quiet",
        "--format-version",
        "1",
    ]))?;
    let metadata: Metadata = serde_json::from_str(&metadata)?;
    for package in &metadata.packages {
        for dependency in &package.dependencies {
            if dependency.kind.as_deref() == Some("dev") {
                continue;
            }
            let (from, to) = (package.name.as_str(), dependency.name.as_str());
            if dependency.path.is_some() && !may_depend(from, to) {
                wrong.push(format!(
                    "{from}: must not depend on {to} (docs/architecture.md)"
                ));
            }
            if matches!(from, "toolset-tiers" | "toolset-host")
                && (PROTOCOLS.contains(&to) || to.starts_with("tree-sitter-"))
            {
                wrong.push(format!("{from}: must not know the protocol behind {to}"));
            }
        }
    }
    Ok(())
}

fn may_depend(from: &str, to: &str) -> bool {
    match from {
        "toolset-tiers" | "xtask" => false,
        "toolset-host" => to == "toolset-tiers",
        "toolset" => to != "toolset-harness" && to != "conformance",
        "toolset-harness" => to != "conformance",
        "conformance" | "test-support" => true,
        family if FAMILIES.contains(&family) => matches!(to, "toolset-tiers" | "toolset-host"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::may_depend;

    #[test]
    fn a_family_stands_on_tiers_and_host_only() {
        assert!(may_depend("toolset-structural", "toolset-tiers"));
        assert!(may_depend("toolset-structural", "toolset-host"));
        assert!(!may_depend("toolset-structural", "toolset-ask"));
        assert!(!may_depend("toolset-structural", "toolset"));
        assert!(!may_depend("toolset-tiers", "toolset-host"));
        assert!(may_depend("toolset", "toolset-structural"));
        assert!(!may_depend("a-crate-nobody-drew", "toolset-tiers"));
    }
}
