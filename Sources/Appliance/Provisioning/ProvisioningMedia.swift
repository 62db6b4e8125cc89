import CUdev
import Glibc

/// A FAT file system that may hold a site's files.
struct ProvisioningMedium: Sendable, Equatable {
  /// The label of the partition that every image has.
  static let label = "PARLOR"

  /// The device's path, such as `/dev/sda2`.
  var path: String
  /// Whether it is the image's own partition, on the disk that the box runs from.
  var isPartition: Bool

  /// What is plugged in: the image's own partition first. `state` is a folder on the disk that the box runs from.
  static func all(state: String) -> [ProvisioningMedium] {
    guard let udev = unsafe udev_new() else { return [] }
    defer { unsafe udev_unref(udev) }
    guard let search = unsafe udev_enumerate_new(udev) else { return [] }
    defer { unsafe udev_enumerate_unref(search) }
    unsafe udev_enumerate_add_match_subsystem(search, "block")
    unsafe udev_enumerate_add_match_property(search, "ID_FS_TYPE", "vfat")
    unsafe udev_enumerate_scan_devices(search)
    let home = disk(of: state, udev)
    var (own, sticks) = ([ProvisioningMedium](), [ProvisioningMedium]())
    var entry = unsafe udev_enumerate_get_list_entry(search)
    while let current = entry {
      defer { entry = unsafe udev_list_entry_get_next(current) }
      guard let path = unsafe udev_list_entry_get_name(current), let device = unsafe udev_device_new_from_syspath(udev, path) else {
        continue
      }
      defer { unsafe udev_device_unref(device) }
      func property(_ name: String) -> String? { unsafe udev_device_get_property_value(device, name).map { unsafe String(cString: $0) } }
      guard let node = unsafe udev_device_get_devnode(device).map({ unsafe String(cString: $0) }) else { continue }
      let isHome = home == nil || disk(of: device) == home
      if isHome, property("ID_PART_ENTRY_NAME") == label || property("ID_FS_LABEL") == label {
        own.append(ProvisioningMedium(path: node, isPartition: true))
      } else if !isHome, property("ID_BUS") == "usb" {
        sticks.append(ProvisioningMedium(path: node, isPartition: false))
      }
    }
    return Array(own.prefix(1)) + sticks.sorted { $0.path < $1.path }
  }

  /// The kernel's path of the disk that a file system is on; nil when there is no such disk.
  private static func disk(of folder: String, _ udev: OpaquePointer) -> String? {
    var status = stat()
    guard unsafe stat(folder, &status) == 0, let device = unsafe udev_device_new_from_devnum(udev, CChar(UInt8(ascii: "b")), status.st_dev)
    else {
      return nil
    }
    defer { unsafe udev_device_unref(device) }
    return disk(of: device)
  }

  private static func disk(of device: OpaquePointer) -> String? {
    let parent = unsafe udev_device_get_parent_with_subsystem_devtype(device, "block", "disk") ?? device
    return unsafe udev_device_get_syspath(parent).map { unsafe String(cString: $0) }
  }

  /// Does something with the files of the medium, mounted at a folder meanwhile. Throws what the system says when it cannot be mounted.
  func withFolder<Result>(
    _ mountPoint: String, isWritable: Bool, _ body: (String) throws(ProvisioningFailure) -> Result
  ) throws(ProvisioningFailure) -> Result {
    try ProvisioningFailure.catching { try StoredFile.makeFolder(mountPoint, mode: 0o700) }
    // Where a power cut left it unsure which blocks are whose, the next write may hit another file. Sticks are their owners' business.
    if isPartition, isDirty { SystemCommand.run("/usr/sbin/fsck.fat", ["-a", path]) }
    let flags = UInt(MS_NOSUID | MS_NODEV | MS_NOEXEC) | (isWritable ? 0 : UInt(MS_RDONLY))
    guard unsafe mount(path, mountPoint, "vfat", flags, "utf8,umask=0077,shortname=mixed,flush") == 0 else {
      throw ProvisioningFailure(description: "\(path) cannot be mounted: \(unsafe String(cString: strerror(errno)))")
    }
    defer { unsafe umount2(mountPoint, 0) }
    // The mark is on the disk before anything else is.
    if isPartition { withDevice { _ = fsync($0) } }
    return try body(mountPoint)
  }

  /// Whether it was in use when the power went: Linux and others mark the first sector meanwhile (FAT32).
  private var isDirty: Bool {
    var mark: UInt8 = 0
    withDevice { _ = unsafe pread($0, &mark, 1, 65) }
    return mark & 1 != 0
  }

  private func withDevice(_ body: (Int32) -> Void) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    body(descriptor)
  }
}
