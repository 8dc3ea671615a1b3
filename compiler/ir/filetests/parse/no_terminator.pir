; test: parse_error
; error: 4:30: expected an instruction, found `}`

kernel "k" { region r0 { b0: } }
