/*
 * The load generator: HTTP/1.1 over kept connections, one request at a time on each.
 *
 *   load PORT[,PORT...] CONNECTIONS FORMS
 *
 * The connections go to the ports in turn. Commands: `start N` sends while fewer than N messages are between their request
 * and their last webhook; `rate R` sends R messages a second, each when it is due, whatever is answered; `stop`; `completed N` says how many messages have gone
 * the whole way; `report`; `ledger FILE` writes a line for each message: number, when it was due and how long its answer
 * took (microseconds; with `start` a message is due when it is sent), status, and the msgId of the answer or `-`.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bytes.h"
#include "http.h"
#include "loopback.h"
#include "messages.h"
#include "parent.h"
#include "requests.h"

#define CONNECTION_LIMIT 1000
#define EVENT_COUNT 256
#define PARENT_TOKEN CONNECTION_LIMIT
#define TIMER_TOKEN (CONNECTION_LIMIT + 1)
#define ACCEPTED 202
#define PORT_LIMIT 64

struct connection {
  int fd; /* -1: to be opened */
  bool busy;
  uint32_t number;
  struct bytes received;
};

struct entry {
  int64_t due_us;
  uint32_t latency_us;
  uint16_t status; /* 0: not answered yet */
  char id[ID_LENGTH];
};

static int epoll, timer;
static int ports[PORT_LIMIT];
static uint32_t port_count;
static struct connection connections[CONNECTION_LIMIT];
static uint32_t connection_count;
/* A ring of the connections without a request: they are used in turn, or the service would close some as idle. */
static uint32_t idle[CONNECTION_LIMIT], idle_start, idle_count;
static struct entry *entries;
static uint32_t sent, answered, accepted, completed, reopened;

enum { STOPPED, BOUNDED, PACED } mode = STOPPED;
static uint32_t bound;
static int64_t pace_start_us;
static uint32_t pace_first;
static double pace_per_us;

static int64_t due_us(uint32_t number) { return pace_start_us + (int64_t)((number - pace_first) / pace_per_us); }

static bool is_due(int64_t now) {
  if (mode == BOUNDED) return sent - completed < bound;
  return mode == PACED && due_us(sent) <= now;
}

static void make_idle(uint32_t index) {
  connections[index].busy = false;
  idle[(idle_start + idle_count++) % CONNECTION_LIMIT] = index;
}

static bool open_connection(uint32_t index) {
  struct connection *connection = &connections[index];
  if (connection->fd >= 0) return true;
  connection->fd = connect_loopback(ports[index % port_count]);
  if (connection->fd < 0) {
    tell_fault("the service refuses connections");
    mode = STOPPED;
    return false;
  }
  watch(epoll, connection->fd, index, false);
  return true;
}

static void send_next(int64_t now) {
  uint32_t index = idle[idle_start];
  if (!open_connection(index)) return;
  idle_start = (idle_start + 1) % CONNECTION_LIMIT;
  idle_count -= 1;
  struct connection *connection = &connections[index];
  connection->busy = true;
  connection->number = sent++;
  entries[connection->number].due_us = mode == PACED ? due_us(connection->number) : now;
  struct request request = request_of(connection->number);
  /* The connection is idle, so its send buffer is empty and takes a whole request. */
  if (write(connection->fd, request.data, request.length) != (ssize_t)request.length)
    tell_fault("a request could not be written");
}

static void set_timer(void) {
  /* Without an idle connection the next answer sends. */
  if (mode != PACED || idle_count == 0) return;
  int64_t us = due_us(sent);
  struct itimerspec due = {.it_value = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &due, NULL);
}

static void send_due(void) {
  if (mode == STOPPED) return;
  int64_t now = now_us();
  while (idle_count > 0 && sent < MESSAGE_LIMIT && is_due(now)) send_next(now);
  if (sent == MESSAGE_LIMIT) {
    tell_fault("the run has too many messages");
    mode = STOPPED;
  }
  set_timer();
}

static void take_answer(struct connection *connection, const struct http_message *answer) {
  struct entry *entry = &entries[connection->number];
  entry->latency_us = (uint32_t)(now_us() - entry->due_us);
  entry->status = (uint16_t)atoi(answer->head + strlen("HTTP/1.1 "));
  static const char mark[] = "\"msgId\":\"";
  const char *id = memmem(answer->body, answer->body_length, mark, strlen(mark));
  if (id != NULL && id + strlen(mark) + ID_LENGTH < answer->body + answer->body_length)
    memcpy(entry->id, id + strlen(mark), ID_LENGTH);
  answered += 1;
  if (entry->status == ACCEPTED) accepted += 1;
  else tell_fault("a request was answered %u: %.*s", entry->status, (int)answer->body_length, answer->body);
}

