// Made from the OpenAPI document by `npm run generate-client`.

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
  submitOutcomes: Record<string, ErrorOutcome>
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
  submitOutcomes?: Record<string, ErrorOutcome> | undefined
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
  submitOutcomes?: Record<string, ErrorOutcome> | undefined
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

export type ErrorOutcome = 'throttled' | 'retry' | 'limited-retry' | 'rebind' | 'permanent'

export type IdRule = 'exact' | 'normalised' | 'decimal-hex' | 'hex-decimal' | 'auto'

export interface ListedCarrier {
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
  submitOutcomes: Record<string, ErrorOutcome>
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
  /** its binds on all nodes; what other nodes say is some seconds old. */
  bindStates: CarrierBindState[]
}

export interface ListedCarrierPage {
  items: ListedCarrier[]
  nextAfter: string | null
}

export type LongMessages = 'udh' | 'udh16' | 'sar' | 'payload'

export type OperatingState = 'started' | 'draining' | 'stopped'

/** Each operation: its input, and its answer when it succeeds. */
export interface CarriersOperations {
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
    answer: ListedCarrierPage
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
}
