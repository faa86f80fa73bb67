import { singular } from './names.ts'
import {
  longPassword,
  presentBinds,
  presentCarrier,
  presentExplanation,
  presentQuality,
  presentQueue,
  presentStatistics,
} from './presentations.ts'
import { type Columns, type Fields, type Tables, without } from './printing.ts'

/**
 * Facts about a noun of the command line that are not in the OpenAPI document. A collection without a row here is named
 * by the singular of its path, and its lists have every field as a column.
 */
export interface Noun {
  readonly path: string
  /** What the noun is, if it is not all of a tag of the document. */
  readonly description?: string
  /** The field of `create` that names the new object: an argument if it is required, otherwise `--id`. */
  readonly key?: string
  /** Names of the operations other than list, show, create, update and delete of the path. */
  readonly verbs?: Readonly<Record<string, string>>
  /** The columns of its list. */
  readonly columns?: Columns
  /** Columns of other tables, by verb and by the field of the answer. */
  readonly tables?: Readonly<Record<string, Tables>>
  /** The answer as people see it. */
  readonly present?: Readonly<Record<string, (answer: Fields) => Fields>>
  /** The environment variable that a field may come from, by verb. */
  readonly environment?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** What to say of a request before it is sent. */
  readonly warning?: (body: Fields) => string | undefined
  /** The noun alone means `show`. */
  readonly isShown?: true
  readonly notes?: string
  /** Descriptions of the commands that do something other than one request. */
  readonly descriptions?: Readonly<Record<string, string>>
}

const importOf = (what: string) =>
  `${what} The file may have any length: it is sent 1,000 lines at a time, each all or none. An error names its line and
how many lines were imported before.`
const LINKS = {
  links: 'number bind state boundSince unanswered lastClose',
}
const BINDS = {
  nodes: 'node condition queued sentLastSecond configuredRate measuredRate reportAgeMs',
  binds: 'number type node state since retryAt window unanswered',
  errors: 'number type node at error status count detail',
}
const STATISTICS = `what accepted sent delivered failed unknown inbound segments price
ACCEPT_P99_MS=latencyMs.accept.p99 SUBMIT_P99_MS=latencyMs.submit.p99 RECEIPT_P50_S=receiptSeconds WEBHOOK_P99_MS=latencyMs.webhook.p99`
const FIGURES = `SUBMITS=submits.total REFUSED=submits.refused THROTTLED=submits.throttled NO_ANSWER=submits.noAnswer
P50_MS=submits.latencyMs.p50 P95_MS=submits.latencyMs.p95 SENT=messages.sent DELIVERED_%=messages.deliveryRate
MISSING=messages.missing RECEIPT_P50_S=receiptSeconds.p50 RECEIPT_P95_S=receiptSeconds.p95`
const ATTEMPTS = {
  attemptRecords: 'attemptedAt attempt latencyMs responseStatus error responseHead',
}

