import { readFileSync } from 'node:fs'

/** Standard input to its end, without the line feed there. For secrets: nobody sees it in the list of processes. */
export function readStandardInput(): string {
  return readFileSync(0, 'utf8').replace(/\r?\n$/, '')
}
