// Made from the OpenAPI document by `npm run generate-client`.

import type {
  CountsByStatus,
  ErrorBody,
  ErrorCode,
  EventType,
  Fault,
  Redelivered,
  Statistics,
  StatisticsBounds,
  StatisticsFigures,
  StatisticsGroup,
  StatisticsLatencies,
  StatisticsLatency,
  StatisticsPoint,
  StatisticsPrice,
  StatisticsSeries,
  StatusCounts,
  TestEvent,
  WebhookAttempt,
  WebhookDestination,
  WebhookEvent,
  WebhookEventDetail,
} from './api.ts'

export type {
  CountsByStatus,
  ErrorBody,
  ErrorCode,
  EventType,
  Fault,
  Redelivered,
  Statistics,
  StatisticsBounds,
  StatisticsFigures,
  StatisticsGroup,
  StatisticsLatencies,
  StatisticsLatency,
  StatisticsPoint,
  StatisticsPrice,
  StatisticsSeries,
  StatusCounts,
  TestEvent,
  WebhookAttempt,
  WebhookDestination,
  WebhookEvent,
  WebhookEventDetail,
}

export interface Account {
  accountId: string
  name: string
  defaultDlrUrl: string | null
  webhookHeaderNames: string[]
  webhookCredentialsSet: boolean
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit: RateLimit | null
  previousWebhookSecretLive: boolean
  createdAt: string
}

export interface AccountChange {
  /** Name to show. */
  name?: DisplayName | undefined
  /** URL for receipts of messages that name none; null: none. */
  defaultDlrUrl?: string | null | undefined
  /** Headers of every webhook of the account, in addition to ours; null: none. */
  webhookHeaders?: WebhookHeader[] | null | undefined
  /** Basic credentials of every webhook whose URL has none; they exclude a header Authorization; null: none. */
  webhookCredentials?: BasicCredentials | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
}

export interface AccountCreation {
  /** Id of the account, 24 hex digits. */
  accountId?: string | undefined
  /** Name to show. */
  name: DisplayName
  /** URL for receipts of messages that name none; null: none. */
  defaultDlrUrl?: string | null | undefined
  /** Headers of every webhook of the account, in addition to ours; null: none. */
  webhookHeaders?: WebhookHeader[] | null | undefined
  /** Basic credentials of every webhook whose URL has none; they exclude a header Authorization; null: none. */
  webhookCredentials?: BasicCredentials | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
}

export interface AccountPage {
  items: Account[]
  nextAfter: string | null
}

export type AmbiguousSubmits = 'resubmit' | 'unknown'

export interface AuditEntry {
  auditId: number
  at: string
  /** name of the operator token. */
  token: string
  /** where the connection came from: behind a proxy, its address. */
  address: string
  /** operationId in the OpenAPI document. */
  operation: string
  objectType: string
  /** name or number before the change; empty for imports and secrets. */
  objectId: string
  /** the object before, without secrets; null: there was none. */
  before: Record<string, unknown> | null
  /** the object after, without secrets; null: there is none any more. */
  after: Record<string, unknown> | null
}

export interface AuditEntryPage {
  items: AuditEntry[]
  nextAfter: string | null
}

export interface BasicCredentials {
  username: string
  password: string
}

export interface BindError {
  /** when last. */
  at: string
  /** why the session ended; submit_sm: an answer to a submit other than ESME_ROK. */
  error: string
  /** command_status, by name or in hexadecimal. */
  status: string | null
  /** the error of the connection. */
  detail: string | null
  /** how often. */
  count: number
}

export interface BindLease {
  bind: number
  node: string
}

export type BindMode = 'transceiver' | 'transmitter' | 'receiver' | 'transmitter+receiver'

export type BindState =
  | 'bound'
  | 'connecting'
  | 'backing-off'
  | 'unbinding'
  | 'stopped'
  | 'unassigned'
  | 'unreported'

export interface Carrier {
  carrierId: number
  name: string
  host: string
  systemId: string
  /** draining: bound, but nothing new is submitted; stopped: unbound; default: started. */
  state: OperatingState
  /** TCP port; 0: that of the simulator in each node (carrier sandbox). */
  port: number
  /** Connect with TLS; false: connect without TLS; default: no TLS. */
  tls: boolean
  /** Authorities (PEM) that its certificate may come from; null: those that Node.js or the system trusts. */
  tlsCa: string | null
  /** Name that its certificate must have; null: its host. */
  tlsServerName: string | null
  /** How to bind; default: transceiver. */
  bindMode: BindMode
  /** Binds of each kind, shared among the nodes; default: 1. */
  binds: number
  /** system_type to bind with; default: none. */
  systemType: string
  /** Unanswered submit_sm of each bind, at most; default: 10. */
  window: number
  /** Messages a second, at most; null: no limit. */
  messagesPerSecond: number | null
  /** Messages a second from one sender, at most; null: no limit. */
  senderMessagesPerSecond: number | null
  /** How a long text is sent: UDH with an 8- or 16-bit reference, sar_* TLVs, or whole in message_payload; default: udh. */
  longMessages: LongMessages
  /** Longest validity_period that it is given; null: the remaining validity of the message. */
  validitySeconds: number | null
  /** How validity_period of submit_sm is written (SMPP 3.4 §7.1.1); none: the field is empty; default: relative. */
  validityFormat: 'relative' | 'absolute' | 'none'
  /** What a command_status (0x45 or 69) of submit_sm_resp means: throttled, retry, limited-retry, rebind, permanent; empty: the default table. */
  submitOutcomes: Record<string, SubmitOutcome>
  /** How message ids in receipts match those in answers; auto: learned from the first receipts; default: auto. */
  idRule: IdRule
  /** what idRule auto has learned; null: nothing yet. */
  learnedIdRule: string | null
  /** which node has which bind. */
  leases: BindLease[]
  /** of the node that answers; null: it has none. */
  link: CarrierLink | null
  /** how often the carrier violated SMPP 3.4, by kind, as counted by the node that answers since it started. */
  anomalies: Record<string, number>
  createdAt: string
}

export interface CarrierBind {
  /** which of the binds, from 0. */
  number: number
  bind: string
  state: string
  boundSince: string | null
  lastClose: string | null
  unanswered: number
}

export interface CarrierBindState {
  /** which of the binds, from 0. */
  number: number
  /** transceiver, transmitter or receiver. */
  type: string
  /** null: no node has it. */
  node: string | null
  /** unassigned: no node has it; unreported: its node has not reported it yet. */
  state: BindState
  /** when the session came up; of a bind that is not bound, when it went down. */
  since: string | null
  /** of a bind that backs off. */
  retryAt: string | null
  window: number
  /** submit_sm whose answer is awaited. */
  unanswered: number | null
  /** at most 5 different ones, the newest first. */
  errors: BindError[]
}

export interface CarrierBinds {
  carrier: string
  /** started, draining or stopped. */
  state: string
  host: string
  port: number
  systemId: string
  bindMode: string
  /** how message ids in receipts match those in answers. */
  idRule: string
  /** what idRule auto has learned; null: nothing yet. */
  learnedIdRule: string | null
  /** those that have binds of it. */
  nodes: CarrierNode[]
  binds: CarrierBindState[]
}

export interface CarrierChange {
  /** Name. */
  name?: string | undefined
  /** Host name or address of its SMSC. */
  host?: string | undefined
  /** system_id to bind with. */
  systemId?: string | undefined
  /** Password to bind with. */
  password?: string | undefined
  /** draining: bound, but nothing new is submitted; stopped: unbound; default: started. */
  state?: OperatingState | undefined
  /** TCP port; default: 2775. */
  port?: number | undefined
  /** Connect with TLS; false: connect without TLS; default: no TLS. */
  tls?: boolean | undefined
  /** Authorities (PEM) that its certificate may come from; null: those that Node.js or the system trusts. */
  tlsCa?: string | null | undefined
  /** Name that its certificate must have; null: its host. */
  tlsServerName?: string | null | undefined
  /** How to bind; default: transceiver. */
  bindMode?: BindMode | undefined
  /** Binds of each kind, shared among the nodes; default: 1. */
  binds?: number | undefined
  /** system_type to bind with; default: none. */
  systemType?: string | undefined
  /** Unanswered submit_sm of each bind, at most; default: 10. */
  window?: number | undefined
  /** Messages a second, at most; null: no limit. */
  messagesPerSecond?: number | null | undefined
  /** Messages a second from one sender, at most; null: no limit. */
  senderMessagesPerSecond?: number | null | undefined
  /** How a long text is sent: UDH with an 8- or 16-bit reference, sar_* TLVs, or whole in message_payload; default: udh. */
  longMessages?: LongMessages | undefined
  /** Longest validity_period that it is given; null: the remaining validity of the message. */
  validitySeconds?: number | null | undefined
  /** How validity_period of submit_sm is written (SMPP 3.4 §7.1.1); none: the field is empty; default: relative. */
  validityFormat?: 'relative' | 'absolute' | 'none' | undefined
  /** What a command_status (0x45 or 69) of submit_sm_resp means: throttled, retry, limited-retry, rebind, permanent; empty: the default table. */
  submitOutcomes?: Record<string, SubmitOutcome> | undefined
  /** How message ids in receipts match those in answers; auto: learned from the first receipts; default: auto. */
  idRule?: IdRule | undefined
}

