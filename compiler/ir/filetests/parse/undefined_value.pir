; test: parse_error
; error: 5:27: v7 is not defined

kernel "k" { region r0 { b0:
     v1: i32 = add.nuw 1, v7
    return } }
