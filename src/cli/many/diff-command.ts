/**
 * `holdfast diff`: what differs between a folder and a prefix, or between two prefixes.
 *
 * Rules: a folder is compared as a sync would do it. Two objects with one etag have the same bytes; where etags differ and sizes do not, which is so
 * after an upload in parts, their CRC64NVME decides.
 */
import { stat } from 'node:fs/promises'
import type { DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { forEachInOrder } from '../base/in-order.ts'
import { interruption } from '../base/interruption.ts'
import { printable, printJson, printLine, sizeText } from '../base/printing.ts'
import { isLocalPath, type RemotePath, remotePath } from '../objects/remote-path.ts'
import { upwards } from '../sync/directions.ts'
import { type Entry, type Pair, sideBySide, stepFor } from '../sync/entry.ts'
import { asFolder, remoteEntries } from '../sync/remote-side.ts'

export interface DiffOptions extends DataAccessOptions {
  readonly checksum?: boolean
  readonly json?: boolean
}

/** Requests at once. */
const AT_ONCE = 16

interface Comparison {
  readonly pairs: AsyncIterable<Pair>
  /** Both sides exist with the same size. */
  readonly isSame: (pair: Pair) => Promise<boolean>
}

/** Ends with 1 when something differs. */
export async function diff(first: string, second: string, options: DiffOptions): Promise<number> {
  if (isLocalPath(first) && isLocalPath(second)) throw twoFolders()
  return askData(options, async (client) => {
    const { pairs, isSame } =
      isLocalPath(first) || isLocalPath(second)
        ? await withFolder(client, first, second, options)
        : ofPrefixes(client, asFolder(remotePath(first)), asFolder(remotePath(second)))
    let differing = 0
    await forEachInOrder(pairs, AT_ONCE, async (pair, submit) => {
      const state = await stateOf(pair, isSame)
      if (state === 'same') return
      differing++
      submit(() => print(pair, state, options))
    })
    return differing === 0 ? EXIT.done : EXIT.failed
  })
}

type State = 'same' | 'first' | 'second' | 'differs'

async function stateOf(pair: Pair, isSame: Comparison['isSame']): Promise<State> {
  const { source, target } = pair
  if (source === null) return 'second'
  if (target === null) return 'first'
  return source.size === target.size && (await isSame(pair)) ? 'same' : 'differs'
}

const MARKS = { first: '-', second: '+', differs: '!' } as const

function print({ path, source, target }: Pair, state: Exclude<State, 'same'>, { json }: DiffOptions): void {
  if (json) printJson({ path, state, firstSize: source?.size ?? null, secondSize: target?.size ?? null })
  else {
    const sizes = [source, target].flatMap((side) => (side === null ? [] : [sizeText(side.size)]))
    printLine(`${MARKS[state]}  ${printable(path)}  ${sizes.join(', ')}`)
  }
}

function ofPrefixes(client: DataClient, first: RemotePath, second: RemotePath): Comparison {
  const crcOf = async ({ bucket, key }: RemotePath, path: string): Promise<string | undefined> =>
    (await client.call('headObject', { params: { bucket, key: key + path } })).headers[
      'x-service-checksum-crc64nvme'
    ]
  return {
    pairs: sideBySide(remoteEntries(client, first), remoteEntries(client, second)),
    isSame: async ({ path, source, target }) => {
      if (source?.etag === target?.etag) return true
      const [one, other] = await Promise.all([crcOf(first, path), crcOf(second, path)])
      return one !== undefined && one === other
    },
  }
}

async function withFolder(
  client: DataClient,
  first: string,
  second: string,
  { checksum = false }: DiffOptions,
): Promise<Comparison> {
  const isFirst = isLocalPath(first)
  const root = isFirst ? first : second
  if (!((await stat(root).catch(() => null))?.isDirectory() ?? false)) throw notAFolder(root)
  const remote = asFolder(remotePath(isFirst ? second : first))
  const parts = {
    client,
    root,
    remote,
    signal: interruption(),
    onBytes: () => {},
    isMissing: false,
    keepsTimes: true,
  }
  const direction = upwards(parts)
  const rule = { removes: false, comparesBytes: checksum, keepsTimes: true }
  const [left, right] = isFirst
    ? [direction.sources(), direction.targets()]
    : [direction.targets(), direction.sources()]
  return {
    pairs: sideBySide(left, right),
    isSame: async (pair) => {
      const upward = isFirst ? pair : { ...pair, source: pair.target, target: pair.source }
      const step = stepFor(upward, rule)
      if (step === 'compare') return direction.hasSameBytes(upward)
      return step === 'keep' || (step === 'ask' && (await direction.hasSameTime(upward)))
    },
  }
}

export const describesSame = (a: Entry, b: Entry): boolean =>
  a.size === b.size && a.modifiedAt === b.modifiedAt && a.etag === b.etag

function twoFolders(): CommandError {
  return new CommandError('At least one side is bucket/prefix', {
    code: 'invalid_argument',
    hint: 'Two folders of this machine are compared by: diff -r',
    exitCode: EXIT.usage,
  })
}

function notAFolder(root: string): CommandError {
  return new CommandError(`'${root}' is not a folder`, {
    code: 'invalid_argument',
    hint: 'Name a folder with . or / at the beginning, or bucket/prefix.',
    exitCode: EXIT.usage,
  })
}
