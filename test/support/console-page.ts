/** The console in a real browser, against a real service. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { browserOfProcess } from './browser.ts'
import { SAME_ORIGIN } from './console.ts'
import { ROOT } from './process.ts'

const AXE = readFileSync(join(ROOT, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Rules of axe that depend on the colour scheme. All others judge the elements and where they are. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

export interface Look {
  readonly width: 1280 | 360
  readonly scheme: 'light' | 'dark'
  /** Rules of axe; default: all. */
  readonly rules?: readonly string[]
}

/** Half of the elements of a page, and the same on all. The walk judges it on each, the tests of the shell what opens in it. */
const NAVIGATION = ['.aldis-sidebar']

export const DESK: Look = { width: 1280, scheme: 'light' }
/** With a desk by day, the look of a tab unless it says otherwise, each width and each scheme once. */
export const PHONE: Look = { width: 360, scheme: 'dark' }
/** Both widths in both schemes, so that each look differs in one of them from the look before. */
const EVERY_LOOK: readonly Look[] = [
  { width: 1280, scheme: 'dark', rules: COLOUR_RULES },
  PHONE,
  { width: 360, scheme: 'light', rules: COLOUR_RULES },
  DESK,
]
/**
 * The project `long` runs the tests of the console again, and looks at everything in every look. All pages are made of the
 * same parts with the same style sheet, so `npm test` looks at each page and state once, at some on a phone by night.
 */
const IN_EVERY_LOOK = process.env.TEST_EVERY_LOOK !== undefined

const HEIGHT = 900
/** The page of the console that belongs to nobody and reads nothing. */
const NOBODYS_PATH = '/sign-in'
/** Ends a hang; no page takes this long. */
const TIMEOUT_MS = 60_000

export interface ConsoleOptions {
  /** Tokens to be signed in with: a customer's, an operator's, or both. */
  readonly tokens?: readonly string[]
  /** Default: a desk by day. */
  readonly look?: Look
}

/** What is wrong on a page for somebody who reads it; everything else of a page is Playwright's. */
export interface ConsolePage extends AsyncDisposable {
  readonly page: Page
  /** Errors of the console, uncaught errors and reports of the Content-Security-Policy so far; a test may take them out. */
  readonly faults: string[]
  /** Loads a path below `/console` as a browser that comes to it, and waits until it is shown. */
  load(path: string): Promise<void>
  /** As `load`, but where the tab shows the console already, only the page and what it reads are new. */
  goto(path: string): Promise<void>
  /** Goes on to a path below `/console` as a link does, without loading the console again. */
  follow(path: string): Promise<void>
  /** Waits until there is a heading and nothing is loading. */
  settled(): Promise<void>
  look(look: Look): Promise<void>
  /**
   * Violations that axe finds (WCAG 2.2 AA), how far the page scrolls sideways, and what moves. Empty when all is well.
   * `without`: what axe leaves out, as selectors; default: nothing.
   */
  violations(rules?: readonly string[], without?: readonly string[]): Promise<string[]>
  /**
   * `faults`, and the violations in a look, named before them. Default: as the page is shown, to which it returns, and
   * without the navigation. Where everything is looked at in every look, `look` does not matter.
   */
  problems(look?: Look, without?: readonly string[]): Promise<string[]>
}

/** A tab that shows one console after the other: a fresh one would read and compile the whole console again. */
interface Tab {
  readonly page: Page
  /** Where faults go; null: nobody has the tab. */
  faults: string[] | null
}

/** Tabs that nobody has, without cookies and storage. Each has a browser context of its own. */
const idle: Tab[] = []

const shows = ({ page }: Tab, baseUrl: string) => page.url().startsWith(`${baseUrl}/console`)

/** Best a tab that shows this console already, then any that nobody has, then a new one. */
async function takeTab(baseUrl: string): Promise<Tab> {
  const index = idle.findIndex((tab) => shows(tab, baseUrl))
  // -1 is the last one.
  return idle.splice(index, 1)[0] ?? (await openTab())
}

async function openTab(): Promise<Tab> {
  const browser = await browserOfProcess()
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  const tab: Tab = { page, faults: null }
  page.on('console', (message) => message.type() === 'error' && tab.faults?.push(message.text()))
  page.on('pageerror', (error) => tab.faults?.push(String(error.stack)))
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) =>
      console.error('Content-Security-Policy', event.violatedDirective, event.blockedURI))`,
  )
  return tab
}

/** Leaves nothing of the one who had the tab, but the code of the console. */
async function cleared(tab: Tab, baseUrl: string): Promise<void> {
  tab.faults = null
  if (shows(tab, baseUrl)) {
    await leave(tab.page)
    const chosen = await tab.page.evaluate(`(() => {
      const chosen = localStorage.length
      localStorage.clear()
      sessionStorage.clear()
      return chosen
    })()`)
    // What a person chooses for good, the loaded console has, too.
    if (chosen !== 0) await tab.page.goto(`${baseUrl}/livez`)
  }
  await tab.page.context().clearCookies()
}

/**
 * Waits until `condition` holds in the page, and looks again after each change there. Not waitForFunction, whose second look
 * needs eval, which the policy of the page forbids. `first` comes before, and may declare what the condition reads.
 */
async function until(page: Page, condition: string, first = ''): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    ${first}
    const timer = setTimeout(() => reject(new Error(${JSON.stringify(`never: ${condition}`)})), ${TIMEOUT_MS})
    const look = () => {
      if (!(${condition})) return
      observer.disconnect()
      clearTimeout(timer)
      resolve()
    }
    const observer = new MutationObserver(look)
    observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true })
    look()
  })`)
}

