; test: parse_error
; error: 4:14: `regions` is no part of a kernel

kernel "k" { regions r0 { b0: return } }
