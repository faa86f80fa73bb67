import type { Tone } from '../../kit/status-badge.tsx'

/** What an operator wants of a carrier. */
export const OPERATING_TONES = { started: 'good', draining: 'warning', stopped: 'neutral' } as const

/** Of a session, in any spelling: BOUND_TRX of a link, bound of a bind. */
export function bindTone(state: string): Tone {
  if (/^bound/i.test(state)) return 'good'
  return /unassigned|unreported|stopped/.test(state) ? 'neutral' : 'bad'
}

/** What a carrier can do now. */
export function conditionTone(condition: string): Tone {
  if (condition === 'usable') return 'good'
  return condition === 'unbound' || condition === 'silent' ? 'bad' : 'warning'
}
