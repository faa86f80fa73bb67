import { Skeleton, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
} from '@tabler/icons-react'
import type { Preflight } from '../../../../client/src/api.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { Section } from '../../kit/section.tsx'
import { type Check, checksOf } from './checks.ts'
import type { Fields } from './draft.ts'

interface PreflightPanelProps {
  readonly preflight: Preflight | undefined
  readonly given: Fields
  /** Nothing has been typed, or the JSON is none. */
  readonly isEmpty: boolean
  readonly error: Error | null
  readonly onRetry: () => void
}

/** What a send would do, step by step. */
export function PreflightPanel({ preflight, given, isEmpty, error, onRetry }: PreflightPanelProps) {
  return (
    <Section title="Preflight">
      {error !== null && !isEmpty && <ErrorState error={error} onRetry={onRetry} />}
      {isEmpty && (
        <Text size="sm" c="dimmed">
          What you write is checked as you type: nothing is sent, and nothing is charged.
        </Text>
      )}
      {!isEmpty && error === null && preflight === undefined && (
        <Skeleton height={220} role="status" aria-label="Preflight: loading" />
      )}
      {!isEmpty && error === null && preflight !== undefined && (
        <>
          <Verdict preflight={preflight} />
          <ul className="compose-checks">
            {checksOf(preflight, given).map((check) => (
              <CheckLine key={`${check.about} ${check.about === 'Field' ? check.verdict : ''}`} {...check} />
            ))}
          </ul>
        </>
      )}
    </Section>
  )
}

/** Fields that have a line of their own, with what is wrong. */
const EXPLAINED: readonly string[] = ['from', 'to', 'callbackUrl']

/** Announced when it changes; the lines below it are read when one goes there. */
function Verdict({ preflight: { refusal } }: { preflight: Preflight }) {
  const unexplained = (refusal?.errors ?? []).filter(({ field }) => !EXPLAINED.includes(field))
  return (
    <div className="compose-verdict" data-tone={refusal === null ? 'good' : 'bad'} role="status">
      <Text size="sm" fw={600}>
        {refusal === null ? 'This message would be accepted' : 'This message would be refused'}
      </Text>
      {refusal !== null && (
        <Text size="sm">
          {refusal.status} {refusal.errorCode}: {refusal.errorMessage}
        </Text>
      )}
      {unexplained.map(({ field, code, message }) => (
        <Text size="sm" key={`${field} ${code}`}>
          {field} {message}
        </Text>
      ))}
    </div>
  )
}

const ICONS = {
  good: { icon: IconCircleCheckFilled, means: 'Good' },
  info: { icon: IconCircleCheckFilled, means: 'Good' },
  neutral: { icon: IconCircleDashed, means: 'Open' },
  warning: { icon: IconAlertTriangle, means: 'Note' },
  bad: { icon: IconCircleXFilled, means: 'Wrong' },
} as const

function CheckLine({ about, tone, verdict, detail }: Check) {
  const { icon: Icon, means } = ICONS[tone]
  return (
    <li data-tone={tone}>
      <Icon size={18} role="img" aria-label={means} aria-hidden={false} />
      <span className="compose-about">{about}</span>
      <span>
        {verdict}
        {detail !== undefined && <small>{detail}</small>}
      </span>
    </li>
  )
}
