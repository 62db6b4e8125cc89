#include "CPageTrust.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

// MARK: The database

typedef struct {
  GTlsDatabase parent;
  GTlsDatabase *anchors;
  char **pins;  // host, then its pins
} PageTrust;
typedef struct {
  GTlsDatabaseClass parent;
} PageTrustClass;

G_DEFINE_DYNAMIC_TYPE(PageTrust, page_trust, G_TYPE_TLS_DATABASE)

/// The pin of a certificate's key; NULL when it cannot be read.
static char *pin_of(GTlsCertificate *certificate) {
  GByteArray *encoded = NULL;
  gnutls_x509_crt_t read;
  gnutls_pubkey_t key;
  gnutls_datum_t info = {NULL, 0};
  char *pin = NULL;
  g_object_get(certificate, "certificate", &encoded, NULL);
  if (!encoded) return NULL;
  gnutls_datum_t data = {encoded->data, encoded->len};
  if (gnutls_x509_crt_init(&read) == 0) {
    if (gnutls_pubkey_init(&key) == 0) {
      if (gnutls_x509_crt_import(read, &data, GNUTLS_X509_FMT_DER) == 0 && gnutls_pubkey_import_x509(key, read, 0) == 0 &&
          gnutls_pubkey_export2(key, GNUTLS_X509_FMT_DER, &info) == 0) {
        guint8 digest[32];
        gsize length = sizeof digest;
        GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
        g_checksum_update(sum, info.data, info.size);
        g_checksum_get_digest(sum, digest, &length);
        g_checksum_free(sum);
        pin = g_base64_encode(digest, sizeof digest);
        gnutls_free(info.data);
      }
      gnutls_pubkey_deinit(key);
    }
    gnutls_x509_crt_deinit(read);
  }
  g_byte_array_unref(encoded);
  return pin;
}

static gboolean is_pinned(PageTrust *trust, GTlsCertificate *certificate, GSocketConnectable *identity) {
  if (!trust->pins || !trust->pins[0] || !identity) return TRUE;
  const char *host = NULL;
  if (G_IS_NETWORK_ADDRESS(identity)) host = g_network_address_get_hostname(G_NETWORK_ADDRESS(identity));
  if (G_IS_NETWORK_SERVICE(identity)) host = g_network_service_get_domain(G_NETWORK_SERVICE(identity));
  if (!host || g_ascii_strcasecmp(host, trust->pins[0]) != 0) return TRUE;
  char *pin = pin_of(certificate);
  gboolean found = pin && g_strv_contains((const char *const *)trust->pins + 1, pin);
  g_free(pin);
  return found;
}

static GTlsCertificateFlags verify_chain(GTlsDatabase *database, GTlsCertificate *chain, const char *purpose, GSocketConnectable *identity,
                                         GTlsInteraction *interaction, GTlsDatabaseVerifyFlags flags, GCancellable *cancellable, GError **error) {
  PageTrust *trust = (PageTrust *)database;
  GTlsCertificateFlags wrong = g_tls_database_verify_chain(trust->anchors, chain, purpose, identity, interaction, flags, cancellable, error);
  return is_pinned(trust, chain, identity) ? wrong : wrong | G_TLS_CERTIFICATE_GENERIC_ERROR;
}

static void page_trust_finalize(GObject *object) {
  PageTrust *trust = (PageTrust *)object;
  g_clear_object(&trust->anchors);
  g_strfreev(trust->pins);
  G_OBJECT_CLASS(page_trust_parent_class)->finalize(object);
}

static void page_trust_class_init(PageTrustClass *class) {
  G_OBJECT_CLASS(class)->finalize = page_trust_finalize;
  G_TLS_DATABASE_CLASS(class)->verify_chain = verify_chain;
}
static void page_trust_class_finalize(PageTrustClass *class) {}
static void page_trust_init(PageTrust *trust) {}

// MARK: The backend

typedef struct {
  GObject parent;
  GTlsBackend *original;
  GTlsDatabase *database;
} PageTrustBackend;
typedef struct {
  GObjectClass parent;
} PageTrustBackendClass;

static void backend_interface_init(GTlsBackendInterface *interface);

G_DEFINE_DYNAMIC_TYPE_EXTENDED(PageTrustBackend, page_trust_backend, G_TYPE_OBJECT, 0,
                               G_IMPLEMENT_INTERFACE_DYNAMIC(G_TYPE_TLS_BACKEND, backend_interface_init))

