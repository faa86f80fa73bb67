/*
 * The carrier: accepts every submit_sm, and sends a receipt that says DELIVRD for each that asks for one.
 *
 *   carrier LEAST-DELAY-MS MOST-DELAY-MS DELIVER-WINDOW OUTSTANDING
 *
 * At most DELIVER-WINDOW receipts are unanswered on a session. With OUTSTANDING above 0 that many receipts are held back
 * and a random one of them is sent for each message, until `release`. Commands: `stats`; `release`; `down` ends the
 * sessions and closes each new connection at once, until `up`; `ledger FILE` writes a
 * line for each message: number, how often it was submitted, when its first submit, its receipt and the answer to the
 * receipt passed here (microseconds).
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
#include "due.h"
#include "loopback.h"
#include "messages.h"
#include "parent.h"
#include "smpp.h"

#define DESCRIPTOR_LIMIT 64
#define EVENT_COUNT 64
#define WINDOW_LIMIT 1000
/* Sequence numbers are below this, so that each has a place in the table of its session. A power of two above the window. */
#define SEQUENCE_COUNT 4096

struct entry {
  int64_t submitted_us;
  int64_t receipt_us;
  int64_t acknowledged_us;
  uint8_t submits;
};

struct session {
  bool open;
  bool receives; /* bound as transceiver or receiver */
  bool writing;
  struct bytes received;
  struct bytes out;
  uint32_t unanswered;
  uint32_t sequence;
  uint32_t numbers[SEQUENCE_COUNT]; /* of unanswered receipts: the message's number + 1; else 0 */
};

static int epoll;
static bool down;
static uint32_t window;
static struct session sessions[DESCRIPTOR_LIMIT];
static struct entry *entries;
static uint32_t highest; /* one more than the highest number seen */
static uint32_t submits, receipts_sent, receipts_acknowledged, receipts_refused, binds;
static uint64_t last_id;

static void take_submit(struct session *session, const struct pdu *pdu) {
  struct submit submit;
  uint32_t number = NO_NUMBER;
  if (read_submit(pdu, &submit)) number = number_after(submit.text, submit.text_length, "code is ");
  if (number == NO_NUMBER) {
    tell_fault("a submit_sm could not be read or had no number");
    return;
  }
  int64_t now = now_us();
  struct entry *entry = &entries[number];
  if (number >= highest) highest = number + 1;
  if (entry->submits < UINT8_MAX) entry->submits += 1;
  if (entry->submits == 1) entry->submitted_us = now;
  submits += 1;
  last_id += 1;
  write_submit_response(&session->out, last_id, pdu->sequence);
  if (!submit.wants_receipt) return;
  struct receipt receipt = {
      .number = number,
      .id = last_id,
      .source = submit.source,
      .destination = submit.destination,
  };
  size_t length = submit.text_length < EXCERPT_LENGTH ? submit.text_length : EXCERPT_LENGTH;
  memcpy(receipt.excerpt, submit.text, length);
  due_add(&receipt, now);
}

static void take_receipt_answer(struct session *session, const struct pdu *pdu) {
  uint32_t *place = &session->numbers[pdu->sequence % SEQUENCE_COUNT];
  if (*place == 0) {
    tell_fault("a deliver_sm_resp answers nothing");
    return;
  }
  if (pdu->status == ESME_ROK) {
    entries[*place - 1].acknowledged_us = now_us();
    receipts_acknowledged += 1;
  } else {
    receipts_refused += 1;
  }
  *place = 0;
  session->unanswered -= 1;
}

static void take_pdu(struct session *session, const struct pdu *pdu) {
  switch (pdu->command) {
    case BIND_RECEIVER:
    case BIND_TRANSMITTER:
    case BIND_TRANSCEIVER:
      session->receives = pdu->command != BIND_TRANSMITTER;
      binds += 1;
      write_bind_response(&session->out, pdu->command, pdu->sequence);
      return;
    case SUBMIT_SM:
      take_submit(session, pdu);
      return;
    case DELIVER_SM | RESPONSE:
      take_receipt_answer(session, pdu);
      return;
    case ENQUIRE_LINK:
    case UNBIND:
      write_header(&session->out, pdu->command | RESPONSE, ESME_ROK, pdu->sequence);
      return;
    default:
      if ((pdu->command & RESPONSE) == 0)
        write_header(&session->out, (uint32_t)GENERIC_NACK, ESME_RINVCMDID, pdu->sequence);
  }
}

static void send_receipt(struct session *session, const struct receipt *receipt) {
  do session->sequence = session->sequence % (SEQUENCE_COUNT - 1) + 1;
  while (session->numbers[session->sequence] != 0);
  session->numbers[session->sequence] = receipt->number + 1;
  session->unanswered += 1;
  receipts_sent += 1;
  entries[receipt->number].receipt_us = now_us();
  write_receipt(&session->out, receipt, session->sequence);
}

/* The sessions in turn: as with most carriers, a receipt may come over another than its message went. */
static struct session *session_with_room(void) {
  static int last = 0;
  for (int tried = 0; tried < DESCRIPTOR_LIMIT; tried += 1) {
    last = (last + 1) % DESCRIPTOR_LIMIT;
    struct session *session = &sessions[last];
    if (session->open && session->receives && session->unanswered < window) return session;
  }
  return NULL;
}

