/* Poses as an NVIDIA GPU of compute capability 9.0, so that a CUDA build runs without one, and counts
 * what it asks for. Memory is the heap's, copies are done, kernels and products do nothing: all logits
 * are zero. Preload it (see .ci/check-cuda); the counts go to standard error when the program exits.
 *
 * With ALLOCATIONS_LEFT=N in the environment, all allocations after the Nth fail, as if the memory were
 * full.
 *
 * The functions that only return success, and the launchers of candle's static kernels, come from
 * lists that the script generates: SUCCEEDS(name) and LAUNCHES(name). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int status;
typedef unsigned long long pointer;

static unsigned long kernels, products, uploads, downloads, moves, allocations, clears, events;
static unsigned long long n_up, n_down, n_moved;

#define COUNT(counter) __atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED)
#define ADD(sum, n) __atomic_fetch_add(&(sum), (n), __ATOMIC_RELAXED)

__attribute__((destructor)) static void report(void) {
    fprintf(stderr,
            "counted: kernels %lu, products %lu, uploads %lu of %llu bytes, downloads %lu of %llu "
            "bytes, device copies %lu of %llu bytes, allocations %lu, clears %lu, events %lu\n",
            kernels, products, uploads, n_up, downloads, n_down, moves, n_moved, allocations, clears,
            events);
}

/* Work. */
status cuLaunchKernel(void) { COUNT(kernels); return 0; }
status cublasGemmStridedBatchedEx(void) { COUNT(products); return 0; }
status cublasGemmEx(void) { COUNT(products); return 0; }
status cublasSgemmStridedBatched(void) { COUNT(products); return 0; }
status cublasSgemm_v2(void) { COUNT(products); return 0; }
#define LAUNCHES(name) status name(void) { COUNT(kernels); return 0; }

/* Memory. */
static long n_left = -1;
__attribute__((constructor)) static void limit(void) {
    const char *text = getenv("ALLOCATIONS_LEFT");
    if (text) n_left = atol(text);
}
static status allocate(pointer *out, size_t n_bytes) {
    unsigned long n_before = COUNT(allocations);
    if (n_left >= 0 && n_before >= (unsigned long)n_left) return 2;
    *out = (pointer)calloc(n_bytes ? n_bytes : 1, 1);
    return *out ? 0 : 2;
}
status cuMemAllocAsync(pointer *out, size_t n_bytes, void *stream) { return allocate(out, n_bytes); }
status cuMemAlloc_v2(pointer *out, size_t n_bytes) { return allocate(out, n_bytes); }
status cuMemFreeAsync(pointer block, void *stream) { free((void *)block); return 0; }
status cuMemFree_v2(pointer block) { free((void *)block); return 0; }
status cuMemHostAlloc(void **out, size_t n_bytes, unsigned flags) {
    *out = calloc(n_bytes ? n_bytes : 1, 1);
    return *out ? 0 : 2;
}
status cuMemFreeHost(void *block) { free(block); return 0; }
static status upload(pointer to, const void *from, size_t n_bytes) {
    COUNT(uploads);
    ADD(n_up, n_bytes);
    memcpy((void *)to, from, n_bytes);
    return 0;
}
status cuMemcpyHtoDAsync_v2(pointer to, const void *from, size_t n, void *stream) { return upload(to, from, n); }
status cuMemcpyHtoD_v2(pointer to, const void *from, size_t n) { return upload(to, from, n); }
static status download(void *to, pointer from, size_t n_bytes) {
    COUNT(downloads);
    ADD(n_down, n_bytes);
    memcpy(to, (const void *)from, n_bytes);
    return 0;
}
status cuMemcpyDtoHAsync_v2(void *to, pointer from, size_t n, void *stream) { return download(to, from, n); }
status cuMemcpyDtoH_v2(void *to, pointer from, size_t n) { return download(to, from, n); }
static status move(pointer to, pointer from, size_t n_bytes) {
    COUNT(moves);
    ADD(n_moved, n_bytes);
    memmove((void *)to, (const void *)from, n_bytes);
    return 0;
}
status cuMemcpyDtoDAsync_v2(pointer to, pointer from, size_t n, void *stream) { return move(to, from, n); }
status cuMemcpyDtoD_v2(pointer to, pointer from, size_t n) { return move(to, from, n); }
status cuMemsetD8Async(pointer to, unsigned char value, size_t n, void *stream) {
    COUNT(clears);
    memset((void *)to, value, n);
    return 0;
}
status cuMemsetD8_v2(pointer to, unsigned char value, size_t n) { return cuMemsetD8Async(to, value, n, 0); }
status cuMemGetInfo_v2(size_t *n_free, size_t *n_total) {
    *n_free = *n_total = (size_t)80 << 30;
    return 0;
}

/* The device. */
static int handle;
static status give(void **out) { *out = &handle; return 0; }
status cuDeviceGet(int *device, int index) { *device = index; return index == 0 ? 0 : 101; }
status cuDeviceGetCount(int *n) { *n = 1; return 0; }
status cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
    case 75: *value = 9; break;    /* compute capability, major */
    case 76: *value = 0; break;    /* and minor */
    case 1: *value = 1024; break;  /* threads per block */
    case 10: *value = 32; break;   /* warp size */
    case 16: *value = 132; break;  /* multiprocessors */
    case 97: *value = 232448; break; /* shared memory per block, opt-in */
    default: *value = 1;
    }
    return 0;
}
status cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "Counting driver");
    return 0;
}
status cuDeviceTotalMem_v2(size_t *n_bytes, int device) { *n_bytes = (size_t)80 << 30; return 0; }
status cuDriverGetVersion(int *version) { *version = 13000; return 0; }
status cuDevicePrimaryCtxRetain(void **context, int device) { return give(context); }
status cuCtxGetCurrent(void **context) { return give(context); }
status cuStreamCreate(void **stream, unsigned flags) { return give(stream); }
status cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) { return give(stream); }
status cuStreamIsCapturing(void *stream, int *capturing) { *capturing = 0; return 0; }
status cuEventCreate(void **event, unsigned flags) { COUNT(events); return give(event); }
status cuModuleLoadData(void **module, const void *image) { return give(module); }
status cuModuleGetFunction(void **function, void *module, const char *name) { return give(function); }
status cuFuncGetAttribute(int *value, int attribute, void *function) { *value = 1024; return 0; }
status cuGetErrorName(int error, const char **name) {
    *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "an error";
    return 0;
}
status cuGetErrorString(int error, const char **text) {
    *text = error == 2 ? "out of memory" : "an error";
    return 0;
}
status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n) { *n = 1; return 0; }
status cuOccupancyMaxPotentialBlockSize(int *n_grid, int *n_block) { *n_grid = 132; *n_block = 256; return 0; }
status cublasCreate_v2(void **out) { return give(out); }
status curandCreateGenerator(void **out, int kind) { return give(out); }
#define SUCCEEDS(name) status name(void) { return 0; }

#include "generated.h"
