import { type Counterpart, counterparts, settingRows } from './counterparts.ts'

/**
 * What becomes of every setting of Kannel 1.4.5, by group. docs/from-kannel.md has these tables, which a test prints.
 */

const PROCESSES = 'Aldis is one program: nothing connects its parts'
const LOGS = 'logs are JSON lines on standard error, and every message has a record'
const OTHER_LISTS = 'numbers not to send to are opt-outs of a plan: aldis opt-out import'

const SMSC = settingRows(`
smsc | a carrier | if it is smpp; groups of other kinds are reported
smsc-id | its name | groups with the same id and account are binds of one carrier; others become carriers of the same priority
smsc-admin-id || binds of a carrier are numbered: aldis carrier binds
host | host
port | port, bindMode | without transceiver-mode and receive-port it is a transmitter
transceiver-mode | bindMode | transceiver
receive-port | bindMode | transmitter+receiver, also if another group of the id has it; both have the port of the transmitter
smsc-username | systemId
system-id | systemId | if there is no smsc-username
smsc-password | password | the value is in secrets.env
system-type | systemType
use-ssl | tls | the certificate is always checked
max-pending-submits | window
instances | binds | the sum of the groups that share the carrier
throughput | messagesPerSecond | of the carrier: the sum over its binds, as a whole number
validityperiod | validitySeconds | the longest that the carrier is told; 1 minute to 24 hours
msg-id-type | idRule | 1 is decimal-hex, 2 hex-decimal, 0 and 3 normalised; without it the rule is learned
allowed-smsc-id, denied-smsc-id, preferred-smsc-id | routes | of the service plans: preferred carriers have priority 0, others 1
allowed-prefix, denied-prefix, preferred-prefix | rules, routes | routing rules by prefix, for each service plan
allowed-prefix-regex, denied-prefix-regex, preferred-prefix-regex | rules, routes | if the expression is a list of prefixes, such as ^0(40|50)
allowed-smsc-id-regex, denied-smsc-id-regex, preferred-smsc-id-regex || list the ids instead
dead-start || every imported carrier is stopped until you start it
unified-prefix || recipients are E.164 everywhere, and carriers get them without the plus
source-addr-ton, source-addr-npi, source-addr-autodetect || they follow from the sender: E.164 1/1, name 5/0, short code 3/0
dest-addr-ton, dest-addr-npi || recipients are international: 1/1
bind-addr-ton, bind-addr-npi, address-range || address_range of a bind is empty; carriers ignore it
my-number || inbound messages have the number that the carrier sends
service-type || service_type is empty: the default of the carrier
interface-version || it is always 3.4
esm-class || esm_class is the default mode; the carrier stores and forwards
priority || priority_flag is always 0
enquire-link-interval || enquire_link is sent after 30 s of silence
connection-timeout || a session ends if enquire_link is not answered within 10 s
reconnect-delay || pauses grow from 1 s to 5 s, and to 5 min if the bind is refused
wait-ack, wait-ack-expire || an answer is awaited for 60 s; then ambiguousSubmits of the service plan decides: resubmit or unknown
alt-charset || texts are sent in the GSM alphabet or UCS-2
alt-addr-charset || names as senders are ASCII
alt-dcs || data_coding is 0 or 8
max-sms-octets || an SMS has 140 octets
our-host, our-port, our-receiver-port || the operating system chooses the local address and port
ssl-client-certkey-file || client certificates are not supported; tlsCa names the authorities of the carrier
reroute, reroute-smsc-id, reroute-receiver, reroute-dlr || inbound messages go to webhooks, never back to a carrier
log-file, log-level, log-format || ${LOGS}
alt-host, alt-port || it is of another kind of SMSC; a second host is a second carrier of the route
`)

const CORE = settingRows(`
unified-prefix | callingCode, prefixes | the prefixes of the file are read with it; callingCode is what it puts in the place of a leading 0
admin-port, admin-port-ssl, admin-interface, admin-password, status-password, admin-deny-ip, admin-allow-ip || operator tokens with roles protect the admin API and the console
smsbox-port, smsbox-port-ssl, smsbox-interface, smsbox-max-pending, wapbox-port, wapbox-port-ssl, box-deny-ip, box-allow-ip, udp-deny-ip, udp-allow-ip, wdp-interface-name || ${PROCESSES}
log-file, log-level, syslog-level, syslog-facility, access-log, access-log-time, access-log-format, access-log-clean || ${LOGS}
store-file, store-type, store-location, store-dump-freq || messages are kept in PostgreSQL; deliver what Kannel has queued before you stop it
white-list, white-list-regex, black-list, black-list-regex, white-list-sender, white-list-sender-regex, black-list-sender, black-list-sender-regex, white-list-receiver, white-list-receiver-regex, black-list-receiver, black-list-receiver-regex || ${OTHER_LISTS}
http-proxy-host, http-proxy-port, http-proxy-ssl, http-proxy-exceptions, http-proxy-exceptions-regex, http-proxy-username, http-proxy-password || webhooks are not sent through a proxy
ssl-client-certkey-file, ssl-client-cipher-list || Node.js chooses the ciphers; client certificates are not supported
ssl-server-cert-file, ssl-server-key-file, ssl-server-cipher-list || a proxy in front of Aldis terminates TLS
ssl-trusted-ca-file || the authorities of the system are trusted; for others, set tlsCa: {file: …} of the carrier
dlr-storage, dlr-spool || receipts are matched to messages in PostgreSQL; there is nothing to choose
maximum-queue-length, sms-incoming-queue-limit, sms-outgoing-queue-limit || messages wait in PostgreSQL: aldis queue
sms-resend-freq, sms-resend-retry || retries follow the answer of the carrier, while the message is valid
sms-combine-concatenated-mo, sms-combine-concatenated-mo-timeout || parts are always joined
http-timeout || a webhook without an answer is retried for 76 hours
`)

