// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The rooms, from the bottom up, as ARCHITECTURE.md lists them: a room may only use rooms above it in this file.

let swift: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableExperimentalFeature("Lifetimes"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A C library that Debian packages, seen through a module map in `Sources/C`.
func library(_ name: String, pkgConfig: String? = nil) -> Target {
  .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig)
}

/// A room with the test target of the same name.
func room(_ folder: String, uses: [String] = [], tested: [String] = [], exclude: [String] = [], isOptimized: Bool = false) -> [Target] {
  let name = folder.split(separator: "/").last.map(String.init)!
  return [
    .target(
      name: name, dependencies: uses.map { .byName(name: $0) }, path: "Sources/\(folder)", exclude: exclude,
      swiftSettings: swift + (isOptimized ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])),
    .testTarget(
      name: "\(name)Tests", dependencies: ([name] + uses + tested).map { .byName(name: $0) }, path: "Tests/\(name)Tests",
      swiftSettings: swift),
  ]
}

let protocols = ["Bytes", "STUN", "TURN", "ICE", "MDNS", "DTLS", "SRTP", "RTP", "SCTP", "SDP", "WebRTC"]

/// Fuzzers, built with `--sanitize fuzzer` only (`make fuzz`).
let isFuzzing = Context.environment["PARLOR_FUZZ"] != nil
func fuzzer(_ name: String, of room: String? = nil, uses: [String] = []) -> [Target] {
  guard isFuzzing, FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/Tests/Fuzz/\(name)/Fuzz.swift") else { return [] }
  return [
    .executableTarget(
      name: "Fuzz\(name)", dependencies: (["Base", "Bytes", room ?? name] + uses).map { .byName(name: $0) }, path: "Tests/Fuzz/\(name)",
      swiftSettings: swift + [.unsafeFlags(["-parse-as-library"])])
  ]
}

let fuzzers =
  ["STUN", "TURN", "ICE", "MDNS", "DTLS", "SRTP", "RTP", "SCTP", "SDP", "Net", "Call", "Appliance"].flatMap { fuzzer($0) }
  + fuzzer("Wayland", of: "Stage", uses: ["CLinux"])
  + fuzzer("WebRTC", uses: ["ICE", "DTLS", "SRTP", "SDP"])
  + fuzzer("Codecs", uses: ["Frames"]) + fuzzer("JitterBuffer", uses: ["RTP", "Frames", "Codecs"])
  + fuzzer("PageSession", uses: ["BridgeMessages", "Call", "Camera", "DTLS", "Stage"])

