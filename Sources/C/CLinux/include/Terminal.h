// Virtual terminals: the console's screens and keyboards (ioctl_console(2)).
#pragma once

enum {
  linux_screen_text = 0,
  linux_screen_graphics = 1,
  linux_keyboard_unicode = 3,
  linux_keyboard_off = 4,
};

/// The number of the virtual terminal that a descriptor is open on; 0 when it is open on something else.
int linux_terminal_number(int descriptor);
/// Makes it the controlling terminal of a session that has none. Harmless where that is not so.
void linux_terminal_control(int descriptor);
/// What is on the screen (`linux_screen_*`), or -1 with errno.
int linux_terminal_screen(int descriptor);
/// Sets what is on the screen. Returns 0, or -1 with errno.
int linux_terminal_set_screen(int descriptor, int screen);
/// How the keyboard is read (`linux_keyboard_*` and others), or -1 with errno.
int linux_terminal_keyboard(int descriptor);
/// Sets how the keyboard is read. Returns 0, or -1 with errno.
int linux_terminal_set_keyboard(int descriptor, int keyboard);
/// The number of the terminal that is on the screen, or -1 with errno.
int linux_terminal_active(int descriptor);
/// Asks for a terminal to be brought onto the screen. Returns 0, or -1 with errno.
int linux_terminal_activate(int descriptor, int number);

/// Has the kernel ask before it takes the terminal off the screen, and tell when it has brought it back. Returns a descriptor to read an 'r' for each
/// question and an 'a' for each return from, without blocking, or -1 with errno. One terminal a process, and only while the calling thread is alive:
/// it is the one that the kernel knows.
int linux_terminal_watch(int descriptor);
/// Has the kernel ask nobody any more, and closes what `linux_terminal_watch` returned.
void linux_terminal_unwatch(int descriptor, int watch);
/// Allows the kernel to take the terminal off the screen, after an 'r'. Returns 0, or -1 with errno.
int linux_terminal_allow_release(int descriptor);
/// Confirms an 'a'. Returns 0, or -1 with errno.
int linux_terminal_confirm_return(int descriptor);
