#include "CReference.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>

struct reference_dtls {
  SSL_CTX *ends[2];
};

static int accept_any(X509_STORE_CTX *store, void *unused) {
  (void)store, (void)unused;
  return 1;
}

static SSL_CTX *make_end(void) {
  SSL_CTX *context = SSL_CTX_new(DTLS_method());
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = X509_new();
  bool is_made = context && key && certificate;
  if (is_made) {
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -86400);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_NAME *name = X509_get_subject_name(certificate);
    is_made = X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"reference", -1, -1, 0) == 1 &&
              X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
              X509_sign(certificate, key, EVP_sha256()) != 0 && SSL_CTX_use_certificate(context, certificate) == 1 &&
              SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
              SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1 &&
              SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256") == 1 && SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 &&
              SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM") == 0;
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(context, accept_any, NULL);
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (is_made) return context;
  SSL_CTX_free(context);
  return NULL;
}

struct reference_dtls *reference_dtls_new(void) {
  struct reference_dtls *context = calloc(1, sizeof *context);
  if (!context) return NULL;
  context->ends[0] = make_end();
  context->ends[1] = make_end();
  if (context->ends[0] && context->ends[1]) return context;
  reference_dtls_free(context);
  return NULL;
}

void reference_dtls_free(struct reference_dtls *context) {
  if (!context) return;
  SSL_CTX_free(context->ends[0]);
  SSL_CTX_free(context->ends[1]);
  free(context);
}

static bool shake_hands(struct reference_dtls *context) {
  SSL *client = SSL_new(context->ends[0]), *server = SSL_new(context->ends[1]);
  BIO *one = BIO_new(BIO_s_mem()), *other = BIO_new(BIO_s_mem());
  if (!client || !server || !one || !other) abort();
  BIO_set_mem_eof_return(one, -1);
  BIO_set_mem_eof_return(other, -1);
  BIO_up_ref(one);
  BIO_up_ref(other);
  SSL_set_bio(client, one, other);
  SSL_set_bio(server, other, one);
  SSL_set_mtu(client, 1200);
  SSL_set_mtu(server, 1200);
  SSL_set_connect_state(client);
  SSL_set_accept_state(server);
  for (int turn = 0; turn < 20 && !(SSL_is_init_finished(client) && SSL_is_init_finished(server)); turn++)
    SSL_do_handshake(turn % 2 ? server : client);
  uint8_t keys[56];
  const char *label = "EXTRACTOR-dtls_srtp";
  bool is_done = SSL_is_init_finished(client) && SSL_is_init_finished(server) &&
                 SSL_export_keying_material(client, keys, sizeof keys, label, 19, NULL, 0, 0) == 1 &&
                 SSL_export_keying_material(server, keys, sizeof keys, label, 19, NULL, 0, 0) == 1;
  SSL_free(client);
  SSL_free(server);
  return is_done;
}

long reference_dtls_handshakes(struct reference_dtls *context, long count) {
  long done = 0;
  for (long i = 0; i < count; i++) done += shake_hands(context);
  return done;
}
