import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Builds the tools that are written in C, with the compiler that the system calls `cc`. */

const SOURCES = {
  load: ['load', 'requests', 'bytes', 'http', 'loopback', 'messages', 'parent'],
  carrier: ['carrier', 'due', 'smpp', 'bytes', 'loopback', 'messages', 'parent'],
  receiver: ['receiver', 'bytes', 'http', 'loopback', 'messages', 'parent'],
} as const

export type ToolName = keyof typeof SOURCES

const FLAGS = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Wconversion', '-Wshadow', '-Werror']
const BUILD_TIMEOUT_MS = 60_000

/** The folder the tools were built into, or why the Node ones take their place. */
export type Built = { readonly folder: string } | { readonly without: string }

/** @throws (rejects) Error the compiler refused the sources. */
export async function buildTools(folder: string): Promise<Built> {
  if (process.platform !== 'linux') return { without: 'the tools in C are for Linux' }
  try {
    await compiler('--version')
  } catch {
    return { without: 'there is no C compiler (cc)' }
  }
  await Promise.all(
    Object.entries(SOURCES).map(([name, sources]) =>
      compiler(...FLAGS, '-o', join(folder, name), ...sources.map((source) => here(`${source}.c`))),
    ),
  )
  return { folder }
}

async function compiler(...args: string[]): Promise<void> {
  await promisify(execFile)('cc', args, { timeout: BUILD_TIMEOUT_MS })
}

function here(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
