; test: parse_error
; error: 4:35: b7 is not defined

kernel "k" { region r0 { b0: jump b7 } }
