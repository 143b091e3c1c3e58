/**
 * A page of the documents that is typed verbatim, so that page and program cannot drift apart.
 *
 * Owns: which lines are typed, and the comparison of their output with the page. Knows nothing of: shells, machines. A block ```sh is typed at
 * the reader's desk, ```sh n4 at machine n4; a block ```text right below it is the expected output, with `…` for any text that a
 * line holds at that place, and a line `…` for any number of lines.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Test } from 'tap'

export interface TypedBlock {
  /** The heading above the block, without its marks. */
  readonly heading: string
  /** Empty: the desk. */
  readonly machine: string
  readonly typed: string
  /** Undefined: any output. */
  readonly printed: string | undefined
}

const HEADING_OR_BLOCK =
  /^#+ (?<heading>.*)$|^```sh(?: (?<machine>\S+))?\n(?<typed>[\s\S]*?)^```$(?:\n^```text\n(?<printed>[\s\S]*?)^```$)?|^```[\s\S]*?^```$/gm

export function blocksOf(text: string): readonly TypedBlock[] {
  let heading = ''
  return [...text.matchAll(HEADING_OR_BLOCK)].flatMap(({ groups = {} }) => {
    heading = groups['heading'] ?? heading
    const { machine = '', typed, printed } = groups
    return typed === undefined ? [] : [{ heading, machine, typed, printed }]
  })
}

export function fits(printed: string, expected: string): boolean {
  const lines = expected.trim().split('\n')
  const pattern = lines.map((line) => (line === '…' ? '(?:.*\\n)*?' : `${patternOf(line)}\\n`)).join('')
  return new RegExp(`^${pattern}$`).test(`${printed.replaceAll('\r', '').trim()}\n`)
}

const patternOf = (line: string): string =>
  line
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')

export interface PageOptions {
  /** The file. */
  readonly page: string
  /** Replaces addresses and names by those of the test. */
  readonly local: (text: string) => string
  /** Types the block at its machine and resolves with the output. Throws when it fails. */
  readonly type: (machine: string, lines: string) => Promise<string>
}

export class TypedPage {
  readonly #options: PageOptions
  readonly #untyped: TypedBlock[]

  constructor(options: PageOptions) {
    this.#options = options
    this.#untyped = [...blocksOf(readFileSync(options.page, 'utf8'))]
  }

  /** Headings of blocks that were not typed yet. Empty at the end of a complete test. */
  get untyped(): readonly string[] {
    return [...new Set(this.#untyped.map(({ heading }) => heading))]
  }

  /** The blocks below this heading, from the first to the last; their output is compared with the page. */
  async type(t: Test, heading: string, local: (text: string) => string = (text) => text): Promise<void> {
    const here = this.#untyped.filter((block) => block.heading === heading)
    if (here.length === 0) throw new Error(`Nothing is left to type below '${heading}'`)
    for (const block of here) {
      this.#untyped.splice(this.#untyped.indexOf(block), 1)
      await this.#typeBlock(t, block, local)
    }
  }

  /** Types all remaining blocks. */
  async typeAll(t: Test): Promise<void> {
    for (let [next] = this.untyped; next !== undefined; [next] = this.untyped) await this.type(t, next)
  }

  async #typeBlock(t: Test, block: TypedBlock, more: (text: string) => string): Promise<void> {
    const { page, local, type } = this.#options
    const here = (text: string): string => local(more(text))
    const printed = await type(here(block.machine), here(block.typed))
    const { printed: expected } = block
    if (expected !== undefined)
      t.ok(
        fits(printed, here(expected)),
        `${basename(page)}: ${block.typed}\nprinted: ${printed}\nexpected: ${expected}`,
      )
  }
}
