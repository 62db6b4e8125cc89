#pragma once
#include <glib-unix.h>
#include <jsc/jsc.h>
#include <stdio.h>
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

/// The settings that the host handed over when it started this process: the socket's path and the admitted origins. The caller frees both.
static inline gboolean read_user_data(GVariant *data, char **socket, char ***origins) {
  if (!data || !g_variant_is_of_type(data, G_VARIANT_TYPE("(sas)"))) return FALSE;
  g_variant_get(data, "(s^as)", socket, origins);
  return TRUE;
}

/// Console messages go to the standard output: each line at once, also into a file.
static inline void write_lines_at_once(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
