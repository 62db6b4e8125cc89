import V4L2

/// Finds cameras among video devices.
public struct CameraDirectory: Sendable {
  /// Where devices come from.
  public let devices: any VideoDeviceSource

  /// The cameras of `devices`.
  public init(devices: any VideoDeviceSource = KernelVideoDevices()) { self.devices = devices }

  /// All cameras, by node. Codecs, and nodes that give metadata or no pictures at all, are left out; so are nodes of `excluded` paths.
  public func cameras(excluding excluded: Set<String> = []) -> [CameraDescription] { look(excluding: excluded).cameras }

  private func look(excluding excluded: Set<String>) -> (cameras: [CameraDescription], obstacle: V4L2Error?) {
    var cameras: [CameraDescription] = []
    var obstacle: V4L2Error?
    for node in devices.nodes() where !excluded.contains(node.path) {
      do throws(V4L2Error) {
        let device = try devices.open(node.path)
        let capability = try device.capability()
        guard capability.isCamera, let type = capability.captureType, try !device.formats(of: type).isEmpty else { continue }
        cameras.append(
          CameraDescription(
            path: node.path, label: capability.card, driver: capability.driver, bus: capability.bus, identifier: node.identifier,
            place: node.place))
      } catch {
        obstacle = obstacle ?? error
      }
    }
    return (cameras, obstacle)
  }

  /// The cameras among `all` that a selection means, the most fitting first: a whole name before a part of a label, and lower nodes before higher ones.
  static func fitting(_ selection: CameraSettings.Selection, among all: [CameraDescription]) -> [CameraDescription] {
    guard case .named(let name) = selection else { return all }
    let fitting = all.filter { $0.isCalled(name) }
    let exact = fitting.filter { camera in
      camera.path == name || camera.label == name || name.hasSuffix(camera.identifier ?? "\0") || name.hasSuffix(camera.place ?? "\0")
    }
    return exact.isEmpty ? fitting : exact
  }

  /// Opens the camera that the settings mean, and starts it. Nodes of `excluded` paths are not touched, those of `avoided` ones tried last.
  /// `takesUnits` and `wake` are `CaptureSession`'s.
  public func open(
    _ settings: CameraSettings, takesUnits: Bool = false, excluding excluded: Set<String> = [], avoiding avoided: Set<String> = [],
    wake: @escaping @Sendable () -> Void = {}
  ) throws(CameraFailure) -> (camera: CameraDescription, session: CaptureSession) {
    let (all, obstacle) = look(excluding: excluded)
    let fitting = CameraDirectory.fitting(settings.selection, among: all)
    var failure: CameraFailure?
    for camera in fitting.filter({ !avoided.contains($0.path) }) + fitting.filter({ avoided.contains($0.path) }) {
      do throws(CameraFailure) {
        let device: any VideoDevice
        do throws(V4L2Error) { device = try devices.open(camera.path) } catch { throw CameraFailure(error) }
        return (camera, try CaptureSession(device: device, settings: settings, takesUnits: takesUnits, wake: wake))
      } catch {
        // Why the most fitting one fails says most.
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    let wanted =
      switch settings.selection {
      case .any: "no camera is there"
      case .named(let name): "no camera is called \(name)"
      }
    let others = all.isEmpty ? "" : "; there is \(all.map { "\($0.label) (\($0.stableName))" }.joined(separator: ", "))"
    throw .absent(wanted + others + (obstacle.map { " (\($0))" } ?? ""))
  }
}
