/// Chooses which data channel sends next: weighted fair queueing by priority (RFC 8831 section 6.4, RFC 8260 section 3.6).
struct StreamScheduler: Sendable {
  private struct Entry: Sendable {
    var channel: Int
    var weight: UInt64
    /// Bytes sent over weight; the channel with the least is next.
    var finish: UInt64
  }

  private var entries: [Entry] = []
  private var virtualTime: UInt64 = 0
  /// The channel in the midst of a message whose fragments must stay together.
  private var current: Int?

  /// Whether no channel has anything to send.
  var isEmpty: Bool { entries.isEmpty }

  /// Notes that `channel` has something to send.
  mutating func activate(_ channel: Int, priority: UInt16) {
    guard !entries.contains(where: { $0.channel == channel }) else { return }
    entries.append(Entry(channel: channel, weight: UInt64(max(1, priority)), finish: virtualTime))
  }

  /// Notes that `channel` has nothing more to send.
  mutating func deactivate(_ channel: Int) {
    entries.removeAll { $0.channel == channel }
    if current == channel { current = nil }
  }

  /// The channel to send next.
  var next: Int? { current ?? entries.min { $0.finish < $1.finish }?.channel }

  /// Notes that `channel` sent `bytes`; with `staysTogether` it is next again.
  mutating func sent(_ channel: Int, bytes: Int, staysTogether: Bool) {
    current = staysTogether ? channel : nil
    guard let index = entries.firstIndex(where: { $0.channel == channel }) else { return }
    virtualTime = max(virtualTime, entries[index].finish)
    entries[index].finish &+= UInt64(bytes) &* 1_024 / entries[index].weight
  }
}
