#define _GNU_SOURCE
#include "rtp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { batch = 64, slot = 2048, ring = 1024, packet_limit = 1200 };

struct reference_sender {
  int descriptor, epoll;
  struct reference_srtp *context;
  struct reference_extensions map;
  struct sockaddr_in address;
  struct mmsghdr messages[batch];
  struct iovec pieces[batch];
  uint8_t memory[batch][slot];
  uint8_t history[ring][packet_limit];
  size_t lengths[ring];
  long position;
  int waiting;
  uint16_t sequence_number, transport_sequence_number;
};

struct reference_sender *reference_sender_new(uint16_t port, struct reference_srtp *context, struct reference_extensions map) {
  struct reference_sender *sender = calloc(1, sizeof *sender);
  if (!sender) return NULL;
  sender->descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sender->context = context;
  sender->map = map;
  sender->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (int i = 0; i < batch; i++) {
    sender->pieces[i].iov_base = sender->memory[i];
    sender->messages[i].msg_hdr.msg_name = &sender->address;
    sender->messages[i].msg_hdr.msg_namelen = sizeof sender->address;
    sender->messages[i].msg_hdr.msg_iov = &sender->pieces[i];
    sender->messages[i].msg_hdr.msg_iovlen = 1;
  }
  // Bound to an address and watched for what arrives, as the socket of any call is: both cost the kernel time for each packet sent.
  struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct epoll_event event = {.events = EPOLLIN};
  sender->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (sender->descriptor >= 0 && sender->epoll >= 0 && bind(sender->descriptor, (struct sockaddr *)&local, sizeof local) == 0 &&
      epoll_ctl(sender->epoll, EPOLL_CTL_ADD, sender->descriptor, &event) == 0)
    return sender;
  reference_sender_free(sender);
  return NULL;
}

void reference_sender_free(struct reference_sender *sender) {
  if (!sender) return;
  if (sender->descriptor >= 0) close(sender->descriptor);
  if (sender->epoll >= 0) close(sender->epoll);
  free(sender);
}

static long flush(struct reference_sender *sender) {
  long sent = 0;
  int start = 0;
  while (start < sender->waiting) {
    int count = sendmmsg(sender->descriptor, sender->messages + start, (unsigned)(sender->waiting - start), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count <= 0 && errno != EINTR) break;
    if (count > 0) start += count, sent += count;
  }
  sender->waiting = 0;
  return sent;
}

static long put(struct reference_sender *sender, size_t length) {
  sender->pieces[sender->waiting++].iov_len = length;
  return sender->waiting == batch ? flush(sender) : 0;
}

long reference_sender_forward(struct reference_sender *sender, struct reference_packets packets, long rounds) {
  long sent = 0;
  uint64_t sum = 0;
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < packets.count; i++) {
      uint8_t *target = sender->memory[sender->waiting];
      memcpy(target, packets.bytes + (size_t)i * packets.stride, packets.length);
      store16(target + 2, sender->sequence_number++);
      struct rtp_header header;
      struct rtp_extensions extensions;
      if (!rtp_parse(target, packets.length, &header) || !rtp_parse_extensions(target, &header, &sender->map, &extensions)) continue;
      sum += extensions.transport_sequence_number;
      size_t length = reference_srtp_protect(sender->context, target, packets.length);
      if (length > 0) sent += put(sender, length);
    }
  }
  sent += flush(sender);
  return sum == UINT64_MAX ? 0 : sent;
}

static uint32_t absolute_send_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint32_t)((uint64_t)now.tv_sec * 262144 + (uint64_t)now.tv_nsec * 262144 / 1000000000) & 0xFFFFFF;
}

long reference_sender_originate(struct reference_sender *sender, const uint8_t *payload, size_t length, const char *mid, long count) {
  long sent = 0;
  uint32_t time = 0;
  size_t mid_length = strlen(mid);
  for (long i = 0; i < count; i++) {
    long place = sender->position++ % ring;
    uint8_t *packet = sender->history[place];
    size_t header = rtp_write(
        packet, packet_limit, 96, sender->sequence_number++, (uint32_t)(i * 3000), 1, &sender->map, mid, mid_length);
    if (header + length > packet_limit) return sent;
    memcpy(packet + header, payload, length);
    sender->lengths[place] = header + length;
    if (i % 8 == 0) time = absolute_send_time();
    packet[17] = (uint8_t)(time >> 16);
    store16(packet + 18, (uint16_t)time);
    store16(packet + 21, sender->transport_sequence_number++);
    uint8_t *target = sender->memory[sender->waiting];
    memcpy(target, packet, sender->lengths[place]);
    size_t total = reference_srtp_protect(sender->context, target, sender->lengths[place]);
    if (total > 0) sent += put(sender, total);
  }
  return sent + flush(sender);
}

long reference_receive_from_memory(
    uint8_t *bytes, size_t stride, size_t length, long count, struct reference_srtp *context, struct reference_extensions map) {
  long good = 0;
  for (long i = 0; i < count; i++) {
    uint8_t *packet = bytes + (size_t)i * stride;
    size_t plain = reference_srtp_unprotect(context, packet, length);
    struct rtp_header header;
    struct rtp_extensions extensions;
    if (plain > 0 && rtp_parse(packet, plain, &header) && rtp_parse_extensions(packet, &header, &map, &extensions)) good++;
  }
  return good;
}
