import { Text } from '@mantine/core'
import type { WebhookEventDetail } from '../../../../client/src/api.ts'
import { exactTime, useNow } from '../../kit/time.tsx'
import { type Mark, scheduleAxis } from './schedule-axis.ts'

const place = ({ at }: Mark) => ({ left: `${100 * at}%` })

/** Attempts made and planned, on an axis from what happened. The list of attempts says the same in words. */
export function Schedule({ event }: { event: WebhookEventDetail }) {
  const now = useNow()
  const { occurredAt, attemptRecords, nextAttemptAt } = event
  const axis = scheduleAxis(occurredAt, attemptRecords, nextAttemptAt, now)
  return (
    <>
      <div className="webhook-axis" aria-hidden>
        {axis.ticks.map((tick) => (
          <span key={tick.label} className="webhook-tick" style={place(tick)}>
            {tick.label}
          </span>
        ))}
        {axis.now !== null && <span className="webhook-now" style={place(axis.now)} title="now" />}
        {axis.attempts.map((mark, index) => (
          <span
            key={mark.attempt}
            className="webhook-attempt"
            data-ok={attemptRecords[index]!.error === null}
            style={place(mark)}
            title={`Attempt ${mark.attempt}: ${exactTime(mark.ms)}`}
          />
        ))}
        {axis.next !== null && (
          <span
            className="webhook-attempt"
            data-planned
            style={place(axis.next)}
            title={`Next attempt, at the latest: ${exactTime(axis.next.ms)}`}
          />
        )}
      </div>
      <Text size="xs" c="dimmed">
        An event is sent at once, then 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h
        after the attempt before, each ±20 %: twelve attempts in 76 hours. Redelivering starts the schedule
        again.
      </Text>
    </>
  )
}
