#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CLinux.h"

// In the child of a program with threads: only what is safe in a signal handler.
static void become(const char *path, char *const arguments[], int output, int report, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, 0);
  dup2(output, 1);
  dup2(output, 2);
  execv(path, arguments);
  int error = errno;
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

int linux_spawn(const char *path, char *const arguments[], int *output) {
  int lines[2], report[2];
  if (pipe2(lines, O_CLOEXEC) < 0) return -1;
  if (pipe2(report, O_CLOEXEC) < 0) {
    close(lines[0]);
    close(lines[1]);
    return -1;
  }
  fcntl(lines[0], F_SETFL, O_NONBLOCK);
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) become(path, arguments, lines[1], report[1], parent);
  int failure = errno;
  close(report[1]);
  close(lines[1]);
  if (child > 0) {
    // Executing the program closes the other end.
    ssize_t count;
    do count = read(report[0], &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    if (count > 0) {
      waitpid(child, NULL, 0);
      child = -1;
    }
  }
  close(report[0]);
  if (child > 0) {
    *output = lines[0];
  } else {
    close(lines[0]);
    errno = failure;
  }
  return child;
}

int linux_process_descriptor(int process) { return pidfd_open(process, 0); }

int linux_reap(int process) {
  int status;
  pid_t result;
  do result = waitpid(process, &status, 0);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -1;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}
