/// Coding hardware that may serve calls once the probe has seen it work.
///
/// Whatever it makes is used on a thread that others do not wait for longer than a picture may take: each call may block.
package protocol CodingDevice: Sendable {
  /// What statistics and status call it.
  var name: String { get }

  /// Whether the driver says that it can do this.
  func supports(_ codec: VideoCodec, _ direction: CodecChoice.Direction) -> Bool
  /// Opens an encoder.
  func makeEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder
  /// Opens a decoder.
  func makeDecoder(_ codec: VideoCodec) throws(CodecError) -> any VideoDecoder
}
