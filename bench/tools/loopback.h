/* Sockets of the loopback interface, and waiting for them. Each function ends the process when the system refuses. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <stdbool.h>
#include <stdint.h>

/* Listens on any free port of 127.0.0.1 and stores its number. */
int listen_loopback(int *port);
/*
 * Accepts every connection that waits, non-blocking, and calls `opened` with its descriptor. One whose descriptor is `limit`
 * or more is closed and reported as a fault.
 */
void accept_loopback(int listener, int limit, void (*opened)(int fd));
/* Returns a non-blocking connection to 127.0.0.1, or -1 when it is refused. */
int connect_loopback(int port);

int open_epoll(void);
/* Has epoll report `token` when the descriptor can be read, and when it can be written if `writing`. */
void watch(int epoll, int fd, uint32_t token, bool writing);
void watch_writing(int epoll, int fd, uint32_t token, bool writing);

#endif
