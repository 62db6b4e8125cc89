import Base
import Call
import Camera
import Foundation
import Frames
import Net
import ScriptedDevices
import Synchronization
import V4L2

/// Pictures of a camera, from the driver's time stamp to where an encoder takes them.
enum CaptureBenchmarks {
  /// What is known of each picture, in milliseconds.
  private struct Pictures: Sendable {
    var ages = Samples()
    var conversions = Samples()
    var seen = 0
  }

  /// The first pictures of a camera come while everything is still cold.
  private static let warmUp = 15
  private static let patience = 40.0

  static func run(_ settings: Benchmark.Settings) async throws -> [Figure] {
    var wanted = CameraSettings()
    let driver = settings.camera == nil ? Driver() : nil
    if let name = settings.camera, name != "any" { wanted.selection = .named(name) }
    let camera = driver.map { CameraThread(settings: wanted, devices: $0.devices) } ?? CameraThread(settings: wanted)
    defer {
      camera.stop()
      driver?.stop()
    }
    let count = settings.runs ?? 150
    let pictures = Mutex(Pictures())
    let sink = camera.pictures.add { frame in
      guard let taken = frame.ledger[.capture] else { return }
      let age = (MonotonicClock.now() - taken).milliseconds
      let conversion = camera.statistics.figures.conversionTime.milliseconds
      pictures.withLock { pictures in
        pictures.seen += 1
        guard pictures.seen > warmUp, pictures.ages.values.count < count else { return }
        pictures.ages.append(age)
        pictures.conversions.append(conversion)
      }
    }
    defer { camera.pictures.remove(sink) }
    let end = Date().addingTimeInterval(patience + Double(count) / 5)
    while pictures.withLock({ $0.ages.values.count }) < count {
      guard Date() < end else {
        throw Benchmark.Failure(
          description: "\(pictures.withLock { $0.seen }) pictures of \(count + warmUp) came; the camera is \(camera.watch.state)")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    let (found, statistics) = (pictures.withLock { $0 }, camera.statistics)
    let period = 1_000 / max(1, statistics.nominalRate)
    let conversion = found.conversions.median
    let source = "\(statistics.format ?? "?") \(statistics.width)x\(statistics.height)"
    func figure(_ metric: String, _ value: Double, of limit: (name: String, value: Double)) -> Figure {
      Figure(
        name: "capture", metric: "\(metric), \(source)", value: value, unit: "ms",
        reference: Figure.Reference(name: limit.name, value: limit.value), ratio: value / limit.value, runs: count,
        spread: found.ages.spread, bound: .atMost(1))
    }
    return [
      figure(
        "driver's time stamp to encoder, p95", found.ages.quantile(0.95),
        of: ("one conversion and a tenth of a picture's time", conversion + period / 10)),
      figure("driver's time stamp to encoder, oldest", found.ages.quantile(1), of: ("a picture's time", period)),
      Figure(
        name: "capture", metric: "one conversion, \(source)", value: conversion, unit: "ms", runs: count, spread: found.conversions.spread),
      Figure(
        name: "capture", metric: "pictures a second, \(source)", value: statistics.figures.framesPerSecond, unit: "1/s",
        reference: Figure.Reference(name: "what the camera was set to", value: statistics.nominalRate),
        ratio: statistics.figures.framesPerSecond / max(1, statistics.nominalRate), runs: count, spread: 0),
    ]
  }

  /// Stands in for a camera where none is named: a picture of 1280 by 720 in YUYV, thirty times a second.
  private final class Driver: Sendable {
    let devices = ScriptedVideoDevices { path in
      ScriptedVideoDevice(
        name: path, card: "Scripted camera", modes: [.capture: [ScriptedVideoDevice.Mode(.yuyv, 1_280, 720, [30])]])
    }
    private let isOver = Atomic(false)

    init() {
      Thread.detachNewThread { [self] in
        while !isOver.load(ordering: .acquiring) {
          Thread.sleep(forTimeInterval: 1.0 / 30)
          devices.streaming?.deliver(time: MonotonicClock.now())
        }
      }
    }

    func stop() { isOver.store(true, ordering: .releasing) }
  }
}
