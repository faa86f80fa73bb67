/* HTTP/1.1 messages with a Content-Length, as the load generator and the receiver meet them. */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>

struct http_message {
  const char *head;
  size_t head_length; /* the blank line included */
  const char *body;
  size_t body_length;
  bool closes; /* Connection: close */
};

enum http_result { HTTP_INCOMPLETE, HTTP_COMPLETE, HTTP_UNREADABLE };

/* Larger messages are unreadable. */
#define HTTP_LIMIT 65536

/*
 * Reads the message that starts at `data`. A request without Content-Length has no body; `needs_length` is for
 * responses, whose end would be unknown without it. Chunked bodies are unreadable.
 */
enum http_result read_http(const char *data, size_t length, bool needs_length, struct http_message *message);

#endif
