//! `toolset serve`: JSON-RPC 2.0 over standard input and output.
//!
//! `docs/protocol.md` specifies every message.

mod message;
mod methods;
mod peer;
mod ports;
mod session;

pub(crate) use session::serve;
