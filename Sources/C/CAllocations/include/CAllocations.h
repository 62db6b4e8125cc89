#pragma once
#include <stdint.h>

// Counts heap allocations, frees and locks. Whatever program links this has those functions of the C library replaced by counting ones that call the
// library's own: only measurements and tests do.

/// How often the calling thread has allocated or reallocated so far, by any of the C library's functions.
uint64_t allocations_of_thread(void);

/// How often the calling thread has freed memory so far.
uint64_t frees_of_thread(void);

/// How often the calling thread has taken a mutex so far, by the C library's functions.
uint64_t locks_of_thread(void);

/// How often the calling thread has had to wait for a mutex that another thread held, or for a condition, so far.
uint64_t contentions_of_thread(void);

/// How often the calling thread has gone to sleep by itself so far.
uint64_t waits_of_thread(void);
