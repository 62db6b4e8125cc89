import Glibc

@testable import Stage

/// Reads the QR codes in a picture with the ZBar library, as a telephone would.
struct QRScanner {
  private typealias Create = @convention(c) () -> OpaquePointer?
  private typealias SetFormat = @convention(c) (OpaquePointer?, CUnsignedLong) -> Void
  private typealias SetSize = @convention(c) (OpaquePointer?, CUnsignedInt, CUnsignedInt) -> Void
  private typealias SetData = @convention(c) (OpaquePointer?, UnsafeRawPointer?, CUnsignedLong, OpaquePointer?) -> Void
  private typealias Scan = @convention(c) (OpaquePointer?, OpaquePointer?) -> CInt
  private typealias Next = @convention(c) (OpaquePointer?) -> OpaquePointer?
  private typealias Text = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  private typealias Destroy = @convention(c) (OpaquePointer?) -> Void

  private let library: UnsafeMutableRawPointer

  /// nil when the library is not installed.
  init?() {
    guard let library = unsafe dlopen("libzbar.so.0", RTLD_NOW) else { return nil }
    unsafe self.library = library
  }

  private func function<Function>(_ name: String, as type: Function.Type) -> Function {
    guard let symbol = unsafe dlsym(library, name) else { preconditionFailure("\(name) is not in libzbar") }
    return unsafe unsafeBitCast(symbol, to: type)
  }

  /// What the codes in a picture say.
  func texts(in picture: Picture) -> [String] {
    var gray: [UInt8] = []
    gray.reserveCapacity(picture.width * picture.height)
    for index in Swift.stride(from: 0, to: picture.pixels.count, by: 4) {
      let (blue, green, red) = (Int(picture.pixels[index]), Int(picture.pixels[index + 1]), Int(picture.pixels[index + 2]))
      gray.append(UInt8((red * 77 + green * 150 + blue * 29) >> 8))
    }
    let scanner = function("zbar_image_scanner_create", as: Create.self)()
    let image = function("zbar_image_create", as: Create.self)()
    defer {
      function("zbar_image_destroy", as: Destroy.self)(image)
      function("zbar_image_scanner_destroy", as: Destroy.self)(scanner)
    }
    // "Y800": one byte of brightness a pixel.
    function("zbar_image_set_format", as: SetFormat.self)(image, 0x3030_3859)
    function("zbar_image_set_size", as: SetSize.self)(image, CUnsignedInt(picture.width), CUnsignedInt(picture.height))
    return gray.withUnsafeBytes { bytes in
      unsafe function("zbar_image_set_data", as: SetData.self)(image, bytes.baseAddress, CUnsignedLong(bytes.count), nil)
      guard function("zbar_scan_image", as: Scan.self)(scanner, image) > 0 else { return [] }
      var texts: [String] = []
      var symbol = function("zbar_image_first_symbol", as: Next.self)(image)
      while symbol != nil {
        if let text = unsafe function("zbar_symbol_get_data", as: Text.self)(symbol) { texts.append(unsafe String(cString: text)) }
        symbol = function("zbar_symbol_next", as: Next.self)(symbol)
      }
      return texts
    }
  }
}
