#pragma once
// SHA-1 on a SHA_CTX is deprecated in favour of an interface that allocates per message.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/x509_vfy.h>

// Swift does not see constants that are made by function-like macros.
static const uint64_t OPTION_NO_QUERY_MTU = SSL_OP_NO_QUERY_MTU;
static const uint64_t OPTION_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t OPTION_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t OPTION_CIPHER_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE;
