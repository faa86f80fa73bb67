/*
 * The webhook receiver: answers 200 and counts what came for each message.
 *
 *   receiver
 *
 * Aldis: POST of a delivery receipt whose text holds the message's number. Kannel: GET /dlr?n=NUMBER&s=TYPE, its dlr-url;
 * type 8 says that the carrier accepted the message, 1 that it was delivered. Commands: `report`; `ledger FILE` writes a
 * line for each message: number, how often SENT and DELIVERED came, when each came first (microseconds), and the msgId of
 * the webhook or `-`. News: the number of messages that have both.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bytes.h"
#include "http.h"
#include "loopback.h"
#include "messages.h"
#include "parent.h"

/* Descriptors are below this. */
#define DESCRIPTOR_LIMIT 8192
#define EVENT_COUNT 256
#define NEWS_INTERVAL_MS 10
#define NEWS_INTERVAL_US (NEWS_INTERVAL_MS * 1000)
#define KANNEL_ACCEPTED '8'
#define KANNEL_DELIVERED '1'

static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n";

enum status { SENT, DELIVERED, STATUS_COUNT };

struct entry {
  int64_t first_us[STATUS_COUNT];
  uint8_t times[STATUS_COUNT];
  char id[ID_LENGTH];
};

struct connection {
  struct bytes received;
  struct bytes answers;
  bool writing;
};

static int epoll;
static struct connection connections[DESCRIPTOR_LIMIT];
static struct entry *entries;
static uint32_t highest; /* one more than the highest number seen */
static uint32_t webhooks, completed, repeated, disordered, unexpected, opened;
static uint32_t told;
static int64_t first_us, last_us, told_us;

static void count_webhook(uint32_t number, enum status status, const char *id) {
  struct entry *entry = &entries[number];
  if (number >= highest) highest = number + 1;
  if (id != NULL && entry->id[0] != '\0' && memcmp(entry->id, id, ID_LENGTH) != 0) unexpected += 1;
  if (id != NULL) memcpy(entry->id, id, ID_LENGTH);
  if (entry->times[status] < UINT8_MAX) entry->times[status] += 1;
  if (entry->times[status] > 1) {
    repeated += 1;
    return;
  }
  last_us = entry->first_us[status] = now_us();
  if (webhooks++ == 0) first_us = last_us;
  if (status == SENT && entry->times[DELIVERED] > 0) disordered += 1;
  if (entry->times[SENT] > 0 && entry->times[DELIVERED] > 0) completed += 1;
}

static void take_kannel(const struct http_message *request) {
  size_t line_length = (size_t)((char *)memchr(request->head, '\r', request->head_length) - request->head);
  uint32_t number = number_after(request->head, line_length, "?n=");
  const char *type = memmem(request->head, line_length, "&s=", 3);
  char kind = type == NULL ? '\0' : type[3];
  if (number == NO_NUMBER || (kind != KANNEL_ACCEPTED && kind != KANNEL_DELIVERED) || type[4] != ' ') unexpected += 1;
  else count_webhook(number, kind == KANNEL_ACCEPTED ? SENT : DELIVERED, NULL);
}

static bool has(const struct http_message *request, const char *text) {
  return memmem(request->body, request->body_length, text, strlen(text)) != NULL;
}

static void take_aldis(const struct http_message *request) {
  static const char mark[] = "\"msgId\":\"";
  uint32_t number = number_after(request->body, request->body_length, "code is ");
  const char *id = memmem(request->body, request->body_length, mark, strlen(mark));
  if (id != NULL) id += strlen(mark);
  bool whole = id != NULL && (size_t)(request->body + request->body_length - id) > ID_LENGTH;
  bool is_sent = has(request, "\"status\":\"SENT\"");
  bool is_delivered = has(request, "\"status\":\"DELIVERED\"");
  if (number == NO_NUMBER || !whole || is_sent == is_delivered) unexpected += 1;
  else count_webhook(number, is_sent ? SENT : DELIVERED, id);
}

static void close_connection(int fd) {
  struct connection *connection = &connections[fd];
  bytes_clear(&connection->received);
  bytes_clear(&connection->answers);
  connection->writing = false;
  close(fd);
}

