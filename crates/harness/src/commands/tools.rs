//! `toolset tools`.

use serde_json::Value;
use tiers::ToolSpec;

use super::run::Session;
use super::{Failure, print, remark};
use crate::cli::ToolsArgs;
use crate::environment::{Environment, Stream};
use crate::wire;

/// Lists the tools of a run.
pub(super) fn run(args: &ToolsArgs, environment: &Environment) -> Result<u8, Failure> {
    let session = Session::open(&args.run, environment)?;
    let registry = session.registry();
    let specs = registry.specs();
    if args.json {
        let specs: Vec<Value> = specs.iter().map(|spec| wire::spec(spec)).collect();
        print(&(serde_json::to_string_pretty(&specs)? + "\n"))?;
        return Ok(0);
    }
    print(&list(&specs, environment.stdout))?;
    // For the person, never for a model: why the rest is absent.
    for absent in registry.withheld() {
        remark(
            &environment
                .stderr
                .faint(&format!("not in this run: {absent}")),
        );
    }
    Ok(0)
}

/// Lists names, tiers and titles: aligned for a person, else divided by tabs.
pub(super) fn list(specs: &[&ToolSpec], stdout: Stream) -> String {
    if !stdout.is_terminal {
        return specs
            .iter()
            .map(|spec| format!("{}\t{}\t{}\n", spec.name, spec.tier, spec.title))
            .collect();
    }
    let width = specs.iter().map(|spec| spec.name.len()).max().unwrap_or(0);
    specs
        .iter()
        .map(|spec| {
            let name = stdout.strong(&format!("{:<width$}", spec.name));
            let tier = stdout.faint(&format!("{:<5}", spec.tier.to_string()));
            format!("{name}  {tier}  {}\n", spec.title)
        })
        .collect()
}
