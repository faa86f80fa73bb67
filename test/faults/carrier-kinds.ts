/** Carriers that are gone, silent, slow, limited or wrong. */
import { randomOctets, type SeededRandom } from '../../bench/seeded-random.ts'
import type { Bed } from './bed.ts'
import type { Carrier, Conduct } from './carrier.ts'
import type { Kind, Ongoing } from './kind.ts'
import type { Relay } from './relay.ts'

const GARBAGE_OCTETS = 200
/** Sessions break, and PDUs on their way to the carrier are lost. */
const BREAKS = { swallows: true } as const
const CONDUCT_MS = [3_000, 8_000] as const

interface Link {
  readonly carrier: Carrier
  readonly relay: Relay
}

/** One of the carriers, or all of them. */
function drawLinks({ carriers, carrierRelays }: Bed, random: SeededRandom): Link[] {
  const links = carriers.map((carrier, index) => ({ carrier, relay: carrierRelays[index]! }))
  return random.once(3) ? links : [random.pick(links)]
}

function onLinks(
  name: string,
  summary: string,
  more: Partial<Kind>,
  act: (link: Link, random: SeededRandom) => unknown,
  undo: (link: Link) => unknown = () => undefined,
): Kind {
  return {
    name,
    summary,
    excuses: {},
    holdMs: CONDUCT_MS,
    ...more,
    async begin({ bed, random }): Promise<Ongoing> {
      const links = drawLinks(bed, random)
      for (const link of links) await act(link, random)
      return { end: async () => await Promise.all(links.map(undo)) }
    },
  }
}

function misconduct(
  name: string,
  summary: string,
  conduct: Partial<Conduct>,
  more: Partial<Kind> = {},
): Kind {
  return onLinks(
    name,
    summary,
    more,
    ({ carrier }) => {
      carrier.conduct = { ...carrier.conduct, ...conduct }
    },
    ({ carrier }) => carrier.behave(),
  )
}

export const CARRIER_KINDS: readonly Kind[] = [
  onLinks('carrier-reset', 'sessions end with RST', { excuses: BREAKS, holdMs: [0, 500] }, ({ relay }) =>
    relay.reset(),
  ),
  onLinks(
    'carrier-half-open',
    'nothing comes through to the carrier, and nobody is told; then everything is reset',
    { excuses: { copies: true, swallows: true }, holdMs: [3_000, 14_000] },
    ({ relay }) => relay.freeze(),
    ({ relay }) => {
      relay.reset()
      relay.thaw()
    },
  ),
  onLinks(
    'carrier-restarting',
    'the carrier is gone and comes back',
    { excuses: BREAKS, holdMs: [1_000, 6_000] },
    ({ carrier }) => carrier.stop(),
    ({ carrier }) => carrier.start(),
  ),
  onLinks(
    'carrier-unbinding',
    'the carrier unbinds every session',
    { excuses: BREAKS, holdMs: [0, 500] },
    ({ carrier }) => carrier.unbindAll(),
  ),
  onLinks(
    'carrier-garbage',
    'octets that are no PDU',
    { excuses: BREAKS, holdMs: [0, 500] },
    ({ relay }, random) => relay.inject(randomOctets(random, GARBAGE_OCTETS)),
  ),
  misconduct('carrier-silent', 'enquire_link is answered, submit_sm is not', { holdsAnswers: true }),
  misconduct('carrier-slow', 'submit_sm is answered after 1.5 s', { answerDelayMs: 1_500 }),
  misconduct('carrier-throttling', 'ESME_RTHROTTLED for half of what is submitted', { throttledShare: 0.5 }),
  onLinks(
    'carrier-refusing-binds',
    'sessions are reset, and new binds refused',
    { excuses: BREAKS },
    ({ carrier, relay }) => {
      carrier.conduct.refusesBinds = true
      relay.reset()
    },
    ({ carrier }) => carrier.behave(),
  ),
  misconduct(
    'carrier-dropping',
    'takes twelve submits, and drops the connection without an answer',
    { dropsAfterSubmits: 12 },
    { excuses: BREAKS },
  ),
  misconduct('receipts-early', 'receipts come before submit_sm_resp', { sendsReceiptsEarly: true }),
  misconduct('receipts-repeated', 'each receipt comes three times', { receiptRepeats: 2 }),
]
