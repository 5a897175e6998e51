//! bash-language-server, with shellcheck.

use tiers::Trust;

use crate::sample::Asked::{At, Query, Symbols};
use crate::sample::{Case, Faults, Sample};

const LIBRARY: &str = "\
#!/bin/bash

# Says how large something is.
total() {
    local count=\"$1\"
    echo \"$count\"
}
";

const MAIN: &str = "\
#!/bin/bash
# shellcheck source=library.sh
source ./library.sh
label=\"😀é\"; total 3
echo \"$label\"
";

/// Line endings and characters that are counted in several ways.
const MARKS: &str = "#!/bin/bash\r\ncore() { true; }\r\nx=\"😀é\"; core\r\n";

pub(crate) fn bash_language_server() -> Sample {
    let cases = vec![
        Case(
            At("definition", "main.sh", 4, "total"),
            &["library.sh:4:1: total() {"],
        ),
        Case(
            At("references", "library.sh", 4, "total"),
            &[
                "^2 references to `total` in 2 files",
                // Pitfall 18: characters before it that are longer in other units.
                "\nmain.sh:4:13: label=\"😀é\"; total 3",
            ],
        ),
        Case(
            At("references", "marks.sh", 3, "core"),
            &["\nmarks.sh:2:1: core() { true; }\nmarks.sh:3:9: x="],
        ),
        Case(
            At("hover", "main.sh", 4, "total"),
            &["total", "Says how large something is."],
        ),
        Case(Symbols("library.sh"), &["\n4: function total"]),
        Case(Query("total"), &["library.sh:4:1: function total"]),
        Case(
            At("code_actions", "main.sh", 4, "total"),
            &["`total` in line 4 of `main.sh`"],
        ),
        Case(
            At("implementation", "main.sh", 4, "total"),
            &["`bash-language-server` cannot answer this: it does not offer implementations"],
        ),
    ];
    Sample {
        id: "bash-language-server",
        programs: &["bash-language-server", "shellcheck"],
        trust: Trust::Untrusted,
        files: vec![
            (".git/HEAD", "ref: refs/heads/main\n".to_owned()),
            ("library.sh", LIBRARY.to_owned()),
            ("main.sh", MAIN.to_owned()),
            ("marks.sh", MARKS.to_owned()),
        ],
        cases,
        faults: Faults {
            file: "main.sh",
            from: "echo \"$label\"",
            to: "cd /nowhere",
            wants: &["5:1 warning [shellcheck SC2164] Use 'cd ... || exit'"],
        },
        status: &["type_definition: the server does not offer it"],
    }
}
