import CDRM
import Glibc

extension DRMCard {
  func snapshot(probes: Bool) throws(DRMError) -> CardSnapshot {
    guard let resources = unsafe drmModeGetResources(descriptor) else { throw DRMError(operation: path, code: errno) }
    defer { unsafe drmModeFreeResources(resources) }
    var crtcs: [CRTCSnapshot] = []
    for index in 0..<Int(unsafe resources.pointee.count_crtcs) {
      let id = unsafe resources.pointee.crtcs[index]
      var gammaSize = 0
      if let crtc = unsafe drmModeGetCrtc(descriptor, id) {
        gammaSize = unsafe Int(crtc.pointee.gamma_size)
        unsafe drmModeFreeCrtc(crtc)
      }
      crtcs.append(CRTCSnapshot(id: id, index: index, gammaSize: gammaSize))
    }
    let encoders = unsafe encoders(resources)
    var connectors: [ConnectorSnapshot] = []
    for index in 0..<Int(unsafe resources.pointee.count_connectors) {
      if let connector = unsafe connector(resources.pointee.connectors[index], encoders: encoders, probes: probes) {
        connectors.append(connector)
      }
    }
    let planes = planes()
    var snapshot = CardSnapshot(driver: driver, capabilities: capabilities, connectors: connectors, crtcs: crtcs, planes: planes)
    if let plane = planes.first, properties(of: plane.id, UInt32(DRM_MODE_OBJECT_PLANE))["IN_FENCE_FD"] != nil {
      snapshot.capabilities.insert(.fences)
    }
    var (width, height): (UInt64, UInt64) = (0, 0)
    if unsafe drmGetCap(descriptor, UInt64(DRM_CAP_CURSOR_WIDTH), &width) == 0,
      unsafe drmGetCap(descriptor, UInt64(DRM_CAP_CURSOR_HEIGHT), &height) == 0
    {
      snapshot.cursorSize = (Int(width), Int(height))
    }
    return snapshot
  }

  /// What stands between a CRTC and a connector.
  private struct Encoder {
    /// Which CRTCs can drive it: bit n for the nth of the card.
    var possibleCRTCs: UInt32
    /// Which one does; 0: none.
    var crtc: UInt32
  }

  private func encoders(_ resources: UnsafeMutablePointer<drmModeRes>) -> [UInt32: Encoder] {
    var encoders: [UInt32: Encoder] = [:]
    for index in 0..<Int(unsafe resources.pointee.count_encoders) {
      guard let encoder = unsafe drmModeGetEncoder(descriptor, resources.pointee.encoders[index]) else { continue }
      let content = unsafe encoder.pointee
      encoders[content.encoder_id] = Encoder(possibleCRTCs: content.possible_crtcs, crtc: content.crtc_id)
      unsafe drmModeFreeEncoder(encoder)
    }
    return encoders
  }

  private func connector(_ id: UInt32, encoders: [UInt32: Encoder], probes: Bool) -> ConnectorSnapshot? {
    // One that went away meanwhile is no error.
    guard let connector = unsafe probes ? drmModeGetConnector(descriptor, id) : drmModeGetConnectorCurrent(descriptor, id) else {
      return nil
    }
    defer { unsafe drmModeFreeConnector(connector) }
    let content = unsafe connector.pointee
    let kind = unsafe drmModeGetConnectorTypeName(content.connector_type).map { unsafe String(cString: $0) } ?? "Unknown"
    let properties = properties(of: id, UInt32(DRM_MODE_OBJECT_CONNECTOR), isFresh: true)
    var mask: UInt32 = 0
    for index in 0..<Int(content.count_encoders) { unsafe mask |= encoders[content.encoders[index]]?.possibleCRTCs ?? 0 }
    // Only those who commit atomically are shown the property.
    let crtc = properties["CRTC_ID"]?.value ?? UInt64(encoders[content.encoder_id]?.crtc ?? 0)
    return ConnectorSnapshot(
      id: id, name: "\(kind)-\(content.connector_type_id)",
      status: content.connection == DRM_MODE_CONNECTED
        ? .connected : content.connection == DRM_MODE_DISCONNECTED ? .disconnected : .unknown,
      modes: (0..<Int(content.count_modes)).map { unsafe DisplayMode(content.modes[$0]) }, possibleCRTCs: mask,
      crtc: crtc == 0 ? nil : UInt32(crtc), hasEDID: (properties["EDID"]?.value ?? 0) != 0, physicalWidth: Int(content.mmWidth),
      physicalHeight: Int(content.mmHeight), isWriteback: content.connector_type == UInt32(DRM_MODE_CONNECTOR_WRITEBACK))
  }

