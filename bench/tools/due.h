/*
 * Receipts between their submit and their sending: with a delay each waits for its time; with a number outstanding that
 * many wait and a random one of them leaves for each that comes. Then they queue for room in the deliver window.
 */
#ifndef DUE_H
#define DUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "smpp.h"

struct due_options {
  int64_t least_us;     /* delay, drawn evenly between the two */
  int64_t most_us;
  size_t outstanding;   /* 0: none is held back beyond its delay */
};

void due_configure(struct due_options options);
/* Takes a receipt into the queue. */
void due_add(const struct receipt *receipt, int64_t now_us);
/* Moves what is due now; returns microseconds until the next one, -1 when none waits for its time. */
int64_t due_advance(int64_t now_us);
/* From now on no receipts are held back beyond their delay: the load has ended. */
void due_release(void);
/* The next receipt to be sent, NULL when none is. It is valid until the next call of this module. */
const struct receipt *due_first(void);
void due_drop_first(void);
/* Receipts that wait, for whatever reason. */
size_t due_count(void);

#endif
