#include "CReference.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <usrsctp.h>

// Two ends of an association in usrsctp, without its threads. It hands packets out while it holds its locks, so they wait in a ring until it
// has returned.

enum { ring = 4096, packet_limit = 1500, message_size = 16384 };

struct reference_sctp {
  struct socket *ends[2];
  struct {
    int to;
    size_t length;
    uint8_t bytes[packet_limit];
  } packets[ring];
  unsigned first, last;
  uint8_t message[message_size], received[2 * message_size];
};

// The addresses by which usrsctp knows the ends. It wants one for both sides of an association, so each end calls its peer by its own name.
static uint8_t names[2];
static struct reference_sctp *current;

static int output(void *address, void *buffer, size_t length, uint8_t tos, uint8_t fragment) {
  (void)tos, (void)fragment;
  struct reference_sctp *pair = current;
  if (!pair || length > packet_limit || pair->last - pair->first == ring) return 0;
  pair->packets[pair->last % ring].to = address == &names[0] ? 1 : 0;
  pair->packets[pair->last % ring].length = length;
  memcpy(pair->packets[pair->last % ring].bytes, buffer, length);
  pair->last++;
  return 0;
}

static struct sockaddr_conn address_of(int end) {
  struct sockaddr_conn address = {.sconn_family = AF_CONN, .sconn_port = htons(5000), .sconn_addr = &names[end]};
  return address;
}

static long drain(struct reference_sctp *pair, int end) {
  long bytes = 0;
  for (;;) {
    struct sctp_rcvinfo information;
    socklen_t size = sizeof information;
    unsigned type = 0;
    int flags = 0;
    ssize_t count =
        usrsctp_recvv(pair->ends[end], pair->received, sizeof pair->received, NULL, NULL, &information, &size, &type, &flags);
    if (count <= 0) return bytes;
    if (!(flags & MSG_NOTIFICATION)) bytes += count;
  }
}

static void pass_on(struct reference_sctp *pair) {
  while (pair->first != pair->last) {
    unsigned place = pair->first % ring;
    usrsctp_conninput(&names[pair->packets[place].to], pair->packets[place].bytes, pair->packets[place].length, 0);
    pair->first++;
  }
}

struct reference_sctp *reference_sctp_new(void) {
  static bool is_initialized;
  if (!is_initialized) {
    usrsctp_init_nothreads(0, output, NULL);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    is_initialized = true;
  }
  struct reference_sctp *pair = calloc(1, sizeof *pair);
  if (!pair) return NULL;
  current = pair;
  for (int i = 0; i < 2; i++) {
    struct sockaddr_conn address = address_of(i);
    int on = 1, size = 4 << 20;
    usrsctp_register_address(&names[i]);
    pair->ends[i] = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    if (!pair->ends[i]) abort();
    usrsctp_set_non_blocking(pair->ends[i], 1);
    usrsctp_setsockopt(pair->ends[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    usrsctp_setsockopt(pair->ends[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    usrsctp_setsockopt(pair->ends[i], IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
    usrsctp_bind(pair->ends[i], (struct sockaddr *)&address, sizeof address);
  }
  for (int i = 0; i < 2; i++) {
    struct sockaddr_conn address = address_of(i);
    usrsctp_connect(pair->ends[i], (struct sockaddr *)&address, sizeof address);
  }
  for (int i = 0; i < 100; i++) {
    pass_on(pair);
    usrsctp_handle_timers(10);
  }
  return pair;
}

void reference_sctp_free(struct reference_sctp *pair) {
  if (!pair) return;
  for (int i = 0; i < 2; i++) {
    usrsctp_close(pair->ends[i]);
    usrsctp_deregister_address(&names[i]);
  }
  current = NULL;
  free(pair);
}

long reference_sctp_transfer(struct reference_sctp *pair, long messages) {
  struct sctp_sendv_spa parameters = {.sendv_flags = SCTP_SEND_SNDINFO_VALID};
  parameters.sendv_sndinfo.snd_ppid = htonl(53);
  parameters.sendv_sndinfo.snd_flags = SCTP_EOR;
  long arrived = 0, idle = 0, unsent = messages;
  // A second of its time without progress: it has lost the association.
  while (arrived < messages * message_size && idle < 100) {
    long before = arrived;
    while (unsent > 0 && usrsctp_sendv(
                             pair->ends[0], pair->message, message_size, NULL, 0, &parameters, sizeof parameters, SCTP_SENDV_SPA, 0) > 0)
      unsent--;
    pass_on(pair);
    arrived += drain(pair, 1);
    pass_on(pair);
    if (arrived == before) {
      usrsctp_handle_timers(10);
      idle++;
    } else {
      idle = 0;
    }
  }
  return arrived / message_size;
}