export interface CarrierCreation {
  /** Name. */
  name: string
  /** Host name or address of its SMSC. */
  host: string
  /** system_id to bind with. */
  systemId: string
  /** Password to bind with. */
  password: string
  /** draining: bound, but nothing new is submitted; stopped: unbound; default: started. */
  state?: OperatingState | undefined
  /** TCP port; default: 2775. */
  port?: number | undefined
  /** Connect with TLS; false: connect without TLS; default: no TLS. */
  tls?: boolean | undefined
  /** Authorities (PEM) that its certificate may come from; null: those that Node.js or the system trusts. */
  tlsCa?: string | null | undefined
  /** Name that its certificate must have; null: its host. */
  tlsServerName?: string | null | undefined
  /** How to bind; default: transceiver. */
  bindMode?: BindMode | undefined
  /** Binds of each kind, shared among the nodes; default: 1. */
  binds?: number | undefined
  /** system_type to bind with; default: none. */
  systemType?: string | undefined
  /** Unanswered submit_sm of each bind, at most; default: 10. */
  window?: number | undefined
  /** Messages a second, at most; null: no limit. */
  messagesPerSecond?: number | null | undefined
  /** Messages a second from one sender, at most; null: no limit. */
  senderMessagesPerSecond?: number | null | undefined
  /** How a long text is sent: UDH with an 8- or 16-bit reference, sar_* TLVs, or whole in message_payload; default: udh. */
  longMessages?: LongMessages | undefined
  /** Longest validity_period that it is given; null: the remaining validity of the message. */
  validitySeconds?: number | null | undefined
  /** How validity_period of submit_sm is written (SMPP 3.4 §7.1.1); none: the field is empty; default: relative. */
  validityFormat?: 'relative' | 'absolute' | 'none' | undefined
  /** What a command_status (0x45 or 69) of submit_sm_resp means: throttled, retry, limited-retry, rebind, permanent; empty: the default table. */
  submitOutcomes?: Record<string, SubmitOutcome> | undefined
  /** How message ids in receipts match those in answers; auto: learned from the first receipts; default: auto. */
  idRule?: IdRule | undefined
}

export interface CarrierLink {
  state: string
  since: string | null
  lastError: string | null
  /** submit_sm whose answer is awaited. */
  unanswered: number
  links: CarrierBind[]
}

export interface CarrierNode {
  node: string
  /** what it can do now: usable, throttled, silent, unbound, draining or stopped. */
  condition: string
  /** messages in its memory that wait for their turn. */
  queued: number
  /** submit_sm. */
  sentLastSecond: number
  /** its share of messagesPerSecond; null: no limit. */
  configuredRate: number | null
  /** submit_sm a second, as learned from ESME_RTHROTTLED; null: the carrier does not throttle. */
  measuredRate: number | null
  /** how old this is, and what it says of its binds. */
  reportAgeMs: number | null
}

export interface CarrierPage {
  items: Carrier[]
  nextAfter: string | null
}

export interface CarrierQuality {
  route: string
  carrier: string
  /** submit_sm, one for each segment. */
  submits: SubmitFigures
  messages: MessageFigures
  outOfUseUntil: string | null
}

export interface CreatedAccount {
  accountId: string
  name: string
  defaultDlrUrl: string | null
  webhookHeaderNames: string[]
  webhookCredentialsSet: boolean
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit: RateLimit | null
  previousWebhookSecretLive: boolean
  createdAt: string
  webhookSecret: string
}

export interface DestinationRequest {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Scheme, host and port: https://hooks.example.com. */
  destination: string
}

export type DisplayName = string

export interface EventAttempt {
  /** 1, 2, … for the changes of status. */
  event: number
  attempt: number
  attemptedAt: string
  latencyMs: number
  responseStatus: number | null
  error: string | null
  /** the first 1 KiB of the answer. */
  responseHead: string | null
}

export interface ExplainedCarrier {
  carrier: string
  priority: number
  weight: number
  /** on this node: usable, throttled, out-of-use, silent, unbound, draining, stopped. */
  condition: string
  /** percentage of the messages that it currently gets. */
  share: number
  /** as it is stored with a message. */
  reason: string | null
}

export interface ExplainedCharge {
  price: string
  ptf: string
  currency: string
  rate: ExplainedRate
}

export interface ExplainedRate {
  rateId: number
  servicePlanId: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
}

export interface ExplainedRule {
  ruleId: number
  servicePlanId: string | null
  from: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
}

export type IdRule = 'exact' | 'normalised' | 'decimal-hex' | 'hex-decimal' | 'auto'

export interface ImportResult {
  created: number
  changed: number
}

export interface InboundNumber {
  number: string
  servicePlanId: string
  keywords: string[]
  createdAt: string
}

export interface InboundNumberChange {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId?: string | undefined
  /** Keywords that are reported with a message; empty: none. */
  keywords?: string[] | undefined
}

export interface InboundNumberCreation {
  /** E.164 number or short code. */
  number: string
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Keywords that are reported with a message; empty: none. */
  keywords?: string[] | undefined
}

export interface InboundNumberPage {
  items: InboundNumber[]
  nextAfter: string | null
}

export interface InspectedInboundMessage {
  accountId: string
  servicePlanId: string
  msgId: string
  carrier: string | null
  from: string
  to: string
  keyword: string | null
  body: string
  receivedAt: string
}

export interface InspectedInboundMessagePage {
  items: InspectedInboundMessage[]
  nextAfter: string | null
}

export interface InspectedMessage {
  accountId: string
  servicePlanId: string
  msgId: string
  status: string
  from: string
  to: string
  body: string
  segments: number
  callbackUrl: string | null
  country: string | null
  mccmnc: string | null
  errorCode: string
  price: number | null
  ptf: number | null
  currency: string | null
  route: string | null
  /** why this carrier. */
  routeReason: string | null
  carrier: string | null
  /** the carrier's own status or error. */
  carrierCode: string | null
  attempts: SubmitAttempt[]
  submissions: SegmentSubmission[]
  receipts: Receipt[]
  webhookAttempts: EventAttempt[]
  webhookEvents: MessageEvent[]
  /** all of this in order, as readable text. */
  timeline: TimelineEntry[]
  createdAt: string
  sentAt: string | null
  updatedAt: string
}

export interface IssuedOperatorToken {
  operatorTokenId: number
  name: string
  /** admin: everything; support: only reads. */
  role: OperatorRole
  /** start and end of the token. */
  hint: string
  createdAt: string
  revokedAt: string | null
  token: string
}

export interface IssuedToken {
  tokenId: number
  accountId: string
  name: string
  /** start and end of the token. */
  hint: string
  servicePlanIds: string[] | null
  scopes: string[] | null
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  token: string
}

export interface ListedMessage {
  accountId: string
  servicePlanId: string
  msgId: string
  status: string
  from: string
  to: string
  segments: number
  country: string | null
  mccmnc: string | null
  errorCode: string
  route: string | null
  carrier: string | null
  /** the carrier's own status or error. */
  carrierCode: string | null
  createdAt: string
  sentAt: string | null
  updatedAt: string
}

export interface ListedMessagePage {
  items: ListedMessage[]
  nextAfter: string | null
}

export type LongMessages = 'udh' | 'udh16' | 'sar' | 'payload'

export interface MessageEvent {
  /** its webhook-id. */
  eventId: string
  event: number
  status: string
  state: 'pending' | 'delivered' | 'failed' | 'kept'
  attempts: number
  occurredAt: string
  deliveredAt: string | null
  /** null: no attempt is planned. */
  dueAt: string | null
}

export interface MessageFigures {
  sent: number
  delivered: number
  failed: number
  unknown: number
  /** sent more than 10 minutes ago, without a final receipt. */
  missing: number
  /** percent of those with a final receipt. */
  deliveryRate: number | null
  receiptLatencyMs: {
    p50: number | null
    p95: number | null
  }
}

export type NationalLanguage =
  | 'turkish'
  | 'spanish'
  | 'portuguese'
  | 'bengali'
  | 'gujarati'
  | 'hindi'
  | 'kannada'
  | 'malayalam'
  | 'oriya'
  | 'punjabi'
  | 'tamil'
  | 'telugu'
  | 'urdu'

