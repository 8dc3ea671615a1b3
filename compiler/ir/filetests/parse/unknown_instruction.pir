; test: parse_error
; error: 6:5: `foo.nsw` is no instruction

kernel "k" { region r0 { b0:

    foo.nsw v1
    return } }
