/* The requests of the load generator: forms written by bench/requests.ts, whose digits change from message to message. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stddef.h>
#include <stdint.h>

struct request {
  const char *data;
  size_t length;
};

/* Reads the forms, which a zero byte ends each. Ends the process when the file cannot be read or breaks a limit. */
void read_forms(const char *path);

/* Returns the request of the n-th message, valid until the next call. */
struct request request_of(uint32_t n);

#endif
