#pragma once
#include <gdk/wayland/gdkwayland.h>
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <webkit/webkit.h>

// Swift sees neither variadic functions nor macros that cast.

/// Connects `handler` to the signal `name` of `instance`; `data` is passed to it last.
static inline gulong signal_connect(gpointer instance, const char *name, GCallback handler, gpointer data) {
  return g_signal_connect_data(instance, name, handler, data, NULL, (GConnectFlags)0);
}

static inline void disconnect_signals(gpointer instance, gpointer data) { g_signal_handlers_disconnect_by_data(instance, data); }

/// A view that shares everything with others but what it shows. The caller owns it.
static inline GtkWidget *new_web_view(WebKitWebContext *context, WebKitNetworkSession *session, WebKitSettings *settings, WebKitWebsitePolicies *policies) {
  return GTK_WIDGET(g_object_ref_sink(g_object_new(
      WEBKIT_TYPE_WEB_VIEW, "web-context", context, "network-session", session, "settings", settings, "website-policies", policies, NULL)));
}

/// A context whose web processes are held to `memory`'s limits.
static inline WebKitWebContext *new_web_context(WebKitMemoryPressureSettings *memory) {
  return WEBKIT_WEB_CONTEXT(g_object_new(WEBKIT_TYPE_WEB_CONTEXT, "memory-pressure-settings", memory, NULL));
}

/// What the page extension is told when its process starts.
static inline void set_extension_data(WebKitWebContext *context, const char *socket, const char *const *origins, gboolean tells_console) {
  webkit_web_context_set_web_process_extensions_initialization_user_data(context, g_variant_new("(s^asb)", socket, origins, tells_console));
}

/// Reads a message of the extension: number, flag, text. The text is the caller's.
static inline gboolean read_extension_message(WebKitUserMessage *message, guint32 *number, gboolean *flag, char **text) {
  GVariant *parameters = webkit_user_message_get_parameters(message);
  if (!parameters || !g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ubs)"))) return FALSE;
  g_variant_get(parameters, "(ubs)", number, flag, text);
  return TRUE;
}

static inline WebKitWebView *web_view(gpointer widget) { return (WebKitWebView *)widget; }
static inline gboolean is_web_view(gpointer widget) { return WEBKIT_IS_WEB_VIEW(widget); }
static inline gboolean is_navigation_decision(gpointer decision) { return WEBKIT_IS_NAVIGATION_POLICY_DECISION(decision); }
static inline WebKitNavigationPolicyDecision *navigation_decision(gpointer decision) { return (WebKitNavigationPolicyDecision *)decision; }
static inline WebKitResponsePolicyDecision *response_decision(gpointer decision) { return (WebKitResponsePolicyDecision *)decision; }
static inline GtkWindow *window_of(GtkWidget *widget) { return GTK_WINDOW(widget); }
/// The Wayland surface of a window that is realized; NULL on another display.
static inline struct wl_surface *wayland_surface(GtkWidget *window) {
  GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
  return surface && GDK_IS_WAYLAND_SURFACE(surface) ? gdk_wayland_surface_get_wl_surface(surface) : NULL;
}
static inline struct wl_display *wayland_display(GdkDisplay *display) {
  return GDK_IS_WAYLAND_DISPLAY(display) ? gdk_wayland_display_get_wl_display(display) : NULL;
}
static inline gboolean is_error(const GError *error, GQuark domain, int code) { return error && error->domain == domain && error->code == code; }

/// Sound and video play without a gesture.
static inline WebKitWebsitePolicies *make_website_policies(void) {
  return webkit_website_policies_new_with_policies("autoplay", WEBKIT_AUTOPLAY_ALLOW, NULL);
}

static inline WebKitPolicyDecision *policy_decision(WebKitResponsePolicyDecision *decision) { return (WebKitPolicyDecision *)decision; }
static inline WebKitPolicyDecision *base_decision(WebKitNavigationPolicyDecision *decision) { return (WebKitPolicyDecision *)decision; }
static inline void add_style(GtkCssProvider *style) {
  gtk_style_context_add_provider_for_display(gdk_display_get_default(), GTK_STYLE_PROVIDER(style), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
}

/// The certificate as Swift passes on what it does not look into.
struct own_certificate;
static inline struct own_certificate *own_certificate(GTlsCertificate *certificate) { return (struct own_certificate *)certificate; }

/// Answers a request for this side's certificate.
static inline void authenticate_with(WebKitAuthenticationRequest *request, struct own_certificate *certificate) {
  WebKitCredential *credential = webkit_credential_new_for_certificate((GTlsCertificate *)certificate, WEBKIT_CREDENTIAL_PERSISTENCE_FOR_SESSION);
  webkit_authentication_request_authenticate(request, credential);
  webkit_credential_free(credential);
}
