/**
 * `npm run console:figures -- FILE`: how large the console is, and how it loads and moves on a slow machine behind a slow network, as a page of
 * figures. Nothing else should run meanwhile; the page says what did.
 *
 * Owns: what is measured and how. Rule: every figure comes from the browser's own entries (paint, layout-shift, longtask, resource), or from the files
 * of the console; each load begins with an empty cache.
 */
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { consoleSite } from '../../../scripts/build/console-site.ts'
import { ROOT } from '../../../scripts/supply-chain/lockfile.ts'
import { until } from '../../helpers/async.ts'
import { Browser } from '../../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../../helpers/chromium.ts'
import { ConsoleDriver } from '../../helpers/console-driver.ts'
import { ProcessCluster } from '../../helpers/process-cluster.ts'
import { Endings } from './endings.ts'

const LOADS = 5
const MBIT = 1_000_000 / 8
/** As Lighthouse takes a phone of the middle class: four times slower, 150 ms and 1.6 Mbit/s away. */
const SLOW = {
  processorRate: 4,
  latencyMs: 150,
  downBytesPerSecond: 1.6 * MBIT,
  upBytesPerSecond: 0.75 * MBIT,
}
const WIDTH = 412
const HEIGHT = 823
const SCREENS = [
  ['cluster', 'Address'],
  ['operations', 'History'],
  ['tenants', 'Filter by name or id'],
  ['backups', 'Back up now'],
  ['audit', 'Audit rows'],
] as const

/** What the types of the browser's entries have in common here. */
interface Noted {
  readonly name: string
  readonly startTime: number
  readonly duration: number
  readonly value?: number
  readonly transferSize?: number
  readonly sources?: readonly { readonly node: { readonly outerHTML?: string } | null }[]
}

interface Observer {
  observe(options: { readonly type: string; readonly buffered: boolean }): void
  takeRecords(): readonly Noted[]
}

interface PageGlobals {
  readonly performance?: { getEntriesByType(type: string): readonly Noted[] }
  readonly PerformanceObserver?: new (observed: () => void) => Observer
}

interface Measured {
  /** 0: nothing is painted yet. */
  readonly firstPaintMs: number
  readonly largestPaintMs: number
  /** Sum of all shifts, without a window of time: it is 0 or it is not. */
  readonly shift: number
  readonly shifted: readonly string[]
  readonly longTasks: readonly number[]
  readonly sentBytes: number
}

