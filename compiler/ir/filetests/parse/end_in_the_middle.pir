; test: parse_error
; error: 5:1: expected `{`, found the end

kernel "k" { region r0
