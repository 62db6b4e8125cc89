// libcurl sets and reads options through variadic functions, which Swift does not see: one typed function for each kind.
#pragma once
#include <curl/curl.h>

/// How a proxy may want to know who asks.
static const long curl_password_schemes = CURLAUTH_BASIC | CURLAUTH_DIGEST;
static inline CURLcode curl_set_number(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode curl_set_text(CURL *easy, CURLoption option, const char *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode curl_set_pointer(CURL *easy, CURLoption option, void *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode curl_set_writer(CURL *easy, CURLoption option, curl_write_callback value) { return curl_easy_setopt(easy, option, value); }
static inline CURLcode curl_set_tls_setup(CURL *easy, curl_ssl_ctx_callback value) { return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value); }

static inline CURLcode curl_get_number(CURL *easy, CURLINFO information, long *value) { return curl_easy_getinfo(easy, information, value); }
static inline CURLcode curl_get_text(CURL *easy, CURLINFO information, const char **value) { return curl_easy_getinfo(easy, information, value); }
static inline CURLcode curl_get_certificates(CURL *easy, struct curl_certinfo **value) { return curl_easy_getinfo(easy, CURLINFO_CERTINFO, value); }

static inline CURLcode curl_global_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }
