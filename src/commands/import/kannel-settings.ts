import { type Counterpart, counterparts, type SettingRows, to, why } from './counterparts.ts'

/**
 * What becomes of every setting of Kannel 1.4.5, by group. docs/from-kannel.md has these tables, which a test prints.
 */

const PROCESSES = why('Aldis is one program: nothing connects its parts')
const LOGS = why('logs are JSON lines on standard error, and every message has a record')
const OTHER_LISTS = why('numbers not to send to are opt-outs of a plan: aldis opt-out import')
const RECEIPTS = why('receipts are matched to messages in PostgreSQL; there is nothing to choose')
const PROXY = why('webhooks are not sent through a proxy')
const ADMIN = why('operator tokens with roles protect the admin API and the console')

const SMSC: SettingRows = [
  ['smsc', to('a carrier', 'if it is smpp; groups of other kinds are reported')],
  [
    'smsc-id',
    to(
      'its name',
      'groups with the same id and account are binds of one carrier; others become carriers of the same priority',
    ),
  ],
  ['smsc-admin-id', why('binds of a carrier are numbered: aldis carrier binds')],
  ['host', to('host')],
  ['port', to('port, bindMode', 'without transceiver-mode and receive-port it is a transmitter')],
  ['transceiver-mode', to('bindMode', 'transceiver')],
  [
    'receive-port',
    to(
      'bindMode',
      'transmitter+receiver, also if another group of the id has it; both have the port of the transmitter',
    ),
  ],
  ['smsc-username', to('systemId')],
  ['system-id', to('systemId', 'if there is no smsc-username')],
  ['smsc-password', to('password', 'the value is in aldis.env')],
  ['system-type', to('systemType')],
  ['use-ssl', to('tls', 'the certificate is always checked')],
  ['max-pending-submits', to('window')],
  ['instances', to('binds', 'the sum of the groups that share the carrier')],
  ['throughput', to('messagesPerSecond', 'of the carrier: the sum over its binds, as a whole number')],
  ['validityperiod', to('validitySeconds', 'the longest that the carrier is told; 1 minute to 24 hours')],
  [
    'msg-id-type',
    to('idRule', '1 is decimal-hex, 2 hex-decimal, 0 and 3 normalised; without it the rule is learned'),
  ],
  [
    'allowed-smsc-id, denied-smsc-id, preferred-smsc-id',
    to('routes', 'of the service plans: preferred carriers have priority 0, others 1'),
  ],
  [
    'allowed-prefix, denied-prefix, preferred-prefix',
    to('rules, routes', 'routing rules by prefix, for each service plan'),
  ],
  [
    'allowed-prefix-regex, denied-prefix-regex, preferred-prefix-regex',
    to('rules, routes', 'if the expression is a list of prefixes, such as ^0(40|50)'),
  ],
  ['allowed-smsc-id-regex, denied-smsc-id-regex, preferred-smsc-id-regex', why('list the ids instead')],
  ['dead-start', why('every imported carrier is stopped until you start it')],
  ['unified-prefix', why('recipients are E.164 everywhere, and carriers get them without the plus')],
  [
    'source-addr-ton, source-addr-npi, source-addr-autodetect',
    why('they follow from the sender: E.164 1/1, name 5/0, short code 3/0'),
  ],
  ['dest-addr-ton, dest-addr-npi', why('recipients are international: 1/1')],
  [
    'bind-addr-ton, bind-addr-npi, address-range',
    why('address_range of a bind is empty; carriers ignore it'),
  ],
  ['my-number', why('inbound messages have the number that the carrier sends')],
  ['service-type', why('service_type is empty: the default of the carrier')],
  ['interface-version', why('it is always 3.4')],
  ['esm-class', why('esm_class is the default mode; the carrier stores and forwards')],
  ['priority', why('priority_flag is always 0')],
  ['enquire-link-interval', why('enquire_link is sent after 30 s of silence')],
  ['connection-timeout', why('a session ends if enquire_link is not answered within 10 s')],
  ['reconnect-delay', why('pauses grow from 1 s to 5 s, and to 5 min if the bind is refused')],
  [
    'wait-ack, wait-ack-expire',
    why(
      'an answer is awaited for 60 s; then ambiguousSubmits of the service plan decides: resubmit or unknown',
    ),
  ],
  ['alt-charset', why('texts are sent in the GSM alphabet or UCS-2')],
  ['alt-addr-charset', why('names as senders are ASCII')],
  ['alt-dcs', why('data_coding is 0 or 8')],
  ['max-sms-octets', why('an SMS has 140 octets')],
  ['our-host, our-port, our-receiver-port', why('the operating system chooses the local address and port')],
  [
    'ssl-client-certkey-file',
    why('client certificates are not supported; tlsCa names the authorities of the carrier'),
  ],
  [
    'reroute, reroute-smsc-id, reroute-receiver, reroute-dlr',
    why('inbound messages go to webhooks, never back to a carrier'),
  ],
  ['log-file, log-level, log-format', LOGS],
  [
    'alt-host, alt-port',
    why('it is of another kind of SMSC; a second host is a second carrier of the route'),
  ],
]

const CORE: SettingRows = [
  [
    'unified-prefix',
    to(
      'callingCode, prefixes',
      'the prefixes of the file are read with it; callingCode is what it puts in the place of a leading 0',
    ),
  ],
  [
    'admin-port, admin-port-ssl, admin-interface, admin-password, status-password, admin-deny-ip, admin-allow-ip',
    ADMIN,
  ],
  [
    'smsbox-port, smsbox-port-ssl, smsbox-interface, smsbox-max-pending, wapbox-port, wapbox-port-ssl, box-deny-ip, box-allow-ip, udp-deny-ip, udp-allow-ip, wdp-interface-name',
    PROCESSES,
  ],
  [
    'log-file, log-level, syslog-level, syslog-facility, access-log, access-log-time, access-log-format, access-log-clean',
    LOGS,
  ],
  [
    'store-file, store-type, store-location, store-dump-freq',
    why('messages are kept in PostgreSQL; deliver what Kannel has queued before you stop it'),
  ],
  [
    'white-list, white-list-regex, black-list, black-list-regex, white-list-sender, white-list-sender-regex, black-list-sender, black-list-sender-regex, white-list-receiver, white-list-receiver-regex, black-list-receiver, black-list-receiver-regex',
    OTHER_LISTS,
  ],
  [
    'http-proxy-host, http-proxy-port, http-proxy-ssl, http-proxy-exceptions, http-proxy-exceptions-regex, http-proxy-username, http-proxy-password',
    PROXY,
  ],
  [
    'ssl-client-certkey-file, ssl-client-cipher-list',
    why('Node.js chooses the ciphers; client certificates are not supported'),
  ],
  [
    'ssl-server-cert-file, ssl-server-key-file, ssl-server-cipher-list',
    why('a proxy in front of Aldis terminates TLS'),
  ],
  [
    'ssl-trusted-ca-file',
    why('the authorities of the system are trusted; for others, set tlsCa: {file: …} of the carrier'),
  ],
  ['dlr-storage, dlr-spool', RECEIPTS],
  [
    'maximum-queue-length, sms-incoming-queue-limit, sms-outgoing-queue-limit',
    why('messages wait in PostgreSQL: aldis queue'),
  ],
  [
    'sms-resend-freq, sms-resend-retry',
    why('retries follow the answer of the carrier, while the message is valid'),
  ],
  ['sms-combine-concatenated-mo, sms-combine-concatenated-mo-timeout', why('parts are always joined')],
  ['http-timeout', why('a webhook without an answer is retried for three days')],
]

const SMSBOX: SettingRows = [
  ['global-sender', to('defaultSender, senders', 'of users without a default-sender')],
  [
    'sendsms-port, sendsms-port-ssl, sendsms-interface',
    why('/cgi-bin/sendsms is a path of the HTTP port; SENDSMS=on turns it on'),
  ],
  ['sendsms-url', why('the path is /cgi-bin/sendsms')],
  ['sendota-url', why('there are no OTA messages')],
  ['xmlrpc-url', why('there is no XML-RPC')],
  ['sendsms-chars', why('numbers have digits, a plus and dashes, and spaces between them')],
  ['smsbox-id, bearerbox-host, bearerbox-port, bearerbox-port-ssl, max-pending-requests', PROCESSES],
  ['immediate-sendsms-reply', why('an answer always says that the message is stored')],
  ['log-file, log-level, syslog-level, syslog-facility, access-log, access-log-time, access-log-clean', LOGS],
  ['white-list, white-list-regex, black-list, black-list-regex', OTHER_LISTS],
  ['allowed-prefix, denied-prefix', why('it is not in the user guide; put it into the sendsms-user groups')],
  [
    'reply-couldnotfetch, reply-couldnotrepresent, reply-requestfailed, reply-emptymessage, mo-recode, http-request-retry, http-queue-delay, http-timeout',
    why(
      'inbound messages are webhooks: their answers are not sent back, and they are retried for three days',
    ),
  ],
  ['sms-length', why('an SMS has 140 octets')],
]

