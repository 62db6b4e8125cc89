import Base

extension Configuration {
  /// `[network]`: how the box reaches the world.
  public struct Network: Sendable, Equatable {
    /// `interfaces`: the names of the interfaces that calls may use; nil: all.
    public var callInterfaces: [String]?
    /// `hostname`, the identity already filled in; nil: the image's own.
    public var hostName: String?
    /// `country`: where the box stands (ISO 3166-1, two capital letters), which decides about radio channels. There when `wifi` is not empty.
    public var country: String?
    /// `[[network.ethernet]]`, in the file's order. A wired interface that none of them is for asks by DHCP.
    public var ethernet: [Ethernet] = []
    /// `[[network.wifi]]`, in the file's order.
    public var wifi: [WiFi] = []
    /// `[network.proxy]`; nil: nothing stands between.
    public var proxy: Proxy?

    /// Wired interfaces that ask by DHCP, and no Wi-Fi.
    public init() {}

    /// An interface's own address, and which are its neighbours, as `192.0.2.10/24`.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
      /// The interface's address.
      public var ip: IPAddress
      /// The number of leading bits that neighbours share; 1 to 32, or to 128 for IPv6.
      public var prefixLength: Int

      /// Reads `192.0.2.10/24` or `2001:db8::10/64`; nil for anything else.
      public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let ip = IPAddress(String(parts[0])), parts[1].allSatisfy(\.isNumber), let length = Int(parts[1]),
          (1...(ip.family == .v4 ? 32 : 128)).contains(length)
        else { return nil }
        (self.ip, prefixLength) = (ip, length)
      }

      public var description: String { "\(ip)/\(prefixLength)" }

      /// Whether `other` is a neighbour.
      func reaches(_ other: IPAddress) -> Bool {
        guard ip.family == other.family else { return false }
        let bits = zip(ip.bytes, other.bytes).map { (mine: UInt8, its: UInt8) in mine ^ its }
        let common = bits.prefix { $0 == 0 }.count
        return common == bits.count || common * 8 + bits[common].leadingZeroBitCount >= prefixLength
      }
    }

    /// Addresses that do not come from the network. A family (IPv4 or IPv6) without an address here asks the network for one.
    public struct Addressing: Sendable, Equatable {
      /// `address`: the interface's own; empty: all comes from the network.
      public var addresses: [Address] = []
      /// `gateway`: at most one for each family, of families in `addresses`.
      public var gateways: [IPAddress] = []
      /// `dns`: name servers, before those that the network names.
      public var nameServers: [IPAddress] = []

      /// Everything as the network says.
      public init() {}
    }

    /// IEEE 802.1X: how the box says who it is before it may use the network.
    public struct Authentication: Sendable, Equatable {
      /// The outer method.
      public enum Method: String, Sendable, CaseIterable {
        /// The box's certificate (RFC 5216).
        case tls
        /// A password within TLS (PEAP).
        case peap
        /// A password within TLS (RFC 5281).
        case ttls
      }

      /// How the password is shown within TLS.
      public enum Inner: String, Sendable, CaseIterable { case mschapv2, gtc, pap }

      /// `eap`.
      public var method: Method
      /// `identity`: the user's name.
      public var identity: String
      /// `anonymous_identity`: the name that everybody may see; nil: the identity.
      public var anonymousIdentity: String?
      /// `password`; there for `peap` and `ttls`.
      public var password: Secret?
      /// `inner`, for `peap` and `ttls`.
      public var inner = Inner.mschapv2
      /// `ca_file`: the path of the certificates that the network's server is known by; nil: the system's own.
      public var certificateFile: String?
      /// `server_domain`: what the server's name must end with; there when `certificateFile` is not.
      public var serverDomain: String?
      /// `client_certificate`: the path of the box's own; there for `tls`.
      public var clientCertificate: String?
      /// `client_key`: the path of its private key, which no password protects; there for `tls`.
      public var clientKey: String?

      /// The user `identity` by `method`.
      public init(method: Method, identity: String) { (self.method, self.identity) = (method, identity) }
    }

    /// An entry of `[[network.ethernet]]`.
    public struct Ethernet: Sendable, Equatable {
      /// `interface`: for which; nil: for each that no other entry names.
      public var interface: String?
      /// `address`, `gateway`, `dns`.
      public var addressing = Addressing()
      /// `eap` and what belongs to it; nil: anybody may use the cable.
      public var authentication: Authentication?

      /// Any wired interface, everything as the network says.
      public init() {}
    }

    /// An entry of `[[network.wifi]]`.
    public struct WiFi: Sendable, Equatable {
      /// How the box gets in.
      public enum Access: Sendable, Equatable {
        /// Everybody may, and everybody can listen.
        case open
        /// `password`: what all who use the network know (WPA2, WPA3). Of a text it is known that `isPassword` holds.
        case password(Secret)
        /// `eap` and what belongs to it.
        case enterprise(Authentication)
      }

      /// `ssid` or `ssid_hex`: the network's name, 1 to 32 bytes, which need not be text.
      public var name: [UInt8]
      /// How the box gets in.
      public var access = Access.open
      /// `hidden`: whether the network does not say its name.
      public var isHidden = false
      /// `priority`: of several networks in reach, the one with the highest is used; 0 to 999.
      public var priority = 0
      /// `address`, `gateway`, `dns`.
      public var addressing = Addressing()

      /// The open network `name`.
      public init(name: [UInt8]) { self.name = name }

      /// Whether `text` can be the password of a network (IEEE 802.11, annex J): 8 to 63 printable ASCII characters, or 64 hexadecimal digits.
      public static func isPassword(_ text: String) -> Bool {
        if text.utf8.count == 64 { return text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } }
        return (8...63).contains(text.utf8.count) && text.utf8.allSatisfy { (32...126).contains($0) }
      }
    }

    /// `[network.proxy]`: who fetches pages for the box.
    public struct Proxy: Sendable, Equatable {
      /// `url`: `http://HOST:PORT`.
      public var url: String
      /// `username`.
      public var username: String?
      /// `password`; there when `username` is.
      public var password: Secret?
      /// `no_proxy`: host names, domains as `.example.org`, addresses and prefixes as `192.0.2.0/24` that are reached without it.
      public var exceptions: [String] = []

      /// The proxy at `url`.
      public init(url: String) { self.url = url }
    }
  }
}
