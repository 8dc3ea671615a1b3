; test: parse_error
; error: 4:37: b0 is defined twice

kernel "k" { region r0 { b0: return b0: return } }
