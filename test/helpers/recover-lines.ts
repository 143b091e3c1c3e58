/**
 * The lines of a runbook about `holdfast recover`, so that a test types what the page says and they cannot drift apart.
 *
 * Owns: finding them. Rule: a line that the page does not have is an error of whoever changed the page.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const RUNBOOKS = fileURLToPath(new URL('../../deploy/runbooks/', import.meta.url))

export interface RecoverFiles {
  readonly config: string
  readonly reports: string
  readonly plan: string
  /** Of the entry that is skipped. */
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

  /** The words of the first line that begins so and is about a cluster that runs. */
  asked(begin: string): readonly string[] {
    const line = this.#lines.find((one) => one.startsWith(`${begin} `))
    if (line === undefined) throw new Error(`${this.#page} has no line "holdfast ${begin} ..."`)
    return line.trim().split(/\s+/)
  }

  /** The words of the first line of this step that has this word, with these files for those of the example. */
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
