#include "rtp.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

static uint32_t crc_table[256];

static uint32_t crc32_of(const uint8_t *bytes, size_t length) {
  if (crc_table[1] == 0) {
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xEDB88320 : value >> 1;
      crc_table[i] = value;
    }
  }
  uint32_t value = ~0u;
  for (size_t i = 0; i < length; i++) value = value >> 8 ^ crc_table[(value ^ bytes[i]) & 255];
  return ~value;
}

static size_t put(uint8_t *message, size_t length, uint16_t type, const void *value, size_t count) {
  store16(message + length, type);
  store16(message + length + 2, (uint16_t)count);
  memcpy(message + length + 4, value, count);
  size_t padded = (count + 3) & ~(size_t)3;
  memset(message + length + 4 + count, 0, padded - count);
  return length + 4 + padded;
}

static void sign(uint8_t *message, size_t length, const uint8_t *key, size_t key_length, uint8_t digest[20]) {
  unsigned count = 20;
  store16(message + 2, (uint16_t)(length + 24 - 20));
  HMAC(EVP_sha1(), key, (int)key_length, message, length, digest, &count);
}

static bool check(uint8_t *message, size_t length, const char *username, const uint8_t *key, size_t key_length) {
  if (length < 20 || message[0] & 0xC0 || load32(message + 4) != 0x2112A442 || load16(message + 2) + 20u != length) return false;
  bool has_name = false, is_signed = false, is_whole = false;
  for (size_t offset = 20; offset + 4 <= length;) {
    uint16_t type = load16(message + offset), count = load16(message + offset + 2);
    if (offset + 4 + count > length) return false;
    const uint8_t *value = message + offset + 4;
    if (type == 0x0006) has_name = count == strlen(username) && memcmp(value, username, count) == 0;
    if (type == 0x0008 && count == 20) {
      uint8_t digest[20];
      sign(message, offset, key, key_length, digest);
      is_signed = CRYPTO_memcmp(digest, value, 20) == 0;
      store16(message + 2, (uint16_t)(length - 20));
    }
    if (type == 0x8028 && count == 4) is_whole = load32(value) == (crc32_of(message, offset) ^ 0x5354554E);
    offset += 4 + ((count + 3u) & ~3u);
  }
  return has_name && is_signed && is_whole;
}

long reference_stun(const char *username, const uint8_t *key, size_t key_length, long rounds) {
  long good = 0;
  size_t name_length = strlen(username);
  for (long round = 0; round < rounds; round++) {
    uint8_t message[256], digest[20], word[8];
    store16(message, 0x0001);
    store32(message + 4, 0x2112A442);
    store32(message + 8, (uint32_t)round);
    memset(message + 12, 7, 8);
    size_t length = put(message, 20, 0x0006, username, name_length);
    store32(word, 1845501695);
    length = put(message, length, 0x0024, word, 4);
    memset(word, 9, 8);
    length = put(message, length, 0x802A, word, 8);
    length = put(message, length, 0x0025, word, 0);
    sign(message, length, key, key_length, digest);
    length = put(message, length, 0x0008, digest, 20);
    store16(message + 2, (uint16_t)(length + 8 - 20));
    store32(word, crc32_of(message, length) ^ 0x5354554E);
    length = put(message, length, 0x8028, word, 4);
    if (check(message, length, username, key, key_length)) good++;
  }
  return good;
}