export interface Node {
  /** changes with each start, and when its lease has been lost. */
  nodeId: number
  /** its NODE_ID; of a worker, with its number. */
  name: string
  host: string | null
  pid: number | null
  version: string | null
  /** its number; null: it is not one of several workers. */
  worker: number | null
  /** how many workers its parent has. */
  workers: number | null
  /** when it was registered, which it is again after its lease was lost. */
  since: string
  lastHeartbeatAt: string
  /** unless renewed; then its work is taken over. */
  leaseEndsAt: string
  /** it is stopping, and accepts nothing more. */
  draining: boolean | null
  /** of 256; messages accepted here go into these. */
  buckets: number
  /** binds of carriers that belong to it. */
  binds: number
  /** sessions that are bound; a bind may have two. */
  boundLinks: number | null
  /** in its memory and journal. */
  messagesInProgress: number | null
  /** of these, still to be submitted. */
  messagesHeld: number | null
  /** webhook events in its memory. */
  webhooksHeld: number | null
  /** how old the fields are that only the node itself knows; null: it has not reported them yet. */
  reportAgeMs: number | null
}

export interface Nodes {
  items: Node[]
}

export interface NumberRange {
  prefix: string
  mccmnc: string
  createdAt: string
}

export interface NumberRangeChange {
  /** Mobile country code and network code. */
  mccmnc: string
}

export interface NumberRangeCreation {
  /** Beginning of E.164 numbers. */
  prefix: string
  /** Mobile country code and network code. */
  mccmnc: string
}

export interface NumberRangeImport {
  ranges: NumberRangeCreation[]
}

export interface NumberRangePage {
  items: NumberRange[]
  nextAfter: string | null
}

export type OperatingState = 'started' | 'draining' | 'stopped'

export type OperatorRole = 'admin' | 'support'

export interface OperatorToken {
  operatorTokenId: number
  name: string
  /** admin: everything; support: only reads. */
  role: OperatorRole
  /** start and end of the token. */
  hint: string
  createdAt: string
  revokedAt: string | null
}

export interface OperatorTokenCreation {
  /** Who uses it, in ASCII; the audit log shows this name. */
  name: string
  /** admin: everything; support: only reads. */
  role: OperatorRole
}

export interface OperatorTokenPage {
  items: OperatorToken[]
  nextAfter: string | null
}

export interface OptOut {
  servicePlanId: string
  from: string
  to: string
  createdAt: string
}

export interface OptOutCreation {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Sender that the person has opted out of. */
  from: string
  /** Recipient. */
  to: string
}

export interface OptOutImport {
  optOuts: OptOutCreation[]
}

export interface OptOutImportResult {
  created: number
  known: number
}

export interface OptOutPage {
  items: OptOut[]
  nextAfter: string | null
}

export interface OptOutSetting {
  /** Words that count as STOP; default: STOP, UNSUBSCRIBE, CANCEL …. */
  stopWords?: OptOutWordList | undefined
  /** Words that count as START; default: START, UNSTOP, YES. */
  startWords?: OptOutWordList | undefined
  /** Words that count as HELP; default: HELP, INFO. */
  helpWords?: OptOutWordList | undefined
  /** Reply that confirms an opt-out; null: no reply. */
  stopReply?: string | null | undefined
  /** Reply that confirms the end of an opt-out; null: no reply. */
  startReply?: string | null | undefined
  /** Reply to HELP; null: no reply. */
  helpReply?: string | null | undefined
}

export type OptOutWordList = string[]

export interface OptOutWords {
  /** Words that count as STOP; default: STOP, UNSUBSCRIBE, CANCEL …. */
  stopWords: OptOutWordList
  /** Words that count as START; default: START, UNSTOP, YES. */
  startWords: OptOutWordList
  /** Words that count as HELP; default: HELP, INFO. */
  helpWords: OptOutWordList
  /** Reply that confirms an opt-out; null: no reply. */
  stopReply: string | null
  /** Reply that confirms the end of an opt-out; null: no reply. */
  startReply: string | null
  /** Reply to HELP; null: no reply. */
  helpReply: string | null
}

export interface Quality {
  from: string
  to: string
  items: CarrierQuality[]
  /** more than 1000 carriers in routes: those with most traffic. */
  truncated: boolean
  /** totals of everything selected, by minute, beyond 180 minutes by hour. */
  series?: QualityPoint[] | undefined
}

export interface QualityFloor {
  /** percent of the messages with a receipt. */
  minDelivered: number
  /** how many minutes to look back; default: 60. */
  windowMinutes: number
  /** fewer messages are not judged; default: 100. */
  minMessages: number
  /** how many minutes the carrier is out of use; default: 30. */
  pauseMinutes: number
}

export interface QualityFloorSetting {
  /** percent of the messages with a receipt. */
  minDelivered: number
  /** how many minutes to look back; default: 60. */
  windowMinutes?: number | undefined
  /** fewer messages are not judged; default: 100. */
  minMessages?: number | undefined
  /** how many minutes the carrier is out of use; default: 30. */
  pauseMinutes?: number | undefined
}

export interface QualityPause {
  route: string
  carrier: string
  since: string
  until: string
  reason: string
}

export interface QualityPauses {
  items: QualityPause[]
}

export interface QualityPoint {
  at: string
  /** submit_sm, one for each segment. */
  submits: SubmitFigures
  messages: MessageFigures
}

export interface Queue {
  /** when the database was read; at most every 10 s. */
  countedAt: string
  messages: WaitingMessages[]
  webhooks: WaitingWebhooks[]
  destinations: TroubledDestination[]
  /** whether more wait in the database than were counted. */
  truncated: {
    messages: boolean
    webhooks: boolean
  }
}

export interface Rate {
  rateId: number
  /** null: every plan without a matching rate of its own. */
  servicePlanId: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
  /** decimal, for one segment. */
  price: string
  /** pass-through fee: decimal, for one segment. */
  ptf: string
  currency: string
  createdAt: string
}

export interface RateChange {
  /** Price: decimal, for one segment. */
  price?: string | number | undefined
  /** Pass-through fee: decimal, for one segment; default: 0. */
  ptf?: string | number | undefined
  /** Currency (ISO 4217). */
  currency?: string | undefined
}

export interface RateCreation {
  /** Id of the service plan, 24 hex digits; null: all plans. */
  servicePlanId?: string | null | undefined
  /** Beginning of E.164 numbers. */
  prefix?: string | null | undefined
  /** Country (ISO 3166-1 alpha-2). */
  country?: string | null | undefined
  /** Mobile country code and network code. */
  mccmnc?: string | null | undefined
  /** Price: decimal, for one segment. */
  price: string | number
  /** Pass-through fee: decimal, for one segment; default: 0. */
  ptf?: string | number | undefined
  /** Currency (ISO 4217). */
  currency: string
}

export interface RateImport {
  rates: RateCreation[]
}

export interface RateLimit {
  messagesPerSecond: number
  burst?: number | undefined
}

export interface RatePage {
  items: Rate[]
  nextAfter: string | null
}

export interface Receipt {
  receivedAt: string
  carrier: string | null
  carrierMessageId: string | null
  /** how it was interpreted; SENT: an intermediate one, which changes nothing. */
  outcome: string
  errorCode: string
  /** the carrier's own words for its state and error. */
  carrierCode: string | null
  /** as received; text and tlvs together at most 1,024 characters. */
  text: string | null
  /** octets in hexadecimal. */
  tlvs: Record<string, string>
}

export interface RedeliverEventsRequest {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** UUID of the message. */
  msgId?: string | undefined
  /** Scheme, host and port: https://hooks.example.com. */
  destination?: string | undefined
  /** Start of the window of the messages' createdAt, RFC 3339, inclusive. */
  fromDate?: string | undefined
  /** End of the window, RFC 3339, inclusive. */
  toDate?: string | undefined
  /** failed, or kept without a URL; default: failed. */
  state?: 'failed' | 'kept' | undefined
  /** true: only counts the events that would be redelivered; default: false. */
  dryRun?: boolean | undefined
  /** Continue after this event. */
  after?: string | undefined
}

export interface ResealProgress {
  /** Secrets that this request encrypted with SECRET_KEY. */
  resealed: number
  /** Secrets that no key opens; they are left unchanged. The last response counts those of the configuration. */
  unreadable: number
  /** Secrets that are still encrypted with another key, because they kept changing. The last response counts those of the configuration. */
  pending: number
  /** Messages that were looked at. */
  scanned: number
  /** Identifies the SECRET_KEY of the node that answers, without revealing it. */
  keyId: string
  /** Where to continue; null when everything is done. */
  nextAfter: string | null
}

