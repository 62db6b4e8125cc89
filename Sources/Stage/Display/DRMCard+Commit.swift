import CDRM
import Glibc

extension DRMCard {
  func commit(_ commit: DisplayCommit) throws(DRMError) {
    if capabilities.contains(.atomic) { try commitAtomic(commit) } else { try commitLegacy(commit) }
  }

  // MARK: Atomic

  private func commitAtomic(_ commit: DisplayCommit) throws(DRMError) {
    guard let request = unsafe drmModeAtomicAlloc() else { throw DRMError(operation: "a commit", code: ENOMEM) }
    defer { unsafe drmModeAtomicFree(request) }
    var blobs: [UInt32] = []
    defer { for blob in blobs { drmModeDestroyPropertyBlob(descriptor, blob) } }
    func set(_ object: UInt32, _ kind: UInt32, _ name: String, _ value: UInt64, isOptional: Bool = false) throws(DRMError) {
      guard let property = properties(of: object, kind)[name] else {
        if isOptional { return }
        throw DRMError(operation: "the property \(name) of object \(object)", code: ENOENT)
      }
      unsafe drmModeAtomicAddProperty(request, object, property.id, value)
    }
    let (crtcKind, planeKind, connectorKind) = (
      UInt32(DRM_MODE_OBJECT_CRTC), UInt32(DRM_MODE_OBJECT_PLANE), UInt32(DRM_MODE_OBJECT_CONNECTOR)
    )
    for head in commit.heads {
      if let timings = head.timings {
        var mode = drmModeModeInfo(timings, name: head.name)
        var blob: UInt32 = 0
        guard unsafe drmModeCreatePropertyBlob(descriptor, &mode, MemoryLayout<drmModeModeInfo>.size, &blob) == 0 else {
          throw DRMError(operation: "a mode", code: errno)
        }
        blobs.append(blob)
        try set(head.crtc, crtcKind, "MODE_ID", UInt64(blob))
        try set(head.crtc, crtcKind, "ACTIVE", head.isActive ? 1 : 0)
      } else {
        try set(head.crtc, crtcKind, "MODE_ID", 0)
        try set(head.crtc, crtcKind, "ACTIVE", 0)
      }
    }
    for connector in commit.connectors { try set(connector.id, connectorKind, "CRTC_ID", UInt64(connector.crtc)) }
    for plane in commit.planes {
      guard let framebuffer = plane.framebuffer, let assignment = plane.assignment else {
        try set(plane.plane, planeKind, "FB_ID", 0)
        try set(plane.plane, planeKind, "CRTC_ID", 0)
        continue
      }
      try set(plane.plane, planeKind, "FB_ID", UInt64(framebuffer.id))
      try set(plane.plane, planeKind, "CRTC_ID", UInt64(plane.crtc))
      let (source, place) = (assignment.source, assignment.destination)
      for (name, value) in [("SRC_X", source.x), ("SRC_Y", source.y), ("SRC_W", source.width), ("SRC_H", source.height)] {
        try set(plane.plane, planeKind, name, UInt64(value))
      }
      for (name, value) in [("CRTC_X", place.x), ("CRTC_Y", place.y), ("CRTC_W", place.width), ("CRTC_H", place.height)] {
        try set(plane.plane, planeKind, name, UInt64(bitPattern: Int64(value)))
      }
      if let stacking = assignment.stacking { try set(plane.plane, planeKind, "zpos", stacking) }
      try set(plane.plane, planeKind, "rotation", assignment.rotation.rawValue, isOptional: true)
      let named: [(String, String?)] = [
        ("COLOR_ENCODING", assignment.colorEncoding?.rawValue), ("COLOR_RANGE", assignment.colorRange?.rawValue),
        ("pixel blend mode", "Pre-multiplied"),
      ]
      for (name, value) in named {
        guard let value, let number = properties(of: plane.plane, planeKind)[name]?.values[value] else { continue }
        try set(plane.plane, planeKind, name, number)
      }
      if plane.fence >= 0 { try set(plane.plane, planeKind, "IN_FENCE_FD", UInt64(plane.fence), isOptional: true) }
    }
    let flags =
      switch commit.kind {
      case .test(let changesModes): DRM_MODE_ATOMIC_TEST_ONLY | (changesModes ? DRM_MODE_ATOMIC_ALLOW_MODESET : 0)
      case .flip: DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT
      case .modeset: DRM_MODE_ATOMIC_ALLOW_MODESET
      }
    // Events of drivers that do not name the CRTC are told apart by this.
    let tag = unsafe UnsafeMutableRawPointer(bitPattern: UInt(commit.planes.first?.crtc ?? 0))
    let status = unsafe drmModeAtomicCommit(descriptor, request, UInt32(flags), tag)
    guard status == 0 else { throw DRMError(operation: "a commit", code: status < 0 ? -status : errno) }
  }

  // MARK: Legacy

  /// Without atomic modesetting a CRTC shows one framebuffer, its primary plane's.
  private func commitLegacy(_ commit: DisplayCommit) throws(DRMError) {
    if case .test = commit.kind { return }
    func check(_ status: Int32, _ operation: String) throws(DRMError) {
      guard status == 0 else { throw DRMError(operation: operation, code: status < 0 ? -status : errno) }
    }
    for head in commit.heads {
      let connectors = commit.connectors.filter { $0.crtc == head.crtc }.map(\.id)
      guard let timings = head.timings, !connectors.isEmpty else {
        try check(drmModeSetCrtc(descriptor, head.crtc, 0, 0, 0, nil, 0, nil), "switching off")
        continue
      }
      guard head.isActive else {
        for connector in connectors { try setPower(connector, isOn: false) }
        continue
      }
      guard let framebuffer = commit.planes.lazy.filter({ $0.crtc == head.crtc }).compactMap(\.framebuffer).first
      else { continue }
      var (mode, list) = (drmModeModeInfo(timings, name: head.name), connectors)
      try check(
        unsafe drmModeSetCrtc(descriptor, head.crtc, framebuffer.id, 0, 0, &list, Int32(list.count), &mode), "setting the mode")
      for connector in connectors { try setPower(connector, isOn: true) }
    }
    guard commit.kind == .flip else {
      // What another program has left there. Primary planes went with their CRTCs, and with many drivers cannot go alone.
      for plane in commit.planes where plane.framebuffer == nil {
        drmModeSetPlane(descriptor, plane.plane, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
      }
      return
    }
    for plane in commit.planes {
      guard let framebuffer = plane.framebuffer else { continue }
      let tag = unsafe UnsafeMutableRawPointer(bitPattern: UInt(plane.crtc))
      try check(unsafe drmModePageFlip(descriptor, plane.crtc, framebuffer.id, UInt32(DRM_MODE_PAGE_FLIP_EVENT), tag), "a flip")
    }
  }

  private func setPower(_ connector: UInt32, isOn: Bool) throws(DRMError) {
    guard let power = properties(of: connector, UInt32(DRM_MODE_OBJECT_CONNECTOR))["DPMS"] else { return }
    let status = drmModeConnectorSetProperty(descriptor, connector, power.id, UInt64(isOn ? DRM_MODE_DPMS_ON : DRM_MODE_DPMS_OFF))
    guard status == 0 else { throw DRMError(operation: "power", code: status < 0 ? -status : errno) }
  }
}
