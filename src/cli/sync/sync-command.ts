/**
 * `holdfast sync`: copies a folder to a prefix, or a prefix to a folder.
 *
 * Owns: the order of the two passes. Rules: entries that exist only at the target are removed in a second pass, and only if everything was
 * copied and the source is not empty. Each failure is reported, and fails the command.
 */
import { stat } from 'node:fs/promises'
import { useMaskOfCaller } from '../../base/private-files.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { ByteBudget } from '../base/byte-budget.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { pathFilter } from '../base/glob.ts'
import { forEachInOrder } from '../base/in-order.ts'
import { orInterrupted } from '../base/interruption.ts'
import { isLocalPath, remotePath } from '../objects/remote-path.ts'
import { note } from '../base/printing.ts'
import { progressOn } from '../base/progress.ts'
import { bytesInMemory, downwards, type Direction, upwards } from './directions.ts'
import { type Entry, type Pair, type Rule, sideBySide, stepFor } from './entry.ts'
import { asFolder } from './remote-side.ts'
import { SyncReport } from './sync-report.ts'

export interface SyncOptions extends DataAccessOptions {
  readonly delete?: boolean
  readonly checksum?: boolean
  readonly dryRun?: boolean
  readonly exclude?: readonly string[]
  readonly include?: readonly string[]
  /** Times of files are kept. */
  readonly times: boolean
  readonly parallel: number
  readonly progress: boolean
  readonly json?: boolean
}

export async function sync(from: string, to: string, options: SyncOptions): Promise<number> {
  const isUp = isLocalPath(from)
  if (isUp === isLocalPath(to)) throw notOneOfEach()
  useMaskOfCaller()
  const root = isUp ? from : to
  const isFolder = (await stat(root).catch(() => null))?.isDirectory() ?? false
  if (isUp && !isFolder) throw notAFolder(root)
  const remote = asFolder(remotePath(isUp ? to : from))
  const isWanted = pathFilter({ excluded: options.exclude ?? [], included: options.include ?? [] })
  const progress = progressOn(process.stderr, 'sync', options.progress)
  const hint = 'Files that were copied stay. The same command continues with the rest.'
  try {
    return await askData(options, (client) =>
      orInterrupted(hint, (signal) => {
        const { times: keepsTimes } = options
        const onBytes = progress.advance
        const parts = { client, root, remote, signal, onBytes, isMissing: !isFolder, keepsTimes }
        const direction = filtered(isUp ? upwards(parts) : downwards(parts), isWanted)
        return carriedOut(direction, options, progress.clear)
      }),
    )
  } finally {
    progress.end()
  }
}

async function carriedOut(direction: Direction, options: SyncOptions, clear: () => void): Promise<number> {
  const { parallel, dryRun = false, delete: removes = false, checksum = false, times } = options
  const budget = new ByteBudget(TRANSFER_BYTES_MAX)
  const report = new SyncReport({ isDryRun: dryRun, isJson: options.json ?? false, beforeLine: clear })
  const rule: Rule = { removes, comparesBytes: checksum, keepsTimes: times }
  let sources = 0
  await forEachInOrder(pairsOf(direction), parallel, async (pair, submit) => {
    if (pair.source !== null) sources++
    const step = await decided(direction, pair, rule)
    const attempt = { action: direction.verb, path: pair.path, submit }
    if (step === 'copy') await report.tried(attempt, () => copied(direction, pair, dryRun, budget))
    else if (step === 'keep' && pair.source !== null) report.kept(pair)
  })
  if (removes) {
    if (sources === 0) throw emptySource()
    if (report.failures > 0) note('Nothing is removed, because not everything could be copied.')
    else await removeSurplus(direction, rule, { report, dryRun, parallel })
  }
  report.end()
  return report.failures === 0 ? EXIT.done : EXIT.failed
}

/** What the parts of all files in transfer take in memory: four large files, or thousands of small ones. */
const TRANSFER_BYTES_MAX = 4 * 3 * 16 * 1024 * 1024

async function copied(
  direction: Direction,
  pair: Pair,
  isDryRun: boolean,
  budget: ByteBudget,
): Promise<void> {
  direction.assertPossible(pair.path)
  if (isDryRun) return
  await budget.with(bytesInMemory(pair.source?.size ?? 0), () => direction.copy(pair))
}

/** What the patterns leave out is on neither side. */
function filtered(direction: Direction, isWanted: (path: string) => boolean): Direction {
  return {
    ...direction,
    sources: () => wanted(direction.sources(), isWanted),
    targets: () => wanted(direction.targets(), isWanted),
  }
}

async function* wanted(
  entries: AsyncIterable<Entry>,
  isWanted: (path: string) => boolean,
): AsyncGenerator<Entry> {
  for await (const entry of entries) if (isWanted(entry.path)) yield entry
}

const pairsOf = (direction: Direction): AsyncGenerator<Pair> =>
  sideBySide(direction.sources(), direction.targets())

async function decided(direction: Direction, pair: Pair, rule: Rule): Promise<'copy' | 'keep' | 'remove'> {
  const step = stepFor(pair, rule)
  if (step === 'ask') return (await direction.hasSameTime(pair)) ? 'keep' : 'copy'
  if (step !== 'compare') return step
  return (await direction.hasSameBytes(pair)) ? 'keep' : 'copy'
}

/** Lists both sides again: they may have changed during the copies, and neither was held in memory. */
async function removeSurplus(
  direction: Direction,
  rule: Rule,
  how: { readonly report: SyncReport; readonly dryRun: boolean; readonly parallel: number },
): Promise<void> {
  await forEachInOrder(pairsOf(direction), how.parallel, async (pair, submit) => {
    if (stepFor(pair, rule) !== 'remove') return
    await how.report.tried({ action: 'remove', path: pair.path, submit }, async () => {
      if (!how.dryRun) await direction.remove(pair)
    })
  })
}

function notOneOfEach(): CommandError {
  return new CommandError('One argument must be a folder of this machine, the other bucket/prefix', {
    code: 'invalid_argument',
    hint: 'Write the path of a folder with . or / at the beginning, such as ./photos.',
    exitCode: EXIT.usage,
  })
}

function notAFolder(root: string): CommandError {
  return new CommandError(`'${root}' is not a folder`, {
    code: 'invalid_argument',
    hint: 'Name a folder; holdfast put uploads a single file.',
    exitCode: EXIT.usage,
  })
}

function emptySource(): CommandError {
  return new CommandError('The source is empty: --delete would remove everything at the target', {
    code: 'source_empty',
    hint: 'If that is intended, remove it with holdfast rm --recursive, or rm for a folder.',
    exitCode: EXIT.refused,
  })
}
