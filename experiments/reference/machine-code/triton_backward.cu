// What Triton's code generator emits for _bwd_kernel of July 2023, operation by operation: for its machine
// code, see README.md. SP: sequence_parallel.
#include "triton_tiles.cuh"
template <int D, bool CAUSAL, bool SP>
__device__ __forceinline__ void column(const half* Q, const half* K, const half* V, float sm_scale,
                                       float qk_scale, const half* DO, char* DQ, half* DK, half* DV,
                                       const float* Mp, const float* Dp, long stride_dqa, int sm, int off_hz,
                                       int start_n, int nb, int N) {
  constexpr int TPR = D / 8, RPP = 256 / TPR, NV = 128 / RPP;
  const int tid = threadIdx.x, w = tid / 32, l = tid % 32;
  u32 S = shared_address(smem);
  u32 Ks = S, Vs = S + 128 * D * 2, Qs = Vs + 128 * D * 2, Os = Qs + 128 * D * 2, Ps = Os + 128 * D * 2,
      Sc = Qs;
  if (SP) DQ += (long)stride_dqa * start_n * 2;
  int lo = CAUSAL ? start_n * 128 : 0;
  const half* qp[NV];
  const half* op[NV];
  int r0 = tid / TPR, c0 = tid % TPR * 8;
  UNROLL for (int i = 0; i < NV; i++) {
    qp[i] = Q + (long)(lo + r0 + i * RPP) * sm + c0;
    op[i] = DO + (long)(lo + r0 + i * RPP) * sm + c0;
  }
  constexpr int TPRF = SP ? D / 8 : D / 4, RPPF = 256 / TPRF, NVF = 128 / RPPF;
  char* dp[NVF];
  int rf = tid / TPRF, cf = tid % TPRF;
  UNROLL for (int i = 0; i < NVF; i++) dp[i] =
      DQ + ((long)(lo + rf + i * RPPF) * sm + cf * (SP ? 8 : 4)) * (SP ? 2 : 4);
  float dv[D / 8][4] = {}, dk[D / 8][4] = {};
  UNROLL for (int i = 0; i < NV; i++) {
    uint4 x = load_16_bytes(K + (long)(start_n * 128 + r0 + i * RPP) * sm + c0);
    *(uint4*)(smem + (address<D>(Ks, r0 + i * RPP, c0 / 8) - S)) = x;
  }
  UNROLL for (int i = 0; i < NV; i++) {
    uint4 x = load_16_bytes(V + (long)(start_n * 128 + r0 + i * RPP) * sm + c0);
    *(uint4*)(smem + (address<D>(Vs, r0 + i * RPP, c0 / 8) - S)) = x;
  }
  for (int start_m = lo; start_m < nb * 128; start_m += 128) {
    uint4 x[NV];
    UNROLL for (int i = 0; i < NV; i++) x[i] = load_16_bytes(qp[i]);
    __syncthreads();
    UNROLL for (int i = 0; i < NV; i++) * (uint4*)(smem + (address<D>(Qs, r0 + i * RPP, c0 / 8) - S)) = x[i];
    __syncthreads();
    float p[16][4];
    int gr = start_m + w * 16 + l / 4;
    UNROLL for (int n = 0; n < 16; n++) UNROLL for (int e = 0; e < 4; e++) p[n][e] =
        CAUSAL
            ? ((gr + (e / 2) * 8 >= start_n * 128 + n * 8 + l % 4 * 2 + e % 2) ? 0.f
                                                                               : -__int_as_float(0x7f800000))
            : 0.f;
    {
      u32 a[D / 16][4], b[8][D / 16][4];
      UNROLL for (int k = 0; k < D / 16; k++) load_a<D>(Qs, w * 16, k * 16, a[k]);
      UNROLL for (int n = 0; n < 8; n++) UNROLL for (int k = 0; k < D / 16; k++)
          load_b<D>(Ks, n * 16, k * 16, b[n][k]);
      UNROLL for (int k = 0; k < D / 16; k++) UNROLL for (int n = 0; n < 16; n++)
          mma(p[n], a[k], b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
    }
    float m0 = load_float(Mp + gr), m1 = load_float(Mp + gr + 8);
    UNROLL for (int n = 0; n < 16; n++) UNROLL for (int e = 0; e < 4; e++) p[n][e] =
        exp2_fast(p[n][e] * qk_scale - (e / 2 ? m1 : m0));
    UNROLL for (int i = 0; i < NV; i++) x[i] = load_16_bytes(op[i]);
    UNROLL for (int i = 0; i < NV; i++) * (uint4*)(smem + (address<D>(Os, r0 + i * RPP, c0 / 8) - S)) = x[i];
    UNROLL for (int n = 0; n < 16; n++) UNROLL for (int h = 0; h < 2; h++) *
        (u32*)(smem + (address<128>(Ps, w * 16 + l / 4 + h * 8, n) - S) + l % 4 * 4) =
        pack(p[n][2 * h], p[n][2 * h + 1]);
    __syncthreads();
    {
      u32 a[8][4], b[D / 16][8][4];
      UNROLL for (int k = 0; k < 8; k++) load_a_transposed<128>(Ps, w * 16, k * 16, a[k]);
      UNROLL for (int n = 0; n < D / 16; n++) UNROLL for (int k = 0; k < 8; k++)
          load_b_transposed<D>(Os, k * 16, n * 16, b[n][k]);
      UNROLL for (int k = 0; k < 8; k++) UNROLL for (int n = 0; n < D / 8; n++)
          mma(dv[n], a[k], b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
    }
    float d0 = load_float(Dp + gr), d1 = load_float(Dp + gr + 8);
    float s[16][4] = {};
    {
      u32 a[D / 16][4], b[8][D / 16][4];
      UNROLL for (int k = 0; k < D / 16; k++) load_a<D>(Os, w * 16, k * 16, a[k]);
      UNROLL for (int n = 0; n < 8; n++) UNROLL for (int k = 0; k < D / 16; k++)
          load_b<D>(Vs, n * 16, k * 16, b[n][k]);
      UNROLL for (int k = 0; k < D / 16; k++) UNROLL for (int n = 0; n < 16; n++)
          mma(s[n], a[k], b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
    }
    u32 ds[16][2];
    UNROLL for (int n = 0; n < 16; n++) {
      UNROLL for (int e = 0; e < 4; e++) s[n][e] = p[n][e] * (s[n][e] - (e / 2 ? d1 : d0)) * sm_scale;
      ds[n][0] = pack(s[n][0], s[n][1]);
      ds[n][1] = pack(s[n][2], s[n][3]);
    }
    __syncthreads();
    UNROLL for (int n = 0; n < 16; n++) UNROLL for (int h = 0; h < 2; h++) *
        (u32*)(smem + (address<128>(Ps, w * 16 + l / 4 + h * 8, n) - S) + l % 4 * 4) = ds[n][h];
    __syncthreads();
    {
      u32 a[8][4], b[D / 16][8][4];
      UNROLL for (int k = 0; k < 8; k++) load_a_transposed<128>(Ps, w * 16, k * 16, a[k]);
      UNROLL for (int n = 0; n < D / 16; n++) UNROLL for (int k = 0; k < 8; k++)
          load_b_transposed<D>(Qs, k * 16, n * 16, b[n][k]);
      UNROLL for (int k = 0; k < 8; k++) UNROLL for (int n = 0; n < D / 8; n++)
          mma(dk[n], a[k], b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
    }
    if (!SP) {
      uint4 y[NVF];
      float q[D / 8][4];
      UNROLL for (int i = 0; i < NVF; i++) y[i] = load_16_bytes(dp[i]);
      __syncthreads();
      UNROLL for (int i = 0; i < NVF; i++) *
          (uint4*)(smem + (Sc - S) + (rf + i * RPPF) * (D + 8) * 4 + cf * 16) = y[i];
      __syncthreads();
      UNROLL for (int n = 0; n < D / 8; n++) UNROLL for (int h = 0; h < 2; h++) {
        float2 t =
            *(float2*)(smem + (Sc - S) + (w * 16 + l / 4 + h * 8) * (D + 8) * 4 + (n * 8 + l % 4 * 2) * 4);
        q[n][2 * h] = t.x;
        q[n][2 * h + 1] = t.y;
      }
      {
        u32 b[D / 16][8][4];
        UNROLL for (int n = 0; n < D / 16; n++) UNROLL for (int k = 0; k < 8; k++)
            load_b_transposed<D>(Ks, k * 16, n * 16, b[n][k]);
        UNROLL for (int k = 0; k < 8; k++) UNROLL for (int n = 0; n < D / 8; n++) {
          u32 a[4] = {ds[2 * k][0], ds[2 * k][1], ds[2 * k + 1][0], ds[2 * k + 1][1]};
          mma(q[n], a, b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
        }
      }
      __syncthreads();
      UNROLL for (int n = 0; n < D / 8; n++) UNROLL for (int h = 0; h < 2; h++) {
        float2 t;
        t.x = q[n][2 * h];
        t.y = q[n][2 * h + 1];
        *(float2*)(smem + (Sc - S) + (w * 16 + l / 4 + h * 8) * (D + 8) * 4 + (n * 8 + l % 4 * 2) * 4) = t;
      }
      __syncthreads();
      UNROLL for (int i = 0; i < NVF; i++)
          store_16_bytes(dp[i], *(uint4*)(smem + (Sc - S) + (rf + i * RPPF) * (D + 8) * 4 + cf * 16));
    } else {
      constexpr int WM = D / 16 < 8 ? D / 16 : 8;
      int wm = w % WM;
      float q[16][4] = {};
      {
        u32 a[8][4], b[8][8][4];
        UNROLL for (int k = 0; k < 8; k++) load_a_transposed<D>(Ks, wm * 16, k * 16, a[k]);
        UNROLL for (int n = 0; n < 8; n++) UNROLL for (int k = 0; k < 8; k++)
            load_b<128>(Ps, n * 16, k * 16, b[n][k]);
        UNROLL for (int k = 0; k < 8; k++) UNROLL for (int n = 0; n < 16; n++)
            mma(q[n], a[k], b[n / 2][k][n % 2 * 2], b[n / 2][k][n % 2 * 2 + 1]);
      }
      __syncthreads();
      UNROLL for (int n = 0; n < 16; n++) UNROLL for (int e = 0; e < 4; e++) *
          (float*)(smem + (Sc - S) + ((wm * 16 + l / 4 + e / 2 * 8) * 128 + n * 8 + l % 4 * 2 + e % 2) * 4) =
          q[n][e];
      __syncthreads();
      UNROLL for (int i = 0; i < NVF; i++) {
        u32 o[4];
        UNROLL for (int j = 0; j < 4; j++) {
          float e[2];
          UNROLL for (int t = 0; t < 2; t++) e[t] =
              *(float*)(smem + (Sc - S) + ((cf * 8 + 2 * j + t) * 128 + rf + i * RPPF) * 4);
          o[j] = pack(e[0], e[1]);
        }
        store_16_bytes(dp[i], make_uint4(o[0], o[1], o[2], o[3]));
      }
    }
    UNROLL for (int i = 0; i < NV; i++) {
      qp[i] += 128 * sm;
      op[i] += 128 * sm;
    }
    UNROLL for (int i = 0; i < NVF; i++) dp[i] += (long)128 * sm * (SP ? 2 : 4);
  }
  UNROLL for (int g = 0; g < 2; g++) {
    __syncthreads();
    UNROLL for (int n = 0; n < D / 8; n++) UNROLL for (int h = 0; h < 2; h++) {
      float* q = g ? dk[n] : dv[n];
      *(u32*)(smem + (Sc - S) + (w * 16 + l / 4 + h * 8) * (D + 8) * 2 + (n * 8 + l % 4 * 2) * 2) =
          pack(q[2 * h], q[2 * h + 1]);
    }
    __syncthreads();
    UNROLL for (int i = 0; i < NV; i++)
        store_16_bytes((g ? DK : DV) + (long)(start_n * 128 + r0 + i * RPP) * sm + c0,
                       *(uint4*)(smem + (Sc - S) + (r0 + i * RPP) * (D + 8) * 2 + c0 * 2));
  }
  __syncthreads();
}
template <int D, bool CAUSAL, bool SP>
__global__ void __launch_bounds__(256)
    bwd(const half* Q, const half* K, const half* V, float sm_scale, const half* DO, char* DQ, half* DK,
        half* DV, const float* Mp, const float* Dp, long sda, int sz, int sh, int sm, int H, int N) {
  int hz = blockIdx.x;
  long off = (long)(hz / H) * sz + (long)(hz % H) * sh;
  Q += off;
  K += off;
  V += off;
  DO += off;
  DK += off;
  DV += off;
  DQ += off * (SP ? 2 : 4);
  Mp += (long)hz * N;
  Dp += (long)hz * N;
  int nb = (N + 127) / 128;
  float qs = sm_scale * 1.44269504f;
  if (SP)
    column<D, CAUSAL, SP>(Q, K, V, sm_scale, qs, DO, DQ, DK, DV, Mp, Dp, sda, sm, hz, blockIdx.y, nb, N);
  else
    for (int n = 0; n < nb; n++)
      column<D, CAUSAL, SP>(Q, K, V, sm_scale, qs, DO, DQ, DK, DV, Mp, Dp, sda, sm, hz, n, nb, N);
}
#define I(D, C, S)                                                                                          \
  template __global__ void bwd<D, C, S>(const half*, const half*, const half*, float, const half*, char*,   \
                                        half*, half*, const float*, const float*, long, int, int, int, int, \
                                        int);
I(64, false, false)
I(64, true, false) I(64, false, true) I(64, true, true) I(128, false, false) I(128, true, false)
    I(128, false, true) I(128, true, true)
