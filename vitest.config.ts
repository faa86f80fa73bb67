import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that start neither a database nor a process: nothing one leaves behind can reach another. */
const PURE = [
  'test/{collections,domain,smpp,simulator}/**/*.test.ts',
  'test/faults/*.test.ts',
  'test/console/{api,kit,pages}/**/*.test.ts',
  'test/bench/{options,report,totals}.test.ts',
  'test/commands/import/*.test.ts',
  'test/{config,configuration-document,conventions,database-url,deploy,documents,errors,event-loop-lag}.test.ts',
  'test/{gateway-documents,histogram,sizing-document}.test.ts',
]

/** Every case in full. The other projects run a short form of each, which the file names. Faults have a harness of their own, in test/faults. */
const LONG = ['test/**/*.long.test.ts']

/** Run again as long ones, with every state of a page looked at in light and dark, wide and narrow. */
const IN_EVERY_LOOK = 'test/console/*.test.ts'

/** On a cluster of Citus, which scripts/test-databases.ts has: `TEST_CITUS`. */
const CITUS = process.env.TEST_CITUS ? [] : ['test/citus/*.test.ts']

/** Files of the project `real` that take longer than others of their size. */
const LONG_FOR_THEIR_SIZE = new Set(
  [
    ...['app/webhook-isolation', 'app/hostile-receivers', 'app/node-reports', 'app/carriers-of-nodes'],
    ...['console/walk', 'console/docs', 'console/webhooks', 'typed-documents'],
    ...['commands/kill-9', 'services/links/carrier-tls', 'readme'],
  ].map((name) => fileURLToPath(new URL(`test/${name}.test.ts`, import.meta.url))),
)

/**
 * Runs long files first, so that nobody waits for one of them at the end. Vitest itself sorts by the time that a file took
 * before or, where none has run yet, by size. The files of `pure` come last: they never wait, so they fill every gap.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'pure' ? 2 : LONG_FOR_THEIR_SIZE.has(moduleId) ? 0 : 1
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}

// Workers take what Node has compiled before, as the processes that tests start do (test/support/process.ts).
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/aldis-tests', import.meta.url))

/** As the processes that tests start have it (test/support/process.ts). */
const YOUNG_ROOM = '--min-semi-space-size=16'

export default defineConfig({
  test: {
    // Bounds that end a hang. How long something takes on a busy machine is no assertion.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // A file waits for two thirds of its time. Five workers leave a sixth of two processors idle.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    // Files share a process: starting one and loading src/ for each took half of the CPU of the whole run.
    isolate: false,
    // Node runs the tests itself, as it runs the service.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, exclude: LONG, pool: 'threads' } },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE, ...LONG, ...CITUS],
          globalSetup: ['test/support/global-setup.ts'],
          execArgv: [YOUNG_ROOM],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: [...LONG, IN_EVERY_LOOK],
          env: { TEST_EVERY_LOOK: '1' },
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 300_000,
          execArgv: [YOUNG_ROOM],
        },
      },
    ],
  },
})
