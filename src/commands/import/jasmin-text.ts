import { counterparts, settingRows } from './counterparts.ts'
import type { ImportFault, Place } from './imported-configuration.ts'

/** What Jasmin's console prints: the `jcli` of 0.11 ("Management CLI Modules" of its documentation). */

/** A line of a list: `#20   StaticMTRoute  …`, without the mark. */
export interface JasminRow extends Place {
  readonly text: string
}

export interface JasminSetting extends Place {
  readonly name: string
  readonly value: string
}

/** What `smppccm -s` or `user -s` prints, by name: `host`, `mt_messaging_cred quota balance`. */
export type JasminObject = ReadonlyMap<string, JasminSetting>

export interface JasminText {
  readonly connectors: readonly JasminObject[]
  readonly users: readonly JasminObject[]
  /** By the first words of their heading. */
  readonly lists: ReadonlyMap<ListName, readonly JasminRow[]>
  readonly faults: readonly ImportFault[]
}

const HEADINGS = {
  connectors: /^#Connector id +Service /,
  users: /^#User id +Group id /,
  groups: /^#Group id *$/,
  mtRoutes: /^#Order +Type +Rate +Connector/,
  moRoutes: /^#Order +Type +Connector/,
  filters: /^#Filter id +Type /,
  httpConnectors: /^#Httpcc id +Type /,
  interceptors: /^#Order +Type +Script/,
} as const
export type ListName = keyof typeof HEADINGS

const PROMPT = /^jcli : ?/
/** Its lists have headings of their own, and nothing to import. */
const STATISTICS = /^jcli : ?stats\b/
/** Names of two and three words: `mt_messaging_cred quota balance ND`. */
const CREDENTIAL = /^((?:mt_messaging_cred|smpps_cred) \S+ \S+)(?: (.*))?$/
const SETTING = /^([a-z][a-z0-9_]*)(?: (.*))?$/

/** Reads the output of one session, or of several. Lines that are neither a list nor a setting are ignored. Never throws. */
export function readJasminText(
  files: readonly { readonly file: string; readonly text: string }[],
): JasminText {
  const reader = new Reader()
  for (const { file, text } of files) {
    for (const [index, line] of text.split(/\r?\n/).entries()) reader.line({ file, line: index + 1 }, line)
    reader.endObject()
  }
  return reader
}

class Reader implements JasminText {
  readonly connectors: JasminObject[] = []
  readonly users: JasminObject[] = []
  readonly lists = new Map<ListName, JasminRow[]>()
  readonly faults: ImportFault[] = []
  #list: JasminRow[] | null = null
  #isOfStatistics = false
  #object = new Map<string, JasminSetting>()

