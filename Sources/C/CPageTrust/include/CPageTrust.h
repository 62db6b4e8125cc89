// A GIO module: WebKit's network process loads it, and with it trusts what the configuration names.
//
// PARLOR_PAGE_ANCHORS   a PEM file with all authorities that are trusted
// PARLOR_PAGE_PINS      "HOST PIN PIN…": HOST's certificate has to have one of these keys (SHA-256 of the subject public key info, base64)
//
// The module is a TLS backend named `parlor`, which GIO_USE_TLS chooses: it is GnuTLS's but for the database of authorities. WebKit has no other way to
// add one for everything that a page loads.
#pragma once
#include <gio/gio.h>

/// Called by GIO when it has loaded the module.
void g_io_module_load(GIOModule *module);
void g_io_module_unload(GIOModule *module);
char **g_io_module_query(void);
