/** Failure codes of delivery records (errorCode, errorMessage): the closed list, explained in docs/error-codes.md. */

/**
 * Families: 1xx this service and its links, 2xx the carrier, 3xx the recipient, 4xx sender and content, 5xx time,
 * 6xx nothing reliable known. 000 is success. A code once published keeps its meaning.
 */
export const FAILURES = {
  '100': 'Message could not be queued',
  '101': 'No route to the recipient',
  '102': 'Carrier did not accept our session',
  '103': 'Submission outcome unknown and not repeated',
  '200': 'Rejected by the carrier',
  '201': 'Carrier system error',
  '202': 'Carrier at capacity',
  '203': 'Message refused as invalid by the carrier',
  '204': 'Deleted by the carrier',
  '205': 'Skipped by the carrier',
  '300': 'Not delivered to the handset',
  '301': 'Invalid recipient number',
  '302': 'Unknown subscriber',
  '303': 'Subscriber absent or handset off',
  '304': 'Subscriber barred from receiving messages',
  '305': 'Handset does not support or accept the message',
  '306': 'Recipient network error',
  '307': 'Recipient has opted out',
  '400': 'Sender not accepted by the carrier',
  '401': 'Message too long for the carrier',
  '500': 'Expired before delivery to the handset',
  '501': 'Expired before the carrier accepted it',
  '600': 'Delivery status unknown to the carrier',
  '601': 'No delivery receipt in time',
} as const satisfies Record<string, string>

export type FailureCode = keyof typeof FAILURES
export type DeliveryCode = '000' | FailureCode

/** Status texts under errorCode 000. */
export const SUCCESSES = {
  QUEUED: 'Message accepted and queued',
  SENT: 'Message sent to the carrier',
  DELIVERED: 'Message delivered to the handset',
} as const

/** The text for an errorCode. For 000 it describes the status. A code from another release gets a general text. */
export function receiptErrorMessage(status: string, errorCode: string): string {
  const texts: Readonly<Record<string, string>> = errorCode === '000' ? SUCCESSES : FAILURES
  return texts[errorCode === '000' ? status : errorCode] ?? 'No more is known'
}
