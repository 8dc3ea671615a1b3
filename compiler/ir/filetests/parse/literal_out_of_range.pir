; test: parse_error
; error: 4:48: `256` is no i8

kernel "k" { region r0 { b0: v0: i8 = add 128, 256 return } }