/** In the order of the help text. */
export const NOUNS: Readonly<Record<string, Noun>> = {
  account: {
    path: '/accounts',
    key: 'accountId',
    columns: 'accountId name defaultDlrUrl rateLimit.messagesPerSecond',
    environment: { create: { webhookCredentials: 'ALDIS_WEBHOOK_BASIC' } },
    verbs: {
      rotateWebhookSecret: 'rotate-webhook-secret',
      deletePreviousWebhookSecret: 'delete-previous-webhook-secret',
    },
  },
  plan: {
    path: '/service-plans',
    key: 'servicePlanId',
    columns: 'servicePlanId accountId name active route inboundUrl rateLimit.messagesPerSecond',
  },
  'plan-limits': {
    path: '/service-plans/{servicePlanId}/limits',
    isShown: true,
    description:
      'How much of its caps a service plan has used, countries that are paused, and the events of its limits',
    tables: {
      show: {
        usage:
          'per begins MESSAGES_USED=used.messages MESSAGES_CAP=cap.messages COST_USED=used.cost COST_CAP=cap.cost cap.currency percent',
        pauses: 'country since until reason',
        events: 'at type text attempts takenAt',
      },
    },
  },
  'country-pause': {
    path: '/service-plans/{servicePlanId}/pauses',
    description: 'Countries that the pumping guard of a service plan has paused',
  },
  token: {
    path: '/tokens',
    columns: 'tokenId accountId name hint servicePlanIds scopes createdAt expiresAt revokedAt',
  },
  'operator-token': {
    path: '/operator-tokens',
    key: 'name',
    columns: 'operatorTokenId name role hint createdAt revokedAt',
    notes: 'OPERATOR_TOKEN of the nodes is not in the list. The audit log calls it environment.',
  },
  'audit-log': {
    path: '/audit-log',
    columns: 'at token address operation objectType objectId',
    notes: 'With --json, a row has the object before and after the change.',
  },
  sender: {
    path: '/service-plans/{servicePlanId}/senders',
    columns: 'sender status createdAt',
  },
  'sender-rule': {
    path: '/sender-rules',
    key: 'country',
    columns: 'ruleId servicePlanId country senderTypes',
    notes: `A sender must be of a type that its plan allows. If there is a rule for the recipient's country, it must allow the
type too: the plan's own rule applies, otherwise the one for all plans.`,
  },
  number: { path: '/inbound-numbers', key: 'number', columns: 'number servicePlanId keywords' },
  'sendsms-user': {
    path: '/sendsms-users',
    key: 'username',
    columns: 'username servicePlanId defaultSender forcedSender callingCode createdAt',
    environment: { create: { password: 'ALDIS_SENDSMS_PASSWORD' } },
    notes: 'They send with /cgi-bin/sendsms (docs/sendsms.md), which nodes with SENDSMS=on serve.',
  },
  'opt-out': {
    path: '/opt-outs',
    columns: 'from to createdAt',
    descriptions: { import: importOf('Import opt-outs. Those that exist already are kept.') },
    notes: 'Opt-outs apply to plans that act on STOP: aldis plan update <servicePlanId> --opt-out',
  },
  carrier: {
    path: '/carriers',
    key: 'name',
    columns: 'name host port tls bindMode systemId window messagesPerSecond state LINK=link.state',
    tables: { show: LINKS, create: LINKS, update: LINKS, binds: BINDS },
    present: {
      show: presentCarrier,
      create: presentCarrier,
      update: presentCarrier,
      binds: presentBinds,
    },
    environment: { create: { password: 'ALDIS_CARRIER_PASSWORD' } },
    warning: longPassword,
  },
  route: {
    path: '/routes',
    key: 'name',
    verbs: { explainRoute: 'explain' },
    columns: 'name carriers qualityFloor',
    tables: { explain: { carriers: 'carrier priority weight condition share reason' } },
    present: { explain: presentExplanation },
    notes: `Carriers with the lowest priority are tried first (default 0); those of equal priority share by weight (default 1).
SHARE of an explanation is the percentage of such messages that each carrier gets now.`,
  },
  'routing-rule': {
    path: '/routing-rules',
    columns: 'ruleId servicePlanId from mccmnc prefix country route',
    notes: `A rule may name a plan, a sender and one of mccmnc, prefix and country. If several rules match, one that names the
sender comes first, then the more specific recipient, then the plan's own. Messages that match no rule take the route
of their plan.`,
  },
  'number-range': {
    path: '/number-ranges',
    columns: 'prefix mccmnc',
    descriptions: {
      import: importOf('Import number ranges. Those that exist already get the network of the file.'),
    },
  },
  rate: {
    path: '/rates',
    columns: 'rateId servicePlanId prefix country mccmnc price ptf currency',
    descriptions: { import: importOf('Import rates. Those that exist already get the amounts of the file.') },
    notes: `Prices are exact to 6 decimal places. The most specific rate applies: one of the message's plan before those for all
plans; then by network, longest prefix, country, anywhere.`,
  },
  message: {
    path: '/messages',
    columns: 'createdAt msgId servicePlanId from to status errorCode carrier',
    verbs: { countMessagesOfPlans: 'count' },
    descriptions: {
      list: `List messages of all service plans, or of one, newest first. Without --plan or --carrier-message-id, those of the
last 24 hours, or of at most 24 hours from --from-date or up to --to-date. Dates are RFC 3339. A page may have fewer messages than --limit.`,
    },
    tables: { show: { timeline: 'at what detail' } },
    // The timeline has these.
    present: { show: without('attempts', 'submissions', 'receipts', 'webhookAttempts', 'webhookEvents') },
  },
  inbound: {
    path: '/inbound-messages',
    description: 'Inbound messages of a service plan',
    columns: 'receivedAt msgId from to keyword body',
  },
  'unowned-inbound': {
    path: '/unowned-inbound-messages',
    description: 'Inbound messages to numbers that nobody owns',
    columns: 'receivedAt msgId from to carrier body',
  },
  event: {
    path: '/webhook-events',
    description: 'Events of a service plan, and how webhooks delivered them',
    verbs: { redeliverWebhookEventsOfPlan: 'redeliver-failed', sendTestWebhookOfPlan: 'test' },
    descriptions: {
      'redeliver-failed':
        'Redeliver all failed events of a service plan, or all kept without a URL, 20,000 a request.',
    },
    columns: 'occurredAt eventId messageStatus state attempts nextAttemptAt responseStatus error destination',
    tables: {
      show: ATTEMPTS,
      redeliver: ATTEMPTS,
    },
    notes: `An event is a change of a message's status, or an inbound message: its id is that of the message, a dash and a number.`,
  },
  destination: {
    path: '/webhook-destinations',
    description: 'Destinations of the webhooks of a service plan',
    columns: 'destination state since pausedBy error waiting parked failed',
    notes:
      'A destination is the scheme, host and port of the URLs that webhooks go to: https://hooks.example.com',
  },
  quality: {
    path: '/quality',
    isShown: true,
    description: 'Quality of carriers in their routes',
    tables: {
      show: { items: `route carrier ${FIGURES} outOfUseUntil`, series: `at ${FIGURES}` },
    },
    present: { show: presentQuality },
  },
  'quality-pause': {
    path: '/quality/pauses',
    description: 'Carriers that are out of use in a route because of their quality',
    columns: 'route carrier since until reason',
  },
  statistics: {
    path: '/statistics',
    isShown: true,
    description: 'Counts, prices and latencies over time',
    tables: { show: { rows: STATISTICS } },
    present: { show: presentStatistics },
    notes: `With --group-by, the totals of each group; otherwise a row for each interval. --json has both, and the buckets of latencies.
docs/statistics.md explains each column.`,
  },
  queue: {
    path: '/queue',
    isShown: true,
    tables: {
      show: {
        messages: 'count place route carrier cause age',
        webhooks: 'count cause age',
        destinations: 'count state servicePlanId destination since error age',
      },
    },
    present: { show: presentQueue },
  },
  alarm: {
    path: '/alarms',
    verbs: { listAlarms: 'list', sendTestAlarm: 'test' },
    tables: { list: { items: 'since raisedAt name object summary whatToDo' } },
  },
  node: {
    path: '/nodes',
    verbs: { listNodes: 'list' },
    tables: {
      list: {
        items: `name role host version since leaseEndsAt draining buckets binds boundLinks
messagesInProgress messagesHeld webhooksHeld reportAgeMs`,
      },
    },
  },
  secrets: {
    path: '/secrets',
    descriptions: {
      reseal: `Re-encrypt stored secrets with the current SECRET_KEY. Reports progress, and can be interrupted and
repeated safely. Exit code 1 if a secret is opened by neither key, or kept changing.`,
    },
  },
}

