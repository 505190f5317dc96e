// mma.sync m16n8k32, signed 8-bit integers: compute capability 8.0 and later.
//
// Lane = 4·g + t. A (16 × 32 bytes): a[0] row g, bytes 4t to 4t+3; a[1] row g+8, the same bytes; a[2] row g, bytes
// 16+4t to 19+4t; a[3] row g+8, those bytes. B (32 × 8): b[0] column g, bytes 4t to 4t+3; b[1] column g, bytes 16+4t on.
// C (16 × 8 sums): c[0], c[1] row g, columns 2t and 2t+1; c[2], c[3] row g+8.
#pragma once
#include "arch/threads.cuh"

#ifdef __CUDACC__
DEVICE void mma_sync_s8(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// The same onto zeros.
DEVICE void mma_sync_s8_first(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0));
}
// Onto one number for all sums.
DEVICE void mma_sync_s8_onto(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], int start) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(start));
}
// mma.sync m16n8k16, onto zeros: 16 bytes of every row, of which a lane has those from 4t on.
DEVICE void mma_sync_s8_half(int (&c)[4], uint32_t low_rows, uint32_t high_rows, uint32_t column) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
                 : "r"(low_rows), "r"(high_rows), "r"(column), "r"(0));
}
// The same onto one number for all sums.
DEVICE void mma_sync_s8_half_onto(int (&c)[4], uint32_t low_rows, uint32_t high_rows, uint32_t column, int start) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
                 : "r"(low_rows), "r"(high_rows), "r"(column), "r"(start));
}
// Four times 8 rows of 16 bytes from shared memory: row g of matrix i lies where lane 8·i + g says, and lane 4g + t gets
// bytes 4t to 4t+3 of it.
DEVICE void load_rows(uint32_t (&rows)[4], uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(rows[0]), "=r"(rows[1]), "=r"(rows[2]), "=r"(rows[3])
                 : "r"(at)
                 : "memory");
}
#endif
