// What Triton's code generator emits for _fwd_kernel of July 2023, operation by operation: for its machine
// code, see README.md. MODE 3 is not here; its loop is that of MODE 1.
#include "triton_tiles.cuh"
template <int D, int MODE>
__global__ void __launch_bounds__(D <= 64 ? 128 : 256)
    fwd(const half* Q, const half* K, const half* V, float sm_scale, float* L, float* M, half* Out, int sz,
        int sh, int sm, int skn, int svk, int som, int N) {
  constexpr int W = D <= 64 ? 4 : 8, T = 32 * W, MM = 128 / 16 / W, TPR = D / 8, RPP = T / TPR,
                NV = 128 / RPP;
  const int tid = threadIdx.x, w = tid / 32, l = tid % 32;
  int start_m = blockIdx.x;
  long off = (long)blockIdx.y * sh;
  Q += off;
  K += off;
  V += off;
  Out += off;
  u32 S = shared_address(smem), Ks = S, Vs = S + 2 * 128 * D * 2, Qs = Vs + 2 * 128 * D * 2;
  int r0 = tid / TPR, c0 = tid % TPR * 8;
  float mi[MM][2], li[MM][2], acc[MM][D / 8][4];
  UNROLL for (int m = 0; m < MM; m++) UNROLL for (int h = 0; h < 2; h++) {
    mi[m][h] = -__int_as_float(0x7f800000);
    li[m][h] = 0;
  }
  UNROLL for (int m = 0; m < MM; m++) UNROLL for (int n = 0; n < D / 8; n++)
      UNROLL for (int e = 0; e < 4; e++) acc[m][n][e] = 0;
  int lo = 0, hi = N;
  if (MODE == 1) hi = (start_m + 1) * 128;
  if (MODE == 2) hi = start_m * 128;
  if (MODE == 3) {
    lo = start_m * 128;
    hi = lo + 128;
  }
  float qs = sm_scale * 1.44269504f;
  UNROLL for (int i = 0; i < NV; i++) {
    uint4 x = load_16_bytes(Q + (long)(start_m * 128 + r0 + i * RPP) * sm + c0);
    u32* y = (u32*)&x;
    UNROLL for (int j = 0; j < 4; j++) {
      float2 f = __half22float2(*(half2*)&y[j]);
      y[j] = pack(f.x * qs, f.y * qs);
    }
    *(uint4*)(smem + (address<D>(Qs, r0 + i * RPP, c0 / 8) - S)) = x;
  }
  long ko = lo;
  {
    int ok = lo < hi ? 16 : 0;
    UNROLL for (int i = 0; i < NV; i++)
        copy_async(address<D>(Ks, r0 + i * RPP, c0 / 8), K + (ko + r0 + i * RPP) * skn + c0, ok);
    asm volatile("cp.async.commit_group;");
    UNROLL for (int i = 0; i < NV; i++)
        copy_async(address<D>(Vs, r0 + i * RPP, c0 / 8), V + (ko + r0 + i * RPP) * svk + c0, ok);
    asm volatile("cp.async.commit_group;");
  }
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  int pi = 1, ei = 1;
  u32 Kc = Ks, Vc = Vs;
  int iv = lo;
  for (int start_n = lo; start_n < hi; start_n += 128) {
    float s[MM][16][4] = {};
    {
      u32 a[MM][D / 16][4], b[8][D / 16][4];
      UNROLL for (int m = 0; m < MM; m++) UNROLL for (int k = 0; k < D / 16; k++)
          load_a<D>(Qs, (m * W + w) * 16, k * 16, a[m][k]);
      UNROLL for (int n = 0; n < 8; n++) UNROLL for (int k = 0; k < D / 16; k++)
          load_b<D>(Kc, n * 16, k * 16, b[n][k]);
      UNROLL for (int k = 0; k < D / 16; k++) UNROLL for (int m = 0; m < MM; m++)
          UNROLL for (int n = 0; n < 16; n++)
              mma(s[m][n], a[m][k], b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
    }
    if (MODE == 1 || MODE == 3)
      UNROLL for (int m = 0; m < MM; m++) UNROLL for (int n = 0; n < 16; n++)
          UNROLL for (int e = 0; e < 4; e++) s[m][n][e] =
              (start_m * 128 + (m * W + w) * 16 + l / 4 + e / 2 * 8 >= start_n + n * 8 + l % 4 * 2 + e % 2)
                  ? s[m][n][e]
                  : -__int_as_float(0x7f800000);
    float mij[MM][2], lij[MM][2], ps[MM][2], as[MM][2];
    UNROLL for (int m = 0; m < MM; m++) UNROLL for (int h = 0; h < 2; h++) {
      float x = fmaxf(s[m][0][2 * h], s[m][0][2 * h + 1]);
      UNROLL for (int n = 1; n < 16; n++) {
        x = fmaxf(x, s[m][n][2 * h]);
        x = fmaxf(x, s[m][n][2 * h + 1]);
      }
      x = fmaxf(x, __shfl_xor_sync(~0u, x, 2));
      x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
      mij[m][h] = x;
    }
    UNROLL for (int m = 0; m < MM; m++) UNROLL for (int n = 0; n < 16; n++) UNROLL for (int e = 0; e < 4; e++)
        s[m][n][e] = exp2_fast(s[m][n][e] - mij[m][e / 2]);
    UNROLL for (int m = 0; m < MM; m++) UNROLL for (int h = 0; h < 2; h++) {
      float x = s[m][0][2 * h] + s[m][0][2 * h + 1];
      UNROLL for (int n = 1; n < 16; n++) {
        x += s[m][n][2 * h];
        x += s[m][n][2 * h + 1];
      }
      x += __shfl_xor_sync(~0u, x, 2);
      x += __shfl_xor_sync(~0u, x, 1);
      lij[m][h] = x;
    }
    UNROLL for (int m = 0; m < MM; m++) UNROLL for (int h = 0; h < 2; h++) {
      float mn = fmaxf(mi[m][h], mij[m][h]);
      float al = exp2_fast(mi[m][h] - mn), be = exp2_fast(mij[m][h] - mn);
      li[m][h] *= al;
      float ln = li[m][h] + be * lij[m][h];
      ps[m][h] = divide(be, ln);
      as[m][h] = divide(li[m][h], ln);
      li[m][h] = ln;
      mi[m][h] = mn;
    }
    UNROLL for (int m = 0; m < MM; m++) UNROLL for (int n = 0; n < 16; n++) UNROLL for (int e = 0; e < 4; e++)
        s[m][n][e] *= ps[m][e / 2];
    UNROLL for (int m = 0; m < MM; m++) UNROLL for (int n = 0; n < D / 8; n++)
        UNROLL for (int e = 0; e < 4; e++) acc[m][n][e] *= as[m][e / 2];
    {
      u32 b[D / 16][8][4];
      UNROLL for (int n = 0; n < D / 16; n++) UNROLL for (int k = 0; k < 8; k++)
          load_b_transposed<D>(Vc, k * 16, n * 16, b[n][k]);
      UNROLL for (int k = 0; k < 8; k++) UNROLL for (int m = 0; m < MM; m++) {
        u32 a[4] = {pack(s[m][2 * k][0], s[m][2 * k][1]), pack(s[m][2 * k][2], s[m][2 * k][3]),
                    pack(s[m][2 * k + 1][0], s[m][2 * k + 1][1]),
                    pack(s[m][2 * k + 1][2], s[m][2 * k + 1][3])};
        UNROLL for (int n = 0; n < D / 8; n++)
            mma(acc[m][n], a, b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
      }
    }
    iv += 128;
    ko += 128;
    int ok = iv < hi ? 16 : 0;
    int slot = pi % 2;
    UNROLL for (int i = 0; i < NV; i++) copy_async(address<D>(Ks + slot * 128 * D * 2, r0 + i * RPP, c0 / 8),
                                                   K + (ko + r0 + i * RPP) * skn + c0, ok);
    asm volatile("cp.async.commit_group;");
    UNROLL for (int i = 0; i < NV; i++) copy_async(address<D>(Vs + slot * 128 * D * 2, r0 + i * RPP, c0 / 8),
                                                   V + (ko + r0 + i * RPP) * svk + c0, ok);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    int es = ei % 2;
    Kc = Ks + es * 128 * D * 2;
    Vc = Vs + es * 128 * D * 2;
    pi++;
    ei++;
  }
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  UNROLL for (int m = 0; m < MM; m++) UNROLL for (int h = 0; h < 2; h++) {
    int row = start_m * 128 + (m * W + w) * 16 + l / 4 + h * 8;
    if (l % 4 == 0) {
      store_float(L + (long)blockIdx.y * N + row, li[m][h]);
      store_float(M + (long)blockIdx.y * N + row, mi[m][h]);
    }
  }
  UNROLL for (int m = 0; m < MM; m++) UNROLL for (int n = 0; n < D / 8; n++)
          UNROLL for (int h = 0; h < 2; h++) *
      (u32*)(smem + ((m * W + w) * 16 + l / 4 + h * 8) * (D + 8) * 2 + (n * 8 + l % 4 * 2) * 2) =
      pack(acc[m][n][2 * h], acc[m][n][2 * h + 1]);
  __syncthreads();
  UNROLL for (int i = 0; i < NV; i++) store_16_bytes(Out + (long)(start_m * 128 + r0 + i * RPP) * som + c0,
                                                     *(uint4*)(smem + (r0 + i * RPP) * (D + 8) * 2 + c0 * 2));
}
#define I(D, C)                                                                                           \
  template __global__ void fwd<D, C>(const half*, const half*, const half*, float, float*, float*, half*, \
                                     int, int, int, int, int, int, int);
I(64, 0) I(64, 1) I(64, 2) I(128, 0) I(128, 1) I(128, 2)
