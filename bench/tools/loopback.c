#define _GNU_SOURCE
#include "loopback.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "parent.h"

#define BACKLOG 1024

static int required(int result, const char *call) {
  if (result >= 0) return result;
  perror(call);
  exit(1);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* Small messages leave at once (no Nagle delay). */
static void send_at_once(int fd) {
  int on = 1;
  required(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

int listen_loopback(int *port) {
  int fd = required(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  required(bind(fd, (struct sockaddr *)&address, length), "bind");
  required(listen(fd, BACKLOG), "listen");
  required(getsockname(fd, (struct sockaddr *)&address, &length), "getsockname");
  *port = ntohs(address.sin_port);
  return fd;
}

void accept_loopback(int listener, int limit, void (*opened)(int fd)) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    if (fd < limit) {
      send_at_once(fd);
      opened(fd);
    } else {
      tell_fault("too many connections");
      close(fd);
    }
  }
}

int connect_loopback(int port) {
  int fd = required(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  struct sockaddr_in address = loopback(port);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    close(fd);
    return -1;
  }
  send_at_once(fd);
  required(fcntl(fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
  return fd;
}

int open_epoll(void) { return required(epoll_create1(EPOLL_CLOEXEC), "epoll_create1"); }

static void control(int epoll, int operation, int fd, uint32_t token, bool writing) {
  struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0), .data.u32 = token};
  required(epoll_ctl(epoll, operation, fd, &event), "epoll_ctl");
}

void watch(int epoll, int fd, uint32_t token, bool writing) {
  control(epoll, EPOLL_CTL_ADD, fd, token, writing);
}

void watch_writing(int epoll, int fd, uint32_t token, bool writing) {
  control(epoll, EPOLL_CTL_MOD, fd, token, writing);
}
