//! A well-behaved language server for a small language, on standard input and
//! output.

fn main() -> std::io::Result<()> {
    test_support::run_sample()
}
