import Base
import Glibc
import ScriptedDevices
import Testing
import V4L2

/// What other tests rely on: the scripted device behaves as the kernel's documentation says of queues.
@Suite struct ScriptedDeviceTests {
  private func started(buffers count: Int = 3) throws -> ScriptedVideoDevice {
    let device = ScriptedVideoDevice(modes: [.capture: [ScriptedVideoDevice.Mode(.yuyv, 64, 32, [15, 30])]])
    let format = try device.setFormat(PictureFormat(pixelFormat: .yuyv, width: 64, height: 32), of: .capture)
    #expect(format.planes == [PictureFormat.Plane(stride: 128, size: 4_096)])
    #expect(try device.requestBuffers(count, memory: .mapped, of: .capture) == count)
    for index in 0..<count { try device.enqueue(QueueBuffer(index: index), memory: .mapped, of: .capture) }
    try device.startStreaming(.capture)
    return device
  }

  @Test func picturesComeOutInTheOrderOfTheirBuffers() throws {
    let device = try started()
    let memory = try device.map(try device.buffer(1, memory: .mapped, of: .capture).planes[0])
    defer { device.unmap(memory) }
    #expect(try device.dequeue(memory: .mapped, of: .capture) == nil)
    #expect(try device.wait(for: [.capture], timeout: .zero) == [])
    for number in 1...3 { #expect(device.deliver(time: .zero + .milliseconds(Int64(number))) { $1[7] = UInt8(number) }) }
    #expect(!device.deliver(), "no buffer waits")
    #expect(try device.wait(for: [.capture, .event], timeout: .zero) == .capture)
    for number in 0..<3 {
      let buffer = try #require(try device.dequeue(memory: .mapped, of: .capture))
      #expect(buffer.index == number && buffer.sequence == UInt32(number) && buffer.planes[0].byteCount == 4_096)
      #expect(buffer.time == .zero + .milliseconds(Int64(number + 1)))
    }
    #expect(memory[7] == 2)
  }

  @Test func exportedMemoryIsTheSameMemory() throws {
    let device = try started()
    let descriptor = try device.export(0, plane: 0, of: .capture)
    defer { close(descriptor) }
    device.deliver { $1[5] = 77 }
    var byte: UInt8 = 0
    #expect(pread(descriptor, &byte, 1, 5) == 1 && byte == 77)
  }

  @Test func aDeviceThatIsUnpluggedRefusesEverything() throws {
    let device = try started()
    device.unplug()
    #expect(throws: V4L2Error(call: "VIDIOC_DQBUF", subject: "/dev/video0", code: ENODEV)) {
      try device.dequeue(memory: .mapped, of: .capture)
    }
  }
}
