import Base
import BridgeMessages
import CWebKit

/// What a page may not do: leave the admitted origins, open windows, save files, ask for permissions.
extension PageView {
  func connectRefusals() {
    let decide: @convention(c) (OpaquePointer, OpaquePointer, WebKitPolicyDecisionType, gpointer?) -> gboolean = {
      _, decision, type, data in
      PageView.from(data).decide(decision, type)
      return 1
    }
    connect("decide-policy", unsafeBitCast(decide, to: GCallback.self))
    let permission: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, request, data in
      webkit_permission_request_deny(request)
      return 1
    }
    connect("permission-request", unsafeBitCast(permission, to: GCallback.self))
    let query: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, query, _ in
      webkit_permission_state_query_finish(query, WEBKIT_PERMISSION_STATE_DENIED)
      return 1
    }
    connect("query-permission-state", unsafeBitCast(query, to: GCallback.self))
    // Each of these would open something of the engine's own.
    let swallow: @convention(c) (OpaquePointer, OpaquePointer?, gpointer?) -> gboolean = { _, _, _ in 1 }
    for signal in ["show-notification", "print"] { connect(signal, unsafeBitCast(swallow, to: GCallback.self)) }
    let menu: @convention(c) (OpaquePointer, OpaquePointer?, OpaquePointer?, gpointer?) -> gboolean = { _, _, _, _ in 1 }
    connect("context-menu", unsafeBitCast(menu, to: GCallback.self))
    let chooser: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, request, _ in
      webkit_file_chooser_request_cancel(request)
      return 1
    }
    connect("run-file-chooser", unsafeBitCast(chooser, to: GCallback.self))
    let color: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, request, _ in
      webkit_color_chooser_request_cancel(request)
      return 1
    }
    connect("run-color-chooser", unsafeBitCast(color, to: GCallback.self))
    let authenticate: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, request, data in
      PageView.from(data).authenticate(request)
      return 1
    }
    connect("authenticate", unsafeBitCast(authenticate, to: GCallback.self))
  }

  private func decide(_ decision: OpaquePointer, _ type: WebKitPolicyDecisionType) {
    switch type {
    case WEBKIT_POLICY_DECISION_TYPE_RESPONSE: judgeResponse(decision)
    case WEBKIT_POLICY_DECISION_TYPE_NEW_WINDOW_ACTION:
      refuse(decision, "new windows are not opened")
    default:
      switch engine.navigation.verdict(on: address(decision)) {
      case .admitted: webkit_policy_decision_use(base_decision(decision))
      case .refused(let reason): refuse(decision, reason)
      }
    }
  }

  private func address(_ decision: OpaquePointer) -> String {
    let action = webkit_navigation_policy_decision_get_navigation_action(decision)
    return webkit_uri_request_get_uri(webkit_navigation_action_get_request(action)).map { String(cString: $0) } ?? ""
  }

  private func refuse(_ decision: OpaquePointer, _ reason: String) {
    let uri = address(decision)
    Log.notice("refused \(uri): \(reason)")
    owner.pageView(self, says: PageRefused(url: uri, reason: reason))
    // The first address of a load that leads away is that load's failure.
    if !load.isCommitted { load.refusal = LoadFailure(.failed, "the address leads to \(uri): \(reason)") }
    webkit_policy_decision_ignore(base_decision(decision))
  }

  private func authenticate(_ request: OpaquePointer) {
    // Nobody is there to be asked for a password: the server's refusal is the answer. A certificate is configured or not.
    if webkit_authentication_request_get_scheme(request) == WEBKIT_AUTHENTICATION_SCHEME_CLIENT_CERTIFICATE_REQUESTED,
      let certificate = engine.trust.certificate
    {
      authenticate_with(request, certificate)
    } else if webkit_authentication_request_is_for_proxy(request) != 0, webkit_authentication_request_is_retry(request) == 0,
      let username = engine.page.proxy?.username
    {
      let credential = webkit_credential_new(username, engine.page.proxy?.password ?? "", WEBKIT_CREDENTIAL_PERSISTENCE_FOR_SESSION)
      webkit_authentication_request_authenticate(request, credential)
      webkit_credential_free(credential)
    } else {
      webkit_authentication_request_authenticate(request, nil)
    }
  }
}
