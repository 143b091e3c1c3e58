/**
 * A real headless browser, driven over its DevTools protocol.
 *
 * Owns: the process, its profile and the pipe to it. Knows nothing of: what pages do.
 * Rules: it ends with the test, and with the process of the test, whose end closes the pipe; it runs without a sandbox, because a sandbox
 * needs rights that test machines do not give, so it opens only pages of the test.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { until } from './async.ts'
import { type Chromium, chromiumIn } from './chromium.ts'

/** Only its last output is kept: that names the fault. */
const LAST_WORDS_CHARS_MAX = 4000
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--no-first-run',
  '--remote-debugging-pipe',
]

interface Teardown {
  teardown(handler: () => void | Promise<void>): void
}

type Result = Readonly<Record<string, unknown>>

interface Message {
  readonly id?: number
  readonly result?: Result
  readonly error?: { readonly message: string }
}

interface Waiting {
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
}

export class Browser {
  readonly #orders: Writable
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  /** null: this machine has no browser. */
  static async start(t: Teardown): Promise<Browser | null> {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-browser-'))
    let child: ChildProcess | null = null
    // One handler: the folder can be removed only when no process writes there any more.
    t.teardown(async () => {
      if (child !== null) await endOf(child)
      await rm(dir, { recursive: true, force: true, maxRetries: 10 })
    })
    const chromium = await chromiumIn(dir)
    if (chromium === null) return null
    child = launch(chromium, dir)
    return new Browser(child)
  }