let package = Package(
  name: "parlor",
  products: [
    .executable(name: "parlor", targets: ["parlor"]),
    .executable(name: "parlor-bench", targets: ["parlor-bench"]),
    .executable(name: "parlor-page", targets: ["parlor-page"]),
    .library(name: "parlor-page-trust", type: .dynamic, targets: ["CPageTrust"]),
    .library(name: "parlor-page-extension", type: .dynamic, targets: ["parlor-page-extension"]),
    .library(name: "parlor-no-graphics", type: .dynamic, targets: ["CNoGraphics"]),
    .library(name: "Base", targets: ["Base"]),
  ] + protocols.map { .library(name: $0, targets: [$0]) },
  targets: [
    library("COpenSSL", pkgConfig: "openssl"),
    library("CSRTP", pkgConfig: "libsrtp2"),
    library("COpus", pkgConfig: "opus"),
    library("CVPX", pkgConfig: "vpx"),
    library("COpenH264", pkgConfig: "openh264"),
    library("CYUV"),
    library("CSpeexDSP", pkgConfig: "speexdsp"),
    library("CCurl", pkgConfig: "libcurl"),
    library("CMicroHTTPD", pkgConfig: "libmicrohttpd"),
    library("CPango", pkgConfig: "pangocairo"),
    library("CQREncode", pkgConfig: "libqrencode"),
    library("CUsrsctp", pkgConfig: "usrsctp"),
    library("CXKBCommon", pkgConfig: "xkbcommon"),
    library("CDRM", pkgConfig: "libdrm"),
    library("CV4L2", pkgConfig: "libv4lconvert"),
    library("CTurboJPEG", pkgConfig: "libturbojpeg"),
    library("CVA", pkgConfig: "libva-drm"),
    library("CALSA", pkgConfig: "alsa"),
    library("CSampleRate", pkgConfig: "samplerate"),
    library("CKissFFT"),
    .target(
      name: "CAudioProcessing", path: "Sources/C/CAudioProcessing",
      cxxSettings: [
        .define("WEBRTC_POSIX"), .define("WEBRTC_AUDIO_PROCESSING_ONLY_BUILD"),
        .unsafeFlags(["-isystem", "/usr/include/webrtc_audio_processing"]),
      ],
      linkerSettings: [.linkedLibrary("webrtc_audio_processing")]),
    library("CLibInput", pkgConfig: "libinput"),
    library("CUdev", pkgConfig: "libudev"),
    library("CEvdev", pkgConfig: "libevdev"),
    library("CGLib", pkgConfig: "glib-2.0"),
    library("CWebKit", pkgConfig: "webkitgtk-6.0"),
    library("CWebKitExtension", pkgConfig: "webkitgtk-web-process-extension-6.0"),
    .target(name: "CPageScript", path: "Sources/C/CPageScript"),
    .target(
      name: "CPageTrust", dependencies: ["CGLib"], path: "Sources/C/CPageTrust",
      linkerSettings: ["gnutls", "gio-2.0", "gobject-2.0", "glib-2.0"].map { .linkedLibrary($0) }
        // No Swift in it, and none to be looked for.
        + [.unsafeFlags(["-static-stdlib", "-nostartfiles"])]),
    .target(name: "CGlass", dependencies: ["CWebKit"], path: "Sources/C/CGlass"),
    .target(name: "CWaylandClient", path: "Sources/C/CWaylandClient", linkerSettings: [.linkedLibrary("wayland-client")]),
    // No Swift in it either.
    .target(
      name: "CNoGraphics", path: "Sources/C/CNoGraphics", linkerSettings: [.unsafeFlags(["-static-stdlib", "-nostartfiles"])]),
    .target(name: "CDemoPage", path: "Sources/C/CDemoPage"),
    .target(name: "CLinux", path: "Sources/C/CLinux"),
    .target(name: "CTOML", path: "Sources/C/CTOML"),
    .target(name: "CReference", dependencies: ["COpenSSL", "CUsrsctp"], path: "Sources/C/CReference"),
    .target(name: "CAllocations", path: "Sources/C/CAllocations"),
  ]
    + room("Base")
    + room("Protocols/Bytes", uses: ["Base"])
    + room("Protocols/STUN", uses: ["Base", "Bytes", "COpenSSL"])
    + room("Protocols/TURN", uses: ["Base", "Bytes", "STUN"])
    + room("Protocols/ICE", uses: ["Base", "Bytes", "STUN", "TURN"])
    + room("Protocols/MDNS", uses: ["Base", "Bytes"])
    + room("Protocols/DTLS", uses: ["Base", "Bytes", "COpenSSL"])
    + room("Protocols/SRTP", uses: ["Base", "Bytes", "COpenSSL"], tested: ["CSRTP"])
    + room("Protocols/RTP", uses: ["Base", "Bytes"])
    + room("Protocols/SCTP", uses: ["Base", "Bytes"], tested: ["CUsrsctp"])
    + room("Protocols/SDP", uses: ["Base"])
    + room("Protocols/WebRTC", uses: ["Base", "Bytes", "STUN", "TURN", "ICE", "DTLS", "SRTP", "RTP", "SCTP", "SDP"])
    + room("Media/Frames", uses: ["Base", "CLinux", "CYUV"])
    + room("Media/V4L2", uses: ["Base", "CV4L2"], tested: ["CLinux", "ScriptedDevices"])
    + room(
      "Media/Codecs", uses: ["Base", "Frames", "V4L2", "CLinux", "COpus", "CVPX", "COpenH264", "CYUV", "CVA"],
      tested: ["Camera", "ScriptedDevices", "Sound"])
    + room("Media/JitterBuffer", uses: ["Base", "Bytes", "RTP", "Frames", "Codecs"], tested: ["Camera", "Sound"])
    + room(
      "Media/Camera", uses: ["Base", "Frames", "V4L2", "Codecs", "CLinux", "CV4L2", "CTurboJPEG", "CYUV"], tested: ["ScriptedDevices"])
    + room(
      "Media/Sound", uses: ["Base", "Frames", "CLinux", "CALSA", "CSampleRate", "CSpeexDSP", "CKissFFT", "CAudioProcessing"],
      // Signal processing takes fifty times as long unoptimized: too long for tests.
      isOptimized: true)
    + room(
      "Stage", uses: ["Base", "Frames", "CLinux", "CYUV", "CPango", "CQREncode", "CXKBCommon", "CDRM", "CLibInput", "CUdev"],
      exclude: ["Wayland/parlor-video-v1.xml"])
    + room("Net", uses: ["Base", "Bytes", "MDNS", "CLinux", "COpenSSL", "CCurl", "CMicroHTTPD"])
    + room(
      "Call",
      uses: [
        "Base", "Bytes", "ICE", "DTLS", "RTP", "SDP", "WebRTC", "Frames", "V4L2", "Codecs", "JitterBuffer", "Camera", "Sound", "Stage",
        "Net", "CDemoPage", "CLinux",
      ],
      tested: ["ScriptedDevices"],
      exclude: ["Demo/Page"])
    + room("Page/BridgeMessages", uses: ["Base", "Bytes"], exclude: ["BRIDGE.md"])
    + room(
      "Page/PageSession",
      uses: [
        "Base", "Bytes", "DTLS", "SDP", "SCTP", "RTP", "WebRTC", "Frames", "Codecs", "Sound", "Stage", "BridgeMessages", "Net", "Call",
      ],
      tested: ["Camera"])
    + room("Page/BridgeSocket", uses: ["Base", "BridgeMessages", "CGLib"])
    + room("Page/PageExtension", uses: ["Base", "BridgeMessages", "BridgeSocket", "CPageScript", "CWebKitExtension"])
    + room("Page/PageHost", uses: ["Base", "BridgeMessages", "BridgeSocket", "CGlass", "CWaylandClient", "CWebKit"])
    + room(
      "Appliance",
      uses: [
        "Base", "ICE", "DTLS", "SCTP", "WebRTC", "Frames", "Codecs", "Camera", "Sound", "Stage", "BridgeMessages", "Net", "Call",
        "PageSession", "CTOML", "CLinux", "CEvdev", "CUdev",
      ], tested: ["CGLib"])
    + [
      .executableTarget(name: "parlor-page", dependencies: ["Base", "PageHost"], path: "Sources/parlor-page", swiftSettings: swift),
      // The web process's sandbox has no Swift runtime: the module brings what it needs.
      .target(
        name: "parlor-page-extension", dependencies: ["Base", "PageExtension"], path: "Sources/parlor-page-extension", swiftSettings: swift,
        linkerSettings: [.unsafeFlags(["-static-stdlib"])]),
      .executableTarget(
        name: "parlor", dependencies: ["Base", "Appliance", "Call", "Codecs"], path: "Sources/parlor", swiftSettings: swift),
      // Drivers that do what a test says.
      .target(
        name: "ScriptedDevices", dependencies: ["Base", "CLinux", "V4L2"], path: "Tests/ScriptedDevices", swiftSettings: swift),
      .executableTarget(
        name: "page-trial",
        dependencies: ["Base", "BridgeMessages", "Call", "Camera", "DTLS", "Net", "PageSession", "Sound", "Stage"],
        path: "Tests/Page/Trial",
        swiftSettings: swift),
      .executableTarget(
        name: "stage-trial", dependencies: ["Base", "Camera", "CDeviceMemory", "CDRM", "Frames", "Stage"], path: "Tests/Machine/Trial",
        swiftSettings: swift),
      .systemLibrary(name: "CDeviceMemory", path: "Tests/Machine/CDeviceMemory", pkgConfig: "libdrm"),
      .executableTarget(
        name: "voice-trial", dependencies: ["Base", "CAllocations", "Frames", "Sound"], path: "Tests/Echo/Trial", swiftSettings: swift),
      .executableTarget(
        name: "input-trial", dependencies: ["Base", "Frames", "Stage"], path: "Tests/Machine/InputTrial", swiftSettings: swift),
      .executableTarget(
        name: "sound-trial", dependencies: ["Base", "CAllocations", "Call", "Codecs", "Frames", "Net", "Sound"], path: "Tests/Sound/Trial",
        swiftSettings: swift),
      .executableTarget(
        name: "device-trial", dependencies: ["Base", "Call", "Camera", "Frames", "Net", "Sound"], path: "Tests/Machine/DeviceTrial",
        swiftSettings: swift),
      .executableTarget(
        name: "coding-trial", dependencies: ["Base", "Camera", "Codecs", "Frames", "V4L2"], path: "Tests/Machine/CodingTrial",
        swiftSettings: swift),
      .testTarget(
        name: "PageEndToEndTests",
        dependencies: ["Base", "BridgeMessages", "Call", "Camera", "DTLS", "Frames", "Net", "PageSession", "Stage"],
        path: "Tests/PageEndToEndTests", swiftSettings: swift),
      .testTarget(
        name: "parlorTests", dependencies: ["parlor", "Appliance", "Base", "Call", "Net", "Stage"], path: "Tests/parlorTests",
        swiftSettings: swift),
      .executableTarget(
        name: "parlor-bench",
        dependencies: [
          "Base", "Bytes", "STUN", "ICE", "DTLS", "SRTP", "RTP", "SCTP", "SDP", "WebRTC", "Frames", "Codecs", "JitterBuffer", "V4L2",
          "Camera", "Sound", "Stage", "Net", "Call", "CYUV", "CReference", "CAllocations", "CAudioProcessing", "CSampleRate",
          "ScriptedDevices",
        ],
        path: "Sources/parlor-bench", swiftSettings: swift),
    ]
    + fuzzers,
  cxxLanguageStandard: .cxx17
)
