// libmicrohttpd starts through a variadic function, which Swift does not see.
#pragma once
#include <microhttpd.h>

/// Called with the target of a request as it was sent; gives back the request's context.
typedef void *(*http_begin_callback)(void *context, const char *target, struct MHD_Connection *connection);

/// Starts a daemon with a thread of its own on `address`. `key` and `certificate` are PEM text, or NULL for plain HTTP. `idle_seconds` closes idle connections.
static inline struct MHD_Daemon *http_daemon_start(
    const struct sockaddr *address, http_begin_callback begin, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed, void *context, unsigned idle_seconds,
    unsigned connections, const char *key, const char *certificate) {
  unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  if (address->sa_family == AF_INET6) flags |= MHD_USE_IPv6;
  if (key && certificate) flags |= MHD_USE_TLS;
  struct MHD_OptionItem secure[] = {
      {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key}, {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate}, {MHD_OPTION_END, 0, NULL}};
  struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
  return MHD_start_daemon(
      flags, 0, NULL, NULL, handler, context, MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_URI_LOG_CALLBACK, begin, context, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_ARRAY,
      key && certificate ? secure : none, MHD_OPTION_END);
}

/// The port the daemon is bound to, 0 when unknown.
static inline uint16_t http_daemon_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *information = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return information ? information->port : 0;
}

/// The socket address of the client, or NULL.
static inline const struct sockaddr *http_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return information ? information->client_addr : NULL;
}
