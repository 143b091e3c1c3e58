/**
 * The tap reporter of this project: silent about passed tests, every failure in full and then in one line, one closing line.
 *
 * Owns: the last line `N passed, N failed` that people and CI read. Counts leaf assertions; a test
 * file that dies or times out counts as a failure. Progress (one line a file) goes to standard error.
 */
import { Transform, type TransformCallback } from 'node:stream'
import { Parser, type Result } from 'tap-parser'

const LINE_MAX = 300

function lineOf(path: readonly string[], { name, diag }: Result, max = Infinity): string {
  const at = diag?.at
  const place = at?.fileName ? ` (${at.fileName}:${at.lineNumber})` : ''
  return `FAILED ${[...path, name].filter(Boolean).join(' > ').slice(0, max)}${place}\n`
}

function describe(path: readonly string[], result: Result): string {
  const detail =
    result.diag?.diff ?? (result.diag && JSON.stringify(result.diag, null, 1).slice(0, 2000)) ?? ''
  return `${lineOf(path, result)}${detail}\n`
}

const SLOWEST_MAX = 10

/** The duration of a file. */
function took({ time }: Result): string {
  return typeof time === 'number' ? ` ${(time / 1000).toFixed(1)} s` : ''
}

/** The slowest files of a run; none for a run of one file. */
function describeSlowest(files: readonly Result[]): string {
  if (files.length < 2) return ''
  const slowest = files.toSorted((one, other) => (other.time ?? 0) - (one.time ?? 0)).slice(0, SLOWEST_MAX)
  return `SLOWEST ${slowest.length} of ${files.length} files\n${slowest.map((file) => `  ${file.name}${took(file)}\n`).join('')}`
}

/** Names skipped tests, with the reason. */
function describeSkipped(path: readonly string[], result: Result): string {
  const why = result.skip || result.todo
  const reason = typeof why === 'string' ? `: ${why}` : ''
  return `SKIPPED ${[...path, result.name].filter(Boolean).join(' > ')}${reason}\n`
}

export default class TapSummary extends Transform {
  readonly #parser = new Parser()
  readonly #totals = { passed: 0, failed: 0 }
  readonly #skipped: string[] = []
  readonly #failures: { readonly path: readonly string[]; readonly result: Result }[] = []
  /** Test files, in the order of their ends. */
  readonly #files: Result[] = []
  readonly #finished: Promise<unknown>

  constructor() {
    super()
    this.#watch(this.#parser, [])
    this.#finished = new Promise((resolve) => this.#parser.once('complete', resolve))
  }

  /** A subtest is reported twice: as a child with its own results, and as one assertion of its parent. */
  #watch(parser: Parser, path: readonly string[]): void {
    let child: Parser | null = null
    parser.on('child', (inner: Parser) => {
      child = inner
      this.#watch(inner, [...path, inner.name])
    })
    parser.on('assert', (result: Result) => {
      const closesChild = child !== null && child.name === result.name
      const finished = closesChild ? child : null
      if (closesChild) child = null
      if (path.length === 0) {
        this.#files.push(result)
        process.stderr.write(`${result.ok ? 'ok    ' : 'FAILED'} ${result.name}${took(result)}\n`)
      }
      const inside = finished?.results
      if (inside && inside.count > 0 && (result.ok || inside.fail > 0)) return
      this.#count(result, path)
    })
  }

  #count(result: Result, path: readonly string[]): void {
    if (result.skip || result.todo) this.#skipped.push(describeSkipped(path, result))
    else if (result.ok) this.#totals.passed += 1
    else {
      this.#totals.failed += 1
      this.#failures.push({ path, result })
    }
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#parser.write(chunk.toString())
    done()
  }

  override async _flush(done: TransformCallback): Promise<void> {
    this.#parser.end()
    await this.#finished
    for (const skipped of this.#skipped) this.push(skipped)
    this.push(describeSlowest(this.#files))
    for (const { path, result } of this.#failures) this.push(describe(path, result))
    // Last and short, because often only the end of a long output is kept.
    if (this.#failures.length > 0) this.push(`ALL ${this.#failures.length} failures, and their files\n`)
    const files = this.#files.filter(({ ok }) => !ok).map(({ name }) => `FAILED ${name}\n`)
    const lines = this.#failures.map(({ path, result }) => lineOf(path, result, LINE_MAX))
    for (const line of new Set([...lines, ...files])) this.push(line)
    const { passed, failed } = this.#totals
    this.push(`${passed} passed, ${failed} failed\n`)
    done()
  }
}
