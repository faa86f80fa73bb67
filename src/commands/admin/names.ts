/** Fields whose option has another name than theirs. */
const SHORT: Readonly<Record<string, string>> = {
  accountId: 'account',
  servicePlanId: 'plan',
  servicePlanIds: 'plan',
  rateLimit: 'rate',
  messagesPerSecond: 'rate',
  senderMessagesPerSecond: 'sender-rate',
  validitySeconds: 'validity',
  maxValiditySeconds: 'max-validity',
  allowedCountries: 'country',
  submitOutcomes: 'outcome',
  webhookCredentials: 'webhook-basic',
  // `--url` is the address of the service.
  url: 'to',
}

/** `inboundUrl` -> `inbound-url`; of a field that may be given several times the singular. */
export function optionName(field: string, repeatable = false): string {
  const short = SHORT[field]
  if (short !== undefined) return short
  const name = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return repeatable ? singular(name) : name
}

export function singular(name: string): string {
  return name.replace(/s$/, '')
}
