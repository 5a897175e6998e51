//! `toolset trust` and `toolset untrust`.

use std::path::{Path, PathBuf};

use host::{Trust, Workspace};

use super::{Failure, print, remark};
use crate::cli::{RunArgs, TrustArgs, UntrustArgs};
use crate::environment::Environment;

/// Trusts a workspace, or lists those that are.
pub(super) fn trust(args: &TrustArgs, environment: &Environment) -> Result<u8, Failure> {
    let store = environment.trust_store()?;
    if args.list {
        let list: String = store
            .trusted()?
            .iter()
            .map(|root| format!("{}\n", root.display()))
            .collect();
        print(&list)?;
        return Ok(0);
    }
    let workspace = open(args.workspace.as_deref(), environment, Trust::Trusted)?;
    let is_new = store.trust(workspace.root())?;
    let state = if is_new {
        "trusted from now on"
    } else {
        "trusted already"
    };
    print(&format!("{} is {state}\n", workspace.root().display()))?;
    Ok(0)
}

/// Forgets that a workspace is trusted.
pub(super) fn untrust(args: &UntrustArgs, environment: &Environment) -> Result<u8, Failure> {
    let store = environment.trust_store()?;
    // A folder that is gone can still be forgotten, by the path it had.
    let root = match open(args.workspace.as_deref(), environment, Trust::Untrusted) {
        Ok(workspace) => workspace.root().to_owned(),
        Err(_) => folder(args.workspace.as_deref(), environment),
    };
    let was_trusted = store.untrust(&root)?;
    let state = if was_trusted {
        "not trusted any more"
    } else {
        "not trusted anyway"
    };
    print(&format!("{} is {state}\n", root.display()))?;
    Ok(0)
}

/// Opens the workspace of a run, with the trust that the command line and the
/// memory give it.
pub(super) fn workspace(args: &RunArgs, environment: &Environment) -> Result<Workspace, Failure> {
    let untrusted = open(args.workspace.as_deref(), environment, Trust::Untrusted)?;
    if args.no_trust {
        return Ok(untrusted);
    }
    let root = untrusted.root();
    if args.trust {
        if environment.trust_store()?.trust(root)? {
            remark(&format!(
                "note: {} is trusted from now on; `toolset untrust` takes it back",
                root.display()
            ));
        }
        return Ok(Workspace::open(root, Trust::Trusted)?);
    }
    let remembered = environment.trust.as_ref().map(|store| store.trusted());
    match remembered {
        Some(Ok(trusted)) if trusted.contains(root) => Ok(Workspace::open(root, Trust::Trusted)?),
        Some(Err(error)) => {
            remark(&format!(
                "note: {error:#}; {} is taken as untrusted",
                root.display()
            ));
            Ok(untrusted)
        }
        Some(Ok(_)) | None => Ok(untrusted),
    }
}

fn folder(path: Option<&Path>, environment: &Environment) -> PathBuf {
    path.map_or_else(
        || environment.current.clone(),
        |path| environment.current.join(path),
    )
}

fn open(
    path: Option<&Path>,
    environment: &Environment,
    trust: Trust,
) -> Result<Workspace, Failure> {
    Workspace::open(&folder(path, environment), trust).map_err(|error| {
        let next = error.next_step();
        Failure::Usage(anyhow::anyhow!("{error}; {next}"))
    })
}
