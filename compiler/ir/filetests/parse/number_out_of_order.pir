; test: parse_error
; error: 5:8: expected `ss0`, found `ss1`

kernel "k" {
  slot ss1 size 4 align 4 }
