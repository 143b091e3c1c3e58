/**
 * Maps coverage of compiled code to lines of the source that did not run.
 *
 * Owns: which lines count. A line counts when the compiler emitted code for it: no comment, no type, no import, no single brace.
 * Knows nothing of: processes, thresholds. Rule: a line ran when the first code on it ran; a file that was never loaded counts as
 * not run, and is not left out.
 */
import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { ScriptBlocks, type ScriptCoverage } from './blocks.ts'

export interface Share {
  readonly total: number
  readonly ran: number
}

export interface FileCoverage {
  readonly source: string
  readonly lines: Share
  readonly branches: Share
  /** Ascending, from 1. */
  readonly missedLines: readonly number[]
  readonly missedBranches: readonly number[]
}

interface CodeWord {
  readonly offset: number
  /** From 1. */
  readonly sourceLine: number
}

/** `compiled`: a file from the compiler, with its map beside it. `runs`: the coverage of each process. */
export function coverageOf(source: string, compiled: string, runs: readonly ScriptCoverage[]): FileCoverage {
  const code = readFileSync(compiled, 'utf8')
  const words = codeWords(code, sourceMapOf(compiled))
  const script = new ScriptBlocks(code.length)
  for (const run of runs) script.add(run)
  const firstOf = new Map<number, number>()
  for (const { offset, sourceLine } of words) if (!firstOf.has(sourceLine)) firstOf.set(sourceLine, offset)
  const missedLines = [...firstOf].flatMap(([line, offset]) => (script.ranAt(offset) ? [] : [line]))
  // V8 also counts a block of only braces and spaces after a `return`; it can never run.
  const blocks = script.blocks().flatMap(({ start, end, ran }) => {
    const word = words.find(({ offset }) => offset >= start && offset < end)
    return word === undefined ? [] : [{ ran, line: word.sourceLine }]
  })
  const missed = blocks.filter(({ ran }) => !ran).map(({ line }) => line)
  return {
    source,
    lines: { total: firstOf.size, ran: firstOf.size - missedLines.length },
    // A file that no process loaded is one block that did not run.
    branches: { total: Math.max(1, blocks.length), ran: blocks.length - missed.length },
    missedLines: ascending(missedLines),
    missedBranches: ascending(missed),
  }
}

function sourceMapOf(compiled: string): SourceMap {
  return new SourceMap(JSON.parse(readFileSync(`${compiled}.map`, 'utf8')) as SourceMapPayload)
}

/** Words before a function or a class, which run with the surrounding code. */
const OUTSIDE = /^(export|default|async|static)$/

/** The compiler leaves comments out and writes each import and export on one line. */
function codeWords(code: string, map: SourceMap): readonly CodeWord[] {
  const words: CodeWord[] = []
  let start = 0
  for (const [i, line] of code.split('\n').entries()) {
    const isCode = !/^(import\b.*;$|export (\{|\*)|\/\/#)/.test(line)
    for (const { 0: word, index } of isCode ? line.matchAll(/[\w$#]+/g) : []) {
      if (OUTSIDE.test(word)) continue
      const entry = map.findEntry(i, index)
      if ('originalLine' in entry) words.push({ offset: start + index, sourceLine: entry.originalLine + 1 })
    }
    start += line.length + 1
  }
  return words
}

const ascending = (lines: readonly number[]): readonly number[] => [...new Set(lines)].sort((a, b) => a - b)
