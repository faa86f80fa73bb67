/**
 * Kannel tuned for speed: no store for messages, delivery reports in memory, a wide window, replies when bearerbox has
 * taken a message. What it holds is lost when it dies.
 */

export interface KannelConfiguration {
  readonly adminPort: number
  readonly smsboxPort: number
  readonly sendsmsPort: number
  readonly carrierPort: number
  /** Unanswered submit_sm. */
  readonly window: number
}

export const USER = { name: 'bench', password: 'bench' } as const
/**
 * Which delivery reports call back: 1 delivered, 2 not delivered, 4 queued by the carrier, 8 accepted by it, 16 refused by
 * it. A message that is delivered has two, 8 and 1, as Aldis has SENT and DELIVERED.
 */
export const CALLBACK_MASK = 1 + 2 + 4 + 8 + 16

/** A load of at most 1,000 connections with one request each reaches neither limit. */
const MOST_PENDING = 1_000
/** Logs warnings; level 1 would log every message. */
const LOG_LEVEL = 2

export function kannelConfiguration(options: KannelConfiguration): string {
  const { adminPort, smsboxPort, sendsmsPort, carrierPort, window } = options
  return groups([
    {
      group: 'core',
      'admin-interface': '127.0.0.1',
      'admin-port': adminPort,
      'admin-password': USER.password,
      'smsbox-interface': '127.0.0.1',
      'smsbox-port': smsboxPort,
      'smsbox-max-pending': MOST_PENDING,
      'box-deny-ip': '"*.*.*.*"',
      'box-allow-ip': '"127.0.0.1"',
      'dlr-storage': 'internal',
      'log-level': LOG_LEVEL,
    },
    {
      group: 'smsc',
      smsc: 'smpp',
      'smsc-id': 'carrier',
      host: '127.0.0.1',
      port: carrierPort,
      'transceiver-mode': true,
      'smsc-username': 'kannel',
      'smsc-password': 'kannel',
      'system-type': '""',
      'address-range': '""',
      'max-pending-submits': window,
      'enquire-link-interval': 30,
    },
    {
      group: 'smsbox',
      'bearerbox-host': '127.0.0.1',
      'sendsms-interface': '127.0.0.1',
      'sendsms-port': sendsmsPort,
      'max-pending-requests': MOST_PENDING,
      'immediate-sendsms-reply': false,
      'log-level': LOG_LEVEL,
    },
    { group: 'sendsms-user', username: USER.name, password: USER.password },
    // smsbox starts with at least one service for inbound messages.
    { group: 'sms-service', keyword: 'default', 'max-messages': 0, text: '""' },
  ])
}

function groups(all: readonly Readonly<Record<string, string | number | boolean>>[]): string {
  return all
    .map((group) =>
      Object.entries(group)
        .map(([name, value]) => `${name} = ${value}\n`)
        .join(''),
    )
    .join('\n')
}
