#define _GNU_SOURCE
#include "CAllocations.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <stddef.h>

// The C library's own functions, under the names that it keeps for replacements like these.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static _Thread_local uint64_t allocations;
static _Thread_local uint64_t frees;
static _Thread_local uint64_t locks;
static _Thread_local uint64_t contentions;

uint64_t allocations_of_thread(void) { return allocations; }
uint64_t frees_of_thread(void) { return frees; }
uint64_t locks_of_thread(void) { return locks; }
uint64_t contentions_of_thread(void) { return contentions; }

uint64_t waits_of_thread(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

void *malloc(size_t size) {
  allocations++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  allocations++;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  allocations++;
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  allocations++;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void *result = memalign(alignment, size);
  if (!result) return ENOMEM;
  *memory = result;
  return 0;
}

void free(void *memory) {
  if (memory) frees++;
  __libc_free(memory);
}

// The C library keeps no other names for these: they are looked up before any thread is started.
static int (*lock_mutex)(pthread_mutex_t *);
static int (*wait_condition)(pthread_cond_t *, pthread_mutex_t *);
static int (*wait_condition_until)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor(101))) static void look_up(void) {
  lock_mutex = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  wait_condition = dlsym(RTLD_NEXT, "pthread_cond_wait");
  wait_condition_until = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  locks++;
  if (!lock_mutex) look_up();
  if (pthread_mutex_trylock(mutex) == 0) return 0;
  contentions++;
  return lock_mutex(mutex);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  contentions++;
  return wait_condition(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *limit) {
  contentions++;
  return wait_condition_until(condition, mutex, limit);
}
