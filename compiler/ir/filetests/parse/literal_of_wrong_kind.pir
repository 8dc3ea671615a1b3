; test: parse_error
; error: 4:44: `1.5` is no i32

kernel "k" { region r0 { b0: v0: i32 = add 1.5, 2 return } }
