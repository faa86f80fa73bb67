import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { SandboxOutcome } from '../../../../client/src/api.ts'
import { Section } from '../../kit/section.tsx'
import { MessageStatusBadge } from '../../kit/status-badge.tsx'
import { numberEndingIn } from './handset-number.ts'

interface OutcomesProps {
  readonly outcomes: readonly SandboxOutcome[]
  /** Of the handset: the numbers that are offered are like it. */
  readonly number: string
}

/** What becomes of a message by the last digits of its number; each line opens the handset of such a number. */
export function Outcomes({ outcomes, number }: OutcomesProps) {
  const own = outcomes.find(({ lastDigits }) => lastDigits === null || number.endsWith(lastDigits))
  return (
    <Section title="The last digits decide">
      <ul className="phone-outcome-list">
        {outcomes.map((outcome) => (
          <li key={outcome.lastDigits} data-own={outcome === own || undefined}>
            <Link to="/phone" search={{ number: numberEndingIn(outcome.lastDigits, number) }}>
              <span className="aldis-mono">{outcome.lastDigits ?? 'other'}</span>
              <span>
                {outcome.summary}
                <small>{details(outcome)}</small>
              </span>
              <MessageStatusBadge status={outcome.status} />
            </Link>
          </li>
        ))}
      </ul>
      <Text size="sm" c="dimmed" mt="sm">
        Nothing leaves the service, and nothing is charged.
      </Text>
    </Section>
  )
}

/** "ESME_RTHROTTLED to 2 submits, then DELIVRD after 50 to 300 ms" */
function details({ refusal, receipts, receiptDelayMs }: SandboxOutcome): string {
  const refused =
    refusal !== null &&
    `${refusal.commandStatus} to ${refusal.attempts === null ? 'every submit' : `${refusal.attempts} submits`}`
  const said = receipts.map(({ state, error }) => (/^0*$/.test(error) ? state : `${state} err:${error}`))
  const after = receiptDelayMs === null ? '' : ` ${delay(receiptDelayMs)}`
  const received = receipts.length > 0 && `${said.join(', ')}${after}`
  return [refused, received].filter(Boolean).join(', then ') || 'No receipt'
}

const SECOND_MS = 1_000

function delay({ least, most }: { least: number; most: number }): string {
  if (most === 0) return 'at once'
  if (least < most) return `after ${least} to ${most} ms`
  return most % SECOND_MS === 0 ? `after ${most / SECOND_MS} s` : `after ${most} ms`
}
