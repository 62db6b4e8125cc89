// SHA-1 on a SHA_CTX is deprecated in favour of an interface that allocates per message.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "rtp.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>

enum { stream_limit = 8, window_words = 17 };

struct stream {
  uint32_t ssrc;
  bool is_known;
  uint64_t highest;
  uint64_t seen[window_words];
};

struct reference_srtp {
  EVP_CIPHER_CTX *seal, *open;
  bool is_gcm;
  uint8_t salt[16];
  SHA_CTX inner, outer;
  struct stream streams[stream_limit];
};

static void start_hmac(SHA_CTX *state, const uint8_t key[20], uint8_t fill) {
  uint8_t block[64];
  for (int i = 0; i < 64; i++) block[i] = (i < 20 ? key[i] : 0) ^ fill;
  SHA1_Init(state);
  SHA1_Update(state, block, sizeof block);
}

struct reference_srtp *reference_srtp_new(bool is_gcm, const uint8_t *key, int key_length, const uint8_t *salt, const uint8_t *authentication) {
  struct reference_srtp *context = calloc(1, sizeof *context);
  if (!context) return NULL;
  const EVP_CIPHER *cipher = is_gcm ? (key_length == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm()) : EVP_aes_128_ctr();
  context->seal = EVP_CIPHER_CTX_new();
  context->open = EVP_CIPHER_CTX_new();
  context->is_gcm = is_gcm;
  memcpy(context->salt, salt, is_gcm ? 12 : 14);
  if (authentication) {
    start_hmac(&context->inner, authentication, 0x36);
    start_hmac(&context->outer, authentication, 0x5C);
  }
  if (context->seal && context->open && EVP_CipherInit_ex(context->seal, cipher, NULL, key, NULL, 1) == 1 &&
      EVP_CipherInit_ex(context->open, cipher, NULL, key, NULL, 0) == 1)
    return context;
  reference_srtp_free(context);
  return NULL;
}

void reference_srtp_free(struct reference_srtp *context) {
  if (!context) return;
  EVP_CIPHER_CTX_free(context->seal);
  EVP_CIPHER_CTX_free(context->open);
  free(context);
}

static struct stream *find_stream(struct reference_srtp *context, uint32_t ssrc) {
  for (int i = 0; i < stream_limit; i++) {
    struct stream *stream = &context->streams[i];
    if (stream->is_known && stream->ssrc == ssrc) return stream;
    if (!stream->is_known) {
      stream->ssrc = ssrc;
      return stream;
    }
  }
  return NULL;
}

static uint64_t packet_index(const struct stream *stream, uint16_t sequence_number) {
  if (!stream->is_known) return sequence_number;
  return stream->highest + (uint64_t)(int64_t)(int16_t)(sequence_number - (uint16_t)stream->highest);
}

static bool was_seen(const struct stream *stream, uint64_t index) {
  if (!stream->is_known || index > stream->highest) return false;
  if (stream->highest - index >= 1024) return true;
  return stream->seen[index / 64 % window_words] >> (index % 64) & 1;
}

static void note(struct stream *stream, uint64_t index) {
  if (!stream->is_known) {
    stream->is_known = true;
    stream->highest = index;
  }
  for (uint64_t word = stream->highest / 64 + 1; word <= index / 64; word++) stream->seen[word % window_words] = 0;
  if (index > stream->highest) stream->highest = index;
  stream->seen[index / 64 % window_words] |= (uint64_t)1 << (index % 64);
}

static void make_vector(const struct reference_srtp *context, uint32_t ssrc, uint64_t index, uint8_t vector[16]) {
  memcpy(vector, context->salt, 16);
  uint8_t *place = vector + (context->is_gcm ? 2 : 4);
  for (int i = 0; i < 4; i++) place[i] ^= (uint8_t)(ssrc >> (24 - 8 * i));
  for (int i = 0; i < 6; i++) place[4 + i] ^= (uint8_t)(index >> (40 - 8 * i));
}

