/**
 * The lines of a runbook about `holdfast recover`: a test types the lines of the page, so that page and program cannot drift apart.
 *
 * Owns: finding them. Rule: a line that is missing from the page is an error in the page.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const RUNBOOKS = fileURLToPath(new URL('../../deploy/runbooks/', import.meta.url))

export interface RecoverFiles {
  readonly config: string
  readonly reports: string
  readonly plan: string
  /** Index and term of the entry that is skipped. */
  readonly index?: number
}

export class RecoverLines {
  readonly #page: string
  readonly #lines: readonly string[]

  constructor(page: string) {
    this.#page = page
    const text = readFileSync(`${RUNBOOKS}${page}`, 'utf8')
    this.#lines = [...text.matchAll(/holdfast ([a-z]+ [a-z-]+ [^\n`]+)/g)].map((match) => match[1] ?? '')
  }

  /** The words of the first line with this beginning that is about a running cluster. */
  asked(begin: string): readonly string[] {
    const line = this.#lines.find((one) => one.startsWith(`${begin} `))
    if (line === undefined) throw new Error(`${this.#page} has no line "holdfast ${begin} ..."`)
    return line.trim().split(/\s+/)
  }

  /** The words of the first line of this step with this word, with these files in place of the example's. */
  words(step: string, files: RecoverFiles, having = step.split(' ').at(-1) ?? ''): readonly string[] {
    const line = this.#lines.find(
      (one) => one.startsWith(`recover ${step} `) && one.split(' ').includes(having),
    )
    if (line === undefined)
      throw new Error(`${this.#page} has no line "holdfast recover ${step} ... ${having}"`)
    const here = new Map([
      ['n1.yaml', files.config],
      ['reports', files.reports],
      ['plan.json', files.plan],
      ['skip.json', files.plan],
      ['4711', String(files.index)],
    ])
    return line
      .trim()
      .split(/\s+/)
      .map((word) => here.get(word) ?? word)
  }
}
