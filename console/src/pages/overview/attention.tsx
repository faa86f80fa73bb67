import { Paper, Skeleton, Title } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react'
import { PlanName } from '../../kit/choose-plan.tsx'
import { ErrorState } from '../../kit/error-state.tsx'
import { count, duration, plural } from '../../kit/formats.ts'
import { useNow } from '../../kit/time.tsx'
import { type Concern, concernsOf, type Installation } from './concerns.ts'
import type { useInstallation } from './installation.ts'

/** What needs a person, at the top of the page, and the state of the installation in one line. */
export function Attention({ data, error, retry }: ReturnType<typeof useInstallation>) {
  return (
    <Paper component="section" withBorder px="md" py="sm" mb="sm" aria-label="Attention">
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {data !== undefined ? <Concerns installation={data} /> : error === null && <Skeleton height={26} />}
    </Paper>
  )
}

function Concerns({ installation }: { installation: Installation }) {
  const concerns = concernsOf(installation, useNow())
  const isWell = concerns.length === 0
  return (
    <>
      <div className="aldis-attention">
        <Title order={2} size="h5" {...(isWell && { className: 'aldis-well' })}>
          {isWell && <IconCircleCheck size={20} aria-hidden />}
          {isWell ? 'All is well' : 'Needs attention'}
        </Title>
        <Facts installation={installation} />
      </div>
      {!isWell && (
        <ul className="aldis-concerns" aria-label="What needs attention">
          {concerns.map((concern) => (
            <Line key={`${concern.title} ${concern.to} ${concern.planId}`} concern={concern} />
          ))}
        </ul>
      )}
    </>
  )
}

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }
const Anchor = createLink(({ children, ...props }: AnchorProps) => <a {...props}>{children}</a>)

/** A link to a page whose address is data. */
export function PageLink({
  to,
  search,
  ...props
}: Pick<Concern, 'to' | 'search'> & Pick<AnchorProps, 'children' | 'className'>) {
  return <Anchor to={to as '/'} search={(search ?? {}) as never} {...(props as object)} />
}

function Line({ concern: { tone, title, detail, to, search, planId } }: { concern: Concern }) {
  return (
    <li data-tone={tone}>
      <IconAlertTriangle size={18} aria-hidden />
      <span>
        <PageLink to={to} {...(search && { search })}>
          {title}
        </PageLink>
        {(detail !== undefined || planId !== undefined) && (
          <span className="aldis-means">
            {planId !== undefined && (
              <>
                service plan <PlanName planId={planId} />
                {detail !== undefined && ', '}
              </>
            )}
            {detail}
          </span>
        )}
      </span>
    </li>
  )
}

function Facts({ installation: { carriers, queue, nodes } }: { installation: Installation }) {
  const nowMs = useNow()
  const started = carriers.filter(({ state }) => state !== 'stopped')
  const waiting = sum(queue.messages)
  const oldestMs = Math.min(...queue.messages.map(({ oldestAt }) => Date.parse(oldestAt)))
  const webhooks = sum(queue.webhooks)
  const more = queue.truncated.messages ? 'more than ' : ''
  return (
    <ul className="aldis-facts" aria-label="Installation">
      <Fact to="/admin/nodes" value={nodes.length} of={plural(nodes.length, 'node')} />
      <Fact to="/admin/carriers" value={started.length} of={plural(started.length, 'carrier')} />
      <Fact
        to="/admin/messages"
        search={{ status: 'QUEUED' }}
        value={`${more}${count(waiting)}`}
        of="in the queue"
      >
        {waiting > 0 && `, the oldest ${duration(Math.max(0, nowMs - oldestMs))}`}
      </Fact>
      <Fact to="/admin/webhooks" value={count(webhooks)} of={`${plural(webhooks, 'webhook')} waiting`} />
    </ul>
  )
}

interface FactProps extends Pick<Concern, 'to' | 'search'> {
  readonly value: ReactNode
  readonly of: string
  readonly children?: ReactNode
}

function Fact({ value, of, children, ...link }: FactProps) {
  return (
    <li>
      <PageLink {...link} className="aldis-quiet-link">
        <strong>{value}</strong> {of}
        {children}
      </PageLink>
    </li>
  )
}

function sum(waiting: readonly { readonly count: number }[]): number {
  return waiting.reduce((total, each) => total + each.count, 0)
}
