/*
 * The line protocol with the bench, which started this process (bench/children.ts): commands come on standard input, one
 * a line; lines of JSON go to standard output: {"ready":...} once, {"value":...} for each command that asks, in order,
 * and {"news":N} or {"fault":"..."} at any time. The process ends when its standard input does.
 */
#ifndef PARENT_H
#define PARENT_H

#include <stdint.h>
#include <stdio.h>

#define COMMAND_LENGTH 1024

/* Writes one line; the format is printf's, without the line feed. */
void tell_parent(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports that the run cannot count; characters that JSON would escape become '?'. */
void tell_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends a ledger, which is NULL when it could not be opened, and answers the command that asked for it. */
void finish_ledger(FILE *ledger, uint32_t entries);

/* Reads standard input and calls `handle` for each complete line. */
void read_commands(void (*handle)(const char *name, const char *argument));

#endif
