import { duration } from '../../../kit/formats.ts'
import { LANE_NAMES, LANES, type StatusChange, type Story, type StoryEntry, TONES } from './entries.ts'
import { TimeScale } from './time-axis.ts'

/** The whole story on one line of time, for the eye only: the list below it says the same in words. */
export function StoryStrip({ story }: { story: Story }) {
  const { entries, statuses, acceptedMs } = story
  const instants = [acceptedMs, ...entries.flatMap(instantsOf), ...statuses.map(({ atMs }) => atMs)]
  const scale = new TimeScale(instants)
  return (
    <div className="strip" aria-hidden>
      <div className="strip-name" />
      <div className="strip-status">
        {statuses.map((change, index) => (
          <Band key={change.status} change={change} next={statuses[index + 1]} scale={scale} />
        ))}
      </div>
      {LANES.map((lane) => (
        <Row
          key={lane}
          name={LANE_NAMES[lane]}
          entries={entries.filter((one) => one.lane === lane)}
          scale={scale}
        />
      ))}
      <div className="strip-name" />
      <div className="strip-ticks">
        {ticksOf(entries, acceptedMs, scale).map(({ at, text }, index) => (
          <span
            key={at}
            style={{ left: percent(at) }}
            data-minor={index > 1 || undefined}
            data-last={at > 0.9 || undefined}
          >
            {text}
          </span>
        ))}
      </div>
    </div>
  )
}

function instantsOf({ atMs, endMs }: StoryEntry): number[] {
  return endMs === undefined ? [atMs] : [atMs, endMs]
}

interface BandProps {
  readonly change: StatusChange
  readonly next: StatusChange | undefined
  readonly scale: TimeScale
}

/** How long the message had a status. */
function Band({ change, next, scale }: BandProps) {
  const from = scale.placeOf(change.atMs)
  const to = next === undefined ? 1 : scale.placeOf(next.atMs)
  // The last status goes on behind the end.
  const width = next === undefined ? `calc(${percent(to - from)} + 0.75rem)` : percent(to - from)
  return <span data-tone={TONES[change.status]} style={{ left: percent(from), width }} />
}

function Row({ name, entries, scale }: { name: string; entries: readonly StoryEntry[]; scale: TimeScale }) {
  return (
    <>
      <div className="strip-name">{name}</div>
      <div className="strip-lane">
        {entries.map(({ id, atMs, endMs = atMs, tone, isPlanned }) => {
          const from = scale.placeOf(atMs)
          const style = { left: percent(from), width: percent(scale.placeOf(endMs) - from) }
          return (
            <span
              key={id}
              className="strip-mark"
              style={style}
              data-tone={tone}
              data-planned={isPlanned || undefined}
            />
          )
        })}
      </div>
    </>
  )
}

/** Room that a label needs. */
const TICK_ROOM = 0.14

/** Labels of the axis where there is room for them; the last comes first. */
function ticksOf(entries: readonly StoryEntry[], acceptedMs: number, scale: TimeScale) {
  const places = [...new Set(entries.map(({ atMs }) => atMs))].map((atMs) => ({
    at: scale.placeOf(atMs),
    text: `+${duration(Math.max(0, atMs - acceptedMs))}`,
  }))
  const taken: { at: number; text: string }[] = []
  for (const place of [places[0], places.at(-1), ...places.slice(1, -1)]) {
    if (place !== undefined && taken.every(({ at }) => Math.abs(at - place.at) >= TICK_ROOM))
      taken.push(place)
  }
  return taken
}

function percent(part: number): string {
  return `${(100 * part).toFixed(2)}%`
}
