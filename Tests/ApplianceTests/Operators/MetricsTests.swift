import Base
import FoundationEssentials
import Net
import Testing

@testable import Appliance

@Suite struct MetricsTests {
  private let status: JSON = [
    "version": "1.2", "name": "Lobby \"A\"\\\n2", "serial": "7", "slot": "A", "state": "in-call", "code": "camera.absent",
    "calls": [["state": "connected"], ["state": "connected"], ["state": "failed"]], "page": ["restarts": 3],
    "clock": ["synchronised": true], "network": ["state": "down"], "grants": [["origin": "https://a"]],
    "cameras": [["name": "HD", "state": "running"], ["name": "USB", "state": "absent"]],
    "sound": ["xruns": 4, "volume": ["percent": 80], "microphone": ["state": "failed", "name": "Mic"], "speaker": .null],
    "stage": ["output": "HDMI-A-1", "blanked": false, "flips_per_second": 29.5, "missed_flips": 2],
  ]
  private let statistics: JSON = [
    "stage": ["flips": 1_000], "discards": ["rtp.late": 5],
    "latency": [
      "screen": ["present": ["p50_ms": 12.5, "p95_ms": 20.0, "p99_ms": 25.0, "max_ms": 40.0, "count": 300], "preview": ["count": 0]]
    ],
    "process": [
      "parlor": ["cpu_seconds": 12.25, "pss_mb": 64.0, "descriptors": 40],
      "parlor-page": ["cpu_seconds": 1, "pss_mb": .null, "descriptors": 9],
    ],
    "peerConnections": [
      [
        "in": ["type": "inbound-rtp", "kind": "video", "packetsLost": 9, "bytesReceived": 77, "jitter": 0.004],
        "pair": ["type": "candidate-pair", "nominated": true, "currentRoundTripTime": 0.02],
        "other": ["type": "candidate-pair", "nominated": false, "currentRoundTripTime": 0.9],
      ]
    ],
  ]

  @Test func figuresOfABoxAreWhatItTells() {
    let text = Metrics(status: status, statistics: statistics).text
    for line in [
      #"parlor_info{name="Lobby \"A\"\\\n2",serial="7",slot="A",version="1.2"} 1"#, #"parlor_state{state="in-call"} 1"#,
      #"parlor_state{state="error"} 0"#, #"parlor_problem{code="camera.absent"} 1"#, #"parlor_calls{state="connected"} 2"#,
      #"parlor_calls{state="connecting"} 0"#, "parlor_page_restarts_total 3", "parlor_clock_synchronised 1", "parlor_network_up 0",
      #"parlor_camera_up{camera="0",name="HD"} 1"#, #"parlor_camera_up{camera="1",name="USB"} 0"#, #"parlor_microphone_up{name="Mic"} 0"#,
      "parlor_sound_xruns_total 4", "parlor_display_connected 1", "parlor_display_flips_per_second 29.5", "parlor_display_flips_total 1000",
      #"parlor_latency_seconds{quantile="0.5",step="present",stream="screen"} 0.0125"#, #"parlor_discards_total{reason="rtp.late"} 5"#,
      #"parlor_lost_packets_total{connection="0",id="in",kind="video"} 9"#, #"parlor_round_trip_seconds{connection="0",id="pair"} 0.02"#,
      #"parlor_process_memory_bytes{program="parlor"} 67108864"#, #"parlor_process_cpu_seconds_total{program="parlor-page"} 1"#,
    ] { #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)") }
    // What is not known is not there.
    for absent in ["parlor_speaker_up", "preview", "} 0.9\n", "program=\"parlor-page\"} null"] {
      #expect(!text.contains(absent), "\(absent)")
    }
  }

  /// The rules of the text format, version 0.0.4: each family once, its lines together, names of the right kind.
  @Test func textIsInPrometheusFormat() {
    var seen: Set<Substring> = []
    var family: Substring = ""
    for line in Metrics(status: status, statistics: statistics).text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if line.hasPrefix("# HELP ") {
        family = words[2]
        #expect(seen.insert(family).inserted && words.count > 3)
      } else if line.hasPrefix("# TYPE ") {
        #expect(words[2] == family && ["gauge", "counter", "summary"].contains(words[3]))
        #expect((words[3] == "counter") == family.hasSuffix("_total"))
      } else {
        #expect(line.prefix { $0 != "{" && $0 != " " } == family)
        #expect(Double(words[words.count - 1]) != nil)
      }
    }
    #expect(seen.count > 20)
  }

  @Test func figuresAreServedByHTTPAlone() async throws {
    let loop = EventLoop(name: "test")
    let server = MetricsServer(on: SocketAddress(.loopback4, 0), loop: loop) { "parlor_state 1\n" }
    server.start()
    let address = try #require(server.listeningAddress)
    let client = HTTPClient()
    // However long it takes: other tests keep the machine busy.
    let patience = HTTPClient.Options(timeout: .seconds(300))
    let answer = try await client.send(HTTPRequest("GET", HTTPURL("http://\(address)/metrics")), options: patience)
    #expect(answer.status == 200 && answer.body == Array("parlor_state 1\n".utf8))
    #expect(answer.headers["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true)
    #expect(try await client.send(HTTPRequest("GET", HTTPURL("http://\(address)/")), options: patience).status == 404)
    #expect(try await client.send(HTTPRequest("POST", HTTPURL("http://\(address)/metrics"), body: [1]), options: patience).status >= 400)
    client.close()
    server.stop()
    loop.stop()
  }
}
