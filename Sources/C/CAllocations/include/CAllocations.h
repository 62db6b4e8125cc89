#pragma once
#include <stdint.h>

// Counts heap allocations. Whatever program links this has its malloc family replaced by counting ones that call the C library's own: only
// parlor-bench does.

/// How often the calling thread has allocated or reallocated so far, by any of the C library's functions.
uint64_t allocations_of_thread(void);
