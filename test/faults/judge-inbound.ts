import type { Finding } from './findings.ts'
import type { Inbound, Ledgers } from './ledgers.ts'

/** Compares inbound messages that carriers offered with the records and the events; finds those never acknowledged. */
export function judgeInbound({ inbound, submits, record, webhooks, feed }: Ledgers): Finding[] {
  const findings: Finding[] = []
  const recorded = Map.groupBy(record.inbound, ({ k }) => k)
  const announced = new Set(feed.filter(({ status }) => status === null).map(({ msgId }) => msgId))
  const pushed = new Set(webhooks.filter(({ isAccepted }) => isAccepted).map(({ msgId }) => msgId))
  for (const { k, offeredAtMs, acknowledgedAtMs } of inbound) {
    const subject = `inbound message ${k}`
    const records = recorded.get(k) ?? []
    const atMs = acknowledgedAtMs ?? offeredAtMs
    if (acknowledgedAtMs === null) findings.push({ rule: 'inbound-unacknowledged', subject, atMs })
    else if (records.length === 0) findings.push({ rule: 'inbound-lost', subject, atMs })
    if (new Set(records.map(({ msgId }) => msgId)).size > 1)
      findings.push({ rule: 'inbound-doubled', subject, atMs })
    for (const { msgId } of records)
      if (!announced.has(msgId) || !pushed.has(msgId))
        findings.push({ rule: 'event-missing', subject: `${subject}, ${msgId}`, atMs })
  }
  for (const { n, segment, atMs, receiptAcknowledgedAtMs } of submits)
    if (receiptAcknowledgedAtMs === null)
      findings.push({
        rule: 'receipt-unacknowledged',
        subject: `message ${n}, segment ${segment}`,
        atMs,
      })
  return findings
}

/** Inbound messages that carriers offered and the feed does not have yet. One that was recorded twice is in the feed twice. */
export function unannouncedOf({ inbound, feed }: Pick<Ledgers, 'inbound' | 'feed'>): Inbound[] {
  const told = new Set(feed.map(({ k }) => k))
  return inbound.filter(({ k }) => !told.has(k))
}
