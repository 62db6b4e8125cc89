import Base
import BridgeMessages
import Call
import Net
import Stage

/// A page's calls in `parlor run`: listens for the page host and the documents it holds, and gives them peer connections, devices and a place
/// on the stage.
public final class PageService: Sendable {
  private let network: NetworkThread
  let bridge: PageBridge
  private let videos: ShownVideos

  /// Listens on `bridge.sock` in the runtime folder. `onEvent` is called on the network thread and must be brief.
  public init(
    configuration: Configuration, network: NetworkThread, stage: Stage, media: Media, onEvent: @escaping @Sendable (PageEvent) -> Void
  ) async throws(PageServiceError) {
    let videos = ShownVideos(stage: stage)
    let made = await network.loop.perform { () -> Result<PageBridge, SystemError> in
      Result { () throws(SystemError) in
        try PageBridge(configuration: configuration, network: network, videos: videos, media: media, onEvent: onEvent)
      }
    }
    do {
      bridge = try made.get()
    } catch {
      throw PageServiceError(description: "\(error)")
    }
    (self.network, self.videos) = (network, videos)
  }

  /// Loads `url` in place of what is shown; before the page host is there, it becomes the first page.
  public func load(_ url: String) { onBridge { $0.load(url) } }

  /// Loads the page again.
  public func reload() { onBridge { $0.command(PageReload()) } }

  /// Answers a dialog. `value` is what stands in the field of a prompt.
  public func answer(dialog: UInt32, isAccepted: Bool, value: String? = nil) {
    onBridge { $0.command(DialogAnswer(dialog: dialog, accepted: isAccepted, value: value)) }
  }

  /// Asks the page host to end; whoever started it starts it again.
  public func exitHost() { onBridge { $0.command(HostExit()) } }

  /// Tells what the screen shows now. From the stage's thread.
  public func flipped(_ flip: Flip) { videos.flipped(flip) }

  /// Follows the machine's addresses.
  public func networkChanged() { onBridge { $0.networkChanged() } }

  /// Tells all pages that devices or grants are others now.
  public func devicesChanged() { onBridge { $0.devicesChanged() } }

  /// What is open, and how it goes.
  public func statistics() async -> PageStatistics {
    let bridge = self.bridge
    return await network.loop.perform { bridge.statistics() }
  }

  /// Closes all connections of all documents, and the socket. To be called before the service is dropped.
  public func stop() async {
    let bridge = self.bridge
    await network.loop.perform { bridge.stop() }
  }

  private func onBridge(_ body: @escaping @Sendable (PageBridge) -> Void) {
    let bridge = self.bridge
    network.loop.run { body(bridge) }
  }
}
