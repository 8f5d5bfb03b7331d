#pragma once

/// Marks a function whose loops are to use the widest vectors that the machine has: it is compiled for three
/// generations of x86-64 (SSE2, AVX2, AVX-512), and the loader takes the one that fits. What it calls must be
/// inlined into it, hence `CKPT_INLINE`. Elsewhere, and where a sanitizer would instrument the choice, which
/// comes before it is set up, the compiler's own choice of vectors stands (NEON on 64-bit ARM).
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define CKPT_VECTOR_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define CKPT_VECTOR_CLONES
#endif

#define CKPT_INLINE [[gnu::always_inline]] inline
