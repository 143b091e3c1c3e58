/**
 * Selects the tests for a change, or for a component, and says why.
 *
 * Owns: the selection of tests and the texts about it. Knows nothing of: the disk, git.
 * Rule: a changed file that no selected test reads is named; otherwise the selection would look complete.
 */
import { type ImportGraph, type Reached, testsReaching } from './import-graph.ts'

export interface Selection {
  readonly tests: readonly Reached[]
  /** The number of tests left out by `nearest`. */
  readonly further: number
  readonly uncovered: readonly string[]
}

interface Wanted {
  readonly changed: readonly string[]
  /** Folders of the tests; null: all. */
  readonly within: readonly string[] | null
  readonly nearest: number | undefined
}

/** A test that walks the tree by itself: its source does not name the files that it reads. */
const READS_BY_KIND: readonly { readonly kind: RegExp; readonly test: string }[] = [
  { kind: /\.md$/, test: 'test/house/documents.test.ts' },
]
const LISTED_MAX = 10

export function selectTests(graph: ImportGraph, { changed, within, nearest }: Wanted): Selection {
  const reached = new Map(testsReaching(graph, changed).map((found) => [found.file, found]))
  const coverers = new Map(changed.map((file) => [file, testsReaching(graph, [file]).length]))
  for (const { kind, test } of READS_BY_KIND) {
    const matching = changed.find((file) => kind.test(file))
    if (matching === undefined || !graph.has(test)) continue
    if (!reached.has(test)) reached.set(test, { file: test, imports: 1, changed: matching })
    for (const file of changed) if (kind.test(file)) coverers.set(file, 1)
  }
  const sorted = [...reached.values()]
    .filter(({ file }) => within === null || within.some((folder) => file.startsWith(folder)))
    .toSorted(
      (one, other) =>
        Number(isOfItsRoom(other)) - Number(isOfItsRoom(one)) ||
        one.imports - other.imports ||
        one.file.localeCompare(other.file, 'en'),
    )
  const tests = sorted.slice(0, nearest)
  return {
    tests,
    further: sorted.length - tests.length,
    uncovered: changed.filter((file) => coverers.get(file) === 0),
  }
}

/** The tests of a component are in the folder of its name. They come first, because through `cluster/index.ts` everything is few imports away. */
function isOfItsRoom({ file, changed }: Reached): boolean {
  const room = /^(?:cluster|src)\/([^/]+)\//.exec(changed)?.[1]
  return room !== undefined && file.startsWith(`test/${room}/`)
}

/** Folders of the sources and of the tests of a component, such as `raft` or `cluster/raft`. Null: there is none of that name. */
export function roomFolders(
  room: string,
  files: readonly string[],
): { readonly sources: readonly string[]; readonly tests: string } | null {
  const plain = room.replace(/^test\//, '').replace(/\/$/, '')
  const name = plain.replace(/^(cluster|src)\//, '')
  const tests = [`test/${name}/`, `test/programs/${name}/`].find((folder) =>
    files.some((file) => file.startsWith(folder) && file.endsWith('.test.ts')),
  )
  if (tests === undefined) return null
  const sources = name === plain ? [`cluster/${name}/`, `src/${name}/`] : [`${plain}/`]
  return { sources: [...sources, tests], tests }
}

/** The names of components with tests, sorted. */
export function roomNames(files: readonly string[]): readonly string[] {
  const names = files.flatMap((file) => /^test\/([^/]+)\/.*\.test\.ts$/.exec(file)?.[1] ?? [])
  return [...new Set(names)].toSorted()
}

export function describeSelection(selection: Selection, lists: boolean): string {
  const { tests, further, uncovered } = selection
  const shown = lists ? tests : tests.slice(0, LISTED_MAX)
  const lines = [
    `${tests.length} test files, those of the same component and with the fewest imports between first`,
    ...shown.map((test) => `  ${test.file}  ${reason(test)}`),
  ]
  if (shown.length < tests.length) lines.push(`  and ${tests.length - shown.length} more: --list names them`)
  if (further > 0) lines.push(`${further} further test files read what changed and are left out by --nearest`)
  if (uncovered.length > 0)
    lines.push(`${uncovered.length} changed files that no test imports or names:`, ...listed(uncovered))
  return `${lines.join('\n')}\n`
}

function listed(files: readonly string[]): readonly string[] {
  const rest = files.length - LISTED_MAX
  return [
    ...files.slice(0, LISTED_MAX).map((file) => `  ${file}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ]
}

function reason({ imports, changed }: Reached): string {
  if (imports === 0) return 'changed itself'
  return imports === 1 ? `reads ${changed}` : `reads ${changed} through ${imports - 1} other files`
}
