import { VALIDITY_SECONDS } from '../../domain/configuration/configuration.ts'
import type { KindName } from '../../domain/configuration/configuration-changes.ts'
import { classifySender } from '../../domain/messages/addresses.ts'

/** What an import makes of the configuration of another gateway: objects, secrets, and a report of every setting. */

export interface Place {
  readonly file: string
  /** Counts from 1. */
  readonly line: number
}

export interface ImportFault extends Place {
  readonly message: string
}

/** Faults of the imported files, one a line: `kannel.conf:3: must …`. */
export class ImportFaults extends Error {
  override readonly name = 'ImportFaults'
  readonly faults: readonly ImportFault[]

  constructor(faults: readonly ImportFault[]) {
    super(faults.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n'))
    this.faults = faults
  }
}

export interface Carried extends Place {
  readonly setting: string
  /** Path in the written file: `carriers.acme`. */
  readonly object: string
  /** What it is there. */
  readonly as: string
}

/** A setting, or a part of its value, that is not carried over. */
interface Dropped extends Place {
  readonly setting: string
  readonly why: string
}

export type Settings = Readonly<Record<string, unknown>>

export interface ImportedObject {
  readonly settings: Settings
  /** Where it came from, for a comment. */
  readonly origin: string
}

const NAME_LENGTH = 63
/** The service has a carrier and a route of this name. */
const RESERVED = 'sandbox'

export class ImportedConfiguration {
  readonly objects = new Map<KindName, Map<string, ImportedObject>>()
  /** Values by environment variable. */
  readonly secrets = new Map<string, string>()
  readonly carried: Carried[] = []
  readonly dropped: Dropped[] = []

  add(kind: KindName, name: string, settings: Settings, origin: string): void {
    const objects = this.objects.get(kind) ?? new Map<string, ImportedObject>()
    this.objects.set(kind, objects)
    objects.set(name, { settings, origin })
  }

  has(kind: KindName, name: string): boolean {
    return this.objects.get(kind)?.has(name) === true
  }

  carry({ file, line }: Place, setting: string, object: string, as: string): void {
    this.carried.push({ file, line, setting, object, as })
  }

  drop({ file, line }: Place, setting: string, why: string): void {
    this.dropped.push({ file, line, setting, why })
  }

  /** Keeps a secret under a name made of these words, and returns what stands for it in the file. */
  secret(words: string, value: string): { readonly env: string } {
    const name = words.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
    let free = name
    for (let number = 2; this.secrets.has(free) && this.secrets.get(free) !== value; number += 1)
      free = `${name}_${number}`
    this.secrets.set(free, value)
    return { env: free }
  }

  /** A name for a carrier or route that is like `text`, and that no other has. */
  linkName(kind: 'carriers' | 'routes', text: string): string {
    const plain = text.replace(/[^A-Za-z0-9._-]+/g, '-')
    const start = /^[A-Za-z]/.test(plain) ? plain : `smsc-${plain}`
    let name = start.slice(0, NAME_LENGTH)
    for (let number = 2; name === RESERVED || this.has(kind, name); number += 1)
      name = `${start.slice(0, NAME_LENGTH - 1 - String(number).length)}-${number}`
    return name
  }
}

// Senders as other gateways write them.

export const NO_SENDER = 'is no sender: E.164, 3 to 8 digits, or a name of at most 11 characters'

/** The sender as Aldis writes it; null: it can have none like it. */
export function importedSender(text: string): string | null {
  const plain = text.trim()
  const sender = classifySender(plain) === null ? plain.replace(/^(?:00)?(?=[1-9][0-9]{8,14}$)/, '+') : plain
  return classifySender(sender) === null ? null : sender
}

/** The texts that `^(one|two)$` matches; null: the expression is of another form. */
export function textsOfRegex(pattern: string): readonly string[] | null {
  const [, open = '', texts = '', close = ''] =
    /^\^(\(?)([A-Za-z0-9 _&-]+(?:\|[A-Za-z0-9 _&-]+)*)(\)?)\$$/.exec(pattern) ?? []
  const isGroup = open !== '' && close !== ''
  if (texts === '' || (open === '') !== (close === '') || (!isGroup && texts.includes('|'))) return null
  return texts.split('|')
}

/** What a carrier takes. */
const LIMITS = {
  binds: { least: 1, most: 32 },
  window: { least: 1, most: 1_000 },
  messagesPerSecond: { least: 1, most: 1_000_000 },
  validitySeconds: VALIDITY_SECONDS,
} as const
export type Limited = keyof typeof LIMITS

/** The whole number nearest to a value that a carrier takes, which is reported if it is another. */
export function within(
  imported: ImportedConfiguration,
  place: Place,
  name: string,
  setting: Limited,
  value: number,
): number {
  const { least, most } = LIMITS[setting]
  const taken = Math.min(Math.max(Math.round(value), least), most)
  if (taken !== value)
    imported.drop(
      place,
      name,
      `${setting} is ${taken}, not ${value}: a whole number from ${least} to ${most}`,
    )
  return taken
}