/** Runs in the page: what the browser has noted since it was loaded. */
function measured(): Measured {
  const { performance, PerformanceObserver } = globalThis as PageGlobals
  const noted = (type: string): readonly Noted[] => {
    if (PerformanceObserver === undefined) return []
    const observer = new PerformanceObserver(() => undefined)
    observer.observe({ type, buffered: true })
    return observer.takeRecords()
  }
  const entries = (type: string): readonly Noted[] => performance?.getEntriesByType(type) ?? []
  const shifts = noted('layout-shift')
  return {
    firstPaintMs: entries('paint').find(({ name }) => name === 'first-contentful-paint')?.startTime ?? 0,
    largestPaintMs: noted('largest-contentful-paint').at(-1)?.startTime ?? 0,
    shift: shifts.reduce((sum, { value = 0 }) => sum + value, 0),
    shifted: shifts.flatMap(({ sources = [] }) =>
      sources.map(({ node }) => (node?.outerHTML ?? 'gone').slice(0, 80)),
    ),
    longTasks: noted('longtask').map(({ duration }) => Math.round(duration)),
    sentBytes: [...entries('navigation'), ...entries('resource')].reduce(
      (sum, { transferSize = 0 }) => sum + transferSize,
      0,
    ),
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const range = (values: readonly number[]): string =>
  `${Math.round(median(values))} (${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))})`
const tasks = ({ longTasks }: Measured): string => (longTasks.length === 0 ? 'none' : longTasks.join(', '))

function sizes(): readonly string[] {
  const rows = [...consoleSite(ROOT)].map(([name, { bytes }]) => {
    const file = name.replace(/\.[0-9a-f]{12}\./, '.')
    const packed = [bytes.length, gzipSync(bytes).length, brotliCompressSync(bytes).length]
    return { file, packed }
  })
  const sum = [0, 1, 2].map((at) => rows.reduce((total, { packed }) => total + (packed[at] ?? 0), 0))
  return [
    '| file | bytes | with gzip | with Brotli |',
    '|---|---:|---:|---:|',
    ...[...rows, { file: 'all', packed: sum }].map(
      ({ file, packed }) => `| ${file} | ${packed.map((value) => value.toLocaleString('en')).join(' | ')} |`,
    ),
  ]
}

interface Loaded {
  readonly logIn: Measured
  /** From the click that logs in to the first screen. Milliseconds. */
  readonly healthMs: number
  readonly screens: readonly (readonly [string, Measured])[]
}

async function loadOnce(browser: Browser, root: string, token: string): Promise<Loaded> {
  const page = await browser.open('about:blank')
  await page.resize(WIDTH, HEIGHT)
  await page.slowDown(SLOW)
  await page.navigate(`${root}/console/`)
  const driver = await ConsoleDriver.of(page)
  await until('it is painted', async () => (await page.run<Measured>(measured)).firstPaintMs > 0)
  const logIn = await page.run<Measured>(measured)
  await driver.fill('Admin token', token)
  const clickedAt = performance.now()
  await driver.click('Log in')
  await driver.sees('At a glance')
  const healthMs = performance.now() - clickedAt
  const screens: (readonly [string, Measured])[] = [['health', await page.run<Measured>(measured)]]
  for (const [screen, words] of SCREENS) {
    await driver.go(screen)
    await driver.sees(words)
    screens.push([screen, await page.run<Measured>(measured)])
  }
  await page.close()
  return { logIn, healthMs, screens }
}

function report(loads: readonly Loaded[], loadBefore: string): string {
  const last = loads.at(-1)
  const of = (get: (loaded: Loaded) => number): string => range(loads.map(get))
  return [
    '# The console on a slow machine',
    '',
    `\`npm run console:figures\`: one node and headless Chromium on ${cpus().length} processors that other programs used too, load average ${loadBefore} before and ${load()} after. Processor ${SLOW.processorRate} times slower, ${SLOW.latencyMs} ms and ${(SLOW.downBytesPerSecond / MBIT).toFixed(1)} Mbit/s away, as set through the DevTools protocol, ${WIDTH} pixels wide; ${LOADS} loads, each with an empty cache: the median, with the least and the most.`,
    '',
    ...sizes(),
    '',
    '| the log-in | |',
    '|---|---:|',
    `| first contentful paint, ms | ${of(({ logIn }) => logIn.firstPaintMs)} |`,
    `| largest contentful paint, ms | ${of(({ logIn }) => logIn.largestPaintMs)} |`,
    `| bytes over the network | ${of(({ logIn }) => logIn.sentBytes)} |`,
    `| layout shift | ${Math.max(...loads.map(({ logIn }) => logIn.shift)).toFixed(3)} |`,
    `| long tasks of the last load, ms each | ${last === undefined ? '' : tasks(last.logIn)} |`,
    `| from the click that logs in to the first screen, as the script sees it, ms | ${of(({ healthMs }) => healthMs)} |`,
    '',
    'Screens in the order of a walk, each with what the browser has noted since the load. Long tasks are those of the last load, in ms.',
    '',
    '| screen | layout shift, the most of all loads | long tasks |',
    '|---|---:|---|',
    ...(last?.screens ?? []).map(([name, seen], at) => {
      const most = Math.max(...loads.map(({ screens }) => screens[at]?.[1].shift ?? 0))
      return `| ${name} | ${most.toFixed(3)} | ${tasks(seen)} |`
    }),
    '',
  ].join('\n')
}

const load = (): string => (loadavg()[0] ?? 0).toFixed(1)

async function main(file: string): Promise<void> {
  const endings = new Endings()
  const loadBefore = load()
  try {
    const cluster = await ProcessCluster.start(endings, 1)
    const browser = await Browser.start(endings)
    const [node] = cluster.plan
    if (browser === null || node === undefined) throw new Error(`No browser. ${HOW_TO_HAVE_ONE}`)
    const loads: Loaded[] = []
    for (let n = 0; n < LOADS; n++)
      loads.push(await loadOnce(browser, node.adminUrl, cluster.setup.ownerToken))
    const page = report(loads, loadBefore)
    writeFileSync(file, page)
    process.stdout.write(page)
  } finally {
    await endings.run()
  }
}

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('usage: figures.ts FILE')
await main(file)
