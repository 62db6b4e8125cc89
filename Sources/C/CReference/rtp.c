#include "rtp.h"

uint64_t reference_rtp_parse(struct reference_packets packets, struct reference_extensions map, long rounds) {
  uint64_t sum = 0;
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < packets.count; i++) {
      struct rtp_header header;
      struct rtp_extensions extensions;
      const uint8_t *packet = packets.bytes + (size_t)i * packets.stride;
      if (!rtp_parse(packet, packets.length, &header) || !rtp_parse_extensions(packet, &header, &map, &extensions)) continue;
      sum += header.sequence_number + header.timestamp + header.payload_start + extensions.absolute_send_time +
             extensions.transport_sequence_number + extensions.mid_length;
    }
  }
  return sum;
}

uint64_t reference_rtp_write(struct reference_packets packets, struct reference_extensions map, const char *mid, long rounds) {
  uint64_t written = 0;
  uint16_t sequence_number = 0;
  size_t mid_length = strlen(mid);
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < packets.count; i++) {
      uint8_t *packet = packets.bytes + (size_t)i * packets.stride;
      written += rtp_write(packet, packets.length, 96, sequence_number++, (uint32_t)round, 1, &map, mid, mid_length);
    }
  }
  return written;
}
