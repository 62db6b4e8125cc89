// Lines of GPIO chips that buttons are wired to: the kernel's character device, version 2 (linux/gpio.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// What holds a line when nothing drives it: what the machine set up, a resistor to either side, or nothing.
enum linux_gpio_bias { linux_gpio_bias_as_is, linux_gpio_bias_pull_up, linux_gpio_bias_pull_down, linux_gpio_bias_off };

/// A line that has become active or inactive, on CLOCK_MONOTONIC.
struct linux_gpio_edge {
  int64_t nanoseconds;
  bool is_active;
};

/// Asks an open chip for a line as an input that reports both edges, `debounce` microseconds after they are stable (0: at once). Returns a
/// non-blocking descriptor of its own, or -1 with errno.
int linux_gpio_request(int chip, uint32_t line, bool is_active_low, enum linux_gpio_bias bias, uint32_t debounce, const char *consumer);
/// Whether the line is active: 1 or 0, or -1 with errno.
int linux_gpio_value(int request);
/// Takes the next edge. Returns 1, 0 when there is none, or -1 with errno.
int linux_gpio_read(int request, struct linux_gpio_edge *edge);