export interface ResealRequest {
  /** Continue at this position. */
  after?: string | undefined
}

export interface RotatedWebhookSecret {
  accountId: string
  webhookSecret: string
}

export interface Route {
  routeId: number
  name: string
  carriers: RouteCarrier[]
  /** null: no carrier is taken out of use for its delivery rate. */
  qualityFloor: QualityFloor | null
  createdAt: string
}

export interface RouteCarrier {
  carrier: string
  /** lowest first; default: 0. */
  priority: number
  /** share among equal priorities; default: 1. */
  weight: number
}

export interface RouteCarrierSetting {
  /** Name. */
  carrier: string
  /** lowest first; default: 0. */
  priority?: number | undefined
  /** share among equal priorities; default: 1. */
  weight?: number | undefined
}

export interface RouteChange {
  /** Name. */
  name?: string | undefined
  /** Its carriers; empty: no carrier. */
  carriers?: RouteCarrierSetting[] | undefined
  /** Take a carrier out of use when it delivers less than this percentage; null: never take one out of use. */
  qualityFloor?: QualityFloorSetting | null | undefined
}

export interface RouteCreation {
  /** Name. */
  name: string
  /** Its carriers; empty: no carrier. */
  carriers: RouteCarrierSetting[]
  /** Take a carrier out of use when it delivers less than this percentage; null: never take one out of use. */
  qualityFloor?: QualityFloorSetting | null | undefined
}

export interface RouteExplanation {
  servicePlanId: string
  from: string
  to: string
  country: string | null
  /** of the number ranges. */
  mccmnc: string | null
  /** why a send would be refused, or would fail at once. */
  problems: SendProblem[]
  route: string | null
  /** null: the route is the plan's own. */
  rule: ExplainedRule | null
  carriers: ExplainedCarrier[]
  encoding: string | null
  segments: number
  charge: ExplainedCharge | null
}

export interface RoutePage {
  items: Route[]
  nextAfter: string | null
}

export interface RoutingRule {
  ruleId: number
  servicePlanId: string | null
  from: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
  route: string
  createdAt: string
}

export interface RoutingRuleChange {
  /** Name of the route. */
  route: string
}

export interface RoutingRuleCreation {
  /** Id of the service plan, 24 hex digits; null: all plans. */
  servicePlanId?: string | null | undefined
  /** Sender of the messages; null: any. */
  from?: string | null | undefined
  /** Beginning of E.164 numbers. */
  prefix?: string | null | undefined
  /** Country (ISO 3166-1 alpha-2). */
  country?: string | null | undefined
  /** Mobile country code and network code. */
  mccmnc?: string | null | undefined
  /** Name of the route. */
  route: string
}

export interface RoutingRulePage {
  items: RoutingRule[]
  nextAfter: string | null
}

export interface SegmentSubmission {
  segment: number
  carrierMessageId: string
  carrier: string | null
  /** what its receipt said, if there are several segments. */
  outcome: string | null
  errorCode: string | null
  carrierCode: string | null
  receiptAt: string | null
}

export interface SendProblem {
  errorCode: string
  errorMessage: string
}

export interface Sender {
  servicePlanId: string
  sender: string
  status: string
  createdAt: string
}

export interface SenderPage {
  items: Sender[]
  nextAfter: string | null
}

export interface SenderRule {
  ruleId: number
  /** null: every plan without a rule of its own. */
  servicePlanId: string | null
  country: string
  senderTypes: string[]
  createdAt: string
}

export interface SenderRuleChange {
  /** Types of sender to allow; empty: allow no sender in this country. */
  senderTypes: SenderType[]
}

export interface SenderRuleCreation {
  /** Id of the service plan, 24 hex digits; null: all plans. */
  servicePlanId?: string | null | undefined
  /** Country (ISO 3166-1 alpha-2). */
  country: string
  /** Types of sender to allow; empty: allow no sender in this country. */
  senderTypes: SenderType[]
}

export interface SenderRulePage {
  items: SenderRule[]
  nextAfter: string | null
}

export interface SenderSetting {
  /** approved, pending or denied. */
  status: string
  /** Accept any other status; messages from this sender are refused while it is set. */
  force?: boolean | undefined
}

export type SenderType = 'short-code' | 'e164' | 'alphanumeric'

export interface ServicePlan {
  servicePlanId: string
  accountId: string
  name: string
  active: boolean
  /** whether its messages go to the built-in simulator, free of charge. */
  sandbox: boolean
  /** whether it has a route, and so can send. */
  complete: boolean
  route: string | null
  inboundUrl: string | null
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit: RateLimit | null
  /** Types of sender that it may use; default: all. */
  senderTypes: SenderType[]
  /** What to do with a message that may or may not have reached the carrier; default: resubmit. */
  ambiguousSubmits: AmbiguousSubmits
  /** How long a message may wait for a carrier before it fails; carriers are told the rest of it; default: 86400. */
  validitySeconds: number
  /** Replace typographic characters if that makes the whole text fit the GSM alphabet; false: send texts as they are; default: texts are sent as they are. */
  smartEncoding: boolean
  /** Languages whose GSM tables may be used for texts, the preferred one first; empty: none; default: none. */
  nationalLanguages: NationalLanguage[]
  optOut: OptOutWords | null
  createdAt: string
}

export interface ServicePlanChange {
  /** Name to show. */
  name?: DisplayName | undefined
  /** Accept its messages; false: refuse them; default: true. */
  active?: boolean | undefined
  /** Route of its messages; null: none, so it cannot send. */
  route?: string | null | undefined
  /** URL that its inbound messages are pushed to; null: none. */
  inboundUrl?: string | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
  /** Types of sender that it may use; default: all. */
  senderTypes?: SenderType[] | undefined
  /** What to do with a message that may or may not have reached the carrier; default: resubmit. */
  ambiguousSubmits?: AmbiguousSubmits | undefined
  /** How long a message may wait for a carrier before it fails; carriers are told the rest of it; default: 86400. */
  validitySeconds?: number | undefined
  /** Replace typographic characters if that makes the whole text fit the GSM alphabet; false: send texts as they are; default: texts are sent as they are. */
  smartEncoding?: boolean | undefined
  /** Languages whose GSM tables may be used for texts, the preferred one first; empty: none; default: none. */
  nationalLanguages?: NationalLanguage[] | undefined
  /** Act on STOP, START and HELP; null: treat them like any other message. */
  optOut?: OptOutSetting | null | undefined
}

export interface ServicePlanCreation {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId?: string | undefined
  /** Id of the account, 24 hex digits. */
  accountId: string
  /** Name to show. */
  name: DisplayName
  /** Send its messages to the built-in simulator, free of charge, for good; false: send them to carriers; default: send them to carriers. */
  sandbox?: boolean | undefined
  /** Accept its messages; false: refuse them; default: true. */
  active?: boolean | undefined
  /** Route of its messages; null: none, so it cannot send. */
  route?: string | null | undefined
  /** URL that its inbound messages are pushed to; null: none. */
  inboundUrl?: string | null | undefined
  /** Messages a second, and how many may come at once; null: no limit. */
  rateLimit?: RateLimit | null | undefined
  /** Types of sender that it may use; default: all. */
  senderTypes?: SenderType[] | undefined
  /** What to do with a message that may or may not have reached the carrier; default: resubmit. */
  ambiguousSubmits?: AmbiguousSubmits | undefined
  /** How long a message may wait for a carrier before it fails; carriers are told the rest of it; default: 86400. */
  validitySeconds?: number | undefined
  /** Replace typographic characters if that makes the whole text fit the GSM alphabet; false: send texts as they are; default: texts are sent as they are. */
  smartEncoding?: boolean | undefined
  /** Languages whose GSM tables may be used for texts, the preferred one first; empty: none; default: none. */
  nationalLanguages?: NationalLanguage[] | undefined
  /** Act on STOP, START and HELP; null: treat them like any other message. */
  optOut?: OptOutSetting | null | undefined
}

export interface ServicePlanPage {
  items: ServicePlan[]
  nextAfter: string | null
}

export interface SubmitAttempt {
  attemptedAt: string
  carrier: string | null
  /** accepted, refused, retry or no-answer. */
  outcome: string
  commandStatus: number | null
  /** an earlier attempt may have reached the carrier. */
  resubmission: boolean
  reason: string | null
}

export interface SubmitFigures {
  total: number
  accepted: number
  refused: number
  throttled: number
  noAnswer: number
  latencyMs: {
    p50: number | null
    p95: number | null
    max: number | null
  }
}

export type SubmitOutcome = 'throttled' | 'retry' | 'limited-retry' | 'rebind' | 'permanent'

