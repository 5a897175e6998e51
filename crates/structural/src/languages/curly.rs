//! Languages with braces that compile: C, C++, C#, Dart, Go, Objective-C, Rust,
//! Solidity, Swift, Zig.

mod c;
mod c_sharp;
mod dart;
mod go;
mod rust;
mod solidity;
mod swift;
mod zig;

use super::Language;
use c::{C, CPP, OBJC};
use c_sharp::C_SHARP;
use dart::DART;
use go::GO;
use rust::RUST;
use solidity::SOLIDITY;
use swift::SWIFT;
use zig::ZIG;

pub(super) const LANGUAGES: &[Language] =
    &[C, C_SHARP, CPP, DART, GO, OBJC, RUST, SOLIDITY, SWIFT, ZIG];
