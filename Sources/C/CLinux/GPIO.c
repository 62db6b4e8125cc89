#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "CLinux.h"

int linux_gpio_request(int chip, uint32_t line, bool is_active_low, enum linux_gpio_bias bias, uint32_t debounce, const char *consumer) {
  struct gpio_v2_line_request request = {.offsets = {line}, .num_lines = 1};
  snprintf(request.consumer, sizeof request.consumer, "%s", consumer);
  request.config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_EDGE_RISING | GPIO_V2_LINE_FLAG_EDGE_FALLING;
  if (is_active_low) request.config.flags |= GPIO_V2_LINE_FLAG_ACTIVE_LOW;
  if (bias == linux_gpio_bias_pull_up) request.config.flags |= GPIO_V2_LINE_FLAG_BIAS_PULL_UP;
  if (bias == linux_gpio_bias_pull_down) request.config.flags |= GPIO_V2_LINE_FLAG_BIAS_PULL_DOWN;
  if (bias == linux_gpio_bias_off) request.config.flags |= GPIO_V2_LINE_FLAG_BIAS_DISABLED;
  if (debounce > 0) {
    request.config.num_attrs = 1;
    request.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_DEBOUNCE;
    request.config.attrs[0].attr.debounce_period_us = debounce;
    request.config.attrs[0].mask = 1;
  }
  if (ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &request) < 0) return -1;
  fcntl(request.fd, F_SETFD, FD_CLOEXEC);
  fcntl(request.fd, F_SETFL, O_NONBLOCK);
  return request.fd;
}

int linux_gpio_value(int request) {
  struct gpio_v2_line_values values = {.mask = 1};
  if (ioctl(request, GPIO_V2_LINE_GET_VALUES_IOCTL, &values) < 0) return -1;
  return values.bits & 1;
}

int linux_gpio_read(int request, struct linux_gpio_edge *edge) {
  struct gpio_v2_line_event event;
  ssize_t count = read(request, &event, sizeof event);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  if (count != sizeof event) {
    errno = ENODEV;
    return -1;
  }
  *edge = (struct linux_gpio_edge){
      .nanoseconds = (int64_t)event.timestamp_ns, .is_active = event.id == GPIO_V2_LINE_EVENT_RISING_EDGE};
  return 1;
}
