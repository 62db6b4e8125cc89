// What Glibc's Swift module does not show of Linux: epoll, eventfd, packet batches, thread names.
#pragma once
#include "GPIO.h"
#include "Process.h"
#include "Terminal.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

/// One event of `linux_epoll_wait`: `events` holds EPOLL* bits, `token` what the descriptor was registered with.
struct linux_event {
  uint32_t events;
  uint64_t token;
};

enum { linux_readable = 1, linux_writable = 4, linux_error = 8, linux_hangup = 16 };

int linux_epoll_create(void);
int linux_epoll_set(int epoll, int descriptor, uint32_t events, uint64_t token, bool is_new);
int linux_epoll_remove(int epoll, int descriptor);
/// Waits at most `nanoseconds` (negative: without end). Returns the number of events, or -1 with errno.
int linux_epoll_wait(int epoll, struct linux_event *events, int capacity, int64_t nanoseconds);

int linux_eventfd(void);

/// A datagram of a batch. `address` is a sockaddr of `address_length` bytes; up to three pieces make the payload. `age` is set on receiving: the
/// nanoseconds since the kernel took the datagram in, 0 when it does not say.
struct linux_datagram {
  struct sockaddr_storage address;
  uint32_t address_length;
  uint32_t piece_count;
  struct iovec pieces[3];
  uint32_t length;
  int64_t age;
};

/// Asks the kernel to note when each datagram came in.
int linux_enable_timestamps(int descriptor);
/// Receives up to `count` datagrams (at most 64) without blocking. Returns their number, 0 when there is none, or -1 with errno.
/// `length` is 0 for one that did not fit its pieces.
int linux_receive_batch(int descriptor, struct linux_datagram *datagrams, int count);
/// Sends up to `count` datagrams (at most 64) without blocking. Returns how many the kernel took, or -1 with errno.
int linux_send_batch(int descriptor, const struct linux_datagram *datagrams, int count);

void linux_set_thread_name(const char *name);
/// Marks the calling thread as belonging to `owner`; `linux_thread_owner` gives it back on that thread, NULL on all others.
void linux_set_thread_owner(const void *owner);
const void *linux_thread_owner(void);
/// A non-blocking netlink socket that becomes readable when links, addresses or routes change, or -1 with errno.
int linux_route_monitor(void);
/// The user at the other end of a Unix socket, or -1.
int64_t linux_peer_user(int descriptor);
/// Whether something keeps the wall clock right (adjtimex).
bool linux_clock_is_synchronised(void);
/// Sends two pieces as one, without blocking and without SIGPIPE. Returns how many bytes the kernel took, or -1 with errno.
ssize_t linux_send_pieces(int descriptor, const void *head, size_t head_length, const void *body, size_t body_length);

/// Memory with a descriptor, which may be sealed; -1 with errno.
int linux_memory_create(const char *name);
/// Makes memory of `linux_memory_create` unchangeable for all who hold it. Returns 0, or -1 with errno.
int linux_memory_seal(int descriptor);
/// Whether the descriptor is of shared memory, so that reading it waits for nobody.
bool linux_is_memory(int descriptor);
/// Who is at the other end of a Unix socket. False when the kernel does not say.
bool linux_peer(int descriptor, int32_t *process, uint32_t *user);
/// Accepts a connection, non-blocking and closed on exec. Returns its descriptor, or -1 with errno.
int linux_accept(int listener);
/// Receives bytes and up to `*count` descriptors without blocking. Returns the number of bytes and sets `*count`, or -1 with errno;
/// EMFILE when more descriptors were passed than fit, all of them closed then.
ssize_t linux_receive_descriptors(int socket, void *bytes, size_t length, int *descriptors, int *count);
/// Sends bytes with descriptors (at most 253) without blocking. Returns the number of bytes taken, or -1 with errno.
ssize_t linux_send_descriptors(int socket, const void *bytes, size_t length, const int *descriptors, int count);
/// A non-blocking netlink socket that becomes readable when devices come, go or change (kernel uevents), or -1 with errno.
int linux_uevent_monitor(void);
/// A descriptor that becomes readable at a time of the monotonic clock, or -1 with errno.
int linux_timer_create(void);
/// Has the timer's descriptor become readable at `nanoseconds`; 0: not at all.
int linux_timer_set(int timer, int64_t nanoseconds);
/// Waits until one of `count` descriptors has an event, at most to `deadline`, in nanoseconds of the monotonic clock. Returns how many have one, or -1 with errno.
int linux_poll(struct pollfd *descriptors, int count, int64_t deadline);
