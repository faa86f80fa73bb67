#include "due.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"

struct timed {
  int64_t at_us;
  struct receipt receipt;
};

/* Grows by doubling; the process ends when the memory does. */
static void *grown(void *items, size_t *capacity, size_t item_size) {
  *capacity = *capacity == 0 ? 1024 : 2 * *capacity;
  void *grown = *capacity > MESSAGE_LIMIT * (size_t)2 ? NULL : realloc(items, *capacity * item_size);
  if (grown != NULL) return grown;
  fputs("too many receipts wait\n", stderr);
  exit(1);
}

static struct due_options options;
static bool released = false;
/* A binary heap: the parent of i is (i - 1) / 2, and no child is earlier than its parent. */
static struct timed *heap;
static size_t heap_count, heap_capacity;
/* Held back, in no order. */
static struct receipt *held;
static size_t held_count, held_capacity;
/* A ring. */
static struct receipt *queue;
static size_t queue_start, queue_count, queue_capacity;

void due_configure(struct due_options given) { options = given; }

static void enqueue(const struct receipt *receipt) {
  if (queue_count == queue_capacity) {
    size_t before = queue_capacity;
    queue = grown(queue, &queue_capacity, sizeof *queue);
    /* What had wrapped around goes behind the rest; the new half has room for all of it. */
    memcpy(queue + before, queue, queue_start * sizeof *queue);
  }
  queue[(queue_start + queue_count++) % queue_capacity] = *receipt;
}

/* xorshift64: the same order in every run. */
static uint64_t random_below(uint64_t bound) {
  static uint64_t state = UINT64_C(88172645463325252);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % bound;
}

static void hold(const struct receipt *receipt) {
  if (options.outstanding == 0) {
    enqueue(receipt);
    return;
  }
  if (held_count == held_capacity) held = grown(held, &held_capacity, sizeof *held);
  held[held_count++] = *receipt;
}

static void let_go(void) {
  size_t kept = released ? 0 : options.outstanding;
  while (held_count > kept) {
    size_t index = random_below(held_count);
    enqueue(&held[index]);
    held[index] = held[--held_count];
  }
}

static void swap(size_t a, size_t b) {
  struct timed other = heap[a];
  heap[a] = heap[b];
  heap[b] = other;
}

static void heap_push(const struct receipt *receipt, int64_t at_us) {
  if (heap_count == heap_capacity) heap = grown(heap, &heap_capacity, sizeof *heap);
  size_t i = heap_count++;
  heap[i] = (struct timed){.at_us = at_us, .receipt = *receipt};
  for (; i > 0 && heap[i].at_us < heap[(i - 1) / 2].at_us; i = (i - 1) / 2) swap(i, (i - 1) / 2);
}

static void heap_pop(void) {
  heap[0] = heap[--heap_count];
  for (size_t i = 0;;) {
    size_t least = i;
    for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap_count; child += 1) {
      if (heap[child].at_us < heap[least].at_us) least = child;
    }
    if (least == i) return;
    swap(i, least);
    i = least;
  }
}

void due_add(const struct receipt *receipt, int64_t now_us) {
  int64_t delay_us = options.least_us;
  if (options.most_us > options.least_us)
    delay_us += (int64_t)random_below((uint64_t)(options.most_us - options.least_us));
  if (delay_us == 0) hold(receipt);
  else heap_push(receipt, now_us + delay_us);
}

int64_t due_advance(int64_t now_us) {
  while (heap_count > 0 && heap[0].at_us <= now_us) {
    hold(&heap[0].receipt);
    heap_pop();
  }
  let_go();
  return heap_count == 0 ? -1 : heap[0].at_us - now_us;
}

void due_release(void) { released = true; }

const struct receipt *due_first(void) { return queue_count == 0 ? NULL : &queue[queue_start]; }

void due_drop_first(void) {
  queue_start = (queue_start + 1) % queue_capacity;
  queue_count -= 1;
}

size_t due_count(void) { return heap_count + held_count + queue_count; }
