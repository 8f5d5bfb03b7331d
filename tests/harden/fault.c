// Makes one system call of a program go wrong, the N-th of its name. To be loaded with LD_PRELOAD; told by environment
// variables what to do:
//
//   FAULT=CALL:N:ACTION   CALL is a function below; N counts from 1. ACTION is
//                           a number     the call fails with this errno, and is not made
//                           a number +   so do all later ones of this name
//                           short        half of the bytes are asked for
//                           kill         SIGKILL before the call; kill-after: when it is made
//                           int, term    SIGINT, SIGTERM before the call
//                           cut          before the call FAULT_FILE loses its second half;
//                           write        its last byte is written again;
//                           replace      FAULT_FILE.new takes its name
//   FAULT_COUNTS=FILE     at the end: "CALL N" lines, how often each was called
//   FAULT_WITHOUT=WORDS   what the filesystem does not know: tmpfile (files without a name), move (copy_file_range),
//                           lock (flock)
//
// Counting begins with main(). Calls that the C library makes of itself are not seen.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS(X)                                                                                                  \
  X(open) X(close) X(read) X(pread) X(write) X(pwrite) X(copy_file_range) X(fsync) X(lseek) X(linkat) X(link)     \
  X(rename) X(unlink) X(stat) X(lstat) X(fstat) X(access) X(realpath) X(fchmod) X(mkdir) X(rmdir) X(opendir)      \
  X(readdir) X(flock) X(dup) X(mkostemp) X(fwrite) X(fflush) X(malloc)         \
  X(aligned_alloc) X(pthread_create)

#define NUMBER(name) CALL_##name,
enum { CALLS(NUMBER) CALL_COUNT };
#define NAME(name) #name,
static const char* const names[] = {CALLS(NAME)};

enum verdict { PASS, FAIL, SHORT, KILL_AFTER };

static atomic_long counts[CALL_COUNT];
static atomic_int is_counting;
static int fault_call = -1;
static long fault_number;
static int fault_errno;
static int fault_lasts;
static char fault_action[16];
static const char* fault_file;
static int without_tmpfile, without_move, without_lock;

static void start(void) {
  const char* without = getenv("FAULT_WITHOUT");
  without_tmpfile = without != NULL && strstr(without, "tmpfile") != NULL;
  without_move = without != NULL && strstr(without, "move") != NULL;
  without_lock = without != NULL && strstr(without, "lock") != NULL;
  fault_file = getenv("FAULT_FILE");
  const char* fault = getenv("FAULT");
  char call[32];
  if (fault != NULL && sscanf(fault, "%31[^:]:%ld:%15s", call, &fault_number, fault_action) == 3) {
    for (int i = 0; i < CALL_COUNT; ++i)
      if (strcmp(call, names[i]) == 0) fault_call = i;
    fault_errno = atoi(fault_action);
    fault_lasts = strchr(fault_action, '+') != NULL;
  }
  is_counting = 1;
}

static void die(void) { syscall(SYS_kill, getpid(), SIGKILL); }

// What somebody else does to the input, past the functions below.
static void change_file(void) {
  const int file = (int)syscall(SYS_openat, AT_FDCWD, fault_file, O_RDWR);
  const long size = syscall(SYS_lseek, file, 0L, SEEK_END);
  if (strcmp(fault_action, "cut") == 0) {
    syscall(SYS_ftruncate, file, size / 2);
  } else {
    char last = 0;
    syscall(SYS_pread64, file, &last, 1L, size - 1);
    syscall(SYS_pwrite64, file, &last, 1L, size - 1);
  }
  syscall(SYS_close, file);
}

static void replace_file(void) {
  char name[4096];
  snprintf(name, sizeof name, "%s.new", fault_file);
  syscall(SYS_renameat, AT_FDCWD, name, AT_FDCWD, fault_file);
}

static enum verdict look(int call) {
  if (!is_counting) return PASS;
  const long number = atomic_fetch_add(&counts[call], 1) + 1;
  if (call != fault_call || (number != fault_number && !(fault_lasts && number > fault_number))) return PASS;
  if (fault_errno != 0) {
    errno = fault_errno;
    return FAIL;
  }
  const int before = errno;
  if (strcmp(fault_action, "short") == 0) return SHORT;
  if (strcmp(fault_action, "kill-after") == 0) return KILL_AFTER;
  if (strcmp(fault_action, "kill") == 0) die();
  else if (strcmp(fault_action, "int") == 0) raise(SIGINT);
  else if (strcmp(fault_action, "term") == 0) raise(SIGTERM);
  else if (strcmp(fault_action, "replace") == 0) replace_file();
  else change_file();
  errno = before;
  return PASS;
}

