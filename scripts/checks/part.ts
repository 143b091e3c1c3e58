/**
 * `npm run check -- --changed` and `--room`: the checks that concern a change, in seconds.
 *
 * Owns: reading the disk for the selection, and the order: the quick checks, then the tests nearest to the change.
 * Rule: success here does not replace `npm test`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeSelection, roomFolders, roomNames, type Selection, selectTests } from './selection.ts'
import { failedStep, quickSteps, ROOT } from './steps.ts'
import { runTests } from './tests.ts'
import { importGraph } from './import-graph.ts'
import { changedFiles, repositoryFiles } from './repository-files.ts'

interface Part {
  /** Undefined: the whole component. */
  readonly since: string | undefined
  /** Undefined: all components. */
  readonly room: string | undefined
  readonly nearest: number | undefined
  readonly jobs: number | undefined
  readonly keepsGoing: boolean
  /** Prints what it would check, and checks nothing. */
  readonly lists: boolean
}

/** Returns the exit code. */
export async function checkPart(part: Part): Promise<number> {
  const { since, room, nearest, jobs, lists } = part
  const files = repositoryFiles(ROOT)
  const folders = room === undefined ? null : roomFolders(room, files)
  if (room !== undefined && folders === null)
    throw new Error(
      `There is no component '${room}' with tests: expected one of ${roomNames(files).join(', ')}`,
    )
  const changed =
    since === undefined
      ? files.filter((file) => folders?.sources.some((folder) => file.startsWith(folder)))
      : changedFiles(ROOT, since)
  const selection = select(files, { changed, within: folders === null ? null : [folders.tests], nearest })
  const steps = quickSteps(changed.filter((file) => existsSync(join(ROOT, file))))
  const what = since === undefined ? `files of ${room}` : `files differ from ${since}`
  process.stdout.write(`${changed.length} ${what}: ${steps.map(({ name }) => name).join(', ')}\n`)
  const isRoom = since === undefined
  process.stdout.write(
    isRoom ? `${selection.tests.length} test files\n` : describeSelection(selection, lists),
  )
  if (lists) return 0
  const failed = await failedStep(steps)
  if (failed !== null) {
    process.stdout.write(`FAILED ${failed}, see above\n0 passed, 1 failed\n`)
    return 1
  }
  const tests = selection.tests.map(({ file }) => file)
  if (tests.length === 0) {
    process.stdout.write('0 passed, 0 failed\n')
    return 0
  }
  const order = isRoom ? 'longest-first' : 'as-given'
  return (await runTests(tests, { jobs, order, stopsAtFailure: !isRoom && !part.keepsGoing })) ? 0 : 1
}

function select(files: readonly string[], wanted: Parameters<typeof selectTests>[1]): Selection {
  const sources = files
    .filter((path) => /^(cluster|packages|src|test|scripts)\/.*\.(ts|mjs)$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
  return selectTests(importGraph(sources, files), wanted)
}
