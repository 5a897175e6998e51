//! `toolset repl`: several calls in one run.

use anyhow::{Context, anyhow};
use rustyline::error::ReadlineError;
use serde_json::{Value, json};
use tiers::ToolError;
use tokio::sync::{mpsc, oneshot};

use super::run::{Format, Session};
use super::{FAILED, Failure, INTERRUPTED, print, remark, tools};
use crate::arguments;
use crate::cli::ReplArgs;
use crate::environment::Environment;

const HELP: &str = "\
<tool> <JSON>            call a tool, for example: ast_grep {\"pattern\": \"$X.unwrap()\"}
<tool> key=value ...     the same; quote values that have spaces
tools                    list the tools
help                     this text
exit                     end the run (so does the end of input)
";

/// What a line asks for.
#[derive(Debug, PartialEq)]
enum Request {
    Nothing,
    Help,
    Tools,
    Exit,
    Call { tool: String, rest: String },
}

/// What came from the person or the pipe.
enum Input {
    Line(String),
    Interrupted,
    End,
}

/// Reads and makes calls until the input ends.
pub(super) async fn run(args: &ReplArgs, environment: &Environment) -> Result<u8, Failure> {
    let session = Session::open(&args.run, environment)?;
    let reader = Reader::start(environment.stdin_is_terminal);
    let outcome = converse(args, environment, &session, reader).await;
    session.end().await;
    outcome
}

async fn converse(
    args: &ReplArgs,
    environment: &Environment,
    session: &Session<'_>,
    reader: Reader,
) -> Result<u8, Failure> {
    let format = if args.json {
        Format::Line
    } else {
        Format::Text
    };
    let mut has_failed = false;
    loop {
        let line = match reader.next().await? {
            Input::Line(line) => line,
            Input::Interrupted if environment.stdin_is_terminal => continue,
            Input::Interrupted => return Ok(INTERRUPTED),
            // A person has seen the errors; a script needs the code.
            Input::End if has_failed && !environment.stdin_is_terminal => return Ok(FAILED),
            Input::End => return Ok(0),
        };
        match parse(&line) {
            Request::Nothing => {}
            Request::Exit if has_failed && !environment.stdin_is_terminal => return Ok(FAILED),
            Request::Exit => return Ok(0),
            Request::Help => print(HELP)?,
            Request::Tools if args.json => {
                let specs = session.registry().specs();
                let specs: Vec<Value> = specs.iter().map(|spec| crate::wire::spec(spec)).collect();
                print(&format!("{}\n", json!({ "tools": specs })))?;
            }
            Request::Tools => {
                print(&tools::list(
                    &session.registry().specs(),
                    environment.stdout,
                ))?;
            }
            Request::Call { tool, rest } => {
                let result = match read_arguments(&rest, &session.schema(&tool), environment) {
                    Ok(arguments) => session.call(&tool, arguments, None).await,
                    Err(error) => Err(ToolError::invalid_input(format!("cannot call `{tool}`"))
                        .why(format!("{error:#}"))
                        .next("write `<tool> <JSON>`, or `help`")),
                };
                has_failed |= result.is_err();
                session.show(&result, format)?;
            }
        }
    }
}

fn parse(line: &str) -> Request {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Request::Nothing;
    }
    let (tool, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (tool, rest) {
        ("help", "") => Request::Help,
        ("tools", "") => Request::Tools,
        ("exit" | "quit", "") => Request::Exit,
        _ => Request::Call {
            tool: tool.to_owned(),
            rest: rest.trim().to_owned(),
        },
    }
}

fn read_arguments(rest: &str, schema: &Value, environment: &Environment) -> anyhow::Result<Value> {
    if rest.starts_with('{') {
        return arguments::parse_object(rest);
    }
    let words = shlex::split(rest).context("a quote is not closed")?;
    // Standard input is where the calls come from.
    arguments::parse(&words, schema, &environment.current, &mut std::io::empty())
}

/// Reads lines on a thread of its own, one when it is asked.
struct Reader {
    requests: mpsc::Sender<oneshot::Sender<anyhow::Result<Input>>>,
}

impl Reader {
    fn start(is_terminal: bool) -> Self {
        // One request at a time: the next line is read when the last call is done.
        let (requests, mut asked) = mpsc::channel::<oneshot::Sender<anyhow::Result<Input>>>(1);
        // Not joined: a read from a terminal cannot be interrupted. The thread
        // ends with the process and owns nothing.
        std::thread::spawn(move || {
            let mut editor = match is_terminal.then(rustyline::DefaultEditor::new) {
                Some(Ok(editor)) => Some(editor),
                Some(Err(error)) => {
                    remark(&format!("note: no line editing: {error}"));
                    None
                }
                None => None,
            };
            while let Some(answer) = asked.blocking_recv() {
                let _ = answer.send(read_line(editor.as_mut()));
            }
        });
        Self { requests }
    }

    async fn next(&self) -> anyhow::Result<Input> {
        let gone = || anyhow!("the reader of standard input has ended");
        let (answer, line) = oneshot::channel();
        self.requests.send(answer).await.map_err(|_| gone())?;
        tokio::select! {
            line = line => line.map_err(|_| gone())?,
            Ok(()) = tokio::signal::ctrl_c() => Ok(Input::Interrupted),
        }
    }
}

fn read_line(editor: Option<&mut rustyline::DefaultEditor>) -> anyhow::Result<Input> {
    let Some(editor) = editor else {
        let mut line = String::new();
        let length = std::io::stdin()
            .read_line(&mut line)
            .context("cannot read standard input")?;
        return Ok(if length == 0 {
            Input::End
        } else {
            Input::Line(line)
        });
    };
    match editor.readline("toolset> ") {
        Ok(line) => {
            // A history that is full forgets; nothing else can fail here.
            let _ = editor.add_history_entry(&line);
            Ok(Input::Line(line))
        }
        Err(ReadlineError::Interrupted) => Ok(Input::Interrupted),
        Err(ReadlineError::Eof) => Ok(Input::End),
        Err(error) => Err(error).context("cannot read from the terminal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_comments_or_calls() {
        let call = |tool: &str, rest: &str| Request::Call {
            tool: tool.to_owned(),
            rest: rest.to_owned(),
        };
        assert_eq!(parse("  "), Request::Nothing);
        assert_eq!(parse("# a"), Request::Nothing);
        assert_eq!(parse("exit\n"), Request::Exit);
        assert_eq!(parse("tools"), Request::Tools);
        assert_eq!(parse("tools {}"), call("tools", "{}"));
        assert_eq!(
            parse(" read   {\"path\": \"a b\"} "),
            call("read", "{\"path\": \"a b\"}")
        );
        assert_eq!(parse("read"), call("read", ""));
    }
}