const SMSBOX = settingRows(`
global-sender | defaultSender, senders | of users without a default-sender
sendsms-port, sendsms-port-ssl, sendsms-interface || /cgi-bin/sendsms is a path of the HTTP port; SENDSMS=on turns it on
sendsms-url || the path is /cgi-bin/sendsms
sendota-url || there are no OTA messages
xmlrpc-url || there is no XML-RPC
sendsms-chars || numbers have digits, a plus and dashes, and spaces between them
smsbox-id, bearerbox-host, bearerbox-port, bearerbox-port-ssl, max-pending-requests || ${PROCESSES}
immediate-sendsms-reply || an answer always says that the message is stored
log-file, log-level, syslog-level, syslog-facility, access-log, access-log-time, access-log-clean || ${LOGS}
white-list, white-list-regex, black-list, black-list-regex || ${OTHER_LISTS}
allowed-prefix, denied-prefix || it is not in the user guide; put it into the sendsms-user groups
reply-couldnotfetch, reply-couldnotrepresent, reply-requestfailed, reply-emptymessage, mo-recode, http-request-retry, http-queue-delay, http-timeout || inbound messages are webhooks: their answers are not sent back, and they are retried for 76 hours
sms-length || an SMS has 140 octets
`)

const SENDSMS_USER = settingRows(`
username | its name | and that of its account and its service plan
password | password | the value is in secrets.env
forced-smsc | routes | of the service plan, as Kannel chooses for this id
default-smsc | routes | if there is no forced-smsc; smsc of a request changes nothing
default-sender | defaultSender, senders | the plan may use it
faked-sender | forcedSender, senders | the plan may use no other
allowed-prefix, denied-prefix | rules, routes | other numbers have a route without carriers
allowed-prefix-regex, denied-prefix-regex | rules, routes | if the expression is a list of prefixes, such as ^0(40|50)
name || the username names the user in records
user-deny-ip, user-allow-ip || the addresses of clients belong in the proxy or the firewall in front of Aldis
max-messages || a long text has as many segments as it needs
concatenation || long texts are always concatenated: longMessages of the carrier
split-chars, split-suffix || long texts are concatenated, so parts need no marks
omit-empty || an empty text is refused
dlr-url | dlrUrl | of requests with dlr-mask and without a dlr-url
header, footer || the application writes the whole text
white-list, white-list-regex, black-list, black-list-regex || ${OTHER_LISTS}
`)

/** Groups none of whose settings has a counterpart. */
export const OTHER_GROUPS = settingRows(`
sms-service || an inbound message is a webhook to the plan that has its number and keyword; its answer is not sent back (docs/inbound.md)
smsbox-route || numbers belong to service plans (docs/inbound.md)
smpp-tlv || submit_sm has no TLVs of the application
modems || of all kinds of SMSC, Aldis has SMPP
dlr-db, store-db, mysql-connection, pgsql-connection, oracle-connection, mssql-connection, sdb-connection, sqlite-connection, sqlite3-connection, redis-connection, cassandra-connection || receipts and messages are in the PostgreSQL of Aldis: DATABASE_URL
wapbox, wap-url-map, wap-user-map, wtls, radius-acct, ppg, wap-push-user, test-ppg, configuration || Aldis has no WAP
ota-setting, ota-bookmark || there are no OTA messages
`)

/** What becomes of each setting of a group. */
export const KANNEL_GROUPS = new Map([
  ['core', CORE],
  ['smsbox', SMSBOX],
  ['smsc', SMSC],
  ['sendsms-user', SENDSMS_USER],
])
const SETTINGS = new Map([...KANNEL_GROUPS].map(([group, rows]) => [group, counterparts(rows)]))
const OTHERS = counterparts(OTHER_GROUPS)

/** Why no setting of the group has a counterpart; null: some have. */
export function whyNone(group: string): string | null {
  if (KANNEL_GROUPS.has(group)) return null
  const other = OTHERS.get(group)
  return other !== undefined && 'why' in other ? other.why : 'Kannel 1.4.5 has no such group'
}

/** What becomes of a setting of `core`, `smsbox`, `smsc` or `sendsms-user`. Undefined: Kannel does not have it. */
export function counterpartOf(group: string, setting: string): Counterpart | undefined {
  return SETTINGS.get(group)?.get(setting)
}
