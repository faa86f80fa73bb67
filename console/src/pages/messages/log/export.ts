import { useRef, useState } from 'react'
import { type Page, restOf } from '../../../../../client/src/client.ts'
import { AldisError } from '../../../../../client/src/errors.ts'
import { csvLine } from './csv.ts'

/** Rows of one file. A spreadsheet takes about a million; the browser keeps the file in memory. */
export const MOST_ROWS = 100_000
const MOST_RETRIES = 5

type Row = Readonly<Record<string, unknown>>
type ReadPage = (rest: object, signal: AbortSignal) => Promise<Page>

export type Export =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly rows: number }
  | { readonly state: 'done'; readonly rows: number; readonly isCutOff: boolean }
  | { readonly state: 'failed'; readonly error: Error }

/** Writes what matches into a CSV file, page after page, and hands it to the browser. */
export function useExport(readPage: ReadPage, columns: readonly string[], fileName: string) {
  const [progress, setProgress] = useState<Export>({ state: 'idle' })
  const running = useRef<AbortController | null>(null)
  const start = async () => {
    const controller = new AbortController()
    running.current = controller
    const report = (rows: number) => setProgress({ state: 'running', rows })
    report(0)
    try {
      const { file, rows, isCutOff } = await csvOf(readPage, columns, controller.signal, report)
      download(file, fileName)
      setProgress({ state: 'done', rows, isCutOff })
    } catch (error) {
      setProgress(controller.signal.aborted ? { state: 'idle' } : { state: 'failed', error: error as Error })
    }
  }
  const dismiss = () => setProgress({ state: 'idle' })
  return { progress, start: () => void start(), cancel: () => running.current?.abort(), dismiss }
}

async function csvOf(
  readPage: ReadPage,
  columns: readonly string[],
  signal: AbortSignal,
  report: (rows: number) => void,
) {
  // A spreadsheet takes a file without this mark for one in the encoding of its country.
  const parts = ['\uFEFF', csvLine(columns)]
  let rows = 0
  let rest: object | null = {}
  while (rest !== null && rows < MOST_ROWS) {
    const page: Page = await persistently(readPage, rest, signal)
    const items = (page.items as Row[]).slice(0, MOST_ROWS - rows)
    parts.push(items.map((item) => csvLine(columns.map((name) => cellOf(item[name])))).join(''))
    rows += items.length
    rest = restOf(page)
    report(rows)
  }
  return { file: new Blob(parts, { type: 'text/csv;charset=utf-8' }), rows, isCutOff: rest !== null }
}

function cellOf(value: unknown): string | number | null {
  return typeof value === 'number' || typeof value === 'string' ? value : null
}

/** A long list may meet the limit of reads, or a restart. */
async function persistently(readPage: ReadPage, rest: object, signal: AbortSignal): Promise<Page> {
  for (let failures = 0; ; failures++) {
    try {
      return await readPage(rest, signal)
    } catch (error) {
      const mayPass = error instanceof AldisError && (error.status === 429 || error.status === 503)
      if (!mayPass || failures === MOST_RETRIES) throw error
      await pause((error.retryAfterSeconds ?? 1) * 1_000, signal)
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken it by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
