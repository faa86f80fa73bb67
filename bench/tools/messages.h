/* Numbers of messages: every message of a run has one, and the three ledgers are joined by it. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stddef.h>
#include <stdint.h>

/* Numbers have eight digits; a run that needs more than this many messages is refused. */
#define MESSAGE_LIMIT 10000000u
#define NUMBER_DIGITS 8
#define NO_NUMBER UINT32_MAX

/* Length of a message id of Aldis, which is a UUID. */
#define ID_LENGTH 36

/* Microseconds of CLOCK_MONOTONIC: the same clock in every process of the machine, Node's hrtime included. */
int64_t now_us(void);

/* Returns the eight digits behind `mark` as a number below MESSAGE_LIMIT, or NO_NUMBER. */
uint32_t number_after(const char *text, size_t length, const char *mark);

/* Allocates zeroed memory for MESSAGE_LIMIT entries, of which the kernel provides the pages that are used. */
void *entries_of(size_t entry_size);

#endif
