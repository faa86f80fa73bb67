#define _GNU_SOURCE
#include "smpp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DELIVERED_STATE 2
#define DELIVERY_RECEIPT 0x04
#define INTERFACE_VERSION 0x34

/* Longest PDU written here: two addresses and a text of less than 255 characters. */
#define WRITTEN_LIMIT 512

static uint32_t read_u32(const uint8_t *data) {
  return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static void put_u32(uint8_t *data, uint32_t value) {
  for (int i = 0; i < 4; i += 1) data[i] = (uint8_t)(value >> (24 - 8 * i));
}

enum pdu_result read_pdu(const char *data, size_t length, struct pdu *pdu) {
  const uint8_t *bytes = (const uint8_t *)data;
  if (length < HEADER_LENGTH) return PDU_INCOMPLETE;
  *pdu = (struct pdu){
      .length = read_u32(bytes),
      .command = read_u32(bytes + 4),
      .status = read_u32(bytes + 8),
      .sequence = read_u32(bytes + 12),
      .body = bytes + HEADER_LENGTH,
  };
  if (pdu->length < HEADER_LENGTH || pdu->length > PDU_LIMIT) return PDU_UNREADABLE;
  return pdu->length > length ? PDU_INCOMPLETE : PDU_COMPLETE;
}

/* Reads fields from the front; after the first that does not fit, `failed` stays true. */
struct reader {
  const uint8_t *at;
  const uint8_t *end;
  bool failed;
};

static uint8_t read_octet(struct reader *reader) {
  if (reader->at < reader->end) return *reader->at++;
  reader->failed = true;
  return 0;
}

/* Copies a zero-terminated string of at most size - 1 characters; with `copy` NULL it is only passed over. */
static void read_string(struct reader *reader, char *copy, size_t size) {
  const uint8_t *zero = memchr(reader->at, 0, (size_t)(reader->end - reader->at));
  if (zero == NULL || (size_t)(zero - reader->at) >= size) {
    reader->failed = true;
    return;
  }
  if (copy != NULL) memcpy(copy, reader->at, (size_t)(zero - reader->at) + 1);
  reader->at = zero + 1;
}

static void read_address(struct reader *reader, struct address *address) {
  address->ton = read_octet(reader);
  address->npi = read_octet(reader);
  read_string(reader, address->digits, sizeof address->digits);
}

bool read_submit(const struct pdu *pdu, struct submit *submit) {
  struct reader reader = {.at = pdu->body, .end = pdu->body + pdu->length - HEADER_LENGTH};
  read_string(&reader, NULL, 256); /* service_type */
  read_address(&reader, &submit->source);
  read_address(&reader, &submit->destination);
  for (int i = 0; i < 3; i += 1) read_octet(&reader); /* esm_class, protocol_id, priority_flag */
  read_string(&reader, NULL, 256);                    /* schedule_delivery_time */
  read_string(&reader, NULL, 256);                    /* validity_period */
  submit->wants_receipt = (read_octet(&reader) & 0x3) == 1;
  for (int i = 0; i < 3; i += 1) read_octet(&reader); /* replace_if_present_flag, data_coding, sm_default_msg_id */
  submit->text_length = read_octet(&reader);
  submit->text = (const char *)reader.at;
  return !reader.failed && submit->text_length <= (size_t)(reader.end - reader.at);
}

/* Fields are appended to a PDU, whose length is known at its end. */
struct writer {
  uint8_t data[WRITTEN_LIMIT];
  size_t length;
};

static void put(struct writer *writer, const void *data, size_t length) {
  if (writer->length + length > WRITTEN_LIMIT) return; /* cannot happen: WRITTEN_LIMIT */
  memcpy(writer->data + writer->length, data, length);
  writer->length += length;
}

static void put_octet(struct writer *writer, uint8_t value) { put(writer, &value, 1); }

static void put_string(struct writer *writer, const char *text) { put(writer, text, strlen(text) + 1); }

static void put_address(struct writer *writer, const struct address *address) {
  put_octet(writer, address->ton);
  put_octet(writer, address->npi);
  put_string(writer, address->digits);
}

static void begin(struct writer *writer, uint32_t command, uint32_t sequence) {
  put_u32(writer->data + 4, command);
  put_u32(writer->data + 8, ESME_ROK);
  put_u32(writer->data + 12, sequence);
  writer->length = HEADER_LENGTH;
}

static void finish(struct writer *writer, struct bytes *out) {
  put_u32(writer->data, (uint32_t)writer->length);
  bytes_append(out, writer->data, writer->length);
}

void write_header(struct bytes *out, uint32_t command, uint32_t status, uint32_t sequence) {
  struct writer writer;
  begin(&writer, command, sequence);
  put_u32(writer.data + 8, status);
  finish(&writer, out);
}

void write_bind_response(struct bytes *out, uint32_t command, uint32_t sequence) {
  static const uint8_t version[] = {0x02, 0x10, 0, 1, INTERFACE_VERSION};
  struct writer writer;
  begin(&writer, command | RESPONSE, sequence);
  put_string(&writer, "bench");
  put(&writer, version, sizeof version);
  finish(&writer, out);
}

void write_submit_response(struct bytes *out, uint64_t id, uint32_t sequence) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, id);
  struct writer writer;
  begin(&writer, SUBMIT_SM | RESPONSE, sequence);
  put_string(&writer, text);
  finish(&writer, out);
}

/* YYMMDDhhmm in UTC; thousands of receipts share a minute. */
static const char *receipt_date(void) {
  static char text[11];
  static time_t minute = -1;
  time_t now = time(NULL);
  if (now / 60 != minute) {
    struct tm parts;
    minute = now / 60;
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%y%m%d%H%M", &parts);
  }
  return text;
}

static void put_tlv(struct writer *writer, uint16_t tag, const void *value, uint8_t length) {
  uint8_t head[] = {(uint8_t)(tag >> 8), (uint8_t)tag, 0, length};
  put(writer, head, sizeof head);
  put(writer, value, length);
}

void write_receipt(struct bytes *out, const struct receipt *receipt, uint32_t sequence) {
  char id[24], text[200];
  int id_length = snprintf(id, sizeof id, "%" PRIu64, receipt->id);
  const char *date = receipt_date();
  int text_length = snprintf(text, sizeof text,
                             "id:%s sub:001 dlvrd:001 submit date:%s done date:%s stat:DELIVRD err:000 text:%s", id,
                             date, date, receipt->excerpt);
  static const uint8_t zeros[8] = {0};
  static const uint8_t state = DELIVERED_STATE;
  struct writer writer;
  begin(&writer, DELIVER_SM, sequence);
  put_string(&writer, ""); /* service_type */
  put_address(&writer, &receipt->destination);
  put_address(&writer, &receipt->source);
  put_octet(&writer, DELIVERY_RECEIPT);
  /* protocol_id, priority_flag, two empty times, registered_delivery, replace_if_present_flag, data_coding, default id */
  put(&writer, zeros, sizeof zeros);
  put_octet(&writer, (uint8_t)text_length);
  put(&writer, text, (size_t)text_length);
  put_tlv(&writer, 0x001e, id, (uint8_t)(id_length + 1)); /* receipted_message_id */
  put_tlv(&writer, 0x0427, &state, 1);                    /* message_state */
  finish(&writer, out);
}
