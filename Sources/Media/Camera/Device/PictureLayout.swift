import V4L2

/// Where the rows of a picture lie in a buffer that a driver filled.
struct PictureLayout: Equatable {
  /// A colour plane, or all colours of a packed format.
  struct Part: Equatable {
    /// The plane of memory it lies in.
    var plane: Int
    /// Where it begins.
    var offset: Int
    /// Bytes from one row to the next.
    var stride: Int
    /// Rows of it that are seen.
    var rows: Int
    /// Bytes of a row that are seen.
    var rowBytes: Int

    /// Bytes that the plane of memory must hold for this part to be whole.
    var byteCount: Int { offset + stride * (rows - 1) + rowBytes }
  }

  /// What is seen of a picture, in pixels. A driver may pad it to the right and below.
  var width: Int
  var height: Int
  /// One to three. Empty for coded pictures.
  var parts: [Part]

  /// The layout of `format`, of which `width` by `height` pixels are seen; nil: the buffers are too small for it, or the format has no rows.
  init?(_ format: PictureFormat, width: Int, height: Int) {
    guard width > 0, height > 0, width <= format.width, height <= format.height, let first = format.planes.first else { return nil }
    (self.width, self.height) = (width, height)
    let (evenWidth, chromaWidth, chromaRows) = ((width + 1) / 2 * 2, (width + 1) / 2, (height + 1) / 2)
    switch format.pixelFormat {
    case .yuyv, .uyvy:
      let stride = max(first.stride, (format.width + 1) / 2 * 4)
      parts = [Part(plane: 0, offset: 0, stride: stride, rows: height, rowBytes: evenWidth * 2)]
    case .nv12:
      let stride = max(first.stride, format.width)
      let lumaRows = PictureLayout.lumaRows(format, stride: stride)
      parts = [
        Part(plane: 0, offset: 0, stride: stride, rows: height, rowBytes: width),
        Part(plane: 0, offset: stride * lumaRows, stride: max(stride, evenWidth), rows: chromaRows, rowBytes: evenWidth),
      ]
    case .yuv420:
      let stride = max(first.stride, format.width)
      let (lumaRows, chromaStride) = (PictureLayout.lumaRows(format, stride: stride), (stride + 1) / 2)
      let offset = stride * lumaRows
      parts = [
        Part(plane: 0, offset: 0, stride: stride, rows: height, rowBytes: width),
        Part(plane: 0, offset: offset, stride: chromaStride, rows: chromaRows, rowBytes: chromaWidth),
        Part(
          plane: 0, offset: offset + chromaStride * ((lumaRows + 1) / 2), stride: chromaStride, rows: chromaRows, rowBytes: chromaWidth),
      ]
    case FormatChoice.nv12Apart:
      guard format.planes.count >= 2 else { return nil }
      parts = [
        Part(plane: 0, offset: 0, stride: max(first.stride, format.width), rows: height, rowBytes: width),
        Part(plane: 1, offset: 0, stride: max(format.planes[1].stride, evenWidth), rows: chromaRows, rowBytes: evenWidth),
      ]
    case FormatChoice.yuv420Apart:
      guard format.planes.count >= 3 else { return nil }
      parts = [Part(plane: 0, offset: 0, stride: max(first.stride, format.width), rows: height, rowBytes: width)]
      for plane in 1...2 {
        parts.append(
          Part(plane: plane, offset: 0, stride: max(format.planes[plane].stride, chromaWidth), rows: chromaRows, rowBytes: chromaWidth))
      }
    default: return nil
    }
    for part in parts where format.planes[part.plane].size < part.byteCount { return nil }
  }

  /// Rows of luma before chroma begins. Some drivers pad the height (1,080 rows to 1,088) and tell of it by the buffer's size alone.
  private static func lumaRows(_ format: PictureFormat, stride: Int) -> Int {
    func size(_ rows: Int) -> Int { stride * rows + (stride + 1) / 2 * 2 * ((rows + 1) / 2) }
    let buffer = format.planes[0].size
    guard buffer != size(format.height) else { return format.height }
    for alignment in [8, 16, 32, 64] {
      let rows = (format.height + alignment - 1) / alignment * alignment
      if rows != format.height && buffer == size(rows) { return rows }
    }
    return format.height
  }

  /// What is seen of `format`: what the device says (`selection`), else the wanted size where the driver only rounded it up, else all.
  static func visibleSize(of format: PictureFormat, wanted: (width: Int, height: Int), selection: Selection?) -> (width: Int, height: Int) {
    func visible(_ coded: Int, _ wanted: Int) -> Int { (0..<32).contains(coded - wanted) ? wanted : coded }
    if let selection, selection.x == 0, selection.y == 0, (1...format.width).contains(selection.width),
      (1...format.height).contains(selection.height)
    {
      return (selection.width, selection.height)
    }
    return (visible(format.width, wanted.width), visible(format.height, wanted.height))
  }
}
