import Foundation
import Stage
import Synchronization
import Testing

/// What lies under a video gives way to it, and comes back, without a flash of another colour; what lies above it blends with it.
@Suite(.serialized) struct BackgroundTests {
  /// Where the page has its video, and a bar over the video's lower part.
  private static let video = Pixels.Box(left: 160, top: 120, right: 480, bottom: 360)
  private static let bar = Pixels.Box(left: 160, top: 300, right: 480, bottom: 340)

  private static func page(background: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <title>loading</title>
    <style>
      html { height: 100%; }
      body { margin: 0; height: 100%; background: \(background); }
      video { position: absolute; left: 160px; top: 120px; width: 320px; height: 240px; object-fit: fill; }
      #bar { position: absolute; left: 160px; top: 300px; width: 320px; height: 40px; background: rgba(255, 0, 0, 0.5); }
    </style>
    <video autoplay playsinline muted></video>
    <script>
      const video = document.querySelector("video");
      const frames = (count) => new Promise((resolve) => {
        const next = () => { if (count-- > 0) requestAnimationFrame(next); else resolve(); };
        next();
      });
      const shown = (count) => new Promise((resolve) => {
        const next = () => { if (count-- > 0) video.requestVideoFrameCallback(next); else resolve(); };
        next();
      });
      (async () => {
        await frames(10);
        document.title = "plain";
        await new Promise((resolve) => setTimeout(resolve, 500));
        const stream = await navigator.mediaDevices.getUserMedia({ video: true });
        for (let round = 0; round < 4; round += 1) {
          video.srcObject = stream;
          await shown(6);
          if (round === 3) {
            const bar = document.createElement("div");
            bar.id = "bar";
            document.body.append(bar);
            await shown(12);
            bar.remove();
            await shown(3);
          }
          video.srcObject = null;
          await frames(6);
        }
        document.title = "done";
      })().catch((error) => { document.title = `failed: ${error}`; });
    </script>
    """
  }

  private struct Seen {
    var lookedAt = 0
    /// Changes between no video and video.
    var changes = 0
    var isShown = false
    var bars = 0
    var wrong: [String] = []
  }

  /// What a picture shows where the video belongs, and what is wrong with it. `colors` are those at the page's top and bottom.
  private static func look(at picture: Picture, colors: [Pixels.Color]) -> (isVideo: Bool, isBarred: Bool, wrong: String?) {
    var (wrong, greys, plains, blends) = ("", 0, 0, 0)
    Pixels(picture: picture).visit { x, y, color in
      let place = (Double(y) + 0.5) / Double(picture.height)
      func isNear(_ value: Int, _ part: KeyPath<Pixels.Color, Int>) -> Bool {
        abs(Double(value) - Double(colors[0][keyPath: part]) * (1 - place) - Double(colors[1][keyPath: part]) * place) <= 3
      }
      let isPlain = isNear(color.red, \.red) && isNear(color.green, \.green) && isNear(color.blue, \.blue)
      guard video.contains(x, y) else {
        if !isPlain, wrong.isEmpty { wrong = "at \(x),\(y) outside is \(color)" }
        return
      }
      // Half red over grey.
      let isBlend =
        abs(color.green - color.blue) <= 8 && abs(color.red - color.green - 127) <= 10 && color.green >= 20 && color.green <= 112
      if bar.contains(x, y), isBlend {
        blends += 1
      } else if Pixels.isGrey(color) {
        greys += 1
      } else if isPlain {
        plains += 1
      } else if wrong.isEmpty {
        wrong = "at \(x),\(y) in the video is \(color)"
      }
    }
    let area = (video.right - video.left) * (video.bottom - video.top)
    let barArea = (bar.right - bar.left) * (bar.bottom - bar.top)
    if wrong.isEmpty, plains != 0, plains != area { wrong = "\(plains) of \(area) pixels are the page's and the others video" }
    if wrong.isEmpty, blends != 0, blends != barArea { wrong = "\(blends) of the bar's \(barArea) pixels are blended" }
    return (plains == 0, blends == barArea, wrong.isEmpty ? nil : wrong)
  }

  @Test(arguments: [
    ("#2050a0", [(32, 80, 160), (32, 80, 160)]),
    ("linear-gradient(to bottom, #2050a0, #20a050)", [(32, 80, 160), (32, 160, 80)]),
  ])
  func videoComesAndGoesWithoutAFlash(background: String, colors: [(red: Int, green: Int, blue: Int)]) async throws {
    let seen = Mutex(Seen())
    let page = try await LivePage(BackgroundTests.page(background: background)) { picture, title in
      // Before "plain" the screen is the box's own, and after "done" it is so again.
      guard title == "plain" || title == "video" else { return }
      let found = BackgroundTests.look(at: picture, colors: colors)
      let (number, isBar) = seen.withLock { seen in
        seen.lookedAt += 1
        if found.isVideo != seen.isShown { seen.changes += 1 }
        seen.isShown = found.isVideo
        if found.isBarred { seen.bars += 1 }
        if let wrong = found.wrong { seen.wrong.append("frame \(seen.lookedAt): \(wrong)") }
        return (seen.wrong.count, found.isBarred && seen.bars == 3)
      }
      if isBar { Pixels(picture: picture).keep("background-bar-\(colors[1].green)") }
      if found.wrong != nil, number <= 4 { Pixels(picture: picture).keep("background-\(colors[1].green)-\(number)") }
    }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await page.wait(forTitle: "done")) } catch { outcome = .failure(error) }
    await page.stop()
    try outcome.get()
    let result = seen.withLock { $0 }
    #expect(result.wrong.isEmpty, "of \(result.lookedAt) frames, \(result.wrong.count) are wrong: \(result.wrong.prefix(8))")
    #expect(result.changes >= 7 && result.bars >= 3, "\(result.changes) changes and \(result.bars) bars in \(result.lookedAt) frames")
  }
}
