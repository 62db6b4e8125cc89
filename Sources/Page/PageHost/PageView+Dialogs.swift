import BridgeMessages
import CWebKit

/// `alert`, `confirm` and `prompt`: asked on the stage, answered by whoever stands there, or by itself when nobody does.
extension PageView {
  func connectDialogs() {
    let asked: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, dialog, data in
      PageView.from(data).open(dialog)
      return 1
    }
    connect("script-dialog", unsafeBitCast(asked, to: GCallback.self))
  }

  private func open(_ dialog: OpaquePointer) {
    let kind: DialogOpen.Kind
    switch webkit_script_dialog_get_dialog_type(dialog) {
    case WEBKIT_SCRIPT_DIALOG_ALERT: kind = .alert
    case WEBKIT_SCRIPT_DIALOG_CONFIRM: kind = .confirm
    case WEBKIT_SCRIPT_DIALOG_PROMPT: kind = .prompt
    default:
      // `beforeunload`: nobody is there to be asked whether they want to leave.
      webkit_script_dialog_confirm_set_confirmed(dialog, 1)
      return
    }
    let number = PageDialog.nextNumber()
    dialogs[number] = PageDialog(dialog: webkit_script_dialog_ref(dialog), number: number, view: self, seconds: engine.page.dialogTimeout)
    let value = kind == .prompt ? webkit_script_dialog_prompt_get_default_text(dialog).map { String(cString: $0) } : nil
    owner.pageView(
      self,
      says: DialogOpen(
        dialog: number, kind: kind, origin: NavigationPolicy.origin(of: url) ?? "null",
        text: webkit_script_dialog_get_message(dialog).map { String(cString: $0) } ?? "", value: value))
  }

  /// Answers a dialog that is open; false when there is none of that number.
  func answer(_ answer: DialogAnswer) -> Bool {
    guard let dialog = dialogs.removeValue(forKey: answer.dialog) else { return false }
    dialog.finish(accepted: answer.accepted, value: answer.value)
    return true
  }

  /// Nobody answered.
  func expire(_ dialog: PageDialog) {
    guard dialogs.removeValue(forKey: dialog.number) != nil else { return }
    owner.pageView(self, says: DialogCancel(dialog: dialog.number))
    dialog.finish(accepted: false, value: nil)
  }

  /// The page is gone, and its questions with it.
  func cancelDialogs() {
    let open = dialogs
    dialogs = [:]
    for (number, dialog) in open {
      owner.pageView(self, says: DialogCancel(dialog: number))
      dialog.finish(accepted: false, value: nil)
    }
  }
}

/// A dialog that waits for its answer.
final class PageDialog {
  let number: UInt32
  private let dialog: OpaquePointer
  private unowned let view: PageView
  private var timer: guint = 0

  nonisolated(unsafe) private static var lastNumber: UInt32 = 0
  /// Numbers of dialogs; the main thread's.
  static func nextNumber() -> UInt32 {
    lastNumber &+= 1
    return lastNumber
  }

  init(dialog: OpaquePointer, number: UInt32, view: PageView, seconds: Double) {
    self.dialog = dialog
    self.number = number
    self.view = view
    timer = g_timeout_add(
      guint(min(max(seconds, 0.1), 86_400) * 1000),
      { data in
        let dialog = unsafe Unmanaged<PageDialog>.fromOpaque(data!).takeUnretainedValue()
        dialog.timer = 0
        dialog.view.expire(dialog)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Gives the page its answer and lets it go on.
  func finish(accepted: Bool, value: String?) {
    if timer != 0 { g_source_remove(timer) }
    timer = 0
    switch webkit_script_dialog_get_dialog_type(dialog) {
    case WEBKIT_SCRIPT_DIALOG_CONFIRM: webkit_script_dialog_confirm_set_confirmed(dialog, accepted ? 1 : 0)
    case WEBKIT_SCRIPT_DIALOG_PROMPT where accepted:
      let text = value ?? webkit_script_dialog_prompt_get_default_text(dialog).map { String(cString: $0) } ?? ""
      webkit_script_dialog_prompt_set_text(dialog, text)
    default: break
    }
    webkit_script_dialog_close(dialog)
    webkit_script_dialog_unref(dialog)
  }
}
