import Synchronization

/// Hands out video buffers and takes their memory back, so that steady state allocates no picture.
public final class VideoBufferPool: Sendable {
  private struct Shelf {
    var width = 0
    var height = 0
    var free: [VideoBuffer.Storage] = []
  }

  private let shelf = Mutex(Shelf())
  private let capacity: Int

  /// A pool that keeps at most `capacity` unused pictures of the size asked for last.
  public init(capacity: Int = 8) { self.capacity = capacity }

  /// A buffer of the given size, its contents undefined. Asking for another size than before drops the kept ones.
  public func buffer(width: Int, height: Int) -> VideoBuffer {
    let storage = shelf.withLock { shelf -> VideoBuffer.Storage? in
      if shelf.width != width || shelf.height != height {
        for unused in shelf.free { unsafe unused.base.deallocate() }
        shelf = Shelf(width: width, height: height)
      }
      return shelf.free.popLast()
    }
    return VideoBuffer(width: width, height: height, storage: storage ?? VideoBuffer.allocate(width: width, height: height), pool: self)
  }

  func takeBack(_ storage: VideoBuffer.Storage, width: Int, height: Int) {
    let kept = shelf.withLock { shelf in
      guard shelf.width == width, shelf.height == height, shelf.free.count < capacity else { return false }
      shelf.free.append(storage)
      return true
    }
    if !kept { unsafe storage.base.deallocate() }
  }

  deinit {
    shelf.withLock { for unused in $0.free { unsafe unused.base.deallocate() } }
  }
}
