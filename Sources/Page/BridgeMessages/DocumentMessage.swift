/// What a document says.
public enum DocumentMessage: Sendable, Decodable {
  case connectionCreate(ConnectionCreate)
  case connectionConfigure(ConnectionConfigure)
  case createOffer(CreateOffer)
  case createAnswer(CreateAnswer)
  case setLocalDescription(SetLocalDescription)
  case setRemoteDescription(SetRemoteDescription)
  case addIceCandidate(AddIceCandidate)
  case restartIce(RestartIce)
  case connectionClose(ConnectionClose)
  case getStats(GetStats)
  case certificateGenerate(CertificateGenerate)
<<<<<<< HEAD
  case certificateRelease(CertificateRelease)
=======
  case getCapabilities(GetCapabilities)
>>>>>>> 73d2fdb (Tests of the page host's values)
  case transceiverAdd(TransceiverAdd)
  case transceiverSet(TransceiverSet)
  case transceiverStop(TransceiverStop)
  case senderSetTrack(SenderSetTrack)
  case senderSetParameters(SenderSetParameters)
  case senderTones(SenderTones)
  case channelCreate(ChannelCreate)
  case channelClose(ChannelClose)
  case devicesList(DevicesList)
  case trackOpen(TrackOpen)
  case trackMake(TrackMake)
  case trackClone(TrackClone)
  case trackApply(TrackApply)
  case trackEnable(TrackEnable)
  case trackStop(TrackStop)
  case videoPlay(VideoPlay)
<<<<<<< HEAD
  case videoHold(VideoHold)
=======
>>>>>>> 73d2fdb (Tests of the page host's values)
  case videoWatch(VideoWatch)
  case audioPlay(AudioPlay)
  case audioTap(AudioTap)
  case audioUntap(AudioUntap)

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Envelope.CodingKeys.self)
    let type = try container.decode(String.self, forKey: .type)
    switch type {
    case ConnectionCreate.type: self = .connectionCreate(try ConnectionCreate(from: decoder))
    case ConnectionConfigure.type: self = .connectionConfigure(try ConnectionConfigure(from: decoder))
    case CreateOffer.type: self = .createOffer(try CreateOffer(from: decoder))
    case CreateAnswer.type: self = .createAnswer(try CreateAnswer(from: decoder))
    case SetLocalDescription.type: self = .setLocalDescription(try SetLocalDescription(from: decoder))
    case SetRemoteDescription.type: self = .setRemoteDescription(try SetRemoteDescription(from: decoder))
    case AddIceCandidate.type: self = .addIceCandidate(try AddIceCandidate(from: decoder))
    case RestartIce.type: self = .restartIce(try RestartIce(from: decoder))
    case ConnectionClose.type: self = .connectionClose(try ConnectionClose(from: decoder))
    case GetStats.type: self = .getStats(try GetStats(from: decoder))
    case CertificateGenerate.type: self = .certificateGenerate(try CertificateGenerate(from: decoder))
    case CertificateRelease.type: self = .certificateRelease(try CertificateRelease(from: decoder))
    case TransceiverAdd.type: self = .transceiverAdd(try TransceiverAdd(from: decoder))
    case TransceiverSet.type: self = .transceiverSet(try TransceiverSet(from: decoder))
    case TransceiverStop.type: self = .transceiverStop(try TransceiverStop(from: decoder))
    case SenderSetTrack.type: self = .senderSetTrack(try SenderSetTrack(from: decoder))
    case SenderSetParameters.type: self = .senderSetParameters(try SenderSetParameters(from: decoder))
    case SenderTones.type: self = .senderTones(try SenderTones(from: decoder))
    case ChannelCreate.type: self = .channelCreate(try ChannelCreate(from: decoder))
    case ChannelClose.type: self = .channelClose(try ChannelClose(from: decoder))
    default: self = try DocumentMessage(media: type, from: decoder)
    }
  }

  private init(media type: String, from decoder: any Decoder) throws {
    switch type {
    case DevicesList.type: self = .devicesList(try DevicesList(from: decoder))
    case TrackOpen.type: self = .trackOpen(try TrackOpen(from: decoder))
    case TrackMake.type: self = .trackMake(try TrackMake(from: decoder))
    case TrackClone.type: self = .trackClone(try TrackClone(from: decoder))
    case TrackApply.type: self = .trackApply(try TrackApply(from: decoder))
    case TrackEnable.type: self = .trackEnable(try TrackEnable(from: decoder))
    case TrackStop.type: self = .trackStop(try TrackStop(from: decoder))
    case VideoPlay.type: self = .videoPlay(try VideoPlay(from: decoder))
    case VideoHold.type: self = .videoHold(try VideoHold(from: decoder))
    case VideoWatch.type: self = .videoWatch(try VideoWatch(from: decoder))
    case AudioPlay.type: self = .audioPlay(try AudioPlay(from: decoder))
    case AudioTap.type: self = .audioTap(try AudioTap(from: decoder))
    case AudioUntap.type: self = .audioUntap(try AudioUntap(from: decoder))
    default:
      throw DecodingError.dataCorrupted(
        .init(codingPath: [Envelope.CodingKeys.type], debugDescription: "“\(type)” is no message of a document"))
    }
  }
}
