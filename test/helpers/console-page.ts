/**
 * What a test asks the page of the console beside what it shows: what its policy refused, what axe objects to, what stays behind, which script ran.
 */
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { ConsoleDriver } from './console-driver.ts'

/** CSS pixels. */
export const SMALL_SCREEN = 360
export const LARGE_SCREEN = 1280

/** Of operators, each with a text that shows that it is there. */
export const SCREENS = [
  ['health', 'At a glance'],
  ['charts', 'Requests by API'],
  ['cluster', 'Address'],
  ['operations', 'History'],
  ['tenants', 'Filter by name or id'],
  ['tenants/demo', 'Buckets'],
  ['backups', 'Back up now'],
  ['audit', 'Audit rows'],
  ['cluster/placement', 'Where the copies are'],
  ['api', 'Get a tenant'],
] as const

/** Names that are script in a page that takes texts for markup, or that break out of an attribute, an address or a script. */
export const HOSTILE = `"><img src=x onerror="globalThis.wasRun=1"><script>globalThis.wasRun=1</script>`
export const HOSTILE_NAMES: readonly string[] = [
  HOSTILE,
  `'-globalThis.wasRun=1-'`,
  'javascript:globalThis.wasRun=1',
  '</title><script>globalThis.wasRun=1</script>',
  '<svg onload=globalThis.wasRun=1>',
  '{{constructor.constructor("globalThis.wasRun=1")()}}',
  '<iframe srcdoc="<script>parent.wasRun=1</script>">',
  '\u202eexe.gpj',
]

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

interface PageGlobals {
  readonly axe?: { run(): Promise<AxeResults> }
  readonly localStorage?: object
  readonly sessionStorage?: object
  readonly indexedDB?: { databases(): Promise<readonly object[]> }
  readonly caches?: { keys(): Promise<readonly string[]> }
  readonly document?: {
    readonly cookie: string
    readonly documentElement: { readonly outerHTML: string }
    createElement(name: 'img'): { src: string }
    querySelectorAll(selector: string): Iterable<{ readonly textContent: string }>
    addEventListener(
      name: 'securitypolicyviolation',
      seen: (event: { readonly effectiveDirective: string; readonly blockedURI: string }) => void,
    ): void
  }
  readonly location?: { readonly href: string }
  readonly history?: { readonly state: unknown }
  readonly name?: string
  readonly performance?: { getEntriesByType(type: string): readonly { readonly name: string }[] }
  readonly wasRun?: number
  readonly ReportingObserver?: new (
    observed: (reports: readonly Report[]) => void,
    options: { readonly types: readonly string[]; readonly buffered: boolean },
  ) => { observe(): void; takeRecords(): readonly Report[] }
}

interface Report {
  readonly body: { readonly effectiveDirective: string; readonly blockedURL: string }
}

/** Runs in the page: what axe-core objects to. */
async function violations(): Promise<readonly string[]> {
  const { axe } = globalThis as PageGlobals
  const found = (await axe?.run())?.violations ?? []
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Runs in the page: what its policy has refused so far. */
export function refused(): readonly string[] {
  const { ReportingObserver } = globalThis as PageGlobals
  if (ReportingObserver === undefined) throw new Error('This browser reports nothing')
  const observer = new ReportingObserver(() => undefined, { types: ['csp-violation'], buffered: true })
  observer.observe()
  return observer.takeRecords().map(({ body }) => `${body.effectiveDirective} ${body.blockedURL}`)
}

/** Runs in the page: everything of it that outlives it, or that others can see: storages, its history, its text with all attributes, what it asked for. */
export async function traces(): Promise<string> {
  const { localStorage, sessionStorage, indexedDB, caches, document, location, history, name, performance } =
    globalThis as PageGlobals
  return JSON.stringify([
    localStorage,
    sessionStorage,
    await indexedDB?.databases(),
    await caches?.keys(),
    document?.cookie,
    document?.documentElement.outerHTML,
    location?.href,
    history?.state,
    name,
    performance?.getEntriesByType('resource').map((entry) => entry.name),
  ])
}

/** Runs in the page: keeps what its policy refuses from here on. */
export function watchPolicy(): void {
  const page = globalThis as PageGlobals & { policySaw?: string[] }
  page.policySaw = []
  page.document?.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
    page.policySaw?.push(`${effectiveDirective} ${blockedURI}`),
  )
}

/** Runs in the page: what `watchPolicy` has kept. */
export function policySaw(): readonly string[] {
  return (globalThis as { readonly policySaw?: readonly string[] }).policySaw ?? ['nothing watches']
}

/** Runs in the page: does what the policy refuses, to see that it is noticed. */
export function breakPolicy(): void {
  const { document } = globalThis as PageGlobals
  const image = document?.createElement('img')
  if (image !== undefined) image.src = 'http://127.0.0.1:9/'
}

/** Runs in the page: which of these texts no element has as its whole text. */
export function notShown(...texts: readonly string[]): readonly string[] {
  const { document } = globalThis as PageGlobals
  const shown = new Set(
    [...(document?.querySelectorAll('main *, dialog *') ?? [])].map((one) => one.textContent),
  )
  return texts.filter((text) => !shown.has(text))
}

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

export async function isAccessible(t: Test, { page }: ConsoleDriver, what: string): Promise<void> {
  t.same(await page.run<readonly string[]>(violations), [], `${what} for axe`)
}

/** Runs in the page: what a script of a stored name would have set. */
export function ranForeign(): unknown {
  return (globalThis as PageGlobals).wasRun ?? null
}

/** Gives the page the tool that judges it. */
export const loadAxe = ({ page }: ConsoleDriver): Promise<void> => page.load(AXE)

/** Both widths and themes: nothing is wider than the screen, and axe objects to nothing. */
export async function fitsScreens(t: Test, driver: ConsoleDriver, what: string): Promise<void> {
  for (const [width, theme] of [
    [SMALL_SCREEN, 'dark'],
    [LARGE_SCREEN, 'light'],
  ] as const) {
    await driver.page.resize(width)
    await driver.page.prefer(theme)
    const shown = await driver.width()
    t.ok(shown <= width, `${shown} wide on ${width}`)
    await isAccessible(t, driver, `${what}, ${theme}`)
  }
}
