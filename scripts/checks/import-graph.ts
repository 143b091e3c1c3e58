/**
 * Finds the files that a test reads: those that it imports, directly or not, and those that such a file names.
 *
 * Owns: the edges and the walk. Knows nothing of: the disk, git. Rules: imports of types count, because a changed type can change a test
 * that compiles; product code that a test names without importing it runs in another process, and is not an edge.
 */
import { relativeImportsOf, resolveImport, type SourceFile } from './tidy-rules.ts'

/** Importer to imported, as paths from the root. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>

export interface Reached {
  readonly file: string
  /** Imports from the test to the nearest changed file; 0: the test itself changed. */
  readonly imports: number
  /** That nearest file. */
  readonly changed: string
}

const IS_PRODUCT = /^(cluster|packages|src)\//

/** `files`: all paths of the repository. Documents and folders that a source names are ends of edges too. */
export function importGraph(sources: readonly SourceFile[], files: readonly string[]): ImportGraph {
  const known = new Set(files)
  const folders = new Set(files.map((file) => file.slice(0, file.lastIndexOf('/'))))
  return new Map(
    sources.map((source) => [
      source.path,
      new Set([
        ...relativeImportsOf(source),
        ...lateImportsOf(source),
        ...namedBy(source).filter((path) => {
          if (IS_PRODUCT.test(path) && !IS_PRODUCT.test(source.path)) return false
          return known.has(path) || (path.includes('/') && folders.has(path))
        }),
      ]),
    ]),
  )
}

function lateImportsOf({ path, text }: SourceFile): readonly string[] {
  return [...text.matchAll(/\bimport\('(\.[^'\n]+)'\)/g)].map((match) => resolveImport(path, match[1] ?? ''))
}

/** Texts that look like a path, relative to the file or to the root: `new URL('wal-worker.ts', import.meta.url)`, `docs/errors.md`. */
function namedBy({ path, text }: SourceFile): readonly string[] {
  return [...text.matchAll(/['"`]([\w@./-]+)['"`]/g)].flatMap(([, name = '']) => {
    const plain = name.replace(/\/$/, '')
    return [plain, resolveImport(path, plain)]
  })
}

/** The tests that lead to a changed file, nearest first. A file in a named folder counts as named. */
export function testsReaching(graph: ImportGraph, changed: readonly string[]): readonly Reached[] {
  const importers = new Map<string, string[]>()
  for (const [file, imports] of graph) {
    for (const target of imports) importers.set(target, [...(importers.get(target) ?? []), file])
  }
  const found = new Map<string, Reached>()
  for (const file of changed) found.set(file, { file, imports: 0, changed: file })
  for (const { file, imports, changed: origin } of found.values()) {
    const ends = imports === 0 ? [file, ...foldersOf(file)] : [file]
    for (const importer of ends.flatMap((end) => importers.get(end) ?? [])) {
      if (!found.has(importer)) found.set(importer, { file: importer, imports: imports + 1, changed: origin })
    }
  }
  return [...found.values()].filter(({ file }) => file.endsWith('.test.ts') && graph.has(file))
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, place) => parts.slice(0, place + 1).join('/'))
}