export interface TestEventRequest {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
  /** Kind of event; default: deliveryReceipt. */
  type?: EventType | undefined
  /** Where to send it; default: the default DLR URL of the account; for inboundMessage, the inbound URL of the plan. */
  url?: string | undefined
}

export interface TimelineEntry {
  at: string
  what: string
  detail: string
}

export interface Token {
  tokenId: number
  accountId: string
  name: string
  /** start and end of the token. */
  hint: string
  servicePlanIds: string[] | null
  scopes: string[] | null
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
}

export interface TokenCreation {
  /** Id of the account, 24 hex digits. */
  accountId: string
  /** Name to show. */
  name: DisplayName
  /** Service plans that it may be used for; null: all. */
  servicePlanIds?: string[] | null | undefined
  /** What the token may do; null: everything. */
  scopes?: ('send' | 'read' | 'webhooks')[] | null | undefined
  /** When it expires, RFC 3339; null: never. */
  expiresAt?: string | null | undefined
}

export interface TokenPage {
  items: Token[]
  nextAfter: string | null
}

export interface TroubledDestination {
  servicePlanId: string
  /** scheme, host and port. */
  destination: string
  /** open, paused or recovering. */
  state: string
  since: string
  error: string | null
  /** events that wait for it. */
  count: number
  oldestAt: string | null
}

export interface UnownedInboundMessage {
  msgId: string
  carrier: string | null
  from: string
  to: string
  body: string
  receivedAt: string
}

export interface UnownedInboundMessageGift {
  /** Id of the service plan, 24 hex digits. */
  servicePlanId: string
}

export interface UnownedInboundMessagePage {
  items: UnownedInboundMessage[]
  nextAfter: string | null
}

export interface WaitingMessages {
  /** memory: of the node that answers; database: of all nodes. */
  place: string
  route: string | null
  /** the carrier chosen for it, or that of its last attempt. */
  carrier: string | null
  /** why they wait. */
  cause: string
  count: number
  /** when the oldest was accepted. */
  oldestAt: string
}

export interface WaitingWebhooks {
  /** why they wait. */
  cause: string
  count: number
  oldestAt: string
}

export interface WebhookDestinationPage {
  items: WebhookDestination[]
  nextAfter: string | null
}

export interface WebhookEventPage {
  items: WebhookEvent[]
  nextAfter: string | null
}

export interface WebhookHeader {
  name: string
  value: string
}

