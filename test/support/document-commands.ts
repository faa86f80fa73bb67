/**
 * The fenced blocks of a document, and a shell that they are typed into. A block says what it is behind its language:
 *
 * - `sh run`: it is run; `sh run until`: again and again, until the output is the one that follows
 * - `text output`, `json output`: standard output of the block before it. Ids, times and secrets may be others, and … is
 *   anything within a line
 * - `<language> file=name`: the reader writes it to this file
 * - `sh elsewhere`: it needs what a test has not, such as a carrier
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { MAIN, type Running, start, YOUNG_ROOM } from './process.ts'

export interface Block {
  readonly language: string
  /** What follows the language: `run`, `output`, `file=receive.mjs`. */
  readonly tag: string
  readonly text: string
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*) *([^\n]*)\n(.*?)^```$/gms)].map(([, language, tag, text]) => ({
    language: language!,
    tag: tag!,
    text: text!,
  }))
}

/** The blocks of one language. */
export function textsOf(markdown: string, language: string): string[] {
  return blocksOf(markdown).flatMap((block) => (block.language === language ? [block.text] : []))
}

/** What is below a heading, like `## Limits`, up to the next of its level. */
export function sectionOf(markdown: string, heading: string): string {
  const level = heading.indexOf(' ')
  return markdown.split(`\n${heading}\n`)[1]!.split(new RegExp(`^#{2,${level}} `, 'm'))[0]!
}

const TAG = /^(run|run until|output|elsewhere|file=[\w.-]+)$/

/** Blocks that do not say what they are, and outputs of nothing. */
export function untagged(blocks: readonly Block[]): Block[] {
  const isRun = (index: number) => blocks[index]?.tag.startsWith('run') === true
  return blocks.filter(({ tag }, index) => !TAG.test(tag) || (tag === 'output' && !isRun(index - 1)))
}

/** Everything that differs from one run to the next. */
export function withoutChance(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'DATE')
    .replace(/\d\d:\d\d:\d\d\.\d{3}/g, 'TIME')
    .replace(/\b[0-9a-f]{24}\b/g, 'HEX')
    .replace(/\b(aldis|whsec)_[\w+/=-]+/g, '$1_SECRET')
}

/** What makes `aldis` in a shell that of this checkout. */
export const ALDIS = `aldis() { '${process.execPath}' ${YOUNG_ROOM} '${MAIN}' "$@"; }`

/** A shell that stays: each block is typed into it, as a person would. */
export class Shell implements AsyncDisposable {
  readonly #shell: Running
  #count = 0

  constructor(options: { cwd?: string; env: NodeJS.ProcessEnv }) {
    this.#shell = start('/bin/sh', [], options)
    this.#shell.write(`${ALDIS}\n`)
  }

  /** Standard output of the block; rejects unless its last command has this exit code. */
  async type(block: string, code = 0): Promise<string> {
    this.#count += 1
    const mark = `--- ${this.#count}:`
    const from = this.#shell.stdout.length
    this.#shell.write(`${block}\nprintf '%s' "${mark}$?;"\n`)
    const end = await this.#shell.until(() => {
      const [, status] = this.#shell.stdout.slice(from).split(mark)
      return status?.endsWith(';') && status
    })
    if (end !== `${code};`) throw new Error(`exit code ${end} ${block}\n${this.#shell.stderr}`)
    return this.#shell.stdout.slice(from).split(mark)[0]!
  }

  /** Standard error of all blocks so far. */
  get stderr(): string {
    return this.#shell.stderr
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#shell[Symbol.asyncDispose]()
  }
}

/** Does what a document says, in this folder. Rejects at the first output that is not the one shown. */
export async function follow(blocks: readonly Block[], shell: Shell, folder: string): Promise<void> {
  for (const [index, { tag, text }] of blocks.entries()) {
    const [, file] = /^file=(.+)$/.exec(tag) ?? []
    if (file !== undefined) writeFileSync(join(folder, file), text)
    if (!tag.startsWith('run')) continue
    const next = blocks[index + 1]
    const shown = next?.tag === 'output' ? next.text : ''
    let output = ''
    const isShown = async () => {
      output = await shell.type(text)
      return isLike(output, shown)
    }
    const isDone =
      tag === 'run until'
        ? await eventually(() => isShown().catch(() => false)).catch(() => false)
        : await isShown()
    if (!isDone) throw new Error(`${text}\nshould print\n\n${shown}\nand printed\n\n${output}`)
  }
}

function isLike(output: string, shown: string): boolean {
  const parts = withoutChance(shown).split('…')
  return new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*')}$`).test(
    withoutChance(output),
  )
}
