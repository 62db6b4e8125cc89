#define _GNU_SOURCE
#include "Terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kd.h>
#include <linux/vt.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// Where the signal handler writes to, or -1.
static volatile sig_atomic_t news = -1;

enum { signal_release = SIGUSR1, signal_return = SIGUSR2 };

int linux_terminal_number(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) < 0 || !S_ISCHR(status.st_mode) || major(status.st_rdev) != 4) return 0;
  unsigned number = minor(status.st_rdev);
  return number <= MAX_NR_CONSOLES ? (int)number : 0;
}

void linux_terminal_control(int descriptor) { ioctl(descriptor, TIOCSCTTY, 0); }

int linux_terminal_screen(int descriptor) {
  int screen = 0;
  return ioctl(descriptor, KDGETMODE, &screen) < 0 ? -1 : screen;
}

int linux_terminal_set_screen(int descriptor, int screen) { return ioctl(descriptor, KDSETMODE, (long)screen); }

int linux_terminal_keyboard(int descriptor) {
  int keyboard = 0;
  return ioctl(descriptor, KDGKBMODE, &keyboard) < 0 ? -1 : keyboard;
}

int linux_terminal_set_keyboard(int descriptor, int keyboard) { return ioctl(descriptor, KDSKBMODE, (long)keyboard); }

int linux_terminal_active(int descriptor) {
  struct vt_stat state;
  return ioctl(descriptor, VT_GETSTATE, &state) < 0 ? -1 : state.v_active;
}

int linux_terminal_activate(int descriptor, int number) { return ioctl(descriptor, VT_ACTIVATE, (long)number); }

// On whatever thread the kernel picks: only what is safe in a signal handler.
static void tell(int signal) {
  int error = errno;
  char what = signal == signal_release ? 'r' : 'a';
  if (news >= 0) (void)!write(news, &what, 1);
  errno = error;
}

int linux_terminal_watch(int descriptor) {
  int ends[2];
  if (news >= 0) {
    errno = EBUSY;
    return -1;
  }
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return -1;
  news = ends[1];
  struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(signal_release, &action, NULL);
  sigaction(signal_return, &action, NULL);
  // A terminal that is hung up must not end the one who owns it.
  signal(SIGHUP, SIG_IGN);
  struct vt_mode mode = {.mode = VT_PROCESS, .relsig = signal_release, .acqsig = signal_return};
  if (ioctl(descriptor, VT_SETMODE, &mode) < 0) {
    int error = errno;
    linux_terminal_unwatch(descriptor, ends[0]);
    errno = error;
    return -1;
  }
  return ends[0];
}

void linux_terminal_unwatch(int descriptor, int watch) {
  struct vt_mode mode = {.mode = VT_AUTO};
  ioctl(descriptor, VT_SETMODE, &mode);
  // One that is under way must not end the process.
  signal(signal_release, SIG_IGN);
  signal(signal_return, SIG_IGN);
  signal(SIGHUP, SIG_DFL);
  int writer = news;
  news = -1;
  if (writer >= 0) close(writer);
  close(watch);
}

int linux_terminal_allow_release(int descriptor) { return ioctl(descriptor, VT_RELDISP, 1L); }

int linux_terminal_confirm_return(int descriptor) { return ioctl(descriptor, VT_RELDISP, (long)VT_ACKACQ); }
