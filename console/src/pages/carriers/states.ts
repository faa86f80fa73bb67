import type { Tone } from '../../kit/status-badge.tsx'

/** The simulator in each node, which sandbox plans send to. */
export function isBuiltIn({ name }: { readonly name: string }): boolean {
  return name === 'sandbox'
}

/** What an operator wants of a carrier. */
export const OPERATING_TONES = { started: 'good', draining: 'info', stopped: 'neutral' } as const

/** Of a session, in any spelling: BOUND_TRX of a link, bound of a bind. */
export function bindTone(state: string): Tone {
  if (/^bound/i.test(state)) return 'good'
  return /unassigned|unreported|stopped/.test(state) ? 'neutral' : 'bad'
}

const CONDITION_TONES: Readonly<Record<string, Tone>> = {
  usable: 'good',
  throttled: 'warning',
  'out-of-use': 'warning',
  silent: 'bad',
  unbound: 'bad',
  draining: OPERATING_TONES.draining,
  stopped: OPERATING_TONES.stopped,
}

/** What a carrier can do now. */
export function conditionTone(condition: string): Tone {
  return CONDITION_TONES[condition] ?? 'neutral'
}
