#pragma once
#include <glib-unix.h>
#include <jsc/jsc.h>
#include <webkit/webkit-web-process-extension.h>

// Swift sees neither variadic functions nor macros that cast.

/// Connects `handler` to the signal `name` of `instance`, for good.
static inline void signal_connect(gpointer instance, const char *name, GCallback handler, gpointer data) {
  g_signal_connect_data(instance, name, handler, data, NULL, (GConnectFlags)0);
}

/// A message of one 32-bit number, a flag and a text, for the page's view.
static inline void send_to_view(WebKitWebPage *page, const char *name, guint32 number, gboolean flag, const char *text) {
  webkit_web_page_send_message_to_view(page, webkit_user_message_new(name, g_variant_new("(ubs)", number, flag, text)), NULL, NULL, NULL);
}

/// The settings that the host handed over when it started this process: the socket's path and the admitted origins, which the caller frees, and whether
/// the page's console is wanted in the log.
static inline gboolean read_user_data(GVariant *data, char **socket, char ***origins, gboolean *tells_console) {
  if (!data || !g_variant_is_of_type(data, G_VARIANT_TYPE("(sasb)"))) return FALSE;
  g_variant_get(data, "(s^asb)", socket, origins, tells_console);
  return TRUE;
}

/// A console message as a line: where it was written, and what.
static inline char *console_line(WebKitConsoleMessage *message) {
  return g_strdup_printf("%s:%u: %s", webkit_console_message_get_source_id(message), webkit_console_message_get_line(message), webkit_console_message_get_text(message));
}