/** Each operation of the API: its input, and its answer when it succeeds. */
export interface Operations {
  /** Create an account. The account owns service plans and tokens. Its webhook secret is shown in this answer only. */
  createAccount: { input: AccountCreation; answer: CreatedAccount }
  /** List accounts. Sorted by name or number. */
  listAccounts: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
    }
    answer: AccountPage
  }
  /** Show an account. Secrets are never shown: of headers the names, of URLs no credentials. */
  getAccount: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: Account
  }
  /** Update an account. Omitted fields keep their values. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateAccount: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    } & AccountChange
    answer: Account
  }
  /** Delete an account. An account that has service plans or live tokens cannot be deleted. */
  deleteAccount: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: undefined
  }
  /** Rotate the webhook secret of an account. Returns a new secret, shown in this answer only. Webhooks are signed with both secrets until the rotation is ended. */
  rotateWebhookSecret: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: RotatedWebhookSecret
  }
  /** Remove the previous webhook secret of an account. Ends a rotation: from now on webhooks are signed with the newest secret only. */
  deletePreviousWebhookSecret: {
    input: {
      /** Id of the account, 24 hex digits. */
      accountId: string
    }
    answer: undefined
  }
  /** Create a service plan. Messages are sent and received under a service plan. It can send once it has a route; a sandbox plan can send at once. */
  createServicePlan: { input: ServicePlanCreation; answer: ServicePlan }
  /** List service plans. Sorted by name or number. */
  listServicePlans: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the account, 24 hex digits. */
      accountId?: string | undefined
    }
    answer: ServicePlanPage
  }
  /** Show a service plan. Returns its settings and whether it can send. */
  getServicePlan: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: ServicePlan
  }
  /** Update a service plan. Omitted fields keep their values. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateServicePlan: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    } & ServicePlanChange
    answer: ServicePlan
  }
  /** Delete a service plan. A service plan that is in use cannot be deleted. */
  deleteServicePlan: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: undefined
  }
  /** Create a token. Customers call the API with it. The token is shown in this answer only; the database keeps its hash. */
  createToken: { input: TokenCreation; answer: IssuedToken }
  /** List tokens. Revoked tokens are listed too. Sorted by name or number. */
  listTokens: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the account, 24 hex digits. */
      accountId?: string | undefined
    }
    answer: TokenPage
  }
  /** Show a token. Returns its settings and a hint, never its secret. */
  getToken: {
    input: {
      /** Number of the token, as listed. */
      tokenId: string
    }
    answer: Token
  }
  /** Delete a token. Revokes it for good: every node refuses it within 5 seconds. Lists still show it. */
  revokeToken: {
    input: {
      /** Number of the token, as listed. */
      tokenId: string
    }
    answer: undefined
  }
  /** Create an operator token. An operator calls the admin API with it. The token is shown in this answer only; the database keeps its hash. It never expires, and names are never reused. */
  createOperatorToken: { input: OperatorTokenCreation; answer: IssuedOperatorToken }
  /** List operator tokens. Revoked tokens are listed too; those of OPERATOR_TOKEN are not. Sorted by name or number. */
  listOperatorTokens: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
    }
    answer: OperatorTokenPage
  }
  /** Show an operator token. Returns its role and a hint, never its secret. */
  getOperatorToken: {
    input: {
      /** Number of the token, as listed. */
      operatorTokenId: string
    }
    answer: OperatorToken
  }
  /** Delete an operator token. Revokes it for good: every node refuses it within 5 seconds. Lists still show it. */
  revokeOperatorToken: {
    input: {
      /** Number of the token, as listed. */
      operatorTokenId: string
    }
    answer: undefined
  }
  /** List changes through the admin API. Who changed what, from where and when, newest first. Secrets are not in it. */
  listAuditLog: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Kind of the object: account, service-plan, carrier, …. */
      objectType?: string | undefined
      /** Name or number of the object, as listed. */
      objectId?: string | undefined
      /** Name of the operator token; that of OPERATOR_TOKEN is environment. */
      token?: string | undefined
      /** operationId in the OpenAPI document: updateCarrier. */
      operation?: string | undefined
      /** Start of the window, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive. */
      toDate?: string | undefined
    }
    answer: AuditEntryPage
  }
  /** Create or replace a sender subscription. The service plan may use the sender while the status is approved; pending and denied are the others. */
  setSender: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender: its number or name. */
      sender: string
    } & SenderSetting
    answer: Sender
  }
  /** Show a sender subscription. Returns the status of the sender for this service plan. */
  getSender: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender: its number or name. */
      sender: string
    }
    answer: Sender
  }
  /** Delete a sender subscription. The service plan may not send from this sender any more. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  deleteSender: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender: its number or name. */
      sender: string
    }
    answer: undefined
  }
  /** List the senders of a service plan. Sorted by name or number. */
  listSenders: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: SenderPage
  }
  /** Create an inbound number. Messages to this number belong to the service plan. */
  createInboundNumber: { input: InboundNumberCreation; answer: InboundNumber }
  /** List inbound numbers. Sorted by name or number. */
  listInboundNumbers: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
    }
    answer: InboundNumberPage
  }
  /** Show an inbound number. Returns its service plan and its keywords. */
  getInboundNumber: {
    input: {
      /** E.164 number or short code. */
      number: string
    }
    answer: InboundNumber
  }
  /** Update an inbound number. Omitted fields keep their values. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateInboundNumber: {
    input: {
      /** E.164 number or short code. */
      number: string
    } & InboundNumberChange
    answer: InboundNumber
  }
  /** Delete an inbound number. Messages to it belong to nobody from now on; they are kept as unowned. */
  deleteInboundNumber: {
    input: {
      /** E.164 number or short code. */
      number: string
    }
    answer: undefined
  }
  /** Create an opt-out. The service plan sends nothing more from this sender to this recipient. An opt-out that exists already is kept. */
  createOptOut: { input: OptOutCreation; answer: OptOut }
  /** List the opt-outs of a service plan. Sorted by sender, then by recipient. */
  listOptOuts: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender that the person has opted out of. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
    }
    answer: OptOutPage
  }
  /** Delete an opt-out. The recipient may get messages from this sender again. */
  deleteOptOut: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender that the person has opted out of. */
      from: string
      /** Recipient. */
      to: string
    }
    answer: undefined
  }
  /** Import opt-outs. Up to 1,000 at once, all or none. Opt-outs that exist already are kept. */
  importOptOuts: { input: OptOutImport; answer: OptOutImportResult }
  /** Create a carrier. The service connects and binds at once, unless the state says otherwise. The password is never shown again. */
  createCarrier: { input: CarrierCreation; answer: Carrier }
  /** List carriers. Sorted by name or number. */
  listCarriers: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
    }
    answer: CarrierPage
  }
  /** Show a carrier. Returns its settings, except its password, and the state of its binds on the node that answers. */
  getCarrier: {
    input: {
      /** Name or number. */
      carrier: string
    }
    answer: Carrier
  }
  /** Update a carrier. Omitted fields keep their values. Binds are renewed where the change needs it. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateCarrier: {
    input: {
      /** Name or number. */
      carrier: string
    } & CarrierChange
    answer: Carrier
  }
  /** Delete a carrier. A carrier that a route uses cannot be deleted. */
  deleteCarrier: {
    input: {
      /** Name or number. */
      carrier: string
    }
    answer: undefined
  }
  /** Show the binds of a carrier. Returns the state of each bind on every node. What other nodes say is some seconds old. */
  listCarrierBinds: {
    input: {
      /** Name or number. */
      carrier: string
    }
    answer: CarrierBinds
  }
  /** Create a route. A route lists carriers by priority and weight. Service plans and routing rules lead to routes. */
  createRoute: { input: RouteCreation; answer: Route }
  /** List routes. Sorted by name or number. */
  listRoutes: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
    }
    answer: RoutePage
  }
  /** Show a route. Returns its carriers and its quality floor. */
  getRoute: {
    input: {
      /** Name or number. */
      route: string
    }
    answer: Route
  }
  /** Update a route. Omitted fields keep their values. The carriers given replace all of its carriers. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateRoute: {
    input: {
      /** Name or number. */
      route: string
    } & RouteChange
    answer: Route
  }
  /** Delete a route. A route that a service plan or routing rule uses cannot be deleted. */
  deleteRoute: {
    input: {
      /** Name or number. */
      route: string
    }
    answer: undefined
  }
  /** Explain the route of a message. Returns which carrier a message would take, why, and what it would cost. Nothing is sent. */
  explainRoute: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender. */
      from: string
      /** Recipient. */
      to: string
      /** Text of the message; default: any text of one segment. */
      body?: string | undefined
    }
    answer: RouteExplanation
  }
  /** Show the quality of carriers. Returns the answers, receipts and latencies of each carrier in each route. */
  getQuality: {
    input: {
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Route, by name or number. */
      route?: string | undefined
      /** How many minutes to look back, at most 10,000; default: 60. */
      minutes?: string | undefined
      /** Show totals over time, for everything selected. */
      series?: 'true' | 'false' | undefined
    }
    answer: Quality
  }
  /** List quality pauses. Returns the carriers that the quality floor of a route has taken out of use. */
  listQualityPauses: { input: Record<string, never>; answer: QualityPauses }
  /** Delete a quality pause. The pause ends: the route uses the carrier again, and judges it by messages sent since. */
  endQualityPause: {
    input: {
      /** Name or number. */
      route: string
      /** Name or number. */
      carrier: string
    }
    answer: undefined
  }
  /** Show statistics of all service plans, or of one. Counts, prices and latencies over time. Each count is at the time when it happened. By service plan or country, without `servicePlanId`, at most 60 minutes, 25 hours or 8 days. */
  getStatisticsOfPlans: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Route, by name or number. */
      route?: string | undefined
      /** One or two of servicePlanId, carrier, route, country, status, errorCode, with a comma between. */
      groupBy?: string | undefined
      /** Start, RFC 3339, inclusive; default: 24 hours before toDate. */
      fromDate?: string | undefined
      /** End, RFC 3339, exclusive; default: now. */
      toDate?: string | undefined
      /** minute (of the last 8 days), hour or day, in UTC; default: minute up to 3 hours, hour up to 10 days, then day. */
      interval?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Count only changes to this status. */
      status?: string | undefined
      /** Count only changes with this error code, 3 digits. */
      errorCode?: string | undefined
    }
    answer: Statistics
  }
  /** Show the backlog. Returns the waiting messages by route, carrier and cause, and the waiting webhooks by cause. */
  getQueue: { input: Record<string, never>; answer: Queue }
  /** List the nodes. Returns every node whose lease is not over. Each worker is a node. What a node says of itself is some seconds old. */
  listNodes: { input: Record<string, never>; answer: Nodes }
  /** Re-encrypt stored secrets with the current SECRET_KEY. The first request does the configuration, each further one 10,000 messages from `nextAfter` on; the last does the configuration again. It may be repeated. */
  resealSecrets: { input: ResealRequest; answer: ResealProgress }
  /** Create a routing rule. Overrides the plan's route for messages of a service plan, from a sender, or to a network, prefix or country. The most specific rule applies. */
  createRoutingRule: { input: RoutingRuleCreation; answer: RoutingRule }
  /** List routing rules. Sorted by name or number. */
  listRoutingRules: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Name. */
      route?: string | undefined
    }
    answer: RoutingRulePage
  }
  /** Show a routing rule. Returns what it applies to and its route. */
  getRoutingRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: RoutingRule
  }
  /** Update a routing rule. What the rule applies to cannot be changed. */
  updateRoutingRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    } & RoutingRuleChange
    answer: RoutingRule
  }
  /** Delete a routing rule. Messages take the next rule that applies, or the route of their plan. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  deleteRoutingRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: undefined
  }
  /** Import number ranges. Sets the networks of up to 1,000 number ranges at once, all or none. */
  importNumberRanges: { input: NumberRangeImport; answer: ImportResult }
  /** Create or replace a number range. Sets the network of a prefix. A number belongs to the network of its longest prefix. */
  setNumberRange: {
    input: {
      /** Beginning of E.164 numbers. */
      prefix: string
    } & NumberRangeChange
    answer: NumberRange
  }
  /** Show a number range. Returns the network of the prefix. */
  getNumberRange: {
    input: {
      /** Beginning of E.164 numbers. */
      prefix: string
    }
    answer: NumberRange
  }
  /** Delete a number range. Its numbers belong to the network of the next shorter prefix, if any. */
  deleteNumberRange: {
    input: {
      /** Beginning of E.164 numbers. */
      prefix: string
    }
    answer: undefined
  }
  /** List number ranges. Sorted by name or number. */
  listNumberRanges: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
    }
    answer: NumberRangePage
  }
  /** Import rates. Adds up to 1,000 rates, or changes the amounts of those that exist: all or none. */
  importRates: { input: RateImport; answer: ImportResult }
  /** Create a rate. Sets what a segment costs to a network, prefix or country, or anywhere. The most specific rate applies. */
  createRate: { input: RateCreation; answer: Rate }
  /** List rates. Sorted by name or number. */
  listRates: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Beginning of E.164 numbers. */
      prefix?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Mobile country code and network code. */
      mccmnc?: string | undefined
    }
    answer: RatePage
  }
  /** Show a rate. Returns what it applies to and its amounts. */
  getRate: {
    input: {
      /** Number of the rate, as listed. */
      rateId: string
    }
    answer: Rate
  }
  /** Update a rate. Omitted fields keep their values. Messages that were charged before keep their price. */
  updateRate: {
    input: {
      /** Number of the rate, as listed. */
      rateId: string
    } & RateChange
    answer: Rate
  }
  /** Delete a rate. Messages that were charged by it keep their price. */
  deleteRate: {
    input: {
      /** Number of the rate, as listed. */
      rateId: string
    }
    answer: undefined
  }
  /** Create a sender rule. Sets which types of sender are allowed for recipients in a country. */
  createSenderRule: { input: SenderRuleCreation; answer: SenderRule }
  /** List sender rules. Sorted by name or number. */
  listSenderRules: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
    }
    answer: SenderRulePage
  }
  /** Show a sender rule. Returns its country and the types of sender that it allows. */
  getSenderRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: SenderRule
  }
  /** Update a sender rule. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateSenderRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    } & SenderRuleChange
    answer: SenderRule
  }
  /** Delete a sender rule. Senders are judged by the next rule that applies, if any, and by the service plan. */
  deleteSenderRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: undefined
  }
  /** Show a message and its timeline. Returns every attempt, segment, receipt and webhook of the message, and a timeline of them. */
  getMessageOfPlans: {
    input: {
      /** UUID of the message. */
      msgId: string
    }
    answer: InspectedMessage
  }
  /** List messages of all service plans, or of one. Newest first; without `servicePlanId`, those of the last 24 hours unless a window is given. A page may have fewer items than the limit: go on until `nextAfter` is null. */
  listMessagesOfPlans: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** QUEUED, SENT, DELIVERED, FAILED or UNKNOWN. */
      status?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Network (MCC and MNC), 5 or 6 digits. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive; without a service plan at most 24 hours after its start. */
      toDate?: string | undefined
      /** Error code, 3 digits. */
      errorCode?: string | undefined
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Id that the carrier gave it in submit_sm_resp or a receipt, of the last 8 days. */
      carrierMessageId?: string | undefined
    }
    answer: ListedMessagePage
  }
  /** Count messages by status. Counts the newest 1,000 that match; without `servicePlanId`, of those of the last 24 hours unless a window is given. */
  countMessagesOfPlans: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Sender. */
      from?: string | undefined
      /** Recipient. */
      to?: string | undefined
      /** QUEUED, SENT, DELIVERED, FAILED or UNKNOWN. */
      status?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Network (MCC and MNC), 5 or 6 digits. */
      mccmnc?: string | undefined
      /** Start of the createdAt window, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive; without a service plan at most 24 hours after its start. */
      toDate?: string | undefined
      /** Error code, 3 digits. */
      errorCode?: string | undefined
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Id that the carrier gave it in submit_sm_resp or a receipt, of the last 8 days. */
      carrierMessageId?: string | undefined
    }
    answer: StatusCounts
  }
  /** List the inbound messages of a service plan. Newest first. */
  listInboundMessagesOfPlan: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Sender, in the form that its carrier uses. */
      from?: string | undefined
      /** E.164 number or short code. */
      to?: string | undefined
      /** One word, matched in any case. */
      keyword?: string | undefined
    }
    answer: InspectedInboundMessagePage
  }
  /** Show an inbound message. Returns the message and the carrier that delivered it. */
  getInboundMessageOfPlan: {
    input: {
      /** UUID of the message. */
      msgId: string
    }
    answer: InspectedInboundMessage
  }
  /** List unowned inbound messages. Messages to numbers that no service plan has, newest first. */
  listUnownedInboundMessages: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
    }
    answer: UnownedInboundMessagePage
  }
  /** Give an unowned inbound message to a service plan. The message keeps its id, appears among those of the plan, and is pushed to its inbound URL. STOP, START and HELP in it are not obeyed. */
  giveUnownedInboundMessage: {
    input: {
      /** UUID of the message. */
      msgId: string
    } & UnownedInboundMessageGift
    answer: undefined
  }
  /** List the events of a service plan. Sorted by message, newest first. */
  listWebhookEventsOfPlan: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** UUID of the message. */
      msgId?: string | undefined
      /** Scheme, host and port: https://hooks.example.com. */
      destination?: string | undefined
      /** Start of the window of the messages' createdAt, RFC 3339, inclusive. */
      fromDate?: string | undefined
      /** End of the window, RFC 3339, inclusive. */
      toDate?: string | undefined
      /** State of the delivery. */
      state?: 'pending' | 'delivered' | 'failed' | 'kept' | undefined
    }
    answer: WebhookEventPage
  }
  /** Show an event. Returns the event and every attempt to deliver it. */
  getWebhookEventOfPlan: {
    input: {
      /** Message id, a dash, and the place among the events of the message. */
      eventId: string
    }
    answer: WebhookEventDetail
  }
  /** Redeliver an event. Delivers the event again, or a pending one now, under the same id. */
  redeliverWebhookEventOfPlan: {
    input: {
      /** Message id, a dash, and the place among the events of the message. */
      eventId: string
    }
    answer: WebhookEventDetail
  }
  /** Redeliver events of a service plan. Redelivers up to 20,000 events that failed, or were kept without a URL. Pass `nextAfter` as `after` for the rest. */
  redeliverWebhookEventsOfPlan: { input: RedeliverEventsRequest; answer: Redelivered }
  /** List the webhook destinations of a service plan. Destinations that are in trouble, paused, or have events waiting. */
  listWebhookDestinationsOfPlan: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: WebhookDestinationPage
  }
  /** Pause a webhook destination. Nothing more is sent to it. Its events wait until it is resumed. */
  pauseWebhookDestinationOfPlan: { input: DestinationRequest; answer: WebhookDestination }
  /** Resume a webhook destination. Ends a pause by the customer or the operator, and closes an open breaker. */
  resumeWebhookDestinationOfPlan: { input: DestinationRequest; answer: WebhookDestination }
  /** Test a receiver with an event that never happened. Sends a signed test event at once and returns the result. One a second for each account. */
  sendTestWebhookOfPlan: { input: TestEventRequest; answer: TestEvent }
}

