#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

enum { batch_capacity = 64 };

int linux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int linux_epoll_set(int epoll, int descriptor, uint32_t events, uint64_t token, bool is_new) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  return epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

int linux_epoll_remove(int epoll, int descriptor) { return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL); }

int linux_epoll_wait(int epoll, struct linux_event *events, int capacity, int64_t nanoseconds) {
  struct epoll_event ready[batch_capacity];
  struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  if (capacity > batch_capacity) capacity = batch_capacity;
  int count = epoll_pwait2(epoll, ready, capacity, nanoseconds < 0 ? NULL : &limit, NULL);
  if (count < 0 && errno == ENOSYS)
    count = epoll_wait(epoll, ready, capacity, nanoseconds < 0 ? -1 : (int)((nanoseconds + 999999) / 1000000));
  for (int i = 0; i < count; i++) events[i] = (struct linux_event){.events = ready[i].events, .token = ready[i].data.u64};
  return count;
}

int linux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int linux_enable_timestamps(int descriptor) {
  int on = 1;
  return setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

// How long ago the kernel took a datagram in. A wall clock that was set in between must not show: only 0 to 1 s is believed.
static int64_t datagram_age(struct msghdr *header, const struct timespec *now) {
  for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item; item = CMSG_NXTHDR(header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_TIMESTAMPNS) continue;
    struct timespec taken;
    memcpy(&taken, CMSG_DATA(item), sizeof taken);
    int64_t age = (int64_t)(now->tv_sec - taken.tv_sec) * 1000000000 + (now->tv_nsec - taken.tv_nsec);
    return age >= 0 && age <= 1000000000 ? age : 0;
  }
  return 0;
}

int linux_receive_batch(int descriptor, struct linux_datagram *datagrams, int count) {
  struct mmsghdr messages[batch_capacity];
  union {
    char bytes[CMSG_SPACE(sizeof(struct timespec))];
    struct cmsghdr alignment;
  } control[batch_capacity];
  if (count > batch_capacity) count = batch_capacity;
  memset(messages, 0, sizeof messages[0] * (size_t)count);
  for (int i = 0; i < count; i++) {
    struct msghdr *header = &messages[i].msg_hdr;
    header->msg_name = &datagrams[i].address;
    header->msg_namelen = sizeof datagrams[i].address;
    header->msg_iov = datagrams[i].pieces;
    header->msg_iovlen = datagrams[i].piece_count;
    header->msg_control = control[i].bytes;
    header->msg_controllen = sizeof control[i].bytes;
  }
  int received = recvmmsg(descriptor, messages, (unsigned)count, MSG_DONTWAIT, NULL);
  if (received < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  for (int i = 0; i < received; i++) {
    datagrams[i].address_length = messages[i].msg_hdr.msg_namelen;
    datagrams[i].length = messages[i].msg_hdr.msg_flags & MSG_TRUNC ? 0 : messages[i].msg_len;
    datagrams[i].age = datagram_age(&messages[i].msg_hdr, &now);
  }
  return received;
}

int linux_send_batch(int descriptor, const struct linux_datagram *datagrams, int count) {
  struct mmsghdr messages[batch_capacity];
  if (count > batch_capacity) count = batch_capacity;
  memset(messages, 0, sizeof messages[0] * (size_t)count);
  for (int i = 0; i < count; i++) {
    struct msghdr *header = &messages[i].msg_hdr;
    header->msg_name = (void *)&datagrams[i].address;
    header->msg_namelen = datagrams[i].address_length;
    header->msg_iov = (struct iovec *)datagrams[i].pieces;
    header->msg_iovlen = datagrams[i].piece_count;
  }
  return sendmmsg(descriptor, messages, (unsigned)count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void linux_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }

static _Thread_local const void *thread_owner;

void linux_set_thread_owner(const void *owner) { thread_owner = owner; }

const void *linux_thread_owner(void) { return thread_owner; }

int linux_route_monitor(void) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address = {
      .nl_family = AF_NETLINK,
      .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
  };
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

int linux_uevent_monitor(void) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
  if (descriptor < 0) return -1;
  // Group 1 is the kernel's own; udev's comes later, and only where udev runs.
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

int linux_timer_create(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int linux_timer_set(int timer, int64_t nanoseconds) {
  struct itimerspec time = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

int linux_poll(struct pollfd *descriptors, int count, int64_t deadline) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t rest = deadline - now.tv_sec * INT64_C(1000000000) - now.tv_nsec;
  if (rest < 0) rest = 0;
  struct timespec time = {.tv_sec = rest / 1000000000, .tv_nsec = rest % 1000000000};
  return ppoll(descriptors, count, &time, NULL);
}

int64_t linux_peer_user(int descriptor) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
  return credentials.uid;
}

bool linux_clock_is_synchronised(void) {
  struct timex state = {.modes = 0};
  int result = adjtimex(&state);
  return result >= 0 && result != TIME_ERROR;
}

ssize_t linux_send_pieces(int descriptor, const void *head, size_t head_length, const void *body, size_t body_length) {
  struct iovec pieces[2] = {{(void *)head, head_length}, {(void *)body, body_length}};
  struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
  return sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int linux_memory_create(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int linux_memory_seal(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

bool linux_is_memory(int descriptor) { return fcntl(descriptor, F_GET_SEALS) >= 0; }

bool linux_peer(int descriptor, int32_t *process, uint32_t *user) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return false;
  *process = credentials.pid;
  *user = credentials.uid;
  return true;
}

int linux_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

enum { descriptor_capacity = 253 };  // as many as the kernel passes at once

ssize_t linux_receive_descriptors(int socket, void *bytes, size_t length, int *descriptors, int *count) {
  union {
    char bytes[CMSG_SPACE(sizeof(int) * descriptor_capacity)];
    struct cmsghdr alignment;
  } control;
  struct iovec piece = {.iov_base = bytes, .iov_len = length};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  int capacity = *count;
  *count = 0;
  ssize_t received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  bool lost = message.msg_flags & MSG_CTRUNC;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    int passed = (int)((item->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < passed; i++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(item) + sizeof(int) * (size_t)i, sizeof descriptor);
      if (*count < capacity) {
        descriptors[(*count)++] = descriptor;
      } else {
        close(descriptor);
        lost = true;
      }
    }
  }
  if (!lost) return received;
  for (int i = 0; i < *count; i++) close(descriptors[i]);
  *count = 0;
  errno = EMFILE;
  return -1;
}

ssize_t linux_send_descriptors(int socket, const void *bytes, size_t length, const int *descriptors, int count) {
  union {
    char bytes[CMSG_SPACE(sizeof(int) * descriptor_capacity)];
    struct cmsghdr alignment;
  } control;
  struct iovec piece = {.iov_base = (void *)bytes, .iov_len = length};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (count > descriptor_capacity) {
    errno = EINVAL;
    return -1;
  }
  if (count > 0) {
    size_t size = sizeof(int) * (size_t)count;
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(item), descriptors, size);
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}
