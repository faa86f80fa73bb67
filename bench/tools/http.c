#define _GNU_SOURCE
#include "http.h"

#include <string.h>
#include <strings.h>

/* Returns the value of a header line that has this lower-case name, or NULL. Lines end with CR LF. */
static const char *value_of(const char *line, const char *end, const char *name) {
  size_t length = strlen(name);
  if ((size_t)(end - line) <= length || strncasecmp(line, name, length) != 0 || line[length] != ':') return NULL;
  line += length + 1;
  while (line < end && *line == ' ') line += 1;
  return line;
}

static bool read_length(const char *text, const char *end, size_t *length) {
  if (text == end) return false;
  *length = 0;
  for (; text < end; text += 1) {
    if (*text < '0' || *text > '9' || *length > HTTP_LIMIT) return false;
    *length = *length * 10 + (size_t)(*text - '0');
  }
  return true;
}

enum http_result read_http(const char *data, size_t length, bool needs_length, struct http_message *message) {
  const char *blank = memmem(data, length, "\r\n\r\n", 4);
  if (blank == NULL) return length > HTTP_LIMIT ? HTTP_UNREADABLE : HTTP_INCOMPLETE;
  *message = (struct http_message){.head = data, .head_length = (size_t)(blank + 4 - data), .body = blank + 4};
  bool has_length = false;
  const char *line = memmem(data, message->head_length, "\r\n", 2);
  while (line < blank) {
    line += 2;
    const char *end = memmem(line, (size_t)(blank + 2 - line), "\r\n", 2);
    const char *value;
    if ((value = value_of(line, end, "content-length")) != NULL) {
      if (!read_length(value, end, &message->body_length)) return HTTP_UNREADABLE;
      has_length = true;
    } else if (value_of(line, end, "transfer-encoding") != NULL) {
      return HTTP_UNREADABLE;
    } else if ((value = value_of(line, end, "connection")) != NULL) {
      message->closes = (size_t)(end - value) == 5 && strncasecmp(value, "close", 5) == 0;
    }
    line = end;
  }
  size_t total = message->head_length + message->body_length;
  if (total > HTTP_LIMIT || (needs_length && !has_length)) return HTTP_UNREADABLE;
  return total > length ? HTTP_INCOMPLETE : HTTP_COMPLETE;
}