static void close_session(int fd) {
  struct session *session = &sessions[fd];
  if (session->unanswered > 0) tell_fault("a session ended with %u receipts unanswered", session->unanswered);
  bytes_clear(&session->received);
  bytes_clear(&session->out);
  session->open = session->receives = session->writing = false;
  session->unanswered = 0;
  memset(session->numbers, 0, sizeof session->numbers);
  close(fd);
}

/* Writes what the sessions have to send. */
static void flush(void) {
  for (int fd = 0; fd < DESCRIPTOR_LIMIT; fd += 1) {
    struct session *session = &sessions[fd];
    if (!session->open || (bytes_length(&session->out) == 0 && !session->writing)) continue;
    enum transfer transfer = bytes_send(&session->out, fd);
    bool writing = transfer == TRANSFER_LATER;
    if (transfer == TRANSFER_CLOSED) close_session(fd);
    else if (writing != session->writing) watch_writing(epoll, fd, (uint32_t)fd, session->writing = writing);
  }
}

static void read_session(int fd) {
  struct session *session = &sessions[fd];
  enum transfer transfer = bytes_receive(&session->received, fd);
  if (transfer == TRANSFER_CLOSED) close_session(fd);
  if (transfer != TRANSFER_OK) return;
  struct pdu pdu;
  enum pdu_result result;
  while ((result = read_pdu(bytes_front(&session->received), bytes_length(&session->received), &pdu)) == PDU_COMPLETE) {
    take_pdu(session, &pdu);
    bytes_drop(&session->received, pdu.length);
  }
  if (result == PDU_INCOMPLETE) return;
  tell_fault("a PDU has an impossible length");
  close_session(fd);
}

static void open_session(int fd) {
  if (down) {
    close(fd);
    return;
  }
  sessions[fd].open = true;
  watch(epoll, fd, (uint32_t)fd, false);
}

static void write_ledger(const char *path) {
  FILE *file = fopen(path, "w");
  for (uint32_t n = 0; file != NULL && n < highest; n += 1) {
    const struct entry *entry = &entries[n];
    if (entry->submits == 0) continue;
    fprintf(file, "%u %u %" PRId64 " %" PRId64 " %" PRId64 "\n", n, entry->submits, entry->submitted_us,
            entry->receipt_us, entry->acknowledged_us);
  }
  finish_ledger(file, highest);
}

static void handle(const char *name, const char *argument) {
  if (strcmp(name, "stats") == 0) {
    tell_parent(
        "{\"value\":{\"accepted\":%u,\"throttled\":0,\"receiptsSent\":%u,\"receiptsAcknowledged\":%u,"
        "\"receiptsRefused\":%u,\"receiptsWaiting\":%zu,\"binds\":%u}}",
        submits, receipts_sent, receipts_acknowledged, receipts_refused, due_count(), binds);
  } else if (strcmp(name, "release") == 0) {
    due_release();
    tell_parent("{\"value\":null}");
  } else if (strcmp(name, "down") == 0 || strcmp(name, "up") == 0) {
    down = name[0] == 'd';
    for (int fd = 0; down && fd < DESCRIPTOR_LIMIT; fd += 1) {
      if (sessions[fd].open) close_session(fd);
    }
    tell_parent("{\"value\":null}");
  } else if (strcmp(name, "ledger") == 0) {
    write_ledger(argument);
  } else {
    tell_parent("{\"error\":\"there is no such command\"}");
  }
}

/* Sends what is due and has room; returns milliseconds until more is due, -1 for none. */
static int send_due(void) {
  int64_t wait_us = due_advance(now_us());
  const struct receipt *receipt;
  struct session *session;
  while ((receipt = due_first()) != NULL && (session = session_with_room()) != NULL) {
    send_receipt(session, receipt);
    due_drop_first();
  }
  return wait_us < 0 ? -1 : (int)(wait_us / 1000) + 1;
}

int main(int count, char **arguments) {
  if (count != 5) {
    fputs("usage: carrier LEAST-DELAY-MS MOST-DELAY-MS DELIVER-WINDOW OUTSTANDING\n", stderr);
    return 1;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the whole group; the bench stops its processes in order. */
  due_configure((struct due_options){
      .least_us = (int64_t)atol(arguments[1]) * 1000,
      .most_us = (int64_t)atol(arguments[2]) * 1000,
      .outstanding = (size_t)atol(arguments[4]),
  });
  window = (uint32_t)atoi(arguments[3]);
  if (window < 1 || window > WINDOW_LIMIT) return 1;
  entries = entries_of(sizeof *entries);
  /* Ids of other runs do not come again. */
  last_id = (uint64_t)now_us();
  epoll = open_epoll();
  int port;
  int listener = listen_loopback(&port);
  watch(epoll, listener, (uint32_t)listener, false);
  watch(epoll, STDIN_FILENO, STDIN_FILENO, false);
  tell_parent("{\"ready\":{\"port\":%d}}", port);
  for (int wait_ms = -1;;) {
    struct epoll_event events[EVENT_COUNT];
    int ready = epoll_wait(epoll, events, EVENT_COUNT, wait_ms);
    for (int i = 0; i < ready; i += 1) {
      int fd = (int)events[i].data.u32;
      if (fd == STDIN_FILENO) read_commands(handle);
      else if (fd == listener) accept_loopback(listener, DESCRIPTOR_LIMIT, open_session);
      else if ((events[i].events & ~(uint32_t)EPOLLOUT) != 0 && sessions[fd].open) read_session(fd);
    }
    wait_ms = send_due();
    flush();
  }
}
