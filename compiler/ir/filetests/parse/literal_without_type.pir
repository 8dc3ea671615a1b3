; test: parse_error
; error: 4:47: `5` needs a type here, like `5:i32`

kernel "k" { region r0 { b0: v0: i1 = icmp.eq 5, 6:i32 return } }