static void close_connection(uint32_t index) {
  struct connection *connection = &connections[index];
  if (connection->busy) {
    tell_fault("the service closed a connection under a request");
    make_idle(index);
  }
  close(connection->fd);
  connection->fd = -1;
  bytes_clear(&connection->received);
  reopened += 1;
}

static void read_answer(uint32_t index) {
  struct connection *connection = &connections[index];
  enum transfer transfer = bytes_receive(&connection->received, connection->fd);
  if (transfer == TRANSFER_CLOSED) close_connection(index);
  if (transfer != TRANSFER_OK) return;
  struct http_message answer;
  switch (read_http(bytes_front(&connection->received), bytes_length(&connection->received), true, &answer)) {
    case HTTP_INCOMPLETE:
      return;
    case HTTP_UNREADABLE:
      tell_fault("an answer could not be read");
      close_connection(index);
      return;
    case HTTP_COMPLETE:
      break;
  }
  /* 408 on a connection that has no request: the service closes it next. */
  if (!connection->busy) {
    bytes_clear(&connection->received);
    return;
  }
  take_answer(connection, &answer);
  size_t length = answer.head_length + answer.body_length;
  if (bytes_length(&connection->received) > length) tell_fault("more came than one answer");
  bytes_clear(&connection->received);
  make_idle(index);
  if (answer.closes) close_connection(index);
}

static void write_ledger(const char *path) {
  FILE *file = fopen(path, "w");
  for (uint32_t n = 0; file != NULL && n < sent; n += 1) {
    const struct entry *entry = &entries[n];
    const char *id = entry->id[0] == '\0' ? "-" : entry->id;
    fprintf(file, "%u %" PRId64 " %u %u %.*s\n", n, entry->due_us, entry->latency_us, entry->status, ID_LENGTH, id);
  }
  finish_ledger(file, sent);
}

static void handle(const char *name, const char *argument) {
  if (strcmp(name, "completed") == 0) {
    completed = (uint32_t)strtoul(argument, NULL, 10);
  } else if (strcmp(name, "start") == 0) {
    mode = BOUNDED;
    bound = (uint32_t)strtoul(argument, NULL, 10);
    tell_parent("{\"value\":null}");
  } else if (strcmp(name, "rate") == 0) {
    mode = PACED;
    pace_start_us = now_us();
    pace_first = sent;
    pace_per_us = strtod(argument, NULL) / 1e6;
    if (pace_per_us <= 0) mode = STOPPED;
    tell_parent("{\"value\":null}");
  } else if (strcmp(name, "stop") == 0) {
    mode = STOPPED;
    tell_parent("{\"value\":null}");
  } else if (strcmp(name, "report") == 0) {
    tell_parent("{\"value\":{\"sent\":%u,\"answered\":%u,\"accepted\":%u,\"reopened\":%u}}", sent, answered, accepted, reopened);
  } else if (strcmp(name, "ledger") == 0) {
    write_ledger(argument);
  } else {
    tell_parent("{\"error\":\"there is no such command\"}");
  }
}

static void read_ports(char *list) {
  for (char *port = strtok(list, ","); port != NULL && port_count < PORT_LIMIT; port = strtok(NULL, ","))
    ports[port_count++] = atoi(port);
}

int main(int count, char **arguments) {
  if (count != 4) {
    fputs("usage: load PORT[,PORT...] CONNECTIONS FORMS\n", stderr);
    return 1;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the whole group; the bench stops its processes in order. */
  read_ports(arguments[1]);
  connection_count = (uint32_t)atoi(arguments[2]);
  if (port_count < 1 || connection_count < 1 || connection_count > CONNECTION_LIMIT) return 1;
  read_forms(arguments[3]);
  entries = entries_of(sizeof *entries);
  epoll = open_epoll();
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  watch(epoll, timer, TIMER_TOKEN, false);
  watch(epoll, STDIN_FILENO, PARENT_TOKEN, false);
  for (uint32_t index = 0; index < connection_count; index += 1) {
    connections[index].fd = -1;
    if (open_connection(index)) make_idle(index);
  }
  tell_parent("{\"ready\":{}}");
  for (;;) {
    struct epoll_event events[EVENT_COUNT];
    int ready = epoll_wait(epoll, events, EVENT_COUNT, -1);
    for (int i = 0; i < ready; i += 1) {
      uint32_t token = events[i].data.u32;
      uint64_t expirations;
      if (token == PARENT_TOKEN) read_commands(handle);
      else if (token != TIMER_TOKEN) read_answer(token);
      else if (read(timer, &expirations, sizeof expirations) < 0) continue;
    }
    send_due();
  }
}
