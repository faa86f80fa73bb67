import type { CarrierBindState } from '../../../../client/src/admin-api.ts'
import type { Tone } from '../../kit/status-badge.tsx'

/** The simulator in each node, which sandbox plans send to. */
export function isBuiltIn({ name }: { readonly name: string }): boolean {
  return name === 'sandbox'
}

/** What an operator wants of a carrier. */
export const OPERATING_TONES = { started: 'good', draining: 'info', stopped: 'neutral' } as const

export function bindTone(state: CarrierBindState['state']): Tone {
  if (state === 'bound') return 'good'
  return state === 'unassigned' || state === 'unreported' || state === 'stopped' ? 'neutral' : 'bad'
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