/** Changes the address of the loaded console, and waits until it shows another page. */
async function move(page: Page, path: string): Promise<void> {
  await until(page, `document.querySelector('h1') !== null`)
  const first = `
    const left = document.querySelector('h1')
    const { textContent } = left
    history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`
  await until(page, '!left.isConnected || left.textContent !== textContent', first)
}

/** Nothing of the page that was shown stays: no state, no request, no notice. */
async function leave(page: Page): Promise<void> {
  if (!page.url().endsWith(NOBODYS_PATH)) await move(page, NOBODYS_PATH)
  await page.evaluate(`document.querySelectorAll('.aldis-notice button').forEach((button) => button.click())`)
}

/** Makes the loaded console forget what it has read, as signing in does. The client of its queries is in what React renders. */
async function forget(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const root = document.getElementById('root')
    const key = Object.keys(root).find((name) => name.startsWith('__reactContainer'))
    let { element } = root[key].stateNode.current.memoizedState
    while (element.props.client === undefined) element = element.props.children
    await element.props.client.resetQueries()
  })()`)
}

/** Opens the console of the service at `baseUrl`, for somebody whom this browser has never seen. */
export async function openConsole(
  baseUrl: string,
  { tokens = [], look = DESK }: ConsoleOptions = {},
): Promise<ConsolePage> {
  const tab = await takeTab(baseUrl)
  const { page } = tab
  const faults: string[] = []
  tab.faults = faults
  let shown = look
  await signIn(page.context(), baseUrl, tokens)
  const opened: ConsolePage = {
    page,
    faults,
    async load(path) {
      await page.goto(`${baseUrl}/console${path}`)
      await opened.settled()
    },
    async goto(path) {
      if (!shows(tab, baseUrl)) return await opened.load(path)
      await leave(page)
      await forget(page)
      await opened.follow(path)
    },
    async follow(path) {
      await move(page, path)
      await opened.settled()
    },
    settled: () => settled(page),
    async look(look) {
      shown = look
      const { width, scheme } = look
      await Promise.all([
        page.setViewportSize({ width, height: HEIGHT }),
        page.emulateMedia({ colorScheme: scheme }),
      ])
    },
    violations: (rules = WCAG, without = []) => violations(page, rules, without),
    async problems(look = shown, without = NAVIGATION) {
      const before = shown
      const found: string[] = []
      for (const each of IN_EVERY_LOOK ? EVERY_LOOK : [look]) {
        if (each !== shown) await opened.look(each)
        const violations = await opened.violations(each.rules, without)
        found.push(...violations.map((violation) => `${each.width} ${each.scheme}: ${violation}`))
      }
      if (before !== shown) await opened.look(before)
      return [...faults, ...found]
    },
    async [Symbol.asyncDispose]() {
      await cleared(tab, baseUrl)
      idle.push(tab)
    },
  }
  await opened.look(look)
  return opened
}

/** As the sign-in page does it, without the page. */
async function signIn(context: BrowserContext, baseUrl: string, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) {
    const options = { data: { token }, headers: SAME_ORIGIN }
    const answer = await context.request.post(`${baseUrl}/console/session`, options)
    if (!answer.ok()) throw new Error(`not signed in: ${answer.status()} ${await answer.text()}`)
  }
}

const LOADING = '.mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true]'

async function settled(page: Page): Promise<void> {
  const isLoading = `document.querySelector(${JSON.stringify(LOADING)}) !== null`
  await until(page, `document.querySelector('h1') !== null && !(${isLoading})`)
}

/** Only what violates a rule is told, and only of that its HTML written. No rule of WCAG reads the style sheets. */
const AXE_OPTIONS = {
  resultTypes: ['violations'],
  selectors: false,
  elementRef: true,
  preload: { assets: ['media'] },
}

async function violations(
  page: Page,
  rules: readonly string[],
  without: readonly string[],
): Promise<string[]> {
  // Through the debugger, which the policy of the page does not hold back. Half a megabyte: once for each page.
  if (await page.evaluate(`typeof axe === 'undefined'`))
    await page.evaluate(`(() => { ${AXE}; axe.configure({ noHtml: true }) })()`)
  const context = JSON.stringify({ exclude: without })
  const options = JSON.stringify({ ...AXE_OPTIONS, runOnly: rules })
  return (await page.evaluate(`(async () => {
    const { violations } = await axe.run(${context}, ${options})
    const found = violations.flatMap(({ id, nodes }) => nodes.map(
      ({ element, failureSummary }) => id + ': ' + element.outerHTML.slice(0, 200) + ' ' + failureSummary))
    const sideways = document.documentElement.scrollWidth - innerWidth
    if (sideways !== 0) found.push('it scrolls sideways by ' + sideways + ' px')
    const moving = document.getAnimations().length
    if (moving !== 0) found.push(moving + ' animations run, though the browser asks for reduced motion')
    return found
  })()`)) as string[]
}

/** More than any page has stops. */
const MOST_STOPS = 80

/** Presses Tab until what has the focus begins with this name. `back`: with Shift, towards the start of the page. */
export async function tabTo(page: Page, name: string, back?: 'back'): Promise<void> {
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    await page.keyboard.press(back === undefined ? 'Tab' : 'Shift+Tab')
    const text = await page.evaluate(
      '(({ labels, ariaLabel, textContent }) => labels?.[0]?.textContent ?? ariaLabel ?? textContent)(document.activeElement)',
    )
    if (String(text).startsWith(name)) return
  }
  throw new Error(`the keyboard does not come to ${name}`)
}
