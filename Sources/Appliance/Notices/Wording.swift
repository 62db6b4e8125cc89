/// Everything that people in front of the box read, in each of their languages.
///
/// The compiler sees to it that none is missing: both tables are switches without a default.
enum Wording: Sendable, Hashable {
  case starting, connecting, touchToCall, notSetUp, nobodyToCall, settingsApplied, settingsRefused
  case noNetwork, goesOnByItself, noInterface
  case switchedOff, cableUnplugged, noRadioNetwork, noAddress
  case wifiFirmwareMissing, wifiDeviceMissing, wifiNotInReach, wifiPasswordWrong, networkLoginRefused, networkWithoutAddress, wifiFailed
  case tryingAgain
  /// What the system says stays in its own words.
  case systemReason(String)
  case notOpened(place: String)
  case accept, cancel
  case place, address, serialNumber, version
  case wrongConfiguration, noCamera, noMicrophone, noLoudspeaker, clockUnset
  case cameraMissing, cameraInUse, cameraBroken
  case microphoneMissing, microphoneInUse, microphoneBroken
  case loudspeakerMissing, loudspeakerInUse, loudspeakerBroken
  case notAllowedToCall, roomNotFound, otherSideUnreachable, connectionFailed, callFailed, somethingWrong
  case pageServerUnknown, pageServerSilent, pageServerNotTrusted, pageNotAvailable, pageTooSlow, pageInCircles, pageTooLarge
  case pageBrokeDown, pageHangs, pageNeedsMemory, pageCannotRun, pageNotLoaded
  case noMonitor, noConnector, monitorUnusable, displayInUse, displayForbidden, displayBroken

  /// The text.
  func text(in language: Language) -> String {
    switch language {
    case .english: english
    case .german: german
    }
  }

  private var english: String {
    switch self {
    case .starting: "Starting"
    case .connecting: "Connecting"
    case .touchToCall: "Touch to call"
    case .notSetUp: "Not set up"
    case .nobodyToCall: "The configuration names nobody to call."
    case .settingsApplied: "Set up"
    case .settingsRefused: "The new settings were not taken over. What is wrong stands in parlor-report.txt."
    case .noNetwork: "No network"
    case .goesOnByItself: "The box goes on by itself as soon as the network is back."
    case .noInterface: "No network interface was found."
    case .switchedOff: "switched off"
    case .cableUnplugged: "cable unplugged"
    case .noRadioNetwork: "not connected"
    case .noAddress: "no address yet"
    case .wifiFirmwareMissing: "The Wi-Fi device lacks its firmware"
    case .wifiDeviceMissing: "No Wi-Fi device was found"
    case .wifiNotInReach: "The Wi-Fi network is not in reach"
    case .wifiPasswordWrong: "The Wi-Fi password is wrong"
    case .networkLoginRefused: "The network does not let this box in"
    case .networkWithoutAddress: "The network gives no address"
    case .wifiFailed: "The Wi-Fi network could not be joined"
    case .tryingAgain: "Trying again in"
    case .systemReason(let reason): reason
    case .notOpened(let place): "Not opened: \(place)"
    case .accept: "OK"
    case .cancel: "Cancel"
    case .place: "Place"
    case .address: "Address"
    case .serialNumber: "Serial number"
    case .version: "Version"
    case .wrongConfiguration: "Not set up correctly"
    case .noCamera: "No camera"
    case .noMicrophone: "No microphone"
    case .noLoudspeaker: "No loudspeaker"
    case .cameraMissing: "You are not seen: no camera was found. Is it plugged in?"
    case .cameraInUse: "You are not seen: another program uses the camera."
    case .cameraBroken: "You are not seen: the camera does not work. Unplug it, and plug it in again."
    case .microphoneMissing: "You are not heard: no microphone was found. Is it plugged in?"
    case .microphoneInUse: "You are not heard: another program uses the microphone."
    case .microphoneBroken: "You are not heard: the microphone does not work. Unplug it, and plug it in again."
    case .loudspeakerMissing: "You hear nothing: no loudspeaker was found. Is it plugged in?"
    case .loudspeakerInUse: "You hear nothing: another program uses the loudspeaker."
    case .loudspeakerBroken: "You hear nothing: the loudspeaker does not work. Unplug it, and plug it in again."
    case .clockUnset: "The clock is not set"
    case .notAllowedToCall: "Not allowed to call"
    case .roomNotFound: "The room was not found"
    case .otherSideUnreachable: "The other side cannot be reached"
    case .connectionFailed: "The connection failed"
    case .callFailed: "The call failed"
    case .somethingWrong: "Something is wrong"
    case .pageServerUnknown: "The page's server is not known"
    case .pageServerSilent: "The page's server does not answer"
    case .pageServerNotTrusted: "The page's server is not trusted"
    case .pageNotAvailable: "The page is not available"
    case .pageTooSlow: "The page takes too long"
    case .pageInCircles: "The page leads in circles"
    case .pageTooLarge: "The page is too large"
    case .pageBrokeDown: "The page broke down"
    case .pageHangs: "The page does not respond"
    case .pageNeedsMemory: "The page needs too much memory"
    case .pageCannotRun: "The page cannot run"
    case .pageNotLoaded: "The page could not be loaded"
    case .noMonitor: "No monitor"
    case .noConnector: "The connector does not exist"
    case .monitorUnusable: "The monitor cannot be used as configured"
    case .displayInUse: "The display is in use"
    case .displayForbidden: "The display must not be used"
    case .displayBroken: "The display does not work"
    }
  }

