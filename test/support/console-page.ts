/** The console in a real browser, against a real service. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { SAME_ORIGIN } from './console.ts'
import { ROOT } from './process.ts'

const AXE = readFileSync(join(ROOT, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

interface Look {
  readonly width: 1280 | 360
  readonly scheme: 'light' | 'dark'
}

/** A desktop and the smallest phone, light and dark. */
const LOOKS: readonly Look[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 360, scheme: 'light' },
  { width: 360, scheme: 'dark' },
]
const HEIGHT = 900
/** Ends a hang; no page takes this long. */
const TIMEOUT_MS = 60_000

export interface ConsoleOptions extends Partial<Look> {
  /** Tokens to be signed in with: a customer's, an operator's, or both. */
  readonly tokens?: readonly string[]
}

/** What is wrong on a page for somebody who reads it; everything else of a page is Playwright's. */
export interface ConsolePage extends AsyncDisposable {
  readonly page: Page
  /** Errors of the console, uncaught errors and reports of the Content-Security-Policy so far; a test may take them out. */
  readonly faults: string[]
  /** Goes to a path below `/console` and waits until it is shown. */
  goto(path: string): Promise<void>
  /** Waits until there is a heading and nothing is loading. */
  settled(): Promise<void>
  look(look: Look): Promise<void>
  /** Violations that axe finds (WCAG 2.2 AA), and how far the page scrolls sideways. Empty when all is well. */
  violations(): Promise<string[]>
  /** `faults`, and in each look the violations, with the look before them. */
  problems(looks?: readonly Look[]): Promise<string[]>
}

/** Opens the console of the service at `baseUrl` in a context of its own. */
export async function openConsole(
  browser: Browser,
  baseUrl: string,
  { tokens = [], width = 1280, scheme = 'light' }: ConsoleOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    baseURL: baseUrl,
    viewport: { width, height: HEIGHT },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  })
  await signIn(context, tokens)
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  const faults: string[] = []
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error.stack)))
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) =>
      console.error('Content-Security-Policy', event.violatedDirective, event.blockedURI))`,
  )
  const opened: ConsolePage = {
    page,
    faults,
    async goto(path) {
      await page.goto(`/console${path}`)
      await opened.settled()
    },
    settled: () => settled(page),
    async look(look) {
      await page.setViewportSize({ width: look.width, height: HEIGHT })
      await page.emulateMedia({ colorScheme: look.scheme })
      // The page hears of the scheme with its next frame, and only then its colours begin to change.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    },
    violations: () => violations(page),
    async problems(looks = LOOKS) {
      const found: string[] = []
      for (const look of looks) {
        await opened.look(look)
        found.push(...(await opened.violations()).map((each) => `${look.width} ${look.scheme}: ${each}`))
      }
      return [...faults, ...found]
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
  return opened
}

/** As the sign-in page does it, without the page. */
async function signIn(context: BrowserContext, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) {
    const answer = await context.request.post('/console/session', { data: { token }, headers: SAME_ORIGIN })
    if (!answer.ok()) throw new Error(`not signed in: ${answer.status()} ${await answer.text()}`)
  }
}

async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  // Not waitForFunction, whose second look needs eval, which the policy of the page forbids.
  await page
    .locator('.mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true]')
    .first()
    .waitFor({ state: 'detached' })
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

async function violations(page: Page): Promise<string[]> {
  // Through the debugger, which the policy of the page does not hold back.
  await page.evaluate(`typeof axe === 'undefined' && (() => { ${AXE} })()`)
  // A colour half-way to that of the other scheme is none that anybody reads.
  await page.evaluate(
    'document.getAnimations().filter((each) => each instanceof CSSTransition).forEach((each) => each.finish())',
  )
  const options = { runOnly: WCAG, resultTypes: ['violations'] }
  const result = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResult
  const found = result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
  const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  return sideways === 0 ? found : [...found, `it scrolls sideways by ${sideways} px`]
}
