/**
 * Merges V8's coverage of one script in several processes: which characters ran, and which blocks exist.
 *
 * Owns: the files of NODE_V8_COVERAGE and the meaning of their ranges. Knows nothing of: sources, lines.
 * Rules: a character ran when it ran in any process; a block is a range that V8 counts separately from its surroundings. A block
 * that always ran as often as its surroundings has no separate range, so the share of blocks that ran is never overstated.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The format of NODE_V8_COVERAGE. Offsets in UTF-16 units. */
export interface ScriptCoverage {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly BlockRange[] }[]
}

export interface BlockRange {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

export interface Block {
  readonly start: number
  readonly end: number
  readonly ran: boolean
}

/** By the URL of the script: the coverage that each process, and each of its threads, wrote into this folder. */
export function readRuns(folder: string): ReadonlyMap<string, readonly ScriptCoverage[]> {
  const runs = new Map<string, ScriptCoverage[]>()
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: ScriptCoverage[] }
    for (const script of result) {
      const known = runs.get(script.url)
      if (known === undefined) runs.set(script.url, [script])
      else known.push(script)
    }
  }
  return runs
}

export class ScriptBlocks {
  readonly #ran: Uint8Array
  readonly #blocks = new Map<string, { readonly start: number; readonly end: number }>()

  constructor(length: number) {
    this.#ran = new Uint8Array(length)
  }

  /** The coverage of one process. */
  add({ functions }: ScriptCoverage): void {
    const ranges = functions.flatMap((each) => each.ranges)
    // From the outside to the inside: an inner range overrides an outer one.
    ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset)
    const ran = new Uint8Array(this.#ran.length)
    for (const { startOffset: start, endOffset: end, count } of ranges) {
      ran.fill(count > 0 ? 1 : 0, start, end)
      this.#blocks.set(`${start}-${end}`, { start, end })
    }
    for (let i = 0; i < ran.length; i++) if (ran[i] === 1) this.#ran[i] = 1
  }

  ranAt(offset: number): boolean {
    return this.#ran[offset] === 1
  }

  /** In the order of their starts. */
  blocks(): readonly Block[] {
    const found = [...this.#blocks.values()].sort((a, b) => a.start - b.start || b.end - a.end)
    return found.map(({ start, end }) => ({ start, end, ran: this.ranAt(start) }))
  }
}