  private var german: String {
    switch self {
    case .starting: "Startet"
    case .connecting: "Verbindung wird aufgebaut"
    case .touchToCall: "Zum Anrufen berühren"
    case .notSetUp: "Nicht eingerichtet"
    case .nobodyToCall: "In der Konfiguration steht nicht, wer angerufen wird."
    case .settingsApplied: "Eingerichtet"
    case .settingsRefused: "Die neuen Einstellungen wurden nicht übernommen. Was falsch ist, steht in parlor-report.txt."
    case .noNetwork: "Kein Netzwerk"
    case .goesOnByItself: "Es geht von selbst weiter, sobald das Netzwerk da ist."
    case .noInterface: "Keine Netzwerkschnittstelle gefunden."
    case .switchedOff: "ausgeschaltet"
    case .cableUnplugged: "Kabel nicht eingesteckt"
    case .noRadioNetwork: "nicht verbunden"
    case .noAddress: "noch keine Adresse"
    case .wifiFirmwareMissing: "Dem WLAN-Gerät fehlt seine Firmware"
    case .wifiDeviceMissing: "Kein WLAN-Gerät gefunden"
    case .wifiNotInReach: "Das WLAN ist nicht in Reichweite"
    case .wifiPasswordWrong: "Das WLAN-Passwort ist falsch"
    case .networkLoginRefused: "Das Netzwerk lässt dieses Gerät nicht zu"
    case .networkWithoutAddress: "Das Netzwerk vergibt keine Adresse"
    case .wifiFailed: "Keine Verbindung mit dem WLAN"
    case .tryingAgain: "Nächster Versuch in"
    case .systemReason(let reason): "Systemmeldung: \(reason)"
    case .notOpened(let place): "Nicht geöffnet: \(place)"
    case .accept: "OK"
    case .cancel: "Abbrechen"
    case .place: "Ort"
    case .address: "Adresse"
    case .serialNumber: "Seriennummer"
    case .version: "Version"
    case .wrongConfiguration: "Nicht richtig eingerichtet"
    case .noCamera: "Keine Kamera"
    case .noMicrophone: "Kein Mikrofon"
    case .noLoudspeaker: "Kein Lautsprecher"
    case .cameraMissing: "Man sieht Sie nicht: Es wurde keine Kamera gefunden. Ist sie eingesteckt?"
    case .cameraInUse: "Man sieht Sie nicht: Ein anderes Programm benutzt die Kamera."
    case .cameraBroken: "Man sieht Sie nicht: Die Kamera funktioniert nicht. Bitte aus- und wieder einstecken."
    case .microphoneMissing: "Man hört Sie nicht: Es wurde kein Mikrofon gefunden. Ist es eingesteckt?"
    case .microphoneInUse: "Man hört Sie nicht: Ein anderes Programm benutzt das Mikrofon."
    case .microphoneBroken: "Man hört Sie nicht: Das Mikrofon funktioniert nicht. Bitte aus- und wieder einstecken."
    case .loudspeakerMissing: "Sie hören nichts: Es wurde kein Lautsprecher gefunden. Ist er eingesteckt?"
    case .loudspeakerInUse: "Sie hören nichts: Ein anderes Programm benutzt den Lautsprecher."
    case .loudspeakerBroken: "Sie hören nichts: Der Lautsprecher funktioniert nicht. Bitte aus- und wieder einstecken."
    case .clockUnset: "Die Uhr ist nicht gestellt"
    case .notAllowedToCall: "Anruf nicht erlaubt"
    case .roomNotFound: "Der Raum wurde nicht gefunden"
    case .otherSideUnreachable: "Gegenstelle nicht erreichbar"
    case .connectionFailed: "Die Verbindung ist gescheitert"
    case .callFailed: "Der Anruf ist gescheitert"
    case .somethingWrong: "Etwas stimmt nicht"
    case .pageServerUnknown: "Server der Seite unbekannt"
    case .pageServerSilent: "Server der Seite antwortet nicht"
    case .pageServerNotTrusted: "Server nicht vertrauenswürdig"
    case .pageNotAvailable: "Die Seite ist nicht verfügbar"
    case .pageTooSlow: "Die Seite braucht zu lange"
    case .pageInCircles: "Die Seite führt im Kreis"
    case .pageTooLarge: "Die Seite ist zu groß"
    case .pageBrokeDown: "Die Seite ist abgestürzt"
    case .pageHangs: "Die Seite reagiert nicht"
    case .pageNeedsMemory: "Die Seite braucht zu viel Speicher"
    case .pageCannotRun: "Die Seite kann nicht ausgeführt werden"
    case .pageNotLoaded: "Die Seite konnte nicht geladen werden"
    case .noMonitor: "Kein Bildschirm"
    case .noConnector: "Diesen Anschluss gibt es nicht"
    case .monitorUnusable: "Bildschirm passt nicht zur Konfiguration"
    case .displayInUse: "Der Bildschirm wird anderweitig benutzt"
    case .displayForbidden: "Zugriff auf den Bildschirm verweigert"
    case .displayBroken: "Der Bildschirm funktioniert nicht"
    }
  }
}
