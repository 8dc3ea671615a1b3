; test: sync_dependence
; stage: normalized
; Moll 2021, figure 7.4, the patterns by which lanes meet, and figure 7.5, the paths that lead them there.

; 7.4a: one way leads to the block (b3) to which the other goes at once; b2 splits the edge.
kernel "one_block_leads_to_the_other" {
  args 1
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    br v0, b1, b2 ; joins: b3
  b1:
    jump b3
  b2:
    jump b3
  b3:
    return
  }
}

; 7.4b: two blocks lead to one (b5), each at the end of a path of its own.
kernel "two_blocks_lead_to_one" {
  args 1
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    br v0, b1, b2 ; joins: b5
  b1:
    jump b3
  b2:
    jump b4
  b3:
    jump b5
  b4:
    jump b5
  b5:
    return
  }
}

; 7.5: paths to b7 are not disjoint, as all come through b3, where lanes meet already.
kernel "paths_with_a_block_in_common" {
  args 1
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    br v0, b1, b2 ; joins: b3
  b1:
    jump b3
  b2:
    jump b3
  b3:
    br v0, b4, b5 ; joins: b7
  b4:
    jump b7
  b5:
    jump b7
  b7:
    return
  }
}

; 7.5: from b0 to b4 at once, to b5 and b6 by b1. What goes by b4 meets what goes by b6 in b7, and by b5 in b8.
kernel "a_path_of_one_edge" {
  args 1
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    br v0, b1, b4 ; joins: b7 b8
  b1:
    br v0, b5, b6 ; joins: b8
  b4:
    jump b7
  b5:
    jump b8
  b6:
    jump b7
  b7:
    jump b8
  b8:
    return
  }
}

; 7.4, temporal: the latch (b2) and the exit (b3) of a loop may be next at once.
kernel "latch_and_exit" {
  args 1
  param "u" value "int" size 1 align 1 offset 0
  input value(0, 0): i1
  region r0 {
  b0(v0: i1):
    jump b1
  b1:
    br v0, b2, b3 ; exits: b3
  b2:
    jump b1
  b3:
    return
  }
}
