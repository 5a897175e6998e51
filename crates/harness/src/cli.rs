//! The command line: what can be asked, and how help explains it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tiers::Mode;

const EXIT_CODES: &str = "\
Exit codes:
  0    the tool succeeded
  1    the tool answered with an error, or something else failed
  2    the command line is wrong
  130  interrupted (Ctrl-C)

Environment:
  XDG_CONFIG_HOME   has toolset/trust.json, which remembers trust (~/.config)
  XDG_STATE_HOME    has toolset/changes, journals of changes (~/.local/state)
  TOOLSET_GRAMMARS  a folder of further grammars (feature `language-pack`)
  TOOLSET_PYTHON    the Python of `eval` (default: the project's, else python3)
                    or `embedded`, with the feature `embedded-python`
  TOOLSET_THREADS   threads of one search, from 1 (default: one for each core)
  NO_COLOR          set it to anything for text without colours";

/// Built-in tools for coding agents, from the command line.
#[derive(Debug, Parser)]
#[command(name = "toolset", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools a model would see
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(ToolsArgs),
    /// Call one tool, in a run of its own
    #[command(after_help = CALL_EXAMPLES)]
    Call(CallArgs),
    /// Call several tools in one run, one line each
    #[command(after_help = REPL_EXAMPLES)]
    Repl(ReplArgs),
    /// Speak JSON-RPC 2.0 over standard input and output, one message per line
    ///
    /// The workspace, its trust and the mode come with the `initialize` request. A harness in any
    /// language brings its own tools, approver and events, and calls these.
    /// docs/protocol.md describes every message.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve,
    /// Trust a workspace, or list those that are trusted
    ///
    /// In a trusted workspace, tools may start what it supplies: project-local executables,
    /// commands from its configuration, build scripts and macros. Trust is remembered for exactly
    /// this folder.
    Trust(TrustArgs),
    /// Forget that a workspace is trusted
    Untrust(UntrustArgs),
}

const TOOLS_EXAMPLES: &str = "\
Examples:
  toolset tools
  toolset tools --mode plan --json";

const CALL_EXAMPLES: &str = "\
Arguments are one JSON object, `key=value` words, or `-` for an object from standard input:
  key=value   becomes the type the tool asks for; a list takes it several times
  key=@file   the text of a file (`@@` for text that starts with `@`)
  key=-       the text of standard input
  key:=JSON   exactly this JSON value

Examples:
  toolset call ast_grep 'pattern=$X.unwrap()' language=rust
  toolset call ast_grep '{\"pattern\": \"$X.dispose()\", \"language\": \"dart\"}'
  toolset call read path=src/main.rs limit=20 --workspace ../other
  git diff -R | toolset call apply_patch patch=-

With --json the result is one object: `content`, `details` and `touched`, or `error`.";

const REPL_EXAMPLES: &str = "\
Each line is `<tool> <JSON>` or `<tool> key=value ...`; `help`, `tools` and `exit` are commands.
A line that starts with `#` is a comment. The exit code is 1 if any call failed and standard
input is not a terminal.

Examples:
  toolset repl
  echo 'ast_grep {\"pattern\": \"$X.unwrap()\"}' | toolset repl --json
  toolset> ast_edit 'pattern=dispose($X)' 'rewrite=$X.dispose()' language=dart
  toolset> resolve edit_id=edit_1 action=accept";

const SERVE_EXAMPLES: &str = r#"Example:
  printf '%s%s%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize",' \
    '"params":{"protocol_version":1,"workspace":".",' \
    '"trust":"untrusted","mode":"plan"}}' | toolset serve"#;

/// The run that the tools belong to.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// The folder to work in; tools cannot leave it [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// How the run is started; it decides which tools exist
    #[arg(long, value_enum, default_value = "full")]
    pub(crate) mode: ModeName,
    /// Trust the workspace, now and from now on
    #[arg(long, conflicts_with = "no_trust")]
    pub(crate) trust: bool,
    /// Do not trust the workspace this time, even if it is remembered
    #[arg(long)]
    pub(crate) no_trust: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Planning: read tools only
    Plan,
    /// A sub-agent that only explores: read tools only
    ReadOnly,
    /// Everything that is attached
    Full,
}

impl ModeName {
    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Plan => Mode::Plan,
            Self::ReadOnly => Mode::ReadOnlySubagent,
            Self::Full => Mode::Full,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print a JSON array: name, tier, title, description and schemas of each tool
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's name
    pub(crate) tool: String,
    /// Its arguments: one JSON object, `key=value` words, or `-`
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print the whole result as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Cancel the call after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print one JSON object per call, on one line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The workspace [default: the current folder]
    pub(crate) workspace: Option<PathBuf>,
    /// List the trusted workspaces instead
    #[arg(long, conflicts_with = "workspace")]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UntrustArgs {
    /// The workspace [default: the current folder]; it need not exist any more
    pub(crate) workspace: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn examples_fit_a_narrow_terminal() {
        // One that is wrapped cannot be copied into a shell.
        for text in [
            EXIT_CODES,
            TOOLS_EXAMPLES,
            CALL_EXAMPLES,
            REPL_EXAMPLES,
            SERVE_EXAMPLES,
        ] {
            for line in text.lines().filter(|line| line.starts_with("  ")) {
                assert!(line.len() < 80, "{line}");
            }
        }
    }
}
