/* The few PDUs of SMPP 3.4 that the carrier reads and writes. */
#ifndef SMPP_H
#define SMPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

#define HEADER_LENGTH 16
/* Longer PDUs end the session. */
#define PDU_LIMIT 65536
/* SMPP 3.4 §5.2.8: 20 characters and the zero byte. */
#define ADDRESS_SIZE 21
/* Appendix B: a receipt repeats the first 20 characters of the text. */
#define EXCERPT_LENGTH 20

enum command {
  GENERIC_NACK = (int)0x80000000,
  BIND_RECEIVER = 0x1,
  BIND_TRANSMITTER = 0x2,
  SUBMIT_SM = 0x4,
  DELIVER_SM = 0x5,
  UNBIND = 0x6,
  BIND_TRANSCEIVER = 0x9,
  ENQUIRE_LINK = 0x15,
};
#define RESPONSE 0x80000000u

enum status { ESME_ROK = 0x0, ESME_RINVCMDID = 0x3 };

struct pdu {
  uint32_t length;
  uint32_t command;
  uint32_t status;
  uint32_t sequence;
  const uint8_t *body; /* length - HEADER_LENGTH bytes */
};

struct address {
  uint8_t ton;
  uint8_t npi;
  char digits[ADDRESS_SIZE];
};

struct submit {
  struct address source;
  struct address destination;
  bool wants_receipt;
  const char *text;
  size_t text_length;
};

/* What a receipt says of a message that was delivered. */
struct receipt {
  uint32_t number;
  uint64_t id;
  struct address source;      /* of the message: the receipt's destination */
  struct address destination; /* of the message: the receipt's source */
  char excerpt[EXCERPT_LENGTH + 1];
};

enum pdu_result { PDU_INCOMPLETE, PDU_COMPLETE, PDU_UNREADABLE };

enum pdu_result read_pdu(const char *data, size_t length, struct pdu *pdu);
/* Returns false when a field is missing or too long. */
bool read_submit(const struct pdu *pdu, struct submit *submit);

/* A PDU without a body. */
void write_header(struct bytes *out, uint32_t command, uint32_t status, uint32_t sequence);
/* The response to a bind, with the name of the carrier and its version (TLV sc_interface_version). */
void write_bind_response(struct bytes *out, uint32_t command, uint32_t sequence);
void write_submit_response(struct bytes *out, uint64_t id, uint32_t sequence);
/* deliver_sm with the text of appendix B, receipted_message_id and message_state. */
void write_receipt(struct bytes *out, const struct receipt *receipt, uint32_t sequence);

#endif
