import Base
import Call
import Net

// The servers that a call needs, and the secrets that they want to know.
extension Box {
  /// The bearer token of a direct call; nil: none is wanted.
  static func token(_ settings: Configuration.Call) throws(SignallingError) -> String? {
    do throws(Secret.Failure) { return try settings.token?.read() } catch { throw .url("call.token: \(error)") }
  }

  /// The servers that the configuration names, as sessions want them. One whose credential cannot be read is left out, and said.
  static func iceServers(of settings: Configuration.Call) -> [ICEServer] {
    settings.iceServers.flatMap { server -> [ICEServer] in
      do throws(Secret.Failure) {
        let credential = try server.credential?.read()
        return server.urls.map { ICEServer(url: $0, username: server.username, credential: credential) }
      } catch {
        Log.error("call.ice_servers: \(server.urls.joined(separator: ", ")) cannot be used: \(error)")
        return []
      }
    }
  }
}

extension Configuration.Network {
  /// Who fetches for the box; nil: nobody. When its password cannot be read it is asked without one, and that is said.
  var httpProxy: HTTPProxy? {
    guard let settings = proxy else { return nil }
    var proxy = HTTPProxy(url: settings.url)
    (proxy.username, proxy.exceptions) = (settings.username, settings.exceptions)
    do throws(Secret.Failure) { proxy.password = try settings.password?.read() } catch { Log.error("network.proxy.password: \(error)") }
    return proxy
  }
}
