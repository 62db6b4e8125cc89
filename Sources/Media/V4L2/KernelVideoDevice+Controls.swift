import CV4L2
import Glibc

extension KernelVideoDevice {
  /// What the kernel says of a control; nil: there is none. `next` adds the flag that asks for the one after it.
  private func query(_ identifier: UInt32) -> (control: VideoControl?, identifier: UInt32)? {
    var answer = v4l2_query_ext_ctrl()
    answer.id = identifier
    guard v4l2_query_control(descriptor, &answer) == 0 else { return nil }
    guard let kind = VideoControl.Kind(rawValue: answer.type), answer.flags & UInt32(V4L2_CTRL_FLAG_DISABLED) == 0, answer.elems <= 1,
      answer.minimum <= answer.maximum
    else { return (nil, answer.id) }
    let control = VideoControl(
      VideoControl.Identifier(rawValue: answer.id), kind: kind, name: text(answer.name), range: answer.minimum...answer.maximum,
      step: Int64(clamping: answer.step), defaultValue: answer.default_value,
      isWritable: answer.flags & UInt32(V4L2_CTRL_FLAG_READ_ONLY) == 0)
    return (control, answer.id)
  }

  public func control(_ identifier: VideoControl.Identifier) -> VideoControl? { query(identifier.rawValue)?.control }

  public func controls() -> [VideoControl] {
    var found: [VideoControl] = []
    var last: UInt32 = 0
    // A driver that does not go on would be asked for ever.
    while let answer = query(last | 0x8000_0000), answer.identifier > last {
      last = answer.identifier
      if let control = answer.control { found.append(control) }
    }
    return found
  }

  public func menu(of control: VideoControl) -> [MenuEntry] {
    guard control.kind == .menu || control.kind == .integerMenu, control.minimum >= 0, control.maximum < 256 else { return [] }
    var entries: [MenuEntry] = []
    for index in control.minimum...control.maximum {
      var (name, number) = (InlineArray<32, CChar>(repeating: 0), Int64(0))
      var span = name.mutableSpan
      let status = unsafe span.withUnsafeMutableBufferPointer { room in
        unsafe v4l2_query_menu(descriptor, control.identifier.rawValue, UInt32(index), room.baseAddress, &number)
      }
      guard status == 0 else { continue }
      let isNumber = control.kind == .integerMenu
      entries.append(MenuEntry(index: Int(index), name: isNumber ? "" : text(name), number: isNumber ? number : 0))
    }
    return entries
  }

  public func value(of control: VideoControl) throws(V4L2Error) -> Int64 {
    var value: Int64 = 0
    try check(
      v4l2_get_control(descriptor, control.identifier.rawValue, control.kind == .wideInteger ? 1 : 0, &value), "VIDIOC_G_EXT_CTRLS",
      control.name)
    return value
  }

  public func set(_ settings: [ControlSetting]) throws(V4L2Error) {
    var failed: UInt32 = 0
    let status = unsafe v4l2_set_controls(
      descriptor, settings.map(\.identifier.rawValue), settings.map(\.value), settings.map { $0.isWide ? 1 : 0 }, UInt32(settings.count),
      &failed)
    try check(
      status, "VIDIOC_S_EXT_CTRLS",
      Int(failed) < settings.count
        ? "control 0x\(String(settings[Int(failed)].identifier.rawValue, radix: 16)) = \(settings[Int(failed)].value)" : "")
  }

  public func subscribe(to kind: VideoEvent.Kind, control: VideoControl.Identifier?) throws(V4L2Error) {
    var subscription = v4l2_event_subscription()
    (subscription.type, subscription.id) = (kind.rawValue, control?.rawValue ?? 0)
    try check(v4l2_subscribe_event(descriptor, &subscription), "VIDIOC_SUBSCRIBE_EVENT", "\(kind)")
  }

  public func nextEvent() throws(V4L2Error) -> VideoEvent? {
    var event = v4l2_event()
    guard v4l2_dequeue_event(descriptor, &event) == 0 else {
      // ENOENT: there is none.
      guard errno == EAGAIN || errno == ENOENT else { throw V4L2Error(call: "VIDIOC_DQEVENT", subject: name, code: errno) }
      return nil
    }
    return switch VideoEvent.Kind(rawValue: event.type) {
    case .endOfStream: .endOfStream
    case .sourceChange: .sourceChange(isResolution: event.u.src_change.changes & UInt32(V4L2_EVENT_SRC_CH_RESOLUTION) != 0)
    case .control:
      .control(
        VideoControl.Identifier(rawValue: event.id),
        value: event.u.ctrl.type == VideoControl.Kind.wideInteger.rawValue ? event.u.ctrl.value64 : Int64(event.u.ctrl.value))
    case nil: .other(event.type)
    }
  }

  public func setPriority(_ priority: DevicePriority) throws(V4L2Error) {
    var number = priority.rawValue
    try check(v4l2_set_priority(descriptor, &number), "VIDIOC_S_PRIORITY")
  }

  /// The kernel knows selections by the single-planar number of the queue.
  private func request(_ target: Selection.Target, _ type: BufferType) -> v4l2_selection {
    var request = v4l2_selection()
    request.type = (type.isCapture ? BufferType.capture : .output).rawValue
    request.target = target.rawValue
    return request
  }

  public func selection(_ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection {
    var request = request(target, type)
    try check(v4l2_get_selection(descriptor, &request), "VIDIOC_G_SELECTION", "\(target)")
    return Selection(request.r)
  }

  public func setSelection(_ selection: Selection, _ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection {
    var request = request(target, type)
    request.r = v4l2_rect(
      left: Int32(selection.x), top: Int32(selection.y), width: UInt32(selection.width), height: UInt32(selection.height))
    try check(v4l2_set_selection(descriptor, &request), "VIDIOC_S_SELECTION", "\(target)")
    return Selection(request.r)
  }

  public func tellEncoder(_ command: CodecCommand) throws(V4L2Error) {
    var request = v4l2_encoder_cmd()
    request.cmd = command.rawValue
    try check(v4l2_encoder_command(descriptor, &request), "VIDIOC_ENCODER_CMD", "\(command)")
  }

  public func tellDecoder(_ command: CodecCommand) throws(V4L2Error) {
    var request = v4l2_decoder_cmd()
    request.cmd = command.rawValue
    try check(v4l2_decoder_command(descriptor, &request), "VIDIOC_DECODER_CMD", "\(command)")
  }
}

extension Selection {
  fileprivate init(_ rectangle: v4l2_rect) {
    self.init(x: Int(rectangle.left), y: Int(rectangle.top), width: Int(rectangle.width), height: Int(rectangle.height))
  }
}
