// Tiles of Triton's attention in shared memory, as its code generator swizzles, loads and multiplies them.
#pragma once
#include <cuda_fp16.h>
#include <stdint.h>
typedef uint32_t u32;
#define UNROLL _Pragma("unroll")
extern __shared__ __align__(16) char smem[];
__device__ __forceinline__ u32 shared_address(const void* p) {
  return (u32)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void load_matrices(u32 a, u32* r) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(a));
}
__device__ __forceinline__ void load_matrices_transposed(u32 a, u32* r) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(a));
}
__device__ __forceinline__ void mma(float* c, const u32* a, u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ uint4 load_16_bytes(const void* p) {
  uint4 v;
  asm volatile("ld.global.v4.b32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ float load_float(const void* p) {
  float v;
  asm volatile("ld.global.b32 %0,[%1];" : "=f"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ void store_16_bytes(void* p, uint4 v) {
  asm volatile("st.global.v4.b32 [%4],{%0,%1,%2,%3};" ::"r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(p));
}
__device__ __forceinline__ void store_float(void* p, float v) {
  asm volatile("st.global.b32 [%1],%0;" ::"f"(v), "l"(p));
}
__device__ __forceinline__ void copy_async(u32 s, const void* g, int n) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(s), "l"(g), "r"(n));
}
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float divide(float x, float y) {
  float z;
  asm volatile("div.full.f32 %0,%1,%2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
__device__ __forceinline__ u32 pack(float a, float b) {
  half2 h = __floats2half2_rn(a, b);
  return *(u32*)&h;
}
// tile of C columns, rows of C*2 bytes, chunks of 16 bytes swizzled by row%8
template <int C>
__device__ __forceinline__ u32 address(u32 base, int row, int chunk) {
  constexpr int M = (C / 8 < 8 ? C / 8 : 8);
  return base + row * C * 2 + ((chunk ^ (row % M)) * 16);
}
// A of M16 x K16 stored M x K
template <int C>
__device__ __forceinline__ void load_a(u32 b, int m0, int k0, u32* r) {
  int l = threadIdx.x % 32;
  load_matrices(address<C>(b, m0 + l % 16, k0 / 8 + l / 16), r);
}
template <int C>
__device__ __forceinline__ void load_a_transposed(u32 b, int m0, int k0, u32* r) {
  int l = threadIdx.x % 32;
  load_matrices_transposed(address<C>(b, k0 + l % 8 + l / 16 * 8, m0 / 8 + l / 8 % 2), r);
}
// B of N16 x K16 stored N x K
template <int C>
__device__ __forceinline__ void load_b(u32 b, int n0, int k0, u32* r) {
  int l = threadIdx.x % 32;
  load_matrices(address<C>(b, n0 + l % 8 + l / 16 * 8, k0 / 8 + l / 8 % 2), r);
}
template <int C>
__device__ __forceinline__ void load_b_transposed(u32 b, int k0, int n0, u32* r) {
  int l = threadIdx.x % 32;
  load_matrices_transposed(address<C>(b, k0 + l % 16, n0 / 8 + l / 16), r);
}
