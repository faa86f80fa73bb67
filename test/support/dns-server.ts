import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket as TcpSocket } from 'node:net'

/** What a name answers. With `sequence`, lookup n (an A and an AAAA query) gets entry n, the last one for ever. */
export interface DnsRecords {
  A?: readonly string[]
  AAAA?: readonly string[]
  CNAME?: string
  /** Seconds; 300 when absent. */
  ttl?: number
  rcode?: 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED'
  sequence?: readonly DnsRecords[]
  /** Never answers. */
  silent?: boolean
}

export interface DnsServer {
  /** For `Resolver.setServers`. */
  address: string
  /** Names not set are NXDOMAIN. */
  set(name: string, records: DnsRecords): void
  /** Queries of one type heard for a name. */
  count(name: string, type: 'A' | 'AAAA'): number
  close(): Promise<void>
}

const TYPE_A = 1
const TYPE_CNAME = 5
const TYPE_AAAA = 28
const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }
/** Without EDNS, longer answers are cut and asked again over TCP (RFC 1035 §4.2.1). */
const MAX_UDP_BYTES = 512

/** A real DNS server on 127.0.0.1, UDP and TCP on one port. */
export async function startDnsServer(): Promise<DnsServer> {
  const zone = new Map<string, DnsRecords>()
  const counts = new Map<string, number>()
  const reply = (query: Buffer) => answer(query, zone, counts)
  const { udp, tcp, port } = await listenTwice(reply)
  const tcpSockets = new Set<TcpSocket>()
  tcp.on('connection', (socket) => {
    tcpSockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => tcpSockets.delete(socket))
  })
  return {
    address: `127.0.0.1:${port}`,
    set: (name, records) => void zone.set(name.toLowerCase(), records),
    count: (name, type) => counts.get(`${type} ${name.toLowerCase()}`) ?? 0,
    close: async () => {
      for (const socket of tcpSockets) socket.destroy()
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ])
    },
  }
}

type Reply = (query: Buffer) => Buffer | null

async function listenTwice(reply: Reply): Promise<{ udp: Socket; tcp: Server; port: number }> {
  const tcp = createServer((socket) => serveTcp(socket, reply))
  for (;;) {
    tcp.listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    udp.on('message', (query, peer) => {
      const response = reply(query)
      if (response !== null) udp.send(truncated(response), peer.port, peer.address)
    })
    const isBound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false))
      udp.bind(port, '127.0.0.1', () => resolve(true))
    })
    if (isBound) return { udp, tcp, port }
    // Another process has the UDP port of that number: take another pair.
    udp.close()
    await new Promise((resolve) => tcp.close(resolve))
  }
}

function serveTcp(socket: TcpSocket, reply: Reply): void {
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const length = received.readUInt16BE(0)
      const response = reply(received.subarray(2, 2 + length))
      received = received.subarray(2 + length)
      if (response === null) continue
      const prefix = Buffer.alloc(2)
      prefix.writeUInt16BE(response.length)
      socket.write(Buffer.concat([prefix, response]))
    }
  })
}

function truncated(response: Buffer): Buffer {
  if (response.length <= MAX_UDP_BYTES) return response
  const { end } = readQuestion(response)
  const cut = Buffer.from(response.subarray(0, end))
  cut.writeUInt16BE(cut.readUInt16BE(2) | 0x0200, 2)
  cut.writeUInt16BE(0, 6)
  return cut
}

/** The name and type of the first question (RFC 1035 §4.1.2) and where it ends. */
function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answer(query: Buffer, zone: Map<string, DnsRecords>, counts: Map<string, number>): Buffer | null {
  const { name, type, end } = readQuestion(query)
  const typeName = type === TYPE_A ? 'A' : type === TYPE_AAAA ? 'AAAA' : null
  const key = `${typeName} ${name}`
  const lookup = counts.get(key) ?? 0
  counts.set(key, lookup + 1)
  const entry = zone.get(name)
  const current = entry?.sequence?.[Math.min(lookup, entry.sequence.length - 1)] ?? entry
  if (current?.silent === true) return null
  const rcode =
    current === undefined ? RCODES.NXDOMAIN : current.rcode === undefined ? 0 : RCODES[current.rcode]
  const records =
    rcode === 0 && current !== undefined ? recordsOf(current, typeName, entry?.ttl ?? current.ttl ?? 300) : []
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8580 | rcode, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, query.subarray(12, end), ...records])
}

function recordsOf(entry: DnsRecords, type: 'A' | 'AAAA' | null, ttl: number): Buffer[] {
  const addresses = type === 'A' ? (entry.A ?? []) : type === 'AAAA' ? (entry.AAAA ?? []) : []
  if (entry.CNAME === undefined) {
    return addresses.map((address) => record(Buffer.from([0xc0, 12]), address, ttl))
  }
  const alias = nameBytes(entry.CNAME)
  return [
    resourceRecord(Buffer.from([0xc0, 12]), TYPE_CNAME, ttl, alias),
    ...addresses.map((address) => record(alias, address, ttl)),
  ]
}

function record(owner: Buffer, address: string, ttl: number): Buffer {
  if (!address.includes(':')) {
    return resourceRecord(owner, TYPE_A, ttl, Buffer.from(address.split('.').map(Number)))
  }
  const [head = '', tail = ''] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  const data = Buffer.alloc(16)
  for (const [index, group] of [...left, ...zeros, ...right].entries()) {
    data.writeUInt16BE(Number.parseInt(group, 16), index * 2)
  }
  return resourceRecord(owner, TYPE_AAAA, ttl, data)
}

function resourceRecord(owner: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(ttl, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, fixed, data])
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label, 'latin1')])
  return Buffer.from([...labels, 0])
}
