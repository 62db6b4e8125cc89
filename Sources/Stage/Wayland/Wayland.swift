/// A Wayland server in Swift: the protocol's objects as state that bytes and descriptors go into and come out of.
///
/// `Compositor` is the core. It has no socket, clock or thread: `WaylandServer` connects it to those. The only system calls in
/// here are those that read shared memory, which is the protocol's way of handing pixels over.
package enum Wayland {
  /// Bounds on what one client may hold, so that no client can take the stage down.
  enum Limits {
    /// Objects alive at once.
    static let objects = 8_192
    /// Bytes of one message; what the reference client library can send.
    static let messageSize = 4_096
    /// Descriptors that arrived and that no request has taken yet.
    static let waitingDescriptors = 64
    /// Bytes of events that the client has not read yet.
    static let outgoing = 1 << 20
    /// Width and height of a buffer in pixels.
    static let bufferSide = 8_192
    /// Bytes of all bitmaps that the stage holds for one client.
    static let bitmapBytes = 256 << 20
    /// Rectangles of one region.
    static let regionRectangles = 1_024
    /// Rectangles of damage that are kept apart; more are joined.
    static let damageRectangles = 32
    /// Videos under one surface.
    static let videos = 256
    /// How deep subsurfaces or popups may be nested.
    static let nesting = 32
  }
}
