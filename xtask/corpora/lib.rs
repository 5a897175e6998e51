//! Empty: this package only names sources.
