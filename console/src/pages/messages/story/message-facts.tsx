import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { meaningOf } from '../../../kit/error-codes.ts'
import { countryName, money } from '../../../kit/formats.ts'
import { Id } from '../../../kit/id.tsx'
import { NoValue } from '../../../kit/no-value.tsx'
import { MessageStatusBadge } from '../../../kit/status-badge.tsx'
import { Time } from '../../../kit/time.tsx'
import { type Status, TONES } from './entries.ts'

/** What both APIs say of a message. */
export interface ShownMessage {
  readonly msgId: string
  readonly servicePlanId: string | null
  readonly status: string
  readonly from: string | null
  readonly to: string | null
  readonly body: string | null
  readonly segments: number | null
  readonly errorCode: string
  readonly price: number | null
  readonly ptf: number | null
  readonly currency: string | null
  readonly country: string | null
  readonly mccmnc: string | null
  readonly createdAt: string
}

interface FactsProps {
  readonly message: ShownMessage
  readonly segmentTexts: ReactNode
  /** What it waits for. */
  readonly waiting: string | null
  /** Further ones, as `Fact`s. */
  readonly children: ReactNode
}

/** The message itself: its state, its text, and what is known at a glance. */
export function Facts({ message, segmentTexts, waiting, children }: FactsProps) {
  const { status, from, country, mccmnc, price, ptf, currency, segments, createdAt, msgId } = message
  return (
    <div className="facts">
      <Trouble message={message} />
      <div className="facts-text">{segmentTexts}</div>
      <dl className="facts-list">
        <Fact name="Status">
          <MessageStatusBadge status={status as Status} />
          {waiting !== null && <div className="facts-waiting">{waiting}</div>}
        </Fact>
        <Fact name="From">{from}</Fact>
        <Fact name="Country and network">
          {country === null ? <NoValue /> : `${countryName(country)}${mccmnc === null ? '' : `, ${mccmnc}`}`}
        </Fact>
        <Fact name="Segments">{segments}</Fact>
        <Fact name="Price">
          {price === null ? <NoValue /> : money(price, currency)}
          {ptf !== null && ptf > 0 && ` + ${money(ptf, currency)} pass-through fee`}
        </Fact>
        <Fact name="Accepted">
          <Time at={createdAt} />
        </Fact>
        {children}
        <Fact name="Message id">
          <Id value={msgId} of="message" />
        </Fact>
      </dl>
    </div>
  )
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What went wrong, and what can be done. */
function Trouble({ message: { status, errorCode } }: { message: ShownMessage }) {
  if (errorCode === '000') return null
  const meaning = meaningOf(errorCode)
  return (
    <div className="trouble" data-tone={TONES[status as Status]} role="note">
      <Text size="sm">
        <span className="aldis-mono">{errorCode}</span>{' '}
        <Text span inherit fw={600}>
          {meaning?.title ?? 'No more is known'}
        </Text>
      </Text>
      {meaning !== undefined && <Text size="sm">{meaning.advice}</Text>}
    </div>
  )
}

interface FactLinkProps {
  readonly to: string
  readonly search?: object
  /** Behind another link. */
  readonly isAside?: boolean
  readonly children: ReactNode
}

/** The object that a fact names, or the messages that have the same value. */
export function FactLink({ to, search = {}, isAside, children }: FactLinkProps) {
  return (
    <Link className={isAside ? 'fact-link fact-aside' : 'fact-link'} to={to as '/'} search={search as never}>
      {children}
    </Link>
  )
}

/** The text as it was sent; `texts` are those of its segments, where they are known. */
export function MessageText({ body, texts }: { body: string | null; texts: readonly string[] | null }) {
  if (body === null)
    return <p className="message-text">Discarded when the message had ended, as the plan asks.</p>
  if (texts === null || texts.length < 2) return <blockquote className="message-text">{body}</blockquote>
  return (
    <blockquote className="message-text">
      {texts.map((text, index) => (
        // Segments have no other name than their number.
        // biome-ignore lint/suspicious/noArrayIndexKey: their order never changes.
        <span key={index} className="message-segment" title={`Segment ${index + 1} of ${texts.length}`}>
          {text}
        </span>
      ))}
    </blockquote>
  )
}
