import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { duration } from '../../../kit/formats.ts'
import { MessageStatusBadge } from '../../../kit/status-badge.tsx'
import { exactTime } from '../../../kit/time.tsx'
import { LANE_NAMES, LANES, type Lane, type Story, type StoryEntry } from './entries.ts'
import { StoryStrip } from './story-strip.tsx'
import { type Moment, momentsOf, roomOf } from './time-axis.ts'

interface StoryViewProps {
  readonly story: Story
  /** What can be done about an entry. */
  readonly actionsOf: (entry: StoryEntry) => ReactNode
}

/**
 * What happened to a message: at a glance on one line, then entry by entry in three lanes beside one axis of time. In a
 * narrow place the lanes are one list.
 */
export function StoryView({ story, actionsOf }: StoryViewProps) {
  const moments = momentsOf(story)
  return (
    <div className="story">
      <StoryStrip story={story} />
      <div className="story-heads" aria-hidden>
        {LANES.map((lane) => (
          <div key={lane} data-lane={lane}>
            {LANE_NAMES[lane]}
          </div>
        ))}
      </div>
      <ol className="story-moments" aria-label="What happened, in order">
        {moments.map((moment) => (
          <MomentRow key={moment.entries[0]!.id} moment={moment} actionsOf={actionsOf} />
        ))}
      </ol>
    </div>
  )
}

/** Longer gaps than this are named, because their room no longer shows them. */
const NAMED_GAP_MS = 1_000

function MomentRow({ moment, actionsOf }: { moment: Moment; actionsOf: StoryViewProps['actionsOf'] }) {
  const { atMs, offsetMs, gapMs, entries, change } = moment
  const isPlanned = entries.every((entry) => entry.isPlanned)
  return (
    <li
      className="story-moment"
      style={{ paddingTop: `${roomOf(gapMs)}rem` }}
      data-planned={isPlanned || undefined}
    >
      {gapMs >= NAMED_GAP_MS && (
        <Text className="story-gap" size="xs" c="dimmed" aria-hidden>
          {duration(gapMs)} later
        </Text>
      )}
      <div className="story-time">
        <time dateTime={new Date(atMs).toISOString()} title={exactTime(atMs)}>
          {offsetMs < 0 ? '−' : '+'}
          {duration(Math.abs(offsetMs))}
        </time>
        {change !== null && <MessageStatusBadge status={change.status} />}
      </div>
      {LANES.map((lane) => (
        <LaneEntries
          key={lane}
          lane={lane}
          entries={entries.filter((one) => one.lane === lane)}
          actionsOf={actionsOf}
        />
      ))}
    </li>
  )
}

interface LaneEntriesProps {
  readonly lane: Lane
  readonly entries: readonly StoryEntry[]
  readonly actionsOf: StoryViewProps['actionsOf']
}

function LaneEntries({ lane, entries, actionsOf }: LaneEntriesProps) {
  return (
    <div className="story-lane" data-lane={lane} data-empty={entries.length === 0 || undefined}>
      {entries.map((entry) => (
        <Entry key={entry.id} entry={entry} actions={actionsOf(entry)} />
      ))}
    </div>
  )
}

function Entry({ entry, actions }: { entry: StoryEntry; actions: ReactNode }) {
  const { lane, tone, title, detail, isPlanned } = entry
  return (
    <div
      className={isPlanned ? 'story-entry story-planned' : 'story-entry'}
      data-tone={tone}
      data-planned={isPlanned || undefined}
    >
      <details>
        <summary>
          <span className="story-lane-name">{LANE_NAMES[lane]}</span>
          <span className="story-title">{title}</span>
          {detail != null && <span className="story-detail">{detail}</span>}
        </summary>
        <EntryDetails entry={entry} />
      </details>
      {actions}
    </div>
  )
}

function EntryDetails({ entry: { atMs, endMs, facts, raw } }: { entry: StoryEntry }) {
  const known = facts.filter(([, value]) => value !== null)
  return (
    <div className="story-more">
      <dl>
        <div>
          <dt>Time</dt>
          <dd>
            {instantOf(atMs)}
            {endMs !== undefined && ` until ${instantOf(endMs)}`}
          </dd>
        </div>
        {known.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {raw?.map(([name, text]) => (
        <figure key={name}>
          <figcaption>{name}</figcaption>
          <pre>{text}</pre>
        </figure>
      ))}
    </div>
  )
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

function instantOf(atMs: number): string {
  return CLOCK.format(atMs)
}