const SENDSMS_USER: SettingRows = [
  ['username', to('its name', 'and that of its account and its service plan')],
  ['password', to('password', 'the value is in aldis.env')],
  ['forced-smsc', to('routes', 'of the service plan, as Kannel chooses for this id')],
  ['default-smsc', to('routes', 'if there is no forced-smsc; smsc of a request changes nothing')],
  ['default-sender', to('defaultSender, senders', 'the plan may use it')],
  ['faked-sender', to('forcedSender, senders', 'the plan may use no other')],
  ['allowed-prefix, denied-prefix', to('rules, routes', 'other numbers have a route without carriers')],
  [
    'allowed-prefix-regex, denied-prefix-regex',
    to('rules, routes', 'if the expression is a list of prefixes, such as ^0(40|50)'),
  ],
  ['name', why('the username names the user in records')],
  [
    'user-deny-ip, user-allow-ip',
    why('the addresses of clients belong in the proxy or the firewall in front of Aldis'),
  ],
  ['max-messages', why('a long text has as many segments as it needs')],
  ['concatenation', why('long texts are always concatenated: longMessages of the carrier')],
  ['split-chars, split-suffix', why('long texts are concatenated, so parts need no marks')],
  ['omit-empty', why('an empty text is refused')],
  ['header, footer', why('the application writes the whole text')],
  ['white-list, white-list-regex, black-list, black-list-regex', OTHER_LISTS],
  [
    'dlr-url',
    why(
      'a request names its own dlr-url; for all messages, set defaultDlrUrl of the account, which gets webhooks',
    ),
  ],
]

const CONNECTIONS = 'receipts and messages are in the PostgreSQL of Aldis: DATABASE_URL'
const WAP = 'Aldis has no WAP'
const OTA = 'there are no OTA messages'

/** Groups by type: what becomes of each setting, or why none of them has a counterpart. */
export const KANNEL_GROUPS: Readonly<Record<string, SettingRows | string>> = {
  core: CORE,
  smsbox: SMSBOX,
  smsc: SMSC,
  'sendsms-user': SENDSMS_USER,
  'sms-service':
    'an inbound message is a webhook to the plan that has its number and keyword; its answer is not sent back (docs/inbound.md)',
  'smsbox-route': 'numbers belong to service plans (docs/inbound.md)',
  'smpp-tlv': 'submit_sm has no TLVs of the application',
  modems: 'of all kinds of SMSC, Aldis has SMPP',
  'dlr-db': CONNECTIONS,
  'store-db': CONNECTIONS,
  'mysql-connection': CONNECTIONS,
  'pgsql-connection': CONNECTIONS,
  'oracle-connection': CONNECTIONS,
  'mssql-connection': CONNECTIONS,
  'sdb-connection': CONNECTIONS,
  'sqlite-connection': CONNECTIONS,
  'sqlite3-connection': CONNECTIONS,
  'redis-connection': CONNECTIONS,
  'cassandra-connection': CONNECTIONS,
  wapbox: WAP,
  'wap-url-map': WAP,
  'wap-user-map': WAP,
  wtls: WAP,
  'radius-acct': WAP,
  ppg: WAP,
  'wap-push-user': WAP,
  'test-ppg': WAP,
  configuration: WAP,
  'ota-setting': OTA,
  'ota-bookmark': OTA,
}

const COUNTERPARTS = new Map(
  Object.entries(KANNEL_GROUPS).flatMap(([group, rows]) =>
    typeof rows === 'string' ? [] : [[group, counterparts(rows)] as const],
  ),
)

/** What becomes of a setting of `core`, `smsbox`, `smsc` or `sendsms-user`. Undefined: Kannel does not have it. */
export function counterpartOf(group: string, setting: string): Counterpart | undefined {
  return COUNTERPARTS.get(group)?.get(setting)
}
