#define _GNU_SOURCE
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

uint32_t number_after(const char *text, size_t length, const char *mark) {
  size_t mark_length = strlen(mark);
  const char *found = memmem(text, length, mark, mark_length);
  if (found == NULL) return NO_NUMBER;
  const char *digit = found + mark_length;
  if ((size_t)(text + length - digit) < NUMBER_DIGITS) return NO_NUMBER;
  uint32_t number = 0;
  for (int i = 0; i < NUMBER_DIGITS; i += 1) {
    if (digit[i] < '0' || digit[i] > '9') return NO_NUMBER;
    number = number * 10 + (uint32_t)(digit[i] - '0');
  }
  return number < MESSAGE_LIMIT ? number : NO_NUMBER;
}

void *entries_of(size_t entry_size) {
  void *entries = calloc(MESSAGE_LIMIT, entry_size);
  if (entries != NULL) return entries;
  perror("calloc");
  exit(1);
}
