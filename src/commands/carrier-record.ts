import { type ConnectionOptions, requestAdmin } from './admin-client.ts'
import { type Fields, printFields, printJson, printTable } from './printing.ts'

/** A carrier as the admin API answers, as far as the commands look into it. */
export interface CarrierRecord extends Fields {
  readonly tlsCa: string | null
  readonly submitOutcomes: Readonly<Record<string, string>>
  readonly anomalies: Readonly<Record<string, number>>
  readonly leases: readonly { bind: number; node: string }[]
  readonly link: {
    readonly state: string
    readonly unanswered: number
    readonly lastError: string | null
    readonly links: readonly Fields[]
  } | null
}

const LINK_COLUMNS = {
  BIND: 'number',
  KIND: 'bind',
  STATE: 'state',
  'BOUND SINCE': 'boundSince',
  UNANSWERED: 'unanswered',
  'LAST CLOSE': 'lastClose',
}

/** Sends a request and prints the carrier it answers with. */
export async function requestCarrier(
  options: ConnectionOptions,
  method: string,
  path: string,
  body?: unknown,
): Promise<void> {
  printCarrier(options, (await requestAdmin(options, method, path, body)) as CarrierRecord)
}

/** Its settings, then a line for each of its links. */
export function printCarrier(options: ConnectionOptions, carrier: CarrierRecord): void {
  if (options.json) printJson(carrier)
  else printForPeople(carrier)
}

function printForPeople(carrier: CarrierRecord): void {
  const { link } = carrier
  const certificates = carrier.tlsCa?.match(/-----BEGIN /g)?.length ?? null
  const pairs = (record: object) => Object.entries(record).map(([key, value]) => `${key}=${value}`)
  printFields({
    ...carrier,
    tlsCa: certificates === null ? null : `${certificates} certificate${certificates === 1 ? '' : 's'}`,
    submitOutcomes: pairs(carrier.submitOutcomes),
    anomalies: pairs(carrier.anomalies),
    leases: carrier.leases.map(({ bind, node }) => `${bind} ${node}`),
    link: link?.state ?? null,
  })
  if (link === null) return
  process.stdout.write('\n')
  printTable(link.links, LINK_COLUMNS)
}
