/* A queue of bytes: received data is appended and parsed from the front, data to send is written from the front. */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* No peer of the bench has more than this waiting. The process ends when one does. */
#define BYTES_LIMIT (64u << 20)

struct bytes {
  char *data;
  size_t start;
  size_t end;
  size_t capacity;
};

static inline char *bytes_front(const struct bytes *bytes) { return bytes->data + bytes->start; }
static inline size_t bytes_length(const struct bytes *bytes) { return bytes->end - bytes->start; }

/* Makes room for `length` bytes and returns where they go; bytes_added says how many were written there. */
char *bytes_room(struct bytes *bytes, size_t length);
void bytes_added(struct bytes *bytes, size_t length);
void bytes_append(struct bytes *bytes, const void *data, size_t length);
/* Removes `length` bytes from the front. */
void bytes_drop(struct bytes *bytes, size_t length);
void bytes_clear(struct bytes *bytes);

enum transfer { TRANSFER_OK, TRANSFER_LATER, TRANSFER_CLOSED };

/* Reads once what the non-blocking socket has. */
enum transfer bytes_receive(struct bytes *bytes, int fd);
/* Writes what the non-blocking socket takes; TRANSFER_LATER when something remains. */
enum transfer bytes_send(struct bytes *bytes, int fd);

#endif
