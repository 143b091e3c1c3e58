/**
 * The documentation as a node serves it, in a real browser: no page breaks its policy, the search finds, nothing is wider than a small screen.
 */
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { documentationSite } from '../../scripts/docs/site.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { adminPages } from '../../src/api/pages/admin-pages.ts'
import { Documentation } from '../../src/api/pages/documentation.ts'
import { packSite, SiteArchive } from '../../src/api/pages/site-archive.ts'
import { METRICS } from '../api/api-world.ts'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

/** As much as these functions, which run in the page, need of it. */
interface Element {
  value: string
  readonly textContent: string
  readonly href: string
  readonly scrollWidth: number
  readonly naturalWidth: number
  readonly complete: boolean
  readonly body: Element
  dispatchEvent(event: Event): void
  append(element: Element): void
}

interface Document extends Element {
  readonly documentElement: Element
  createElement(name: string): Element
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): Iterable<Element>
}

interface Report {
  readonly body: { readonly effectiveDirective: string; readonly blockedURL: string }
}

interface PageGlobals {
  readonly document?: Document
  readonly getComputedStyle?: (element: Element) => { readonly position: string }
  readonly ReportingObserver?: new (
    observed: (reports: readonly Report[]) => void,
    options: { readonly types: readonly string[]; readonly buffered: boolean },
  ) => { observe(): void }
}

/** Runs in the page. What its policy has refused since it began to load; the last one is an image that this function puts in, to be refused. */
function refused(): Promise<readonly string[]> {
  const { document, ReportingObserver } = globalThis as PageGlobals
  if (document === undefined || ReportingObserver === undefined) throw new Error('This is no page')
  return new Promise((resolve) => {
    const found: string[] = []
    const observer = new ReportingObserver(
      (reports) => {
        found.push(...reports.map(({ body }) => `${body.effectiveDirective} ${body.blockedURL}`))
        if (found.some((text) => text === 'img-src https://elsewhere.invalid/'))
          // Its own policy and that of the answer refuse the same.
          resolve([...new Set(found)])
      },
      { types: ['csp-violation'], buffered: true },
    )
    observer.observe()
    const image = document.createElement('img')
    Object.assign(image, { src: 'https://elsewhere.invalid/' })
    document.body.append(image)
  })
}

const OWN = ['img-src https://elsewhere.invalid/']

/** CSS pixels. */
const SMALL_SCREEN = 360

/** Runs in the page. */
function search(words: string): void {
  const field = (globalThis as PageGlobals).document?.querySelector('.search input')
  if (!field) throw new Error('The page has no search')
  field.value = words
  field.dispatchEvent(new Event('input'))
}

/** Runs in the page. */
function found(): readonly string[] {
  const rows = (globalThis as PageGlobals).document?.querySelectorAll('.search li a')
  return [...(rows ?? [])].map(({ href, textContent }) => `${href} ${textContent}`)
}

t.test('the documentation in Chromium', { timeout: 900_000 }, async (t) => {
  const archive = new SiteArchive(packSite(documentationSite(ROOT)))
  const memory = await MemoryServices.start(t)
  const pages = adminPages(new Documentation(async () => archive))
  const server = createHttpServer(memory.services, { ...adminPlane(METRICS), pages }, METRICS)
  await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  const root = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  // Last, so that it is closed first: a server waits for the connections that a browser keeps.
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: the documentation in a browser. ${HOW_TO_HAVE_ONE}\n`)
    return
  }

  await t.test('the search finds a word, and its result leads to the heading', async (t) => {
    const page = await browser.open(`${root}/docs/`)
    await page.run(search, 'retention')
    await until('results are shown', async () => (await page.run<readonly string[]>(found)).length > 0)
    const results = await page.run<readonly string[]>(found)
    t.match(results.join('\n'), /\/docs\/\S+ .*retention/i)
    await page.run(search, 'xyzzyplugh')
    await until('it says that there is none', () =>
      page.run<boolean>(() =>
        /Nothing contains/.test(
          (globalThis as PageGlobals).document?.querySelector('.search ol')?.textContent ?? '',
        ),
      ),
    )
  })

  for (const path of [
    'docs/architecture.html',
    'docs/api/data-objects.html',
    'docs/commands/index.html',
    '',
  ]) {
    await t.test(`/${path} is shown whole`, async (t) => {
      const page = await browser.open(`${root}/${path}`)
      const state = await page.run<{ broken: number; images: number; isStyled: boolean }>(() => {
        const { document, getComputedStyle } = globalThis as PageGlobals
        const images = [...(document?.querySelectorAll('main img') ?? [])]
        const header = document?.querySelector('header')
        return {
          images: images.length,
          broken: images.filter(({ complete, naturalWidth }) => !complete || naturalWidth === 0).length,
          isStyled: header ? getComputedStyle?.(header).position === 'sticky' : false,
        }
      })
      t.equal(state.broken, 0)
      if (path !== '') t.ok(state.isStyled, 'the style is loaded')
      if (path === 'docs/architecture.html') t.ok(state.images > 0)
      await page.resize(SMALL_SCREEN)
      const width = await page.run<number>(
        () => (globalThis as PageGlobals).document?.documentElement.scrollWidth ?? 0,
      )
      t.ok(width <= SMALL_SCREEN, `it is ${width} wide`)
      t.same(await page.run(refused), OWN)
    })
  }
})
