; test: parse_error
; error: 5:16: `add` takes no `.exact` here

kernel "k" { region r0 { b0:
     v1: i32 = add.exact 1, 2
    return } }
