#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

/* What MHD_start_daemon is told. The callbacks get `context`, which must outlive the daemon. */
struct cmicrohttpd_settings {
  unsigned int connection_limit;
  unsigned int idle_seconds;
  size_t connection_memory_limit;
  /* PEM texts, read while the daemon starts; NULL for plain HTTP. */
  const char *certificate;
  const char *private_key;
  void *context;
  MHD_AccessHandlerCallback access;
  void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection_changed;
};

/* Leaves escapes as they were sent: decoding before routing lets two spellings reach one route, and a %00
   would end the path early. */
static inline size_t cmicrohttpd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void) context;
  (void) connection;
  return strlen(text);
}

/* MHD_start_daemon is variadic, which Swift cannot call. Without MHD_USE_ERROR_LOG the library is silent.

   MHD_OPTION_STRICT_FOR_CLIENT stays 0: strictness in 0.9.75 adds two checks, of spaces in the target and of a
   missing Host, that are made in Swift anyway, and its own refusal of the latter sends its head twice. */
static inline struct MHD_Daemon *cmicrohttpd_start_daemon(const struct cmicrohttpd_settings *settings) {
  /* TLS 1.2 or newer, with what GnuTLS holds for good. */
  struct MHD_OptionItem tls[] = {
      {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *) settings->certificate},
      {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *) settings->private_key},
      {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
      {MHD_OPTION_END, 0, NULL}};
  struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;
  return MHD_start_daemon(
      settings->certificate == NULL ? flags : flags | MHD_USE_TLS, 0, NULL, NULL,
      settings->access, settings->context,
      MHD_OPTION_ARRAY, settings->certificate == NULL ? plain : tls,
      MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory_limit,
      MHD_OPTION_STRICT_FOR_CLIENT, 0,
      MHD_OPTION_UNESCAPE_CALLBACK, &cmicrohttpd_keep_escapes, NULL,
      MHD_OPTION_URI_LOG_CALLBACK, settings->target, settings->context,
      MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,
      MHD_OPTION_NOTIFY_CONNECTION, settings->connection_changed, settings->context,
      MHD_OPTION_END);
}

/* The end of a body that has no bytes. */
static inline ssize_t cmicrohttpd_end_body(void *context, uint64_t position, char *buffer, size_t size) {
  (void) context;
  (void) position;
  (void) buffer;
  (void) size;
  return MHD_CONTENT_READER_END_OF_STREAM;
}

/* A response that says nothing of a length. 0.9.75 knows no other way than one of unknown length for a client
   that must not be sent chunks, and closes the connection after it. NULL when there is no memory. */
static inline struct MHD_Response *cmicrohttpd_create_response_without_length(void) {
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1, &cmicrohttpd_end_body, NULL, NULL);
  if (response != NULL &&
      MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END) != MHD_YES) {
    MHD_destroy_response(response);
    return NULL;
  }
  return response;
}

/* The client's address, owned by the connection; NULL when the library does not know it. */
static inline const struct sockaddr *cmicrohttpd_get_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return information == NULL ? NULL : information->client_addr;
}

/* The connection's socket, which the library closes; -1 when it does not know. */
static inline int cmicrohttpd_get_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return information == NULL ? -1 : information->connect_fd;
}

/* What the connection's first notification has left with it; NULL when nothing. */
static inline void *cmicrohttpd_get_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return information == NULL ? NULL : information->socket_context;
}

/* Bytes of the request's head with its line ends; 0 when the library does not know. */
static inline size_t cmicrohttpd_get_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return information == NULL ? 0 : information->header_size;
}

#endif