  private constructor(child: ChildProcess) {
    const [, , , orders, answers] = child.stdio
    assert.ok(orders instanceof Writable && answers instanceof Readable, 'these two are pipes')
    this.#orders = orders
    // A message that cannot be sent is reported by the end of the process.
    orders.on('error', () => undefined)
    let text = ''
    answers.setEncoding('utf8').on('data', (piece: string) => {
      const messages = (text + piece).split('\0')
      text = messages.pop() ?? ''
      for (const message of messages) this.#take(JSON.parse(message) as Message)
    })
    let words = ''
    child.stderr?.on('data', (piece) => (words = (words + String(piece)).slice(-LAST_WORDS_CHARS_MAX)))
    const fail = (why: string): void => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${why}: ${words}`))
    }
    child.once('error', (error) => fail(error.message))
    child.once('close', (code, signal) => fail(`Chromium ended with ${code ?? signal}`))
  }

  /** Opens and loads a new page. */
  async open(url: string): Promise<Page> {
    const { targetId } = await this.#send('Target.createTarget', { url })
    const { sessionId } = await this.#send('Target.attachToTarget', { targetId, flatten: true })
    const page = new Page((method, params) => this.#send(method, params, { sessionId }))
    await until(`${url} is loaded`, () => page.run<boolean>(isLoaded, url))
    return page
  }

  #send(method: string, params: object, session: object = {}): Promise<Result> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#orders.write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    })
  }

  #take({ id = 0, result = {}, error }: Message): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(error.message))
  }
}

export interface Cookie {
  readonly name: string
  readonly value: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite?: 'Strict' | 'Lax' | 'None'
}

export interface Slowness {
  /** How many times slower the processor seems. */
  readonly processorRate: number
  readonly latencyMs: number
  readonly downBytesPerSecond: number
  readonly upBytesPerSecond: number
}

export class Page {
  readonly #send: (method: string, params: object) => Promise<Result>

  constructor(send: (method: string, params: object) => Promise<Result>) {
    this.#send = send
  }

  /** As a slower machine behind a slower network would load it, from here on; nothing is taken from the cache of the browser. */
  async slowDown({
    processorRate,
    latencyMs,
    downBytesPerSecond,
    upBytesPerSecond,
  }: Slowness): Promise<void> {
    await this.#send('Emulation.setCPUThrottlingRate', { rate: processorRate })
    await this.#send('Network.enable', {})
    await this.#send('Network.setCacheDisabled', { cacheDisabled: true })
    await this.#send('Network.emulateNetworkConditions', {
      offline: false,
      latency: latencyMs,
      downloadThroughput: downBytesPerSecond,
      uploadThroughput: upBytesPerSecond,
    })
  }

  /** Loads another page in its place. */
  async navigate(url: string): Promise<void> {
    await this.#send('Page.navigate', { url })
    await until(`${url} is loaded`, () => this.run<boolean>(isLoaded, url).catch(() => false))
  }

  /** Shows the page on a screen of this size. CSS pixels. */
  async resize(width: number, height = 800): Promise<void> {
    const size = { width, height, deviceScaleFactor: 1, mobile: false }
    await this.#send('Emulation.setDeviceMetricsOverride', size)
  }

  /** As a system with this theme would show it. */
  async prefer(scheme: 'light' | 'dark'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: scheme }]
    await this.#send('Emulation.setEmulatedMedia', { features })
  }

  /** The addresses and titles to which its back button leads. */
  async history(): Promise<unknown> {
    const { entries } = await this.#send('Page.getNavigationHistory', {})
    return entries
  }

  async close(): Promise<void> {
    await this.#send('Page.close', {})
  }

  /** What the screen shows. WebP is made small rather than exact. */
  async picture(format: 'png' | 'webp' = 'png'): Promise<Buffer> {
    const quality = format === 'png' ? {} : { quality: 80 }
    const { data } = await this.#send('Page.captureScreenshot', { format, ...quality })
    return Buffer.from(String(data), 'base64')
  }

  /** Drops files and folders of this machine at a place of the page. */
  async drop(at: { readonly x: number; readonly y: number }, files: readonly string[]): Promise<void> {
    const data = { items: [], files, dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await this.#send('Input.dispatchDragEvent', { type, ...at, data })
  }

  /** Such as `ArrowLeft`; it goes to what has the focus. */
  async press(key: string): Promise<void> {
    for (const type of ['keyDown', 'keyUp']) await this.#send('Input.dispatchKeyEvent', { type, key })
  }

  /** Those that go along with requests of this page; scripts see fewer. */
  async cookies(): Promise<readonly Cookie[]> {
    const { cookies } = await this.#send('Network.getCookies', {})
    return cookies as readonly Cookie[]
  }

  /** Runs a script in the page, by its text. */
  async load(script: string): Promise<void> {
    const result = await this.#send('Runtime.evaluate', { expression: script })
    assert.ok(!('exceptionDetails' in result), JSON.stringify(result['exceptionDetails']))
  }

  /** Runs the text of `script` in the page with these arguments; arguments and result travel as JSON. */
  async run<T>(script: (...given: never[]) => unknown, ...given: readonly unknown[]): Promise<T> {
    const expression = `(${script.toString()})(...${JSON.stringify(given)})`
    const result = await this.#send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    assert.ok(!('exceptionDetails' in result), JSON.stringify(result['exceptionDetails']))
    return (result['result'] as { readonly value: T }).value
  }
}

/** State of the page that this process cannot see. */
interface PageGlobals {
  readonly document?: { readonly readyState: string }
  readonly location?: { readonly href: string }
}

/** Runs in the page. */
function isLoaded(url: string): boolean {
  const { document, location } = globalThis as PageGlobals
  return document?.readyState === 'complete' && location?.href === url
}

function launch({ executable, libraries }: Chromium, dir: string): ChildProcess {
  const env = { ...process.env, HOME: dir, ...(libraries === '' ? {} : { LD_LIBRARY_PATH: libraries }) }
  const args = [...FLAGS, `--user-data-dir=${join(dir, 'profile')}`, 'about:blank']
  return spawn(executable, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] })
}

/** All its processes hold its standard error, so they are gone when that is closed. */
async function endOf(child: ChildProcess): Promise<void> {
  if (child.stderr?.closed !== false) return
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
}
