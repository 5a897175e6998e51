//! gopls.

use tiers::Trust;

use crate::sample::Asked::{At, Query, Symbols};
use crate::sample::{Case, Faults, Sample};

const SHAPES: &str = "\
package main

// Shape is a thing with an area.
type Shape interface {
\tArea() float64
}

type Square struct {
\tside float64
}

func (s Square) Area() float64 {
\treturn s.side * s.side
}

func total(shapes []Shape) float64 {
\tsum := 0.0
\tfor _, shape := range shapes {
\t\tsum += shape.Area()
\t}
\treturn sum
}
";

const MAIN: &str = "\
package main

func main() {
\tsquare := Square{side: 2}
\tlabel, sum := \"😀é\", total([]Shape{square})
\tprintln(label, sum)
}
";

/// Line endings and characters that are counted in several ways.
const MARKS: &str = "package main\r\n\r\n// 😀\r\nfunc core() int {\r\n\treturn 1\r\n}\r\n\r\nvar x, y = \"😀é\", core()\r\n";

pub(crate) fn gopls() -> Sample {
    let cases = vec![
        Case(
            At("definition", "main.go", 4, "Square"),
            &["^definition of `Square`:\nshapes.go:8:6: type Square struct {"],
        ),
        // Pitfall 18: characters before the symbol that are longer in other units.
        Case(
            At("definition", "main.go", 5, "total"),
            &["\nshapes.go:16:6: func total("],
        ),
        Case(
            At("type_definition", "main.go", 5, "square"),
            &["\nshapes.go:8:6: type Square struct {"],
        ),
        Case(
            At("implementation", "shapes.go", 4, "Shape"),
            &["\nshapes.go:8:6: type Square struct {"],
        ),
        Case(
            At("references", "shapes.go", 16, "total"),
            &[
                "=2 references to `total` in 2 files, its declaration included:\n\
               shapes.go:16:6: func total(shapes []Shape) float64 {\n\
               main.go:5:22: label, sum := \"😀é\", total([]Shape{square})  [in main]",
            ],
        ),
        Case(
            At("references", "marks.go", 8, "core"),
            &["\nmarks.go:4:6: func core() int {\nmarks.go:8:18: var x, y"],
        ),
        Case(
            At("hover", "shapes.go", 16, "Shape"),
            &["type Shape interface", "Shape is a thing with an area."],
        ),
        Case(
            Symbols("shapes.go"),
            &["\n4: interface Shape", "\n16: function total"],
        ),
        Case(Query("total"), &["\nshapes.go:16:6: function "]),
        Case(
            At("code_actions", "shapes.go", 16, "total"),
            &["`total` in line 16 of `shapes.go`"],
        ),
    ];
    Sample {
        id: "gopls",
        programs: &["gopls"],
        trust: Trust::Untrusted,
        files: vec![
            ("go.mod", "module sample\n\ngo 1.19\n".to_owned()),
            ("shapes.go", SHAPES.to_owned()),
            ("main.go", MAIN.to_owned()),
            ("marks.go", MARKS.to_owned()),
        ],
        cases,
        faults: Faults {
            file: "main.go",
            from: "side: 2",
            to: "side: \"x\"",
            wants: &["^1 error and 0 warnings in `main.go` (gopls):\n4:25 error [compiler"],
        },
        status: &["diagnostics: only when the server publishes them"],
    }
}