  line(place: Place, raw: string): void {
    const text = raw.trim()
    const isPrompt = PROMPT.test(text)
    if (isPrompt) this.#isOfStatistics = STATISTICS.test(text)
    // Rows of a list have empty lines between them.
    const isEnd = isPrompt || text.startsWith('Total ')
    if (isEnd) this.#list = null
    if (isEnd || text === '') this.endObject()
    else if (this.#isOfStatistics) return
    else if (!text.startsWith('#')) this.#setting(place, text)
    else if (!this.#heading(text)) this.#row(place, text.slice(1))
  }

  endObject(): void {
    const object = this.#object
    this.#object = new Map()
    if (object.has('cid')) this.connectors.push(object)
    else if (object.has('uid')) this.users.push(object)
  }

  #heading(text: string): boolean {
    const found = Object.entries(HEADINGS).find(([, pattern]) => pattern.test(text))
    if (found === undefined) return false
    const name = found[0] as ListName
    this.#list = this.lists.get(name) ?? []
    this.lists.set(name, this.#list)
    return true
  }

  #row(place: Place, text: string): void {
    if (this.#list !== null) {
      this.#list.push({ ...place, text })
      return
    }
    this.faults.push({ ...place, message: 'is no heading of a list that is imported; remove this list' })
    // Its other rows belong to nothing.
    this.#list = []
  }

  #setting(place: Place, text: string): void {
    const [, name, value = ''] = CREDENTIAL.exec(text) ?? SETTING.exec(text) ?? []
    if (name === undefined) return
    // Without an empty line between them, the next object begins with a name that this one has.
    if (this.#object.has(name)) this.endObject()
    this.#object.set(name, { ...place, name, value: value.trim() })
  }
}

// What becomes of every setting of Jasmin 0.11. docs/from-jasmin.md has these tables, which a test prints.

/** `smppccm -s` */
export const CONNECTOR_ROWS = settingRows(`
cid | its name
host | host
port | port
ssl | tls | the certificate is always checked
username | systemId
password | password | the value is in secrets.env
systype | systemType
bind | bindMode
submit_throughput | messagesPerSecond | 0 is no limit
validity | validitySeconds | the longest that the carrier is told; 1 minute to 24 hours
dlr_msgid | idRule | 1 is decimal-hex, 2 hex-decimal; with 0 the rule is learned
elink_interval || enquire_link is sent after 30 s of silence
bind_to, res_to, pdu_red_to, trx_to || timeouts are the same for every carrier (docs/carriers.md)
con_loss_retry, con_loss_delay, con_fail_retry, con_fail_delay || a lost session is always bound again; pauses grow from 1 s to 5 s, and to 5 min if the bind is refused
requeue_delay || retries follow the answer of the carrier, while the message is valid
src_addr || every send names its sender
src_ton, src_npi || they follow from the sender: E.164 1/1, name 5/0, short code 3/0
dst_ton, dst_npi || recipients are international: 1/1
bind_ton, bind_npi, addr_range || address_range of a bind is empty; carriers ignore it
priority || priority_flag is always 0
proto_id || protocol_id is always 0
def_msg_id, ripf || sm_default_msg_id and replace_if_present_flag are always 0
coding || texts are sent in the GSM alphabet or UCS-2
dlr_expiry || receipts are awaited for 72 h, and matched for another 72 h
custom_tlvs || submit_sm has no TLVs of the application
logfile, loglevel, logrotate, logprivacy || logs are JSON lines on standard error, without texts
`)

/** `user -s` */
export const USER_ROWS = settingRows(`
uid | its name | that of the service plan
gid | account | each group is an account
username || the HTTP API has tokens: aldis token create
mt_messaging_cred defaultvalue src_addr | senders | an approved one; every send names its sender
mt_messaging_cred valuefilter src_addr | senders | if the expression is a list of them, such as ^(One|Two)$
mt_messaging_cred valuefilter dst_addr | rules, routes | if the expression is a list of prefixes, such as ^44; other numbers have a route without carriers
mt_messaging_cred quota http_throughput | rateLimit | messages a second, as a whole number
mt_messaging_cred quota balance || there are no prepaid balances: every record has its price (docs/billing.md)
mt_messaging_cred quota sms_count || messages are not counted down
mt_messaging_cred quota early_percent || there are no prepaid balances
mt_messaging_cred valuefilter priority || priority_flag is always 0
mt_messaging_cred valuefilter content || a text is sent as it is
mt_messaging_cred valuefilter validity_period || the plan has validitySeconds
mt_messaging_cred authorization http_send, mt_messaging_cred authorization http_balance, mt_messaging_cred authorization http_rate, mt_messaging_cred authorization http_bulk, mt_messaging_cred authorization http_long_content, mt_messaging_cred authorization http_dlr_method, mt_messaging_cred authorization dlr_level, mt_messaging_cred authorization src_addr, mt_messaging_cred authorization priority, mt_messaging_cred authorization validity_period, mt_messaging_cred authorization hex_content || a token has scopes: aldis token create --scope
mt_messaging_cred authorization smpps_send, mt_messaging_cred quota smpps_throughput, smpps_cred quota max_bindings, smpps_cred authorization bind, smpps_cred authorization ip || Aldis has no SMPP server: customers use the HTTP API
`)

export const CONNECTOR_COUNTERPARTS = counterparts(CONNECTOR_ROWS)
export const USER_COUNTERPARTS = counterparts(USER_ROWS)

/** Values that Jasmin prints although nobody has set them. A setting without a counterpart is reported if it has another. */
export const JASMIN_DEFAULTS: Readonly<Record<string, string>> = {
  bind_to: '30',
  res_to: '120',
  pdu_red_to: '10',
  trx_to: '300',
  elink_interval: '30',
  con_loss_retry: 'yes',
  con_loss_delay: '10',
  con_fail_retry: 'yes',
  con_fail_delay: '10',
  requeue_delay: '120',
  src_ton: '2',
  src_npi: '1',
  dst_ton: '1',
  dst_npi: '1',
  bind_ton: '0',
  bind_npi: '0',
  priority: '0',
  def_msg_id: '0',
  ripf: '0',
  coding: '0',
  dlr_expiry: '86400',
  loglevel: '20',
  logrotate: 'midnight',
  logprivacy: 'no',
  'mt_messaging_cred valuefilter priority': '^[0-3]$',
  'mt_messaging_cred valuefilter content': '.*',
  'mt_messaging_cred valuefilter validity_period': String.raw`^\d+$`,
  'mt_messaging_cred authorization http_bulk': 'False',
  'smpps_cred authorization ip': '0.0.0.0/0',
}
