#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What parlor-bench compares the stack with: the same work, in plain C on the same libraries. Nothing else links this.

/// Packets of equal length that lie one behind another.
struct reference_packets {
  uint8_t *bytes;
  /// Bytes from the start of one packet to that of the next.
  size_t stride;
  /// Bytes of each packet.
  size_t length;
  int count;
};

/// Header extensions of RTP that the reference knows, and their identifiers (1 to 14; 0: not in use).
struct reference_extensions {
  uint8_t absolute_send_time, transport_sequence_number, mid, audio_level;
};

// MARK: RTP

/// Parses header and extensions of every packet, `rounds` times. Returns a sum of what it read.
uint64_t reference_rtp_parse(struct reference_packets packets, struct reference_extensions map, long rounds);

/// Writes a header with send time, transport-wide sequence number and mid to the front of every packet, `rounds` times. Returns the count of
/// bytes written.
uint64_t reference_rtp_write(struct reference_packets packets, struct reference_extensions map, const char *mid, long rounds);

// MARK: SRTP

/// AES-CM with HMAC-SHA1-80, or AES-GCM, with a key of 16 or 32 bytes: session keys, 12 or 14 bytes of salt, 20 bytes for authentication.
struct reference_srtp;
struct reference_srtp *reference_srtp_new(bool is_gcm, const uint8_t *key, int key_length, const uint8_t *salt, const uint8_t *authentication);
void reference_srtp_free(struct reference_srtp *context);

/// Protects a packet in place, which has room for 16 bytes more. Returns its new length, 0 if it is none.
size_t reference_srtp_protect(struct reference_srtp *context, uint8_t *packet, size_t length);

/// Protects every packet, `rounds` times, with rising sequence numbers. Returns the count of bytes that came of it.
uint64_t reference_srtp_protect_all(struct reference_srtp *context, struct reference_packets packets, long rounds);

// MARK: Packet path

/// A UDP socket that sends to `port` on the loopback, with its batch of 64 datagrams. NULL when there is none to be had.
struct reference_sender;
struct reference_sender *reference_sender_new(uint16_t port, struct reference_srtp *context, struct reference_extensions map);
void reference_sender_free(struct reference_sender *sender);

/// Parses, protects and sends every packet, `rounds` times. Returns how many the kernel took.
long reference_sender_forward(struct reference_sender *sender, struct reference_packets packets, long rounds);

/// Sends `count` packets of `payload`: writes the header into a ring that would serve retransmissions, copies the payload behind it, protects
/// a copy and sends it. Returns how many the kernel took.
long reference_sender_originate(struct reference_sender *sender, const uint8_t *payload, size_t length, const char *mid, long count);

/// Unprotects and parses `count` packets of `length` bytes that lie `stride` bytes apart. Returns how many were good.
long reference_receive_from_memory(
    uint8_t *bytes, size_t stride, size_t length, long count, struct reference_srtp *context, struct reference_extensions map);

/// Checks and decrypts a packet in place. Returns its new length, 0 when it is not authentic.
size_t reference_srtp_unprotect(struct reference_srtp *context, uint8_t *packet, size_t length);

// MARK: STUN

/// Writes a connectivity check with integrity and fingerprint, parses it again and checks both, `rounds` times. Returns how many were right.
long reference_stun(const char *username, const uint8_t *key, size_t key_length, long rounds);

// MARK: SDP

/// Splits a description into lines, attributes and fields, each copied into memory of its own, and frees it all, `rounds` times. Returns the
/// count of fields.
long reference_sdp(const char *text, size_t length, long rounds);

// MARK: DTLS

/// Two ends with a certificate each. NULL when OpenSSL fails.
struct reference_dtls;
struct reference_dtls *reference_dtls_new(void);
void reference_dtls_free(struct reference_dtls *context);

/// Makes `count` handshakes between the two, SRTP keys included. Returns how many were completed.
long reference_dtls_handshakes(struct reference_dtls *context, long count);

// MARK: SCTP

/// Two connected ends of usrsctp, of which a process has one pair at a time.
struct reference_sctp;
struct reference_sctp *reference_sctp_new(void);
void reference_sctp_free(struct reference_sctp *pair);

/// Sends messages of 16,384 bytes from one end to the other. Returns how many arrived.
long reference_sctp_transfer(struct reference_sctp *pair, long messages);

// MARK: Jitter buffer

/// Puts packets into a ring by their sequence number and copies the payloads of each frame together when it is whole, `rounds` times; the
/// sequence numbers go on from round to round. Payloads begin behind 12 bytes of header and `descriptor` more. Returns the count of frames.
long reference_jitter_buffer(struct reference_packets packets, const int *order, size_t descriptor, long rounds);
