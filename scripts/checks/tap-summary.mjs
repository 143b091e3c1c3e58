/**
 * The tap reporter of this project: silent while all is well, every failure in full, one plain closing line.
 *
 * Owns: the last line `N passed, N failed` that people and CI read. Counts leaf assertions; a test
 * file that dies or times out counts as a failure. Progress (one line a file) goes to standard error.
 */
import { Transform } from 'node:stream'
import { Parser } from 'tap-parser'

function describe(path, result) {
  const at = result.diag?.at
  const place = at?.fileName ? ` (${at.fileName}:${at.lineNumber})` : ''
  const detail =
    result.diag?.diff ?? (result.diag && JSON.stringify(result.diag, null, 1).slice(0, 2000)) ?? ''
  return `FAILED ${[...path, result.name].filter(Boolean).join(' > ')}${place}\n${detail}\n`
}

/** Of a file, so that whoever looks for the slow ones finds them. */
function took({ time }) {
  return typeof time === 'number' ? ` ${(time / 1000).toFixed(1)} s` : ''
}

/** What was not proved here is said, with the reason. */
function describeSkipped(path, result) {
  const why = result.skip || result.todo
  const reason = typeof why === 'string' ? `: ${why}` : ''
  return `SKIPPED ${[...path, result.name].filter(Boolean).join(' > ')}${reason}\n`
}

export default class TapSummary extends Transform {
  #parser = new Parser()
  #totals = { passed: 0, failed: 0 }
  #skipped = []
  #failures = []
  #finished

  constructor() {
    super()
    this.#watch(this.#parser, [])
    this.#finished = new Promise((resolve) => this.#parser.once('complete', resolve))
  }

  /** A subtest is reported twice: as a child with its own results, and as one assertion of its parent. */
  #watch(parser, path) {
    let child = null
    parser.on('child', (inner) => {
      child = inner
      this.#watch(inner, [...path, inner.name])
    })
    parser.on('assert', (result) => {
      const closesChild = child !== null && child.name === result.name
      const finished = closesChild ? child : null
      if (closesChild) child = null
      if (path.length === 0)
        process.stderr.write(`${result.ok ? 'ok    ' : 'FAILED'} ${result.name}${took(result)}\n`)
      const inside = finished?.results
      if (inside && inside.count > 0 && (result.ok || inside.fail > 0)) return
      this.#count(result, path)
    })
  }

  #count(result, path) {
    if (result.skip || result.todo) this.#skipped.push(describeSkipped(path, result))
    else if (result.ok) this.#totals.passed += 1
    else {
      this.#totals.failed += 1
      this.#failures.push(describe(path, result))
    }
  }

  _transform(chunk, _encoding, done) {
    this.#parser.write(chunk.toString())
    done()
  }

  async _flush(done) {
    this.#parser.end()
    await this.#finished
    for (const failure of this.#failures) this.push(failure)
    for (const skipped of this.#skipped) this.push(skipped)
    const { passed, failed } = this.#totals
    this.push(`${passed} passed, ${failed} failed\n`)
    done()
  }
}
