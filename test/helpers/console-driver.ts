/**
 * Uses the console as a person does: by the names of fields, buttons and links. Every step waits until what it needs is there.
 *
 * Rule: nothing here reaches into the state of the page; functions that run in the page know as much of the DOM as they need.
 */
import { until } from './async.ts'
import type { Browser, Page } from './browser.ts'

interface Element {
  value: string
  readonly disabled: boolean
  readonly innerText: string
  readonly labels?: Iterable<Element>
  getAttribute(name: string): string | null
  closest(selector: string): Element | null
  click(): void
  dispatchEvent(event: Event): void
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): Iterable<Element>
}

interface PageGlobals {
  readonly document?: Element & {
    /** null: the page is being loaded. */
    readonly body: Element | null
    readonly documentElement: { readonly scrollWidth: number }
  }
  readonly location?: { hash: string }
}

export class ConsoleDriver {
  readonly page: Page
  /** What a person would have clicked so far. */
  clicks = 0

  private constructor(page: Page) {
    this.page = page
  }

  /** `root`: of an admin listener. `words`: what it shows first. */
  static async open(browser: Browser, root: string, words = 'Admin token'): Promise<ConsoleDriver> {
    return ConsoleDriver.of(await browser.open(`${root}/console/`), words)
  }

  /** Of a page that shows the console, or will soon. */
  static async of(page: Page, words = 'Admin token'): Promise<ConsoleDriver> {
    const driver = new ConsoleDriver(page)
    await driver.sees(words)
    return driver
  }

  async logIn(token: string): Promise<void> {
    await this.fill('Admin token', token)
    await this.click('Log in')
    await this.sees('Log out')
  }

  /** Beside an admin token, or instead of one. */
  async logInWithKey(accessKeyId: string, secretKey: string): Promise<void> {
    await this.fill('Access key id', accessKeyId)
    await this.fill('Secret key', secretKey)
    await this.click('Log in')
    await this.sees('Buckets')
  }

  /** `path`: such as `cluster` or `tenants/acme`. */
  async go(path: string): Promise<void> {
    await this.page.run<void>((to: string) => {
      const { location } = globalThis as PageGlobals
      if (location) location.hash = to
    }, `/${path}`)
  }

  text(): Promise<string> {
    return this.page.run<string>(() => (globalThis as PageGlobals).document?.body?.innerText ?? '')
  }

  async sees(words: string | RegExp): Promise<void> {
    let last = ''
    await until(`the page shows ${words}`, async () => {
      last = await this.text()
      return typeof words === 'string' ? last.includes(words) : words.test(last)
    }).catch((cause: unknown) => {
      throw new Error(`The page does not show ${words}, but:\n${last}`, { cause })
    })
  }

  /** A button or link by its name; `within`: the name of the part that it is in. */
  async click(name: string, within = ''): Promise<void> {
    await until(`"${name}" can be clicked`, () => this.page.run<boolean>(clicked, name, within))
    this.clicks += 1
  }

  /** Whether a button that is there would take a click. */
  isEnabled(name: string): Promise<boolean> {
    return this.page.run<boolean>((wanted: string) => {
      const { document } = globalThis as PageGlobals
      const found = [...(document?.querySelectorAll('button') ?? [])].find(
        ({ innerText }) => innerText.trim() === wanted,
      )
      return found !== undefined && !found.disabled
    }, name)
  }

  /** The line for a shell of a button that has no dialog. */
  async lineOf(button: string): Promise<string> {
    await this.click(`As curl: ${button}`)
    await this.sees(/\ncurl -fsS [^\n]+/)
    const [, line = ''] = /\n(curl -fsS [^\n]+)/.exec(await this.text()) ?? []
    await this.click('Close')
    return line
  }

  async fill(label: string, value: string): Promise<void> {
    await until(`"${label}" can be filled`, () => this.page.run<boolean>(filled, label, value))
  }

  /** Opens a dialog by its button, fills the fields and shows the plan. `words`: what the plan says. */
  async plans(
    button: string,
    fields: Readonly<Record<string, string>> = {},
    words: string | RegExp = '',
  ): Promise<void> {
    await this.click(button)
    for (const [label, value] of Object.entries(fields)) await this.fill(label, value)
    await this.click('Show the plan')
    await this.sees(words)
  }

  /** Does what the open dialog plans, and closes it. `words`: what it says at the end. `confirm`: the name to type first. */
  async does(words: string | RegExp, confirm = ''): Promise<void> {
    if (confirm !== '') await this.fill(`Type ${confirm} to confirm`, confirm)
    await this.click('Do it')
    await this.sees(words)
    await this.click('Close')
  }

  /** CSS pixels of the widest thing. */
  width(): Promise<number> {
    return this.page.run<number>(() => (globalThis as PageGlobals).document?.documentElement.scrollWidth ?? 0)
  }
}

/** Runs in the page. */
function clicked(name: string, within: string): boolean {
  const { document } = globalThis as PageGlobals
  const named = (element: Element): string => (element.getAttribute('aria-label') ?? element.innerText).trim()
  // What lies below an open dialog cannot be reached.
  const around = [...(document?.querySelectorAll('dialog[open]') ?? [])].at(-1) ?? document
  const found = [...(around?.querySelectorAll('button, a[href], summary') ?? [])].find(
    (element) =>
      named(element) === name &&
      !element.disabled &&
      (within === '' || element.closest(`[aria-label="${within}"]`) !== null),
  )
  found?.click()
  return found !== undefined
}

/** Runs in the page. */
function filled(label: string, value: string): boolean {
  const { document } = globalThis as PageGlobals
  const found = [...(document?.querySelectorAll('input, select, textarea') ?? [])].find((element) =>
    [...(element.labels ?? [])].some(({ innerText }) => innerText.trim() === label),
  )
  if (found === undefined) return false
  found.value = value
  for (const type of ['input', 'change']) found.dispatchEvent(new Event(type, { bubbles: true }))
  return true
}