static void make_tag(const struct reference_srtp *context, const uint8_t *packet, size_t length, uint64_t index, uint8_t tag[20]) {
  uint8_t rollover[4];
  store32(rollover, (uint32_t)(index >> 16));
  SHA_CTX state = context->inner;
  SHA1_Update(&state, packet, length);
  SHA1_Update(&state, rollover, 4);
  SHA1_Final(tag, &state);
  state = context->outer;
  SHA1_Update(&state, tag, 20);
  SHA1_Final(tag, &state);
}

size_t reference_srtp_protect(struct reference_srtp *context, uint8_t *packet, size_t length) {
  struct rtp_header header;
  if (!rtp_parse(packet, length, &header)) return 0;
  struct stream *stream = find_stream(context, header.ssrc);
  if (!stream) return 0;
  uint64_t index = packet_index(stream, header.sequence_number);
  uint8_t vector[16], tag[20];
  make_vector(context, header.ssrc, index, vector);
  uint8_t *payload = packet + header.extension_end;
  int count = (int)(length - header.extension_end), written = 0;
  EVP_CIPHER_CTX *cipher = context->seal;
  if (EVP_CipherInit_ex(cipher, NULL, NULL, NULL, vector, -1) != 1) return 0;
  if (context->is_gcm) {
    if (EVP_CipherUpdate(cipher, NULL, &written, packet, (int)header.extension_end) != 1 ||
        EVP_CipherUpdate(cipher, payload, &written, payload, count) != 1 || EVP_CipherFinal_ex(cipher, packet + length, &written) != 1 ||
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, packet + length) != 1)
      return 0;
    length += 16;
  } else {
    if (EVP_CipherUpdate(cipher, payload, &written, payload, count) != 1) return 0;
    make_tag(context, packet, length, index, tag);
    memcpy(packet + length, tag, 10);
    length += 10;
  }
  note(stream, index);
  return length;
}

size_t reference_srtp_unprotect(struct reference_srtp *context, uint8_t *packet, size_t length) {
  size_t overhead = context->is_gcm ? 16 : 10;
  struct rtp_header header;
  if (length < overhead || !rtp_parse(packet, length - overhead, &header)) return 0;
  length -= overhead;
  struct stream *stream = find_stream(context, header.ssrc);
  if (!stream) return 0;
  uint64_t index = packet_index(stream, header.sequence_number);
  if (was_seen(stream, index)) return 0;
  uint8_t vector[16], tag[20];
  make_vector(context, header.ssrc, index, vector);
  uint8_t *payload = packet + header.extension_end;
  int count = (int)(length - header.extension_end), written = 0;
  EVP_CIPHER_CTX *cipher = context->open;
  if (EVP_CipherInit_ex(cipher, NULL, NULL, NULL, vector, -1) != 1) return 0;
  if (context->is_gcm) {
    if (EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, packet + length) != 1 ||
        EVP_CipherUpdate(cipher, NULL, &written, packet, (int)header.extension_end) != 1 ||
        EVP_CipherUpdate(cipher, payload, &written, payload, count) != 1 || EVP_CipherFinal_ex(cipher, packet + length, &written) != 1)
      return 0;
  } else {
    make_tag(context, packet, length, index, tag);
    if (CRYPTO_memcmp(tag, packet + length, 10) != 0 || EVP_CipherUpdate(cipher, payload, &written, payload, count) != 1) return 0;
  }
  note(stream, index);
  return length;
}

uint64_t reference_srtp_protect_all(struct reference_srtp *context, struct reference_packets packets, long rounds) {
  uint64_t bytes = 0;
  uint16_t sequence_number = 0;
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < packets.count; i++) {
      uint8_t *packet = packets.bytes + (size_t)i * packets.stride;
      store16(packet + 2, sequence_number++);
      bytes += reference_srtp_protect(context, packet, packets.length);
    }
  }
  return bytes;
}
