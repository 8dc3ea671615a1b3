; test: parse_error
; error: 4:37: globals larger than 256 MiB have no text form

global g0 "big" global align 4 size 99999999999