static void page_trust_backend_init(PageTrustBackend *backend) {
  GIOExtensionPoint *point = g_io_extension_point_lookup(G_TLS_BACKEND_EXTENSION_POINT_NAME);
  GIOExtension *gnutls = point ? g_io_extension_point_get_extension_by_name(point, "gnutls") : NULL;
  if (gnutls) backend->original = g_object_new(g_io_extension_get_type(gnutls), NULL);
}

static void page_trust_backend_finalize(GObject *object) {
  PageTrustBackend *backend = (PageTrustBackend *)object;
  g_clear_object(&backend->original);
  g_clear_object(&backend->database);
  G_OBJECT_CLASS(page_trust_backend_parent_class)->finalize(object);
}

static void page_trust_backend_class_init(PageTrustBackendClass *class) { G_OBJECT_CLASS(class)->finalize = page_trust_backend_finalize; }
static void page_trust_backend_class_finalize(PageTrustBackendClass *class) {}

static GTlsDatabase *default_database(GTlsBackend *object) {
  static GMutex lock;
  PageTrustBackend *backend = (PageTrustBackend *)object;
  g_mutex_lock(&lock);
  if (!backend->database && backend->original) {
    GError *error = NULL;
    PageTrust *trust = g_object_new(page_trust_get_type(), NULL);
    const char *file = g_getenv("PARLOR_PAGE_ANCHORS"), *pins = g_getenv("PARLOR_PAGE_PINS");
    if (pins) trust->pins = g_strsplit(pins, " ", -1);
    // A file that cannot be read leaves nobody trusted.
    trust->anchors = file ? g_initable_new(g_tls_backend_get_file_database_type(backend->original), NULL, &error, "anchors", file, NULL)
                          : g_tls_backend_get_default_database(backend->original);
    if (trust->anchors) {
      backend->database = G_TLS_DATABASE(trust);
    } else {
      g_warning("%s: %s", file, error ? error->message : "no database");
      g_clear_error(&error);
      g_object_unref(trust);
    }
  }
  GTlsDatabase *database = backend->database ? g_object_ref(backend->database) : NULL;
  g_mutex_unlock(&lock);
  return database;
}

static gboolean supports_tls(GTlsBackend *backend) { return ((PageTrustBackend *)backend)->original != NULL; }

// These take no instance: the types are those of GnuTLS's backend, which is found again by its name.
static GTlsBackend *original(void) { return ((PageTrustBackend *)g_tls_backend_get_default())->original; }
static GType certificate_type(void) { return g_tls_backend_get_certificate_type(original()); }
static GType client_type(void) { return g_tls_backend_get_client_connection_type(original()); }
static GType server_type(void) { return g_tls_backend_get_server_connection_type(original()); }
static GType file_database_type(void) { return g_tls_backend_get_file_database_type(original()); }
static GType datagram_client_type(void) { return g_tls_backend_get_dtls_client_connection_type(original()); }
static GType datagram_server_type(void) { return g_tls_backend_get_dtls_server_connection_type(original()); }

static void backend_interface_init(GTlsBackendInterface *interface) {
  interface->supports_tls = supports_tls;
  interface->supports_dtls = supports_tls;
  interface->get_certificate_type = certificate_type;
  interface->get_client_connection_type = client_type;
  interface->get_server_connection_type = server_type;
  interface->get_file_database_type = file_database_type;
  interface->get_dtls_client_connection_type = datagram_client_type;
  interface->get_dtls_server_connection_type = datagram_server_type;
  interface->get_default_database = default_database;
}

__attribute__((visibility("default"))) void g_io_module_load(GIOModule *module) {
  g_type_module_use(G_TYPE_MODULE(module));
  page_trust_register_type(G_TYPE_MODULE(module));
  page_trust_backend_register_type(G_TYPE_MODULE(module));
  g_io_extension_point_register(G_TLS_BACKEND_EXTENSION_POINT_NAME);
  g_io_extension_point_implement(G_TLS_BACKEND_EXTENSION_POINT_NAME, page_trust_backend_get_type(), "parlor", -100);
}

__attribute__((visibility("default"))) void g_io_module_unload(GIOModule *module) {}

__attribute__((visibility("default"))) char **g_io_module_query(void) {
  return g_strdupv((char *[]){G_TLS_BACKEND_EXTENSION_POINT_NAME, NULL});
}