  private func planes() -> [PlaneOffer] {
    guard let list = unsafe drmModeGetPlaneResources(descriptor) else { return [] }
    defer { unsafe drmModeFreePlaneResources(list) }
    var offers: [PlaneOffer] = []
    for index in 0..<Int(unsafe list.pointee.count_planes) {
      guard let plane = unsafe drmModeGetPlane(descriptor, list.pointee.planes[index]) else { continue }
      defer { unsafe drmModeFreePlane(plane) }
      let content = unsafe plane.pointee
      let properties = properties(of: content.plane_id, UInt32(DRM_MODE_OBJECT_PLANE), isFresh: true)
      let kind = PlaneOffer.Kind(rawValue: Int(properties["type"]?.value ?? 0)) ?? .overlay
      let formats = (0..<Int(content.count_formats)).map { unsafe PixelFormat(rawValue: content.formats[$0]) }
      var offer = PlaneOffer(
        id: content.plane_id, kind: kind, possibleCRTCs: content.possible_crtcs,
        formats: properties["IN_FORMATS"].flatMap { formatOffers(blob: $0.value) } ?? formats.map { FormatOffer(format: $0) })
      if let stacking = properties["zpos"] {
        let isImmutable = stacking.flags & UInt32(DRM_MODE_PROP_IMMUTABLE) != 0
        offer.stacking = PlaneOffer.StackingRange(
          range: isImmutable ? stacking.value...stacking.value : stacking.range ?? stacking.value...stacking.value, isImmutable: isImmutable
        )
      }
      if let rotation = properties["rotation"] {
        // The enumeration numbers the bits.
        offer.rotations = PlaneRotation(rawValue: rotation.values.values.reduce(0) { $0 | 1 << ($1 & 63) })
      }
      offer.hasOpacity = properties["alpha"] != nil
      if let blend = properties["pixel blend mode"] {
        for (name, mode) in [("Pre-multiplied", PlaneOffer.BlendModes.premultiplied), ("Coverage", .coverage), ("None", .none)]
        where blend.values[name] != nil {
          offer.blendModes.insert(mode)
        }
      }
      offer.colorEncodings = Set((properties["COLOR_ENCODING"]?.values.keys).map { $0.compactMap { ColorEncoding(rawValue: $0) } } ?? [])
      offer.colorRanges = Set((properties["COLOR_RANGE"]?.values.keys).map { $0.compactMap { ColorRange(rawValue: $0) } } ?? [])
      offers.append(offer)
    }
    return offers
  }

  /// The formats and modifiers of an `IN_FORMATS` blob (`struct drm_format_modifier_blob`).
  private func formatOffers(blob: UInt64) -> [FormatOffer]? {
    guard blob != 0, let blob = unsafe drmModeGetPropertyBlob(descriptor, UInt32(blob)) else { return nil }
    defer { unsafe drmModeFreePropertyBlob(blob) }
    let bytes = unsafe UnsafeRawBufferPointer(start: blob.pointee.data, count: Int(blob.pointee.length))
    func word(_ offset: Int) -> Int {
      unsafe offset + 4 <= bytes.count ? Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) : 0
    }
    func long(_ offset: Int) -> UInt64 {
      unsafe offset + 8 <= bytes.count ? bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) : 0
    }
    // version, flags, formats: count and offset, modifiers: count and offset
    let (formatCount, formatOffset, modifierCount, modifierOffset) = (word(8), word(12), word(16), word(20))
    var offers = (0..<formatCount).map {
      FormatOffer(format: PixelFormat(rawValue: UInt32(word(formatOffset + 4 * $0))), modifiers: [])
    }
    // Each: 64 bits of formats from an index on, that index, padding, the modifier.
    for entry in 0..<modifierCount {
      let place = modifierOffset + 24 * entry
      let (mask, first, modifier) = (long(place), word(place + 8), long(place + 16))
      for bit in 0..<64 where mask >> UInt64(bit) & 1 != 0 && first + bit < formatCount { offers[first + bit].modifiers.append(modifier) }
    }
    return offers
  }
}

extension DisplayMode {
  /// A mode as the kernel has it.
  init(_ mode: drmModeModeInfo) {
    var timings = Timings(
      clock: Int(mode.clock),
      horizontal: Timings.Axis(
        active: Int(mode.hdisplay), syncStart: Int(mode.hsync_start), syncEnd: Int(mode.hsync_end), total: Int(mode.htotal)),
      vertical: Timings.Axis(
        active: Int(mode.vdisplay), syncStart: Int(mode.vsync_start), syncEnd: Int(mode.vsync_end), total: Int(mode.vtotal)))
    (timings.horizontalSkew, timings.verticalScan) = (Int(mode.hskew), Int(mode.vscan))
    timings.flags = Timings.Flags(rawValue: mode.flags)
    self.init(name: DRMCard.text(mode.name), timings: timings, isPreferred: mode.type & UInt32(DRM_MODE_TYPE_PREFERRED) != 0)
  }
}

extension drmModeModeInfo {
  /// A mode for the kernel.
  init(_ timings: Timings, name: String) {
    self.init()
    clock = UInt32(timings.clock)
    (hdisplay, hsync_start) = (UInt16(timings.horizontal.active), UInt16(timings.horizontal.syncStart))
    (hsync_end, htotal) = (UInt16(timings.horizontal.syncEnd), UInt16(timings.horizontal.total))
    (vdisplay, vsync_start) = (UInt16(timings.vertical.active), UInt16(timings.vertical.syncStart))
    (vsync_end, vtotal) = (UInt16(timings.vertical.syncEnd), UInt16(timings.vertical.total))
    (hskew, vscan, flags) = (UInt16(timings.horizontalSkew), UInt16(timings.verticalScan), timings.flags.rawValue)
    vrefresh = UInt32(timings.refresh.rounded())
    unsafe withUnsafeMutableBytes(of: &self.name) { bytes in unsafe bytes.copyBytes(from: name.utf8.prefix(31)) }
  }
}
