; test: parse_error
; error: 4:34: `i129` is no type

kernel "k" { region r0 { b0: v0: i129 = add 1, 2 return } }
