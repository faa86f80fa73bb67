#include "parent.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_LENGTH 4096

static void write_line(const char *line, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDOUT_FILENO, line, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) exit(1);
    line += written;
    length -= (size_t)written;
  }
}

static void tell(const char *format, va_list arguments) {
  char line[LINE_LENGTH];
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  if (length < 0 || (size_t)length >= sizeof line - 1) {
    fputs("a line to the bench was too long\n", stderr);
    exit(1);
  }
  line[length] = '\n';
  write_line(line, (size_t)length + 1);
}

void tell_parent(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tell(format, arguments);
  va_end(arguments);
}

void tell_fault(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (char *at = text; *at != '\0'; at += 1) {
    if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\') *at = '?';
  }
  tell_parent("{\"fault\":\"%s\"}", text);
}

void finish_ledger(FILE *ledger, uint32_t entries) {
  if (ledger == NULL || fclose(ledger) != 0) tell_parent("{\"error\":\"the ledger cannot be written\"}");
  else tell_parent("{\"value\":%u}", entries);
}

void read_commands(void (*handle)(const char *name, const char *argument)) {
  static char input[COMMAND_LENGTH];
  static size_t length = 0;
  ssize_t count = read(STDIN_FILENO, input + length, sizeof input - length);
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) exit(0);
  length += (size_t)count;
  size_t start = 0;
  for (char *end; (end = memchr(input + start, '\n', length - start)) != NULL;) {
    *end = '\0';
    char *name = input + start;
    char *argument = strchr(name, ' ');
    if (argument != NULL) *argument++ = '\0';
    start = (size_t)(end + 1 - input);
    handle(name, argument == NULL ? "" : argument);
  }
  if (start == 0 && length == sizeof input) {
    fputs("a command was too long\n", stderr);
    exit(1);
  }
  memmove(input, input + start, length - start);
  length -= start;
}
