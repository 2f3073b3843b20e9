// SPDX-License-Identifier: Apache-2.0
// What Swift cannot call of this library (variadics, cast macros), and nothing else.
#pragma once
#include <gnutls/gnutls.h>
#include <microhttpd.h>

typedef void *_Nullable (*cmicrohttpd_target_seen)(void *_Nullable cls, const char *_Nonnull uri,
                                                   struct MHD_Connection *_Nonnull connection);

// One daemon in external epoll mode on a listening socket of the caller's. `options` ends with MHD_OPTION_END;
// `is_tls` is 1 where it holds a certificate and a key.
static inline struct MHD_Daemon *_Nullable cmicrohttpd_start(
    MHD_socket listener, int is_tls, const struct MHD_OptionItem *_Nonnull options, void *_Nonnull cls,
    MHD_AccessHandlerCallback _Nonnull access, cmicrohttpd_target_seen _Nonnull target_seen,
    MHD_NotifyConnectionCallback _Nonnull connection_changed, MHD_RequestCompletedCallback _Nonnull completed,
    size_t (*_Nonnull unescape)(void *_Nullable cls, struct MHD_Connection *_Nullable connection,
                                char *_Nonnull text)) {
  return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (is_tls ? MHD_USE_TLS : 0), 0, NULL, NULL, access, cls,
                          MHD_OPTION_LISTEN_SOCKET, listener,
                          MHD_OPTION_URI_LOG_CALLBACK, target_seen, cls,
                          MHD_OPTION_NOTIFY_CONNECTION, connection_changed, cls,
                          MHD_OPTION_NOTIFY_COMPLETED, completed, cls,
                          MHD_OPTION_UNESCAPE_CALLBACK, unescape, cls,
                          MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline enum MHD_Result cmicrohttpd_answers_nothing(
    void *_Nullable cls, struct MHD_Connection *_Nonnull connection, const char *_Nonnull url,
    const char *_Nonnull method, const char *_Nonnull version, const char *_Nullable data, size_t *_Nonnull size,
    void *_Nullable *_Nonnull context) {
  return MHD_NO;
}

// 1 where a daemon that listens nowhere starts with the certificate, key and priorities of `options`.
static inline int cmicrohttpd_takes_identity(const struct MHD_OptionItem *_Nonnull options) {
  struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_TLS | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
                                               cmicrohttpd_answers_nothing, NULL, MHD_OPTION_ARRAY, options,
                                               MHD_OPTION_END);
  if (daemon == NULL) return 0;
  MHD_stop_daemon(daemon);
  return 1;
}

// The connection's TLS session (`gnutls_session_t`); NULL on a plain one.
static inline void *_Nullable cmicrohttpd_tls_session(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info == NULL ? NULL : info->tls_session;
}

// Encrypts and sends what the socket takes at once; a negative number where it takes nothing.
static inline ssize_t cmicrohttpd_tls_send(void *_Nonnull session, const void *_Nonnull bytes, size_t count) {
  return gnutls_record_send((gnutls_session_t)session, bytes, count);
}

// The descriptor that is readable whenever MHD_run has something to do; -1 when there is none.
static inline int cmicrohttpd_epoll_descriptor(struct MHD_Daemon *_Nonnull daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info == NULL ? -1 : info->epoll_fd;
}

static inline int cmicrohttpd_socket(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

static inline const struct sockaddr *_Nullable cmicrohttpd_peer(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

static inline void *_Nullable cmicrohttpd_socket_context(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

// Bytes from the method's first to the empty line's last; 0 before the head is complete.
static inline size_t cmicrohttpd_head_size(struct MHD_Connection *_Nonnull connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}
