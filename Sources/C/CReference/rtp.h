#pragma once
#include "CReference.h"

#include <string.h>

// RTP headers as a C program would read and write them.

struct rtp_header {
  uint8_t payload_type;
  bool is_marked;
  uint16_t sequence_number;
  uint32_t timestamp, ssrc;
  size_t payload_start, payload_end;
  size_t extension_start, extension_end;
  uint16_t extension_profile;
};

struct rtp_extensions {
  uint32_t absolute_send_time;
  uint16_t transport_sequence_number;
  uint8_t audio_level;
  uint8_t mid_length;
  char mid[16];
};

static inline uint16_t load16(const uint8_t *bytes) { return (uint16_t)(bytes[0] << 8 | bytes[1]); }
static inline uint32_t load24(const uint8_t *bytes) { return (uint32_t)bytes[0] << 16 | load16(bytes + 1); }
static inline uint32_t load32(const uint8_t *bytes) { return (uint32_t)load16(bytes) << 16 | load16(bytes + 2); }
static inline void store16(uint8_t *bytes, uint16_t value) {
  bytes[0] = (uint8_t)(value >> 8);
  bytes[1] = (uint8_t)value;
}
static inline void store32(uint8_t *bytes, uint32_t value) {
  store16(bytes, (uint16_t)(value >> 16));
  store16(bytes + 2, (uint16_t)value);
}

static inline bool rtp_parse(const uint8_t *packet, size_t length, struct rtp_header *header) {
  if (length < 12 || packet[0] >> 6 != 2) return false;
  header->payload_type = packet[1] & 0x7F;
  header->is_marked = packet[1] & 0x80;
  header->sequence_number = load16(packet + 2);
  header->timestamp = load32(packet + 4);
  header->ssrc = load32(packet + 8);
  size_t start = 12 + 4 * (size_t)(packet[0] & 15), padding = 0;
  if (start > length) return false;
  header->extension_start = header->extension_end = start;
  header->extension_profile = 0;
  if (packet[0] & 0x10) {
    if (start + 4 > length) return false;
    header->extension_profile = load16(packet + start);
    size_t end = start + 4 + 4 * (size_t)load16(packet + start + 2);
    if (end > length) return false;
    header->extension_start = start + 4;
    header->extension_end = start = end;
  }
  if (packet[0] & 0x20) {
    padding = packet[length - 1];
    if (padding == 0 || padding > length - start) return false;
  }
  header->payload_start = start;
  header->payload_end = length - padding;
  return true;
}

static inline bool rtp_parse_extensions(
    const uint8_t *packet, const struct rtp_header *header, const struct reference_extensions *map, struct rtp_extensions *extensions) {
  extensions->absolute_send_time = 0;
  extensions->transport_sequence_number = 0;
  extensions->audio_level = extensions->mid_length = 0;
  if (header->extension_profile != 0xBEDE) return true;
  size_t offset = header->extension_start;
  while (offset < header->extension_end) {
    uint8_t identifier = packet[offset] >> 4;
    size_t count = (packet[offset] & 15) + 1u;
    if (packet[offset++] == 0) continue;
    if (identifier == 15) return true;
    if (count > header->extension_end - offset) return false;
    if (identifier == map->absolute_send_time && count == 3) {
      extensions->absolute_send_time = load24(packet + offset);
    } else if (identifier == map->transport_sequence_number && count == 2) {
      extensions->transport_sequence_number = load16(packet + offset);
    } else if (identifier == map->mid) {
      extensions->mid_length = (uint8_t)count;
      memcpy(extensions->mid, packet + offset, count);
    } else if (identifier == map->audio_level && count == 1) {
      extensions->audio_level = packet[offset];
    }
    offset += count;
  }
  return true;
}

/// Writes a header with three extensions and returns its length, 0 when there is no room.
static inline size_t rtp_write(
    uint8_t *packet, size_t room, uint8_t payload_type, uint16_t sequence_number, uint32_t timestamp, uint32_t ssrc,
    const struct reference_extensions *map, const char *mid, size_t mid_length) {
  size_t values = 4 + 3 + 1 + mid_length, padded = (values + 3) & ~(size_t)3;
  if (room < 16 + padded) return 0;
  packet[0] = 0x90;
  packet[1] = payload_type;
  store16(packet + 2, sequence_number);
  store32(packet + 4, timestamp);
  store32(packet + 8, ssrc);
  store16(packet + 12, 0xBEDE);
  store16(packet + 14, (uint16_t)(padded / 4));
  uint8_t *next = packet + 16;
  *next++ = (uint8_t)(map->absolute_send_time << 4 | 2);
  *next++ = 0;
  *next++ = 0;
  *next++ = 0;
  *next++ = (uint8_t)(map->transport_sequence_number << 4 | 1);
  *next++ = 0;
  *next++ = 0;
  *next++ = (uint8_t)(map->mid << 4 | (mid_length - 1));
  memcpy(next, mid, mid_length);
  next += mid_length;
  memset(next, 0, padded - values);
  return 16 + padded;
}
