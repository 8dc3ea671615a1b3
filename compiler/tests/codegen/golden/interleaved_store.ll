; registers of 256 bits
; kernel k: 8 work-items at a time along x, unicf ()
; - load contiguous: i32 from global memory
; - store interleaved stride 2: 2 f32 to global memory
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
  %39 = mul nuw nsw i64 %group.x, 128
  %40 = mul nuw nsw i64 %group.y, 1
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
  br label %outer

outer:                                            ; preds = %behind, %region
  %outer2 = phi i64 [ 0, %region ], [ %71, %behind ]
  %number = phi i64 [ 0, %region ], [ %55, %behind ]
  %53 = add i64 %41, %outer2
  br label %rows

rows:                                             ; preds = %rest, %outer
  %rows3 = phi i64 [ 0, %outer ], [ %56, %rest ]
  %number4 = phi i64 [ %number, %outer ], [ %55, %rest ]
  %54 = add i64 %40, %rows3
  br label %gang

rest:                                             ; preds = %gang.next
  %55 = add nuw nsw i64 %number4, 128
  %56 = add nuw nsw i64 %rows3, 1
  %57 = icmp ne i64 %56, 1
  br i1 %57, label %rows, label %behind

gang:                                             ; preds = %gang.next, %rows
  %x = phi i64 [ 0, %rows ], [ %69, %gang.next ]
  %58 = add i64 %39, %x
  %59 = add nuw nsw i64 %number4, %x
  %60 = mul i64 %58, 4
  %61 = getelementptr i8, ptr %19, i64 %60
  %62 = load <8 x i32>, ptr %61, align 4, !alias.scope !1, !noalias !4
  %63 = mul i64 %58, 8
  %64 = getelementptr i8, ptr %17, i64 %63
  %65 = sitofp <8 x i32> %62 to <8 x float>
  %66 = sitofp <8 x i32> %62 to <8 x float>
  %67 = shufflevector <8 x float> %65, <8 x float> %66, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %68 = shufflevector <16 x float> %67, <16 x float> %67, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  store <16 x float> %68, ptr %64, align 4, !alias.scope !1, !noalias !4
  store i32 0, ptr %next, align 4
  br label %gang.next

gang.next:                                        ; preds = %gang
  %69 = add nuw nsw i64 %x, 8
  %70 = icmp ne i64 %69, 128
  br i1 %70, label %gang, label %rest

behind:                                           ; preds = %rest
  %71 = add nuw nsw i64 %outer2, 1
  %72 = icmp ne i64 %71, 1
  br i1 %72, label %outer, label %behind5

behind5:                                          ; preds = %behind
  %73 = load i32, ptr %next, align 4
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
