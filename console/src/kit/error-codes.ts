/** What an error code of a message means, and what can be done. */
export interface ErrorMeaning {
  readonly title: string
  readonly advice: string
}

const OPERATOR = 'Nothing is wrong with your request: tell the operator of this service.'
const LATER = 'It may work later. Send it again if it still matters.'
const ADDRESS = 'Check the number. Sending it again will not help.'
const REFUSED =
  'The carrier says no more. Sending it again seldom helps; ask the operator if it happens often.'

/** The codes of docs/error-codes.md. */
const MEANINGS: Readonly<Record<string, ErrorMeaning>> = {
  '100': { title: 'Message could not be queued', advice: LATER },
  '101': { title: 'No route to the recipient', advice: `The service plan has no route. ${OPERATOR}` },
  '102': { title: 'Carrier did not accept our session', advice: OPERATOR },
  '103': {
    title: 'Submission outcome unknown and not repeated',
    advice:
      'The link broke before the carrier answered. It may have arrived: ask before you send it again. A receipt may still tell.',
  },
  '200': { title: 'Rejected by the carrier', advice: REFUSED },
  '201': { title: 'Carrier system error', advice: LATER },
  '202': { title: 'Carrier at capacity', advice: LATER },
  '203': { title: 'Message refused as invalid by the carrier', advice: OPERATOR },
  '204': { title: 'Deleted by the carrier', advice: REFUSED },
  '205': { title: 'Skipped by the carrier', advice: REFUSED },
  '300': { title: 'Not delivered to the handset', advice: LATER },
  '301': { title: 'Invalid recipient number', advice: ADDRESS },
  '302': { title: 'Unknown subscriber', advice: `Nobody has this number. ${ADDRESS}` },
  '303': {
    title: 'Subscriber absent or handset off',
    advice: `The handset was off or had no reception. ${LATER}`,
  },
  '304': {
    title: 'Subscriber barred from receiving messages',
    advice: 'The network keeps messages from this number. Only its owner can change that.',
  },
  '305': {
    title: 'Handset does not support or accept the message',
    advice: 'Its memory may be full. A shorter text without special characters may pass.',
  },
  '306': { title: 'Recipient network error', advice: LATER },
  '307': {
    title: 'Recipient has opted out',
    advice: 'They have sent STOP to this sender. They can send START to receive messages again.',
  },
  '400': {
    title: 'Sender not accepted by the carrier',
    advice: 'Use a sender that is registered for this country, or ask the operator to register this one.',
  },
  '401': { title: 'Message too long for the carrier', advice: 'Shorten the text.' },
  '500': {
    title: 'Expired before delivery to the handset',
    advice: `The carrier tried until the message expired; the handset may have been off. ${LATER}`,
  },
  '501': {
    title: 'Expired before the carrier accepted it',
    advice: `The carrier could not be reached in time. ${LATER}`,
  },
  '600': {
    title: 'Delivery status unknown to the carrier',
    advice: 'It may have arrived. A later receipt can still decide it, for 72 hours.',
  },
  '601': {
    title: 'No delivery receipt in time',
    advice:
      'It may have arrived: the carrier has not said so in 72 hours. A later receipt can still decide it.',
  },
}

/** Undefined for 000, and for a code that is newer than this page. */
export function meaningOf(errorCode: string): ErrorMeaning | undefined {
  return MEANINGS[errorCode]
}