/** How each operation is requested: what is neither in the path nor in the query is the body. */
export const OPERATIONS = {
  createAccount: { method: 'POST', path: '/admin/v1/accounts', query: [], body: true },
  listAccounts: { method: 'GET', path: '/admin/v1/accounts', query: ['limit', 'after'], body: false },
  getAccount: { method: 'GET', path: '/admin/v1/accounts/{accountId}', query: [], body: false },
  updateAccount: { method: 'PATCH', path: '/admin/v1/accounts/{accountId}', query: [], body: true },
  deleteAccount: { method: 'DELETE', path: '/admin/v1/accounts/{accountId}', query: [], body: false },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/admin/v1/accounts/{accountId}/webhook-secret/rotate',
    query: [],
    body: false,
  },
  deletePreviousWebhookSecret: {
    method: 'DELETE',
    path: '/admin/v1/accounts/{accountId}/webhook-secret/previous',
    query: [],
    body: false,
  },
  createServicePlan: { method: 'POST', path: '/admin/v1/service-plans', query: [], body: true },
  listServicePlans: {
    method: 'GET',
    path: '/admin/v1/service-plans',
    query: ['limit', 'after', 'accountId'],
    body: false,
  },
  getServicePlan: { method: 'GET', path: '/admin/v1/service-plans/{servicePlanId}', query: [], body: false },
  updateServicePlan: {
    method: 'PATCH',
    path: '/admin/v1/service-plans/{servicePlanId}',
    query: [],
    body: true,
  },
  deleteServicePlan: {
    method: 'DELETE',
    path: '/admin/v1/service-plans/{servicePlanId}',
    query: [],
    body: false,
  },
  createToken: { method: 'POST', path: '/admin/v1/tokens', query: [], body: true },
  listTokens: {
    method: 'GET',
    path: '/admin/v1/tokens',
    query: ['limit', 'after', 'accountId'],
    body: false,
  },
  getToken: { method: 'GET', path: '/admin/v1/tokens/{tokenId}', query: [], body: false },
  revokeToken: { method: 'DELETE', path: '/admin/v1/tokens/{tokenId}', query: [], body: false },
  createOperatorToken: { method: 'POST', path: '/admin/v1/operator-tokens', query: [], body: true },
  listOperatorTokens: {
    method: 'GET',
    path: '/admin/v1/operator-tokens',
    query: ['limit', 'after'],
    body: false,
  },
  getOperatorToken: {
    method: 'GET',
    path: '/admin/v1/operator-tokens/{operatorTokenId}',
    query: [],
    body: false,
  },
  revokeOperatorToken: {
    method: 'DELETE',
    path: '/admin/v1/operator-tokens/{operatorTokenId}',
    query: [],
    body: false,
  },
  listAuditLog: {
    method: 'GET',
    path: '/admin/v1/audit-log',
    query: ['limit', 'after', 'objectType', 'objectId', 'token', 'operation', 'fromDate', 'toDate'],
    body: false,
  },
  setSender: {
    method: 'PUT',
    path: '/admin/v1/service-plans/{servicePlanId}/senders/{sender}',
    query: [],
    body: true,
  },
  getSender: {
    method: 'GET',
    path: '/admin/v1/service-plans/{servicePlanId}/senders/{sender}',
    query: [],
    body: false,
  },
  deleteSender: {
    method: 'DELETE',
    path: '/admin/v1/service-plans/{servicePlanId}/senders/{sender}',
    query: [],
    body: false,
  },
  listSenders: {
    method: 'GET',
    path: '/admin/v1/service-plans/{servicePlanId}/senders',
    query: ['limit', 'after'],
    body: false,
  },
  createInboundNumber: { method: 'POST', path: '/admin/v1/inbound-numbers', query: [], body: true },
  listInboundNumbers: {
    method: 'GET',
    path: '/admin/v1/inbound-numbers',
    query: ['limit', 'after', 'servicePlanId'],
    body: false,
  },
  getInboundNumber: { method: 'GET', path: '/admin/v1/inbound-numbers/{number}', query: [], body: false },
  updateInboundNumber: { method: 'PATCH', path: '/admin/v1/inbound-numbers/{number}', query: [], body: true },
  deleteInboundNumber: {
    method: 'DELETE',
    path: '/admin/v1/inbound-numbers/{number}',
    query: [],
    body: false,
  },
  createOptOut: { method: 'POST', path: '/admin/v1/opt-outs', query: [], body: true },
  listOptOuts: {
    method: 'GET',
    path: '/admin/v1/opt-outs',
    query: ['limit', 'after', 'servicePlanId', 'from', 'to'],
    body: false,
  },
  deleteOptOut: {
    method: 'DELETE',
    path: '/admin/v1/opt-outs',
    query: ['servicePlanId', 'from', 'to'],
    body: false,
  },
  importOptOuts: { method: 'POST', path: '/admin/v1/opt-outs/import', query: [], body: true },
  createCarrier: { method: 'POST', path: '/admin/v1/carriers', query: [], body: true },
  listCarriers: { method: 'GET', path: '/admin/v1/carriers', query: ['limit', 'after'], body: false },
  getCarrier: { method: 'GET', path: '/admin/v1/carriers/{carrier}', query: [], body: false },
  updateCarrier: { method: 'PATCH', path: '/admin/v1/carriers/{carrier}', query: [], body: true },
  deleteCarrier: { method: 'DELETE', path: '/admin/v1/carriers/{carrier}', query: [], body: false },
  listCarrierBinds: { method: 'GET', path: '/admin/v1/carriers/{carrier}/binds', query: [], body: false },
  createRoute: { method: 'POST', path: '/admin/v1/routes', query: [], body: true },
  listRoutes: { method: 'GET', path: '/admin/v1/routes', query: ['limit', 'after'], body: false },
  getRoute: { method: 'GET', path: '/admin/v1/routes/{route}', query: [], body: false },
  updateRoute: { method: 'PATCH', path: '/admin/v1/routes/{route}', query: [], body: true },
  deleteRoute: { method: 'DELETE', path: '/admin/v1/routes/{route}', query: [], body: false },
  explainRoute: {
    method: 'GET',
    path: '/admin/v1/route-explanation',
    query: ['servicePlanId', 'from', 'to', 'body'],
    body: false,
  },
  getQuality: {
    method: 'GET',
    path: '/admin/v1/quality',
    query: ['carrier', 'route', 'minutes', 'series'],
    body: false,
  },
  listQualityPauses: { method: 'GET', path: '/admin/v1/quality/pauses', query: [], body: false },
  endQualityPause: {
    method: 'DELETE',
    path: '/admin/v1/quality/pauses/{route}/{carrier}',
    query: [],
    body: false,
  },
  getStatisticsOfPlans: {
    method: 'GET',
    path: '/admin/v1/statistics',
    query: [
      'servicePlanId',
      'carrier',
      'route',
      'groupBy',
      'fromDate',
      'toDate',
      'interval',
      'country',
      'status',
      'errorCode',
    ],
    body: false,
  },
  getQueue: { method: 'GET', path: '/admin/v1/queue', query: [], body: false },
  listNodes: { method: 'GET', path: '/admin/v1/nodes', query: [], body: false },
  resealSecrets: { method: 'POST', path: '/admin/v1/secrets/reseal', query: [], body: true },
  createRoutingRule: { method: 'POST', path: '/admin/v1/routing-rules', query: [], body: true },
  listRoutingRules: {
    method: 'GET',
    path: '/admin/v1/routing-rules',
    query: ['limit', 'after', 'servicePlanId', 'route'],
    body: false,
  },
  getRoutingRule: { method: 'GET', path: '/admin/v1/routing-rules/{ruleId}', query: [], body: false },
  updateRoutingRule: { method: 'PATCH', path: '/admin/v1/routing-rules/{ruleId}', query: [], body: true },
  deleteRoutingRule: { method: 'DELETE', path: '/admin/v1/routing-rules/{ruleId}', query: [], body: false },
  importNumberRanges: { method: 'POST', path: '/admin/v1/number-ranges/import', query: [], body: true },
  setNumberRange: { method: 'PUT', path: '/admin/v1/number-ranges/{prefix}', query: [], body: true },
  getNumberRange: { method: 'GET', path: '/admin/v1/number-ranges/{prefix}', query: [], body: false },
  deleteNumberRange: { method: 'DELETE', path: '/admin/v1/number-ranges/{prefix}', query: [], body: false },
  listNumberRanges: {
    method: 'GET',
    path: '/admin/v1/number-ranges',
    query: ['limit', 'after', 'mccmnc'],
    body: false,
  },
  importRates: { method: 'POST', path: '/admin/v1/rates/import', query: [], body: true },
  createRate: { method: 'POST', path: '/admin/v1/rates', query: [], body: true },
  listRates: {
    method: 'GET',
    path: '/admin/v1/rates',
    query: ['limit', 'after', 'servicePlanId', 'prefix', 'country', 'mccmnc'],
    body: false,
  },
  getRate: { method: 'GET', path: '/admin/v1/rates/{rateId}', query: [], body: false },
  updateRate: { method: 'PATCH', path: '/admin/v1/rates/{rateId}', query: [], body: true },
  deleteRate: { method: 'DELETE', path: '/admin/v1/rates/{rateId}', query: [], body: false },
  createSenderRule: { method: 'POST', path: '/admin/v1/sender-rules', query: [], body: true },
  listSenderRules: {
    method: 'GET',
    path: '/admin/v1/sender-rules',
    query: ['limit', 'after', 'servicePlanId', 'country'],
    body: false,
  },
  getSenderRule: { method: 'GET', path: '/admin/v1/sender-rules/{ruleId}', query: [], body: false },
  updateSenderRule: { method: 'PATCH', path: '/admin/v1/sender-rules/{ruleId}', query: [], body: true },
  deleteSenderRule: { method: 'DELETE', path: '/admin/v1/sender-rules/{ruleId}', query: [], body: false },
  getMessageOfPlans: { method: 'GET', path: '/admin/v1/messages/{msgId}', query: [], body: false },
  listMessagesOfPlans: {
    method: 'GET',
    path: '/admin/v1/messages',
    query: [
      'limit',
      'after',
      'servicePlanId',
      'from',
      'to',
      'status',
      'country',
      'mccmnc',
      'fromDate',
      'toDate',
      'errorCode',
      'carrier',
      'carrierMessageId',
    ],
    body: false,
  },
  countMessagesOfPlans: {
    method: 'GET',
    path: '/admin/v1/messages/counts',
    query: [
      'servicePlanId',
      'from',
      'to',
      'status',
      'country',
      'mccmnc',
      'fromDate',
      'toDate',
      'errorCode',
      'carrier',
      'carrierMessageId',
    ],
    body: false,
  },
  listInboundMessagesOfPlan: {
    method: 'GET',
    path: '/admin/v1/inbound-messages',
    query: ['limit', 'after', 'servicePlanId', 'from', 'to', 'keyword'],
    body: false,
  },
  getInboundMessageOfPlan: {
    method: 'GET',
    path: '/admin/v1/inbound-messages/{msgId}',
    query: [],
    body: false,
  },
  listUnownedInboundMessages: {
    method: 'GET',
    path: '/admin/v1/unowned-inbound-messages',
    query: ['limit', 'after'],
    body: false,
  },
  giveUnownedInboundMessage: {
    method: 'POST',
    path: '/admin/v1/unowned-inbound-messages/{msgId}/give',
    query: [],
    body: true,
  },
  listWebhookEventsOfPlan: {
    method: 'GET',
    path: '/admin/v1/webhook-events',
    query: ['limit', 'after', 'servicePlanId', 'msgId', 'destination', 'fromDate', 'toDate', 'state'],
    body: false,
  },
  getWebhookEventOfPlan: {
    method: 'GET',
    path: '/admin/v1/webhook-events/{eventId}',
    query: [],
    body: false,
  },
  redeliverWebhookEventOfPlan: {
    method: 'POST',
    path: '/admin/v1/webhook-events/{eventId}/redeliver',
    query: [],
    body: false,
  },
  redeliverWebhookEventsOfPlan: {
    method: 'POST',
    path: '/admin/v1/webhook-redeliveries',
    query: [],
    body: true,
  },
  listWebhookDestinationsOfPlan: {
    method: 'GET',
    path: '/admin/v1/webhook-destinations',
    query: ['limit', 'after', 'servicePlanId'],
    body: false,
  },
  pauseWebhookDestinationOfPlan: {
    method: 'POST',
    path: '/admin/v1/webhook-destinations/pause',
    query: [],
    body: true,
  },
  resumeWebhookDestinationOfPlan: {
    method: 'POST',
    path: '/admin/v1/webhook-destinations/resume',
    query: [],
    body: true,
  },
  sendTestWebhookOfPlan: { method: 'POST', path: '/admin/v1/webhook-tests', query: [], body: true },
} as const
