import Base
import Call
import Camera
import Foundation
import Frames
import Net
import ScriptedDevices
import Synchronization
import V4L2

/// Pictures of a camera, from the driver's time stamp to where an encoder takes them. Where that stamp says when a picture began, as with USB
/// cameras, what counts is the time from when it could be taken from the driver: how long a picture is under way is the camera's and the bus's
/// affair, and a figure of its own.
enum CaptureBenchmarks {
  /// What is known of each picture, in milliseconds.
  private struct Pictures: Sendable {
    var ages = Samples()
    var conversions = Samples()
    var transfers = Samples()
    var seen = 0
  }

  /// The first pictures of a camera come while everything is still cold: so many are left out, or half of the runs where those are few.
  private static let coldCount = 15
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
    let warmUp = min(coldCount, count / 2)
    let pictures = Mutex(Pictures())
    let sink = camera.pictures.add { frame in
      guard let taken = frame.ledger[.capture] else { return }
      let age = (MonotonicClock.now() - taken).milliseconds
      let figures = camera.statistics.figures
      let (conversion, transfer) = (figures.conversionTime.milliseconds, figures.transferTime.milliseconds)
      pictures.withLock { pictures in
        pictures.seen += 1
        guard pictures.seen > warmUp, pictures.ages.values.count < count else { return }
        pictures.ages.append(age - transfer)
        pictures.transfers.append(transfer)
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
    let isWhole = found.transfers.quantile(1) == 0
    let start = isWhole ? "driver's time stamp" : "buffer ready"
    var figures = [
      figure(
        "\(start) to encoder, p95", found.ages.quantile(0.95),
        of: ("one conversion and a tenth of a picture's time", conversion + period / 10)),
      figure("\(start) to encoder, oldest", found.ages.quantile(1), of: ("a picture's time", period)),
      Figure(
        name: "capture", metric: "one conversion, \(source)", value: conversion, unit: "ms", runs: count, spread: found.conversions.spread),
    ]
    if !isWhole {
      figures.append(
        Figure(
          name: "capture", metric: "driver's time stamp to buffer ready, p95, \(source)", value: found.transfers.quantile(0.95), unit: "ms",
          runs: count, spread: found.transfers.spread))
    }
    // It takes a second to know.
    let rate = statistics.figures.framesPerSecond
    if rate > 0 {
      figures.append(
        Figure(
          name: "capture", metric: "pictures a second, \(source)", value: rate, unit: "1/s",
          reference: Figure.Reference(name: "what the camera was set to", value: statistics.nominalRate),
          ratio: rate / max(1, statistics.nominalRate), runs: count, spread: 0))
    }
    return figures
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
