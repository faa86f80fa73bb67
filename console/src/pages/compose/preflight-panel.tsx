import { Skeleton, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
  IconInfoCircle,
} from '@tabler/icons-react'
import type { Preflight } from '../../../../client/src/api.ts'
import type { Fields } from '../../kit/drafts.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { Section } from '../../kit/section.tsx'
import { type Check, checksOf } from './checks.ts'

interface PreflightPanelProps {
  readonly preflight: Preflight | undefined
  readonly given: Fields
  /** Its fields say what is wrong with them. */
  readonly isForm: boolean
  /** Nothing has been typed, or the JSON is none. */
  readonly isEmpty: boolean
  readonly error: Error | null
  readonly onRetry: () => void
}

/** What a send would do, step by step. */
export function PreflightPanel(props: PreflightPanelProps) {
  const { preflight, given, isForm, isEmpty, error, onRetry } = props
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
          <Verdict preflight={preflight} given={given} />
          <ul className="compose-checks">
            {checksOf(preflight, given, isForm).map((check) => (
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
function Verdict({ preflight, given }: { preflight: Preflight; given: Fields }) {
  const { refusal, sender } = preflight
  if (isUnfinished(refusal, given))
    return (
      <div className="compose-verdict" role="status">
        <Text size="sm">Not complete yet</Text>
      </div>
    )
  const unexplained = (refusal?.errors ?? []).filter(({ field }) => !EXPLAINED.includes(field))
  const isExplained = refusal?.errors !== undefined || sender.allowed === false
  return (
    <div className="compose-verdict" data-tone={refusal === null ? 'good' : 'bad'} role="status">
      <Text size="sm" fw={600}>
        {refusal === null ? 'This message would be accepted' : 'This message would be refused'}
      </Text>
      {refusal !== null && (
        <Text size="sm">
          {refusal.status} {refusal.errorCode}
          {!isExplained && `: ${refusal.errorMessage}`}
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

/** All that is wrong is what has not been written yet. */
function isUnfinished(refusal: Preflight['refusal'], given: Fields): boolean {
  const errors = refusal?.errors ?? []
  return errors.length > 0 && errors.every(({ field }) => given[field as keyof Fields] === '')
}

const ICONS = {
  good: { icon: IconCircleCheckFilled, means: 'Good' },
  info: { icon: IconInfoCircle, means: 'Note' },
  neutral: { icon: IconCircleDashed, means: 'Open' },
  warning: { icon: IconAlertTriangle, means: 'Warning' },
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
