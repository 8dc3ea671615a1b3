; test: parse_error
; error: 5:15: v1 is defined twice

kernel "k" { region r0 { b0:
     v1: i32, v1: i32 = load null:ptr.global align 4
    return } }
