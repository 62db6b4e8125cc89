// Children of this process.
#pragma once

/// Starts a program with nothing to read; what it writes can be read, without blocking, from `output`. It leads a process group of its own, has no blocked signals, and is
/// killed when the calling thread ends. Returns its process number, or -1 with errno, also when the program cannot be executed.
int linux_spawn(const char *path, char *const arguments[], int *output);
/// A descriptor that becomes readable when the process ends, or -1 with errno.
int linux_process_descriptor(int process);
/// Waits for a child that has ended. Returns its exit status, or 256 and the number of the signal that ended it; -1 when there is no such child.
int linux_reap(int process);
