; registers of 256 bits
; kernel k: 16 work-items at a time in tiles of rows, unicf ()
; - load contiguous: f32 from global memory, row by row
; - load contiguous: i32 from global memory, row by row
; - store contiguous: i32 to global memory, row by row
; ModuleID = 'k'
source_filename = "k"

; Function Attrs: nounwind
define void @lockstep_kernel(ptr noalias noundef readonly align 8 dereferenceable(152) %0, ptr noalias noundef align 128 %1, i64 %2, i64 %3) #0 {
entry:
  %4 = getelementptr inbounds i8, ptr %0, i64 24
  %5 = load i64, ptr %4, align 8, !invariant.load !0
  %6 = getelementptr inbounds i8, ptr %0, i64 32
  %7 = load i64, ptr %6, align 8, !invariant.load !0
  %8 = getelementptr inbounds i8, ptr %0, i64 40
  %9 = load i64, ptr %8, align 8, !invariant.load !0
  %10 = getelementptr inbounds i8, ptr %0, i64 96
  %11 = load ptr, ptr %10, align 8, !invariant.load !0
  %12 = getelementptr inbounds i8, ptr %0, i64 104
  %13 = load ptr, ptr %12, align 8, !invariant.load !0
  %14 = getelementptr inbounds i8, ptr %0, i64 112
  %15 = load i64, ptr %14, align 8, !invariant.load !0
  %16 = getelementptr inbounds i8, ptr %1, i64 %15
  %17 = load ptr, ptr %11, align 8, !invariant.load !0
  %18 = getelementptr inbounds i8, ptr %11, i64 8
  %19 = load ptr, ptr %18, align 8, !invariant.load !0
  %20 = getelementptr inbounds i8, ptr %11, i64 16
  %21 = load ptr, ptr %20, align 8, !invariant.load !0
  %22 = getelementptr inbounds i8, ptr %0, i64 72
  %23 = load i64, ptr %22, align 8, !invariant.load !0
  %24 = getelementptr inbounds i8, ptr %0, i64 80
  %25 = load i64, ptr %24, align 8, !invariant.load !0
  %26 = getelementptr inbounds i8, ptr %0, i64 88
  %27 = load i64, ptr %26, align 8, !invariant.load !0
  %28 = getelementptr inbounds i8, ptr %0, i64 136
  %29 = load i32, ptr %28, align 8, !invariant.load !0
  %30 = getelementptr inbounds i8, ptr %0, i64 120
  %31 = load ptr, ptr %30, align 8, !invariant.load !0
  %32 = getelementptr inbounds i8, ptr %0, i64 128
  %33 = load ptr, ptr %32, align 8, !invariant.load !0
  %next = alloca i32, align 4
  %34 = icmp ult i64 %2, %3
  br i1 %34, label %groups, label %done

groups:                                           ; preds = %entry
  %35 = urem i64 %2, %23
  %36 = udiv i64 %2, %23
  %37 = urem i64 %36, %25
  %38 = udiv i64 %36, %25
  br label %group

group:                                            ; preds = %group.next, %groups
  %group1 = phi i64 [ %2, %groups ], [ %42, %group.next ]
  %group.x = phi i64 [ %35, %groups ], [ %45, %group.next ]
  %group.y = phi i64 [ %37, %groups ], [ %49, %group.next ]
  %group.z = phi i64 [ %38, %groups ], [ %51, %group.next ]
  %39 = mul nuw nsw i64 %group.x, 8
  %40 = mul nuw nsw i64 %group.y, 8
  %41 = mul nuw nsw i64 %group.z, 1
  br label %region

group.next:                                       ; preds = %behind5
  %42 = add nuw nsw i64 %group1, 1
  %43 = add nuw nsw i64 %group.x, 1
  %44 = icmp eq i64 %43, %23
  %45 = select i1 %44, i64 0, i64 %43
  %46 = zext i1 %44 to i64
  %47 = add nuw nsw i64 %group.y, %46
  %48 = icmp eq i64 %47, %25
  %49 = select i1 %48, i64 0, i64 %47
  %50 = zext i1 %48 to i64
  %51 = add nuw nsw i64 %group.z, %50
  %52 = icmp ne i64 %42, %3
  br i1 %52, label %group, label %done

done:                                             ; preds = %group.next, %entry
  ret void

region:                                           ; preds = %group
  br label %z

z:                                                ; preds = %behind, %region
  %z2 = phi i64 [ 0, %region ], [ %80, %behind ]
  %number = phi i64 [ 0, %region ], [ %77, %behind ]
  %53 = add i64 %41, %z2
  br label %tile

tile:                                             ; preds = %tile.next, %z
  %tile3 = phi i64 [ 0, %z ], [ %78, %tile.next ]
  %number4 = phi i64 [ %number, %z ], [ %77, %tile.next ]
  %54 = add i64 0, %tile3
  %55 = mul nuw nsw i64 %tile3, 2
  %56 = add i64 %40, %55
  %57 = mul i64 %39, 4
  %58 = getelementptr i8, ptr %19, i64 %57
  %59 = load <8 x i32>, ptr %58, align 4, !alias.scope !1, !noalias !4
  %60 = shufflevector <8 x i32> %59, <8 x i32> %59, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %61 = add i64 %56, 0
  %62 = add i64 %56, 1
  %63 = mul i64 %61, 4096
  %64 = mul i64 %62, 4096
  %65 = mul i64 %39, 4
  %66 = add i64 %63, %65
  %67 = add i64 %64, %65
  %68 = getelementptr i8, ptr %17, i64 %66
  %69 = getelementptr i8, ptr %17, i64 %67
  %70 = load <8 x float>, ptr %68, align 4, !alias.scope !1, !noalias !4
  %71 = load <8 x float>, ptr %69, align 4, !alias.scope !1, !noalias !4
  %72 = shufflevector <8 x float> %70, <8 x float> %71, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %73 = getelementptr i8, ptr %21, i64 %57
  %74 = fptosi <16 x float> %72 to <16 x i32>
  %75 = shufflevector <16 x i32> %74, <16 x i32> %74, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  store <8 x i32> %75, ptr %73, align 4, !alias.scope !1, !noalias !4
  %76 = shufflevector <16 x i32> %74, <16 x i32> %74, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  store <8 x i32> %76, ptr %73, align 4, !alias.scope !1, !noalias !4
  store i32 0, ptr %next, align 4
  br label %tile.next

tile.next:                                        ; preds = %tile
  %77 = add nuw nsw i64 %number4, 16
  %78 = add nuw nsw i64 %tile3, 1
  %79 = icmp ne i64 %78, 4
  br i1 %79, label %tile, label %behind

behind:                                           ; preds = %tile.next
  %80 = add nuw nsw i64 %z2, 1
  %81 = icmp ne i64 %80, 1
  br i1 %81, label %z, label %behind5

behind5:                                          ; preds = %behind
  %82 = load i32, ptr %next, align 4
  br label %group.next
}

attributes #0 = { nounwind "no-builtin-memcpy" "reciprocal-estimates"="none" "warn-stack-size"="4096" }

!0 = !{}
!1 = !{!2}
!2 = !{!"global", !3}
!3 = !{!"lockstep"}
!4 = !{!5, !6, !7, !8}
!5 = !{!"private", !3}
!6 = !{!"constant", !3}
!7 = !{!"local", !3}
!8 = !{!"kept", !3}