/** The tables of an answer. */
export function tablesOf(noun: string, verb: string): Tables {
  const { tables, columns } = NOUNS[noun] ?? {}
  return tables?.[verb] ?? (columns === undefined ? {} : { items: columns })
}

const VERBS: Readonly<Record<string, string>> = {
  post: 'create',
  put: 'create',
  patch: 'update',
  delete: 'delete',
}

/** What an operation is called on the command line. PUT creates or replaces. */
export function commandOf(operation: { id: string; method: string; path: string }): {
  noun: string
  verb: string
} {
  const { id, method, path } = operation
  for (const [noun, { verbs }] of Object.entries(NOUNS)) {
    const verb = verbs?.[id]
    if (verb !== undefined) return { noun, verb }
  }
  const rows = Object.entries(NOUNS).filter(([, row]) => path === row.path || path.startsWith(`${row.path}/`))
  const [noun, row] = rows.sort(([, a], [, b]) => b.path.length - a.path.length)[0] ?? []
  const collection = row?.path ?? path.replace(/^(\/[^/]+).*/, '$1')
  const act = /\/([a-z-]+)$/.exec(path.slice(collection.length))?.[1]
  const verb = act ?? VERBS[method] ?? (id.startsWith('list') ? 'list' : 'show')
  return { noun: noun ?? singular(collection.slice(1)), verb }
}
