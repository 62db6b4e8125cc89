import Foundation
import Stage
import Synchronization
import Testing

/// Picture and page agree on every frame while a video moves over stripes, however it is moved.
@Suite(.serialized) struct ScrollingStripesTests {
  private static let thickness = 8
  private static let phases = ["scroll", "transform", "transition", "resize"]

  /// Stripes of 24 pixels, red and yellow in turn, over 2,400.
  private static let stripes = (0..<100).map { "\($0 % 2 == 0 ? "#f00" : "#ff0") \($0 * 24)px \($0 * 24 + 24)px" }.joined(separator: ", ")

  private static let page = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <title>loading</title>
    <style>
      html { background: #00f; scrollbar-width: none; }
      body { margin: 0; height: 2400px; background: linear-gradient(to bottom, \(stripes)); }
      #box { position: absolute; left: 190px; top: 900px; width: 240px; height: 160px; border: \(thickness)px solid #f0f; }
      video { display: block; width: 100%; height: 100%; object-fit: fill; }
      @keyframes wander { from { transform: translate(-150px, -31px); } to { transform: translate(163px, 57px); } }
    </style>
    <div id="box"><video autoplay playsinline muted></video></div>
    <script>
      const box = document.querySelector("#box");
      const video = document.querySelector("video");
      const frames = (count, step) => new Promise((resolve) => {
        let index = 0;
        const next = () => {
          step?.(index);
          if (++index === count) resolve(); else requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
      });
      const phase = (name) => { document.title = name; };
      (async () => {
        scrollTo(0, 740);
        video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
        await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
        await frames(5);
        // As often as it takes to see enough frames: a busy machine shows few of them.
        for (;;) {
          phase("scroll");
          let [y, step] = [740, 7];
          await frames(60, () => {
            if (y + step > 880 || y + step < 610) step = -step;
            scrollTo(0, y += step);
          });
          scrollTo(0, 740);
          phase("transform");
          box.style.animation = "wander 1.1s linear infinite alternate";
          await frames(60);
          box.style.animation = "";
          phase("transition");
          box.style.transition = "left 0.7s";
          box.ontransitionend = () => { box.style.left = box.style.left === "23px" ? "357px" : "23px"; };
          box.style.left = "23px";
          await frames(60);
          box.ontransitionend = null;
          box.style.transition = "";
          box.style.left = "190px";
          phase("resize");
          await frames(60, (index) => {
            box.style.width = `${120 + Math.abs((index * 7) % 260 - 130)}px`;
            box.style.height = `${90 + Math.abs((index * 5) % 200 - 100)}px`;
          });
        }
      })().catch((error) => { document.title = `failed: ${error}`; });
    </script>
    """

  private struct Seen {
    var last: Pixels.Box?
    var places: [String: Int] = [:]
    var lookedAt = 0
    /// Enough was seen; the page goes.
    var isOver = false
    var wrong: [String] = []
  }

  @Test func videoAndPageAgreeOnEveryFrame() async throws {
    let seen = Mutex(Seen())
    let page = try await LivePage(ScrollingStripesTests.page) { picture, title in
      guard ScrollingStripesTests.phases.contains(title) else { return }
      let pixels = Pixels(picture: picture)
      let border = pixels.border
      let wrong = border.map { pixels.disagreement(with: $0, thickness: ScrollingStripesTests.thickness) } ?? "there is no border"
      let number = seen.withLock { seen in
        guard !seen.isOver else { return Int.max }
        seen.lookedAt += 1
        if border != seen.last { seen.places[title, default: 0] += 1 }
        seen.last = border
        if let wrong { seen.wrong.append("\(title), frame \(seen.lookedAt): \(wrong)") }
        return seen.wrong.count
      }
      if wrong != nil, number <= 5 { pixels.keep("stripes-\(number)") }
      if wrong == nil, border?.left == 23 { pixels.keep("stripes-agree") }
    }
    let outcome: Result<Void, any Error>
    do {
      try await page.wait(for: "25 frames of each kind of motion") {
        seen.withLock { seen in ScrollingStripesTests.phases.allSatisfy { seen.places[$0, default: 0] >= 25 } }
      }
      outcome = .success(())
    } catch { outcome = .failure(error) }
    seen.withLock { $0.isOver = true }
    await page.stop()
    try outcome.get()
    let result = seen.withLock { $0 }
    #expect(result.wrong.isEmpty, "of \(result.lookedAt) frames, \(result.wrong.count) disagree: \(result.wrong.prefix(8))")
    #expect(result.lookedAt >= 100)
  }
}
