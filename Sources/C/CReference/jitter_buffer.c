#include "rtp.h"

enum { ring = 512, slot = 1500, frame_limit = 1 << 18 };

static struct {
  bool is_there, is_marked;
  uint16_t sequence_number;
  uint32_t timestamp;
  size_t length;
} slots[ring];
// Not static, or the compiler would see that nobody reads it and leave the copies out.
uint8_t reference_frame[frame_limit];
static uint8_t payloads[ring][slot];

long reference_jitter_buffer(struct reference_packets packets, const int *order, size_t descriptor, long rounds) {
  long frames = 0;
  uint16_t next = 0;
  memset(slots, 0, sizeof slots);
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < packets.count; i++) {
      uint8_t *packet = packets.bytes + (size_t)order[i] * packets.stride;
      store16(packet + 2, (uint16_t)(round * packets.count + order[i]));
      struct rtp_header header;
      if (!rtp_parse(packet, packets.length, &header)) continue;
      size_t length = header.payload_end - header.payload_start;
      int place = header.sequence_number % ring;
      if (length > slot || slots[place].is_there) continue;
      slots[place].is_there = true;
      slots[place].is_marked = header.is_marked;
      slots[place].sequence_number = header.sequence_number;
      slots[place].timestamp = header.timestamp;
      slots[place].length = length;
      memcpy(payloads[place], packet + header.payload_start, length);
      // Whole frames leave in order.
      for (uint16_t last = next; slots[last % ring].is_there && slots[last % ring].sequence_number == last; last++) {
        if (!slots[last % ring].is_marked) continue;
        size_t count = 0;
        for (uint16_t part = next; part != (uint16_t)(last + 1); part++) {
          size_t rest = slots[part % ring].length - descriptor;
          if (count + rest > frame_limit) break;
          memcpy(reference_frame + count, payloads[part % ring] + descriptor, rest);
          count += rest;
          slots[part % ring].is_there = false;
        }
        next = (uint16_t)(last + 1);
        frames += count > 0;
      }
    }
  }
  return frames;
}
