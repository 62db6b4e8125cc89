#include "CPageScript.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// The files in the order of Sources/Page/JavaScript/files.txt, as Scripts/page-script.sh lists them.
static const char page_script[] = {
    '(', 'f', 'u', 'n', 'c', 't', 'i', 'o', 'n', ' ', '(', 'n', 'a', 't', 'i', 'v', 'e', ')', ' ', '{', ' ',
    '"', 'u', 's', 'e', ' ', 's', 't', 'r', 'i', 'c', 't', '"', ';', '\n',
#include "files.inc"
#embed "../../Page/JavaScript/webidl.js" suffix(, )
#embed "../../Page/JavaScript/promises.js" suffix(, )
#embed "../../Page/JavaScript/bridge.js" suffix(, )
#embed "../../Page/JavaScript/tasks.js" suffix(, )
#embed "../../Page/JavaScript/overlay.js" suffix(, )
#embed "../../Page/JavaScript/OverconstrainedError.js" suffix(, )
#embed "../../Page/JavaScript/MediaStreamTrack.js" suffix(, )
#embed "../../Page/JavaScript/MediaStreamTrackEvent.js" suffix(, )
#embed "../../Page/JavaScript/MediaStream.js" suffix(, )
#embed "../../Page/JavaScript/constraints.js" suffix(, )
#embed "../../Page/JavaScript/MediaDeviceInfo.js" suffix(, )
#embed "../../Page/JavaScript/DeviceChangeEvent.js" suffix(, )
#embed "../../Page/JavaScript/getUserMedia.js" suffix(, )
#embed "../../Page/JavaScript/MediaDevices.js" suffix(, )
#embed "../../Page/JavaScript/Permissions.js" suffix(, )
#embed "../../Page/JavaScript/RTCError.js" suffix(, )
#embed "../../Page/JavaScript/RTCErrorEvent.js" suffix(, )
#embed "../../Page/JavaScript/RTCSessionDescription.js" suffix(, )
#embed "../../Page/JavaScript/RTCIceCandidate.js" suffix(, )
#embed "../../Page/JavaScript/RTCPeerConnectionIceEvent.js" suffix(, )
#embed "../../Page/JavaScript/RTCPeerConnectionIceErrorEvent.js" suffix(, )
#embed "../../Page/JavaScript/RTCCertificate.js" suffix(, )
#embed "../../Page/JavaScript/RTCConfiguration.js" suffix(, )
#embed "../../Page/JavaScript/sessionDescriptions.js" suffix(, )
#embed "../../Page/JavaScript/Connection.js" suffix(, )
#embed "../../Page/JavaScript/setDescription.js" suffix(, )
#embed "../../Page/JavaScript/RTCIceTransport.js" suffix(, )
#embed "../../Page/JavaScript/RTCDtlsTransport.js" suffix(, )
#embed "../../Page/JavaScript/RTCSctpTransport.js" suffix(, )
#embed "../../Page/JavaScript/RTCStatsReport.js" suffix(, )
#embed "../../Page/JavaScript/RTCRtpParameters.js" suffix(, )
#embed "../../Page/JavaScript/TransceiverState.js" suffix(, )
#embed "../../Page/JavaScript/RTCDTMFToneChangeEvent.js" suffix(, )
#embed "../../Page/JavaScript/RTCDTMFSender.js" suffix(, )
#embed "../../Page/JavaScript/RTCRtpSender.js" suffix(, )
#embed "../../Page/JavaScript/RTCRtpReceiver.js" suffix(, )
#embed "../../Page/JavaScript/RTCRtpTransceiver.js" suffix(, )
#embed "../../Page/JavaScript/RTCTrackEvent.js" suffix(, )
#embed "../../Page/JavaScript/RTCDataChannel.js" suffix(, )
#embed "../../Page/JavaScript/RTCDataChannelEvent.js" suffix(, )
#embed "../../Page/JavaScript/negotiation.js" suffix(, )
#embed "../../Page/JavaScript/legacyStreams.js" suffix(, )
#embed "../../Page/JavaScript/RTCPeerConnection.js" suffix(, )
#embed "../../Page/JavaScript/posters.js" suffix(, )
#embed "../../Page/JavaScript/Playback.js" suffix(, )
#embed "../../Page/JavaScript/HTMLMediaElement.js" suffix(, )
#embed "../../Page/JavaScript/videoFrames.js" suffix(, )
#embed "../../Page/JavaScript/pictures.js" suffix(, )
#embed "../../Page/JavaScript/CanvasCaptureMediaStreamTrack.js" suffix(, )
#embed "../../Page/JavaScript/webAudio.js" suffix(, )
#embed "../../Page/JavaScript/MediaRecorder.js" suffix(, )
#embed "../../Page/JavaScript/glassTree.js" suffix(, )
#embed "../../Page/JavaScript/glassGeometry.js" suffix(, )
#embed "../../Page/JavaScript/glassColor.js" suffix(, )
#embed "../../Page/JavaScript/glassGradient.js" suffix(, )
#embed "../../Page/JavaScript/glassHoles.js" suffix(, )
#embed "../../Page/JavaScript/glass.js" suffix(, )
#embed "../../Page/JavaScript/glassWatch.js" suffix(, )
    '}', ')', '\n',
};

const size_t page_script_length = sizeof page_script;

const char *page_script_pointer(void) { return page_script; }
