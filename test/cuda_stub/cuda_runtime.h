// cuda_runtime.h: what a sweep as CUDA text needs of CUDA, on the processor: tests run it where there is no card.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
using namespace std;
#define __device__
#define __global__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(n)
struct dim { unsigned x; };
static dim blockIdx{0}, blockDim{1}, threadIdx{0};
enum cudaError_t { cudaSuccess };
enum { cudaMemcpyDeviceToHost, cudaMemcpyHostToDevice };
struct cudaDeviceProp { char name[256] = "the processor"; int multiProcessorCount = 1; };
static const char *cudaGetErrorString(cudaError_t) { return ""; }
static cudaError_t cudaGetDeviceCount(int *n) { return *n = 2, cudaSuccess; }
static cudaError_t cudaSetDevice(int i) { // and a note of it, for tests
    FILE *f = getenv("CUDA_STUB_CARDS") ? fopen(getenv("CUDA_STUB_CARDS"), "a") : NULL;
    if (f) fprintf(f, "%d\n", i), fclose(f);
    return cudaSuccess;
}
static cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int) { return cudaSuccess; }
template <typename X> static cudaError_t cudaMalloc(X **p, size_t n) { return *p = (X *)malloc(n), cudaSuccess; }
static cudaError_t cudaMemcpy(void *a, const void *b, size_t n, int) { return memcpy(a, b, n), cudaSuccess; }
static cudaError_t cudaGetLastError() { return cudaSuccess; }
static cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static long long __double_as_longlong(double x) {
    long long i;
    memcpy(&i, &x, sizeof i);
    return i;
}
