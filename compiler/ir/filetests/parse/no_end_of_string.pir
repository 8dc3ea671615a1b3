; test: parse_error
; error: 4:8: this string has no end

kernel "k { region r0 { b0: return } }
