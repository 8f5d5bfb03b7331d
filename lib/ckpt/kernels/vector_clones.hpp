#pragma once

/// How loops get the widest vectors that the machine has, which the compiler alone may not take for granted.
/// What such a function calls must be inlined into it: `CKPT_INLINE`.
///
/// - `CKPT_VECTOR_CLONES` has g++ compile a function for three generations of x86-64 (SSE2, AVX2, AVX-512);
///   the loader takes the one that fits. Not where a sanitizer would instrument that choice, which comes
///   before it is set up, not with clang, and not with `CKPT_ONE_CLONE`, for measuring what tests reach: a
///   machine runs one of the three.
/// - `CKPT_TARGET("avx2")` is for code that is written differently for each: its caller asks the machine,
///   with `__builtin_cpu_supports`. Where it is not defined there is no choice, and the vectors of the least
///   machine of the kind serve (NEON on 64-bit ARM).
#ifdef __x86_64__
#define CKPT_TARGET(instructions) [[gnu::target(instructions)]]
#endif

#ifdef CKPT_ONE_CLONE
#define CKPT_VECTOR_CLONES
#elif defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define CKPT_VECTOR_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define CKPT_VECTOR_CLONES
#endif

#define CKPT_INLINE [[gnu::always_inline]] inline
