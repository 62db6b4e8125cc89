import Frames

/// The two buffers that a plane shows in turn, and what has to be painted in each before it is shown again.
final class PlaneBuffers {
  private var slots: [(buffer: DumbBuffer, damage: Damage)] = []
  private let device: any DRMDevice
  /// Of which the plane shows one; nil before the first flip.
  private var front: Int?
  let format: PixelFormat
  let width: Int
  let height: Int
  /// What was painted last, of which the other slot keeps its own damage.
  private var content: PlaneContent?
  private var turn = VideoFrame.Rotation.none

  /// Two buffers of the given kind.
  init(device: any DRMDevice, width: Int, height: Int, format: PixelFormat) throws(DRMError) {
    (self.device, self.width, self.height, self.format) = (device, width, height, format)
    for _ in 0..<2 {
      do throws(DRMError) {
        slots.append((try device.makeBuffer(width: width, height: height, format: format), Damage()))
      } catch {
        for slot in slots { device.destroy(slot.buffer) }
        slots = []
        throw error
      }
    }
  }

  deinit { for slot in slots { device.destroy(slot.buffer) } }

  /// The buffer that is drawn into and shown next.
  private var backIndex: Int { front == 0 ? 1 : 0 }

  /// What planes show of the buffer that is drawn into.
  var back: Framebuffer { slots[backIndex].buffer.framebuffer }

  /// What the plane shows now; before the first flip, what it will show.
  var current: Framebuffer { slots[front ?? 0].buffer.framebuffer }

  /// Notes what changed of the picture since this was called last; whole when the content is another one.
  func add(_ damage: CompositionDamage, content: PlaneContent, turn: VideoFrame.Rotation, screen: Rectangle) {
    let isNew = content != self.content || turn != self.turn
    (self.content, self.turn) = (content, turn)
    for index in slots.indices {
      if isNew { slots[index].damage.add(screen, in: screen) } else { damage.add(to: &slots[index].damage, of: content, in: screen) }
    }
  }

  /// Whether the buffer that is shown differs from what is to be seen.
  var isFrontStale: Bool { front.map { !slots[$0].damage.isEmpty } ?? true }

  /// Paints what is missing in the buffer that is drawn into.
  func paint(_ composer: Composer, overlay: PageComposition.Overlay, with painter: ScanoutPainter) {
    guard let content else { return }
    let index = backIndex
    for area in slots[index].damage.areas {
      painter.paint(area, of: composer, content, overlay: overlay, turn: turn, to: slots[index].buffer)
    }
    slots[index].damage.clear()
  }

  /// The plane shows something else for now: when it is wanted again, all is painted.
  func forgetContent() { content = nil }

  /// The buffer that was drawn into is shown now.
  func flip() { front = backIndex }
}
