import Glibc

/// Where video devices are found and opened: the kernel, or what stands in for it.
public protocol VideoDeviceSource: Sendable {
  /// The device nodes that there are.
  func nodes() -> [VideoNode]
  /// Opens one.
  func open(_ path: String) throws(V4L2Error) -> any VideoDevice
}

/// A device node and the names that stay when nodes are numbered anew.
public struct VideoNode: Sendable, Hashable {
  /// Such as `/dev/video0`.
  public var path: String
  /// Its name in `/dev/v4l/by-id`.
  public var identifier: String?
  /// Its name in `/dev/v4l/by-path`.
  public var place: String?

  /// A node.
  public init(path: String, identifier: String? = nil, place: String? = nil) {
    (self.path, self.identifier, self.place) = (path, identifier, place)
  }
}

/// The kernel's video devices.
public struct KernelVideoDevices: VideoDeviceSource {
  private let folder: String

  /// The devices below `folder`, where the kernel and udev put their nodes.
  public init(folder: String = "/dev") { self.folder = folder }

  public func nodes() -> [VideoNode] {
    let identifiers = links(in: "\(folder)/v4l/by-id")
    let places = links(in: "\(folder)/v4l/by-path")
    let numbers = entries(of: folder).compactMap { $0.hasPrefix("video") ? Int($0.dropFirst(5)) : nil }.sorted()
    return numbers.map { number in
      let node = "video\(number)"
      return VideoNode(path: "\(folder)/\(node)", identifier: identifiers[node], place: places[node])
    }
  }

  public func open(_ path: String) throws(V4L2Error) -> any VideoDevice { try KernelVideoDevice(path: path) }

  /// The names of symbolic links by the last part of what they lead to; the first in the alphabet where there are several.
  private func links(in folder: String) -> [String: String] {
    var names: [String: String] = [:]
    for name in entries(of: folder).sorted() {
      let target = unsafe [UInt8](unsafeUninitializedCapacity: 1_024) { bytes, count in
        count = unsafe max(0, readlink("\(folder)/\(name)", bytes.baseAddress!, bytes.count))
      }
      guard let last = target.split(separator: UInt8(ascii: "/")).last else { continue }
      let node = String(decoding: last, as: UTF8.self)
      if names[node] == nil { names[node] = name }
    }
    return names
  }

  private func entries(of folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = withUnsafeBytes(of: unsafe entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}
