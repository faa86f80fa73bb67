/** The tags of the customers' document. */
export const CUSTOMER_TAGS = [
  { name: 'Messages', description: 'Send messages, and read their delivery records.' },
  { name: 'Inbound messages', description: 'Messages that people sent to your numbers.' },
  { name: 'Events', description: 'Changes of status and inbound messages, to be read in their order.' },
  { name: 'Webhook deliveries', description: 'Events pushed to your URLs, and deliveries that wait.' },
  { name: 'Webhooks', description: 'What the service pushes to your URLs.' },
]
