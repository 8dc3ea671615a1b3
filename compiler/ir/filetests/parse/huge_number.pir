; test: parse_error
; error: 4:30: the number of `v99999999999` is too large

kernel "k" { region r0 { b0: v99999999999: i32 = add 1, 2 return } }
