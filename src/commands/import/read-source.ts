import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportedConfiguration } from './imported-configuration.ts'
import { importJasmin } from './jasmin.ts'
import { readJasminText } from './jasmin-text.ts'
import { importKannel } from './kannel.ts'
import { readKannelFiles } from './kannel-groups.ts'

/** The files of another gateway. */

const MAX_FILE_BYTES = 5 * 1024 * 1024

export const GATEWAYS = ['kannel', 'jasmin'] as const
export type Gateway = (typeof GATEWAYS)[number]

/** `gateway` null: it is recognised by the first file. */
export function importFiles(gateway: Gateway | null, files: readonly string[]): ImportedConfiguration {
  const [first] = files as [string]
  const found = gateway ?? gatewayOf(first)
  if (found === 'jasmin')
    return importJasmin(readJasminText(files.map((file) => ({ file, text: textOf(file) }))))
  if (files.length > 1)
    throw new Error(`Kannel has one file, which includes others; ${files[1]} is a second one`)
  // Its faults have a line of the file that includes others; of the first there is none.
  textOf(first)
  return importKannel(readKannelFiles(first, readPath))
}

function gatewayOf(file: string): Gateway {
  const text = textOf(file)
  if (/^[ \t]*group[ \t]*=/m.test(text)) return 'kannel'
  if (/^(?:jcli : |#(?:Connector|User|Group|Filter) id |#Order |cid )/m.test(text)) return 'jasmin'
  throw new Error(
    `${file} looks like neither Kannel nor Jasmin; if it is one, name it: aldis import kannel ${file}`,
  )
}

/** The text of a file, or the files of a folder by name; null: it cannot be read. */
function readPath(path: string): string | string[] | null {
  try {
    if (!statSync(path).isDirectory()) return textOf(path)
    return readdirSync(path).filter((name) => !statSync(join(path, name)).isDirectory())
  } catch {
    return null
  }
}

/** These files have no declared encoding: UTF-8, otherwise Latin-1. */
function textOf(path: string): string {
  let bytes: Buffer
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error('is larger than 5 MiB')
    bytes = readFileSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`cannot read ${path}: ${code ?? message}`, { cause: error })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}
