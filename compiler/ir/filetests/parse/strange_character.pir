; test: parse_error
; error: 4:14: unexpected character `§`

kernel "k" { § }
