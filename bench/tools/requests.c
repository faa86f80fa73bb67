#include "requests.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"

#define FORM_LIMIT 16
#define FILE_LIMIT 65536
#define RUN_LIMIT 8
/* In a form, a run of this byte is where the recipient's digits go; and those of the message's number. */
#define RECIPIENT '\x01'
#define NUMBER '\x02'

/*
 * Steps through all numbers of up to 9 digits: coprime with 10, so none repeats early and neighbours lie far apart. The
 * same in requests.ts.
 */
#define STEP UINT64_C(618033989)

struct run {
  char kind;
  char *start;
  size_t digits;
};

static struct form {
  char *data;
  size_t length;
  struct run runs[RUN_LIMIT];
  size_t run_count;
} forms[FORM_LIMIT];
static size_t form_count = 0;

static void refuse(const char *reason) {
  fprintf(stderr, "requests: %s\n", reason);
  exit(1);
}

static void find_runs(struct form *form) {
  char *end = form->data + form->length;
  for (char *at = form->data; at < end;) {
    if (*at != RECIPIENT && *at != NUMBER) {
      at += 1;
      continue;
    }
    if (form->run_count == RUN_LIMIT) refuse("too many places for digits");
    struct run *run = &form->runs[form->run_count++];
    *run = (struct run){.kind = *at, .start = at};
    while (at < end && *at == run->kind) at += 1;
    run->digits = (size_t)(at - run->start);
    if (run->digits > 9) refuse("more than nine digits");
  }
}

void read_forms(const char *path) {
  static char text[FILE_LIMIT];
  FILE *file = fopen(path, "rb");
  if (file == NULL) refuse("the file cannot be read");
  size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  if (length == 0 || length == sizeof text || text[length - 1] != '\0') refuse("the file is empty, too long or cut off");
  for (char *at = text; at < text + length; at += strlen(at) + 1) {
    if (form_count == FORM_LIMIT) refuse("too many forms");
    struct form *form = &forms[form_count++];
    form->data = at;
    form->length = strlen(at);
    find_runs(form);
  }
}

static void write_digits(char *start, size_t digits, uint64_t value) {
  for (char *at = start + digits; at-- > start; value /= 10) *at = (char)('0' + value % 10);
}

/* The simulator reads the last four digits: 1001 to 1010 ask for something other than delivery. */
static uint64_t recipient_of(uint32_t n, size_t digits) {
  uint64_t range = 1;
  for (size_t i = 0; i < digits; i += 1) range *= 10;
  uint64_t number = n * STEP % range;
  uint64_t last = number % 10000;
  return last >= 1001 && last <= 1010 ? number + 1000 : number;
}

struct request request_of(uint32_t n) {
  struct form *form = &forms[n % form_count];
  for (size_t i = 0; i < form->run_count; i += 1) {
    struct run *run = &form->runs[i];
    write_digits(run->start, run->digits, run->kind == NUMBER ? n : recipient_of(n, run->digits));
  }
  return (struct request){.data = form->data, .length = form->length};
}