// The function itself. dlsym gives an object pointer, which ISO C does not turn into one of a function.
#define REAL(type, name, parameters)             \
  static type(*real) parameters;                 \
  if (real == NULL) {                            \
    void* const found = dlsym(RTLD_NEXT, #name); \
    memcpy(&real, &found, sizeof real);          \
  }

#define WRAP(type, failed, name, parameters, arguments) \
  type name parameters {                                \
    REAL(type, name, parameters)                        \
    const enum verdict verdict = look(CALL_##name);     \
    if (verdict == FAIL) return failed;                 \
    type const result = real arguments;                 \
    if (verdict == KILL_AFTER) die();                   \
    return result;                                      \
  }

// With a number of bytes `n`, of which half can be asked for.
#define WRAP_BYTES(type, failed, name, parameters, arguments) \
  type name parameters {                                      \
    REAL(type, name, parameters)                              \
    const enum verdict verdict = look(CALL_##name);           \
    if (verdict == FAIL) return failed;                       \
    if (verdict == SHORT && n > 1) n /= 2;                    \
    type const result = real arguments;                       \
    if (verdict == KILL_AFTER) die();                         \
    return result;                                            \
  }

WRAP(int, -1, close, (int file), (file))
WRAP(int, -1, fsync, (int file), (file))
WRAP(off_t, -1, lseek, (int file, off_t offset, int from), (file, offset, from))
WRAP(int, -1, linkat, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags))
WRAP(int, -1, link, (const char* from, const char* to), (from, to))
WRAP(int, -1, rename, (const char* from, const char* to), (from, to))
WRAP(int, -1, unlink, (const char* path), (path))
WRAP(int, -1, stat, (const char* restrict path, struct stat* restrict status), (path, status))
WRAP(int, -1, lstat, (const char* restrict path, struct stat* restrict status), (path, status))
WRAP(int, -1, fstat, (int file, struct stat* status), (file, status))
WRAP(int, -1, access, (const char* path, int mode), (path, mode))
WRAP(char*, NULL, realpath, (const char* restrict path, char* restrict out), (path, out))
WRAP(int, -1, fchmod, (int file, mode_t mode), (file, mode))
WRAP(int, -1, mkdir, (const char* path, mode_t mode), (path, mode))
WRAP(int, -1, rmdir, (const char* path), (path))
WRAP(DIR*, NULL, opendir, (const char* path), (path))
WRAP(struct dirent*, NULL, readdir, (DIR* folder), (folder))
WRAP(int, -1, dup, (int file), (file))
WRAP(int, -1, mkostemp, (char* pattern, int flags), (pattern, flags))
WRAP(int, EOF, fflush, (FILE* file), (file))
WRAP(int, EAGAIN, pthread_create,
     (pthread_t* restrict thread, const pthread_attr_t* restrict attributes, void* (*run)(void*), void* restrict argument),
     (thread, attributes, run, argument))

WRAP_BYTES(ssize_t, -1, read, (int file, void* out, size_t n), (file, out, n))
WRAP_BYTES(ssize_t, -1, pread, (int file, void* out, size_t n, off_t offset), (file, out, n, offset))
WRAP_BYTES(ssize_t, -1, write, (int file, const void* bytes, size_t n), (file, bytes, n))
WRAP_BYTES(ssize_t, -1, pwrite, (int file, const void* bytes, size_t n, off_t offset), (file, bytes, n, offset))

// A stream that fails remembers it.
size_t fwrite(const void* restrict bytes, size_t size, size_t n, FILE* restrict file) {
  REAL(size_t, fwrite, (const void* restrict, size_t, size_t, FILE* restrict))
  if (look(CALL_fwrite) != FAIL) return real(bytes, size, n, file);
  file->_flags |= 0x20;  // _IO_ERR_SEEN
  return 0;
}

ssize_t copy_file_range(int in, off64_t* from, int out, off64_t* to, size_t n, unsigned flags) {
  REAL(ssize_t, copy_file_range, (int, off64_t*, int, off64_t*, size_t, unsigned))
  const enum verdict verdict = look(CALL_copy_file_range);
  if (verdict == FAIL) return -1;
  if (without_move) {
    errno = EXDEV;
    return -1;
  }
  if (verdict == SHORT && n > 1) n /= 2;
  const ssize_t moved = real(in, from, out, to, n, flags);
  if (verdict == KILL_AFTER) die();
  return moved;
}

int flock(int file, int how) {
  REAL(int, flock, (int, int))
  const enum verdict verdict = look(CALL_flock);
  if (verdict == FAIL) return -1;
  if (without_lock) {
    errno = ENOLCK;
    return -1;
  }
  const int result = real(file, how);
  if (verdict == KILL_AFTER) die();
  return result;
}

int open(const char* path, int flags, ...) {
  REAL(int, open, (const char*, int, ...))
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const enum verdict verdict = look(CALL_open);
  if (verdict == FAIL) return -1;
  if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const int file = real(path, flags, mode);
  if (verdict == KILL_AFTER) die();
  return file;
}

// The C library's own allocator, by the names that it keeps for this. `dlsym` allocates.
extern void* __libc_malloc(size_t size);
void* malloc(size_t size) { return look(CALL_malloc) == FAIL ? NULL : __libc_malloc(size); }
extern void* __libc_memalign(size_t alignment, size_t size);
void* aligned_alloc(size_t alignment, size_t size) {
  return look(CALL_aligned_alloc) == FAIL ? NULL : __libc_memalign(alignment, size);
}

static int (*real_main)(int, char**, char**);

static void write_counts(void) {
  const char* path = getenv("FAULT_COUNTS");
  is_counting = 0;
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
  for (int i = 0; i < CALL_COUNT; ++i) fprintf(file, "%s %ld\n", names[i], counts[i]);
  fclose(file);
}

static int counted_main(int argc, char** argv, char** environment) {
  start();
  const int status = real_main(argc, argv, environment);
  write_counts();
  return status;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void* stack_end) {
  REAL(int, __libc_start_main,
       (int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*))
  real_main = main;
  return real(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}
