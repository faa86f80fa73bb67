/** Why a message waits, in words: the causes of the queue. They follow "12 messages …" and "1 message …" alike. */
export const MESSAGE_CAUSES: Readonly<Record<string, string>> = {
  queued: 'waiting for a turn',
  'in-flight': "waiting for the carrier's answer",
  throttled: 'waiting because the carrier throttles',
  'sender-rate': 'waiting for the rate of the sender',
  'no-route': 'without a route with a carrier',
  'plan-inactive': 'of an inactive service plan',
  'carrier-stopped': 'waiting for a carrier that is stopped',
  'carrier-draining': 'waiting for a carrier that is draining',
  'carrier-unbound': 'waiting for a carrier that is not bound',
  'carrier-silent': 'waiting for a carrier that does not answer',
  'recipient-full': 'waiting behind others to the same recipient',
  retry: 'waiting for another attempt',
  ambiguous: 'in doubt: perhaps sent, waiting for a receipt',
  'no-room': 'waiting for room in memory',
}

/** The same as customers are told, who do not know carriers. */
export const PUBLIC_CAUSES: Readonly<Record<string, string>> = {
  turn: 'waiting for its turn',
  'carrier-answer': "waiting for the carrier's answer",
  'rate-limit': 'waiting for a rate limit',
  recipient: 'waiting behind others to the same recipient',
  retry: 'waiting for another attempt',
  'in-doubt': 'in doubt: perhaps sent, waiting for a receipt',
  'carrier-unavailable': 'waiting for a carrier: none takes messages now',
  'no-route': 'waiting for a route: the service plan has none with a carrier',
  'plan-inactive': 'waiting: the service plan is not active',
}
