import { readFileSync } from 'node:fs'

/** Version of this package, as 0.1.0. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
