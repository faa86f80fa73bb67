#include "bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE 65536

char *bytes_room(struct bytes *bytes, size_t length) {
  if (bytes->start > 0 && bytes->end + length > bytes->capacity) {
    memmove(bytes->data, bytes_front(bytes), bytes_length(bytes));
    bytes->end -= bytes->start;
    bytes->start = 0;
  }
  if (bytes->end + length > bytes->capacity) {
    size_t capacity = 2 * (bytes->end + length);
    char *data = capacity > BYTES_LIMIT ? NULL : realloc(bytes->data, capacity);
    if (data == NULL) {
      fprintf(stderr, "%zu bytes wait for a peer: too many\n", bytes_length(bytes));
      exit(1);
    }
    bytes->data = data;
    bytes->capacity = capacity;
  }
  return bytes->data + bytes->end;
}

void bytes_added(struct bytes *bytes, size_t length) { bytes->end += length; }

void bytes_append(struct bytes *bytes, const void *data, size_t length) {
  memcpy(bytes_room(bytes, length), data, length);
  bytes_added(bytes, length);
}

void bytes_drop(struct bytes *bytes, size_t length) {
  bytes->start += length;
  if (bytes->start == bytes->end) bytes_clear(bytes);
}

void bytes_clear(struct bytes *bytes) { bytes->start = bytes->end = 0; }

enum transfer bytes_receive(struct bytes *bytes, int fd) {
  ssize_t length = read(fd, bytes_room(bytes, READ_SIZE), READ_SIZE);
  if (length > 0) {
    bytes_added(bytes, (size_t)length);
    return TRANSFER_OK;
  }
  return length < 0 && (errno == EAGAIN || errno == EINTR) ? TRANSFER_LATER : TRANSFER_CLOSED;
}

enum transfer bytes_send(struct bytes *bytes, int fd) {
  while (bytes_length(bytes) > 0) {
    ssize_t length = write(fd, bytes_front(bytes), bytes_length(bytes));
    if (length < 0) return errno == EAGAIN || errno == EINTR ? TRANSFER_LATER : TRANSFER_CLOSED;
    bytes_drop(bytes, (size_t)length);
  }
  return TRANSFER_OK;
}