static void open_connection(int fd) {
  opened += 1;
  watch(epoll, fd, (uint32_t)fd, false);
}

static void serve(int fd, uint32_t events) {
  struct connection *connection = &connections[fd];
  struct bytes *received = &connection->received;
  if ((events & ~(uint32_t)EPOLLOUT) != 0) {
    enum transfer transfer = bytes_receive(received, fd);
    if (transfer == TRANSFER_CLOSED) {
      close_connection(fd);
      return;
    }
  }
  bool closes = false;
  struct http_message request;
  enum http_result result = HTTP_INCOMPLETE;
  while (!closes && bytes_length(received) > 0) {
    result = read_http(bytes_front(received), bytes_length(received), false, &request);
    if (result != HTTP_COMPLETE) break;
    if (strncmp(request.head, "GET ", 4) == 0) take_kannel(&request);
    else take_aldis(&request);
    bytes_append(&connection->answers, ANSWER, strlen(ANSWER));
    closes = request.closes;
    bytes_drop(received, request.head_length + request.body_length);
  }
  if (result == HTTP_UNREADABLE) tell_fault("a webhook could not be read");
  enum transfer transfer = bytes_send(&connection->answers, fd);
  if (closes || result == HTTP_UNREADABLE || transfer == TRANSFER_CLOSED) {
    close_connection(fd);
  } else if ((transfer == TRANSFER_LATER) != connection->writing) {
    connection->writing = transfer == TRANSFER_LATER;
    watch_writing(epoll, fd, (uint32_t)fd, connection->writing);
  }
}

static void write_ledger(const char *path) {
  FILE *file = fopen(path, "w");
  for (uint32_t n = 0; file != NULL && n < highest; n += 1) {
    const struct entry *entry = &entries[n];
    if (entry->times[SENT] == 0 && entry->times[DELIVERED] == 0) continue;
    fprintf(file, "%u %u %u %" PRId64 " %" PRId64 " %.*s\n", n, entry->times[SENT], entry->times[DELIVERED],
            entry->first_us[SENT], entry->first_us[DELIVERED], ID_LENGTH, entry->id[0] == '\0' ? "-" : entry->id);
  }
  finish_ledger(file, highest);
}

static void handle(const char *name, const char *argument) {
  if (strcmp(name, "report") == 0) {
    tell_parent(
        "{\"value\":{\"completed\":%u,\"webhooks\":%u,\"repeated\":%u,\"disordered\":%u,\"unexpected\":%u,"
        "\"connections\":%u,\"firstAtMs\":%.3f,\"lastAtMs\":%.3f}}",
        completed, webhooks, repeated, disordered, unexpected, opened, (double)first_us / 1e3, (double)last_us / 1e3);
  } else if (strcmp(name, "ledger") == 0) {
    write_ledger(argument);
  } else {
    tell_parent("{\"error\":\"there is no such command\"}");
  }
}

static void tell_news(void) {
  int64_t now = now_us();
  if (completed == told || now - told_us < NEWS_INTERVAL_US) return;
  told = completed;
  told_us = now;
  tell_parent("{\"news\":%u}", completed);
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the whole group; the bench stops its processes in order. */
  entries = entries_of(sizeof *entries);
  epoll = open_epoll();
  int port;
  int listener = listen_loopback(&port);
  watch(epoll, listener, (uint32_t)listener, false);
  watch(epoll, STDIN_FILENO, STDIN_FILENO, false);
  tell_parent("{\"ready\":{\"port\":%d}}", port);
  for (;;) {
    struct epoll_event events[EVENT_COUNT];
    int ready = epoll_wait(epoll, events, EVENT_COUNT, completed == told ? -1 : NEWS_INTERVAL_MS);
    for (int i = 0; i < ready; i += 1) {
      int fd = (int)events[i].data.u32;
      if (fd == STDIN_FILENO) read_commands(handle);
      else if (fd == listener) accept_loopback(listener, DESCRIPTOR_LIMIT, open_connection);
      else serve(fd, events[i].events);
    }
    tell_news();
  }
}
