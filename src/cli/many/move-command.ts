/**
 * `holdfast mv`: copies within the store and removes the source.
 *
 * Rules: a source is removed only after its copy was looked up and has the same bytes, and only if it is still the object that was copied. What
 * changed meanwhile stays, beside its copy.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printJson } from '../base/printing.ts'
import { objectPath, type RemotePath, remotePath } from '../objects/remote-path.ts'
import { asFolder } from '../sync/remote-side.ts'
import { folderIn } from './many-commands.ts'
import { type ManyOptions, reportMany } from './many-report.ts'
import { everythingBelow, type Matching, matchingOf, onePerItem } from './matching.ts'

export interface MoveOptions extends DataAccessOptions, ManyOptions {
  readonly recursive?: boolean
}

export async function move(from: string, to: string, options: MoveOptions): Promise<number> {
  return askData(options, async (client) => {
    if (options.recursive) {
      const source = asFolder(remotePath(from))
      return moveAll(client, everythingBelow(client, source), asFolder(remotePath(to)), options)
    }
    const source = objectPath(from)
    const matching = await matchingOf(client, source)
    return matching === null
      ? moveOne(client, source, remotePath(to), options)
      : moveAll(client, matching, folderIn(to), options)
  })
}

async function moveOne(
  client: DataClient,
  source: RemotePath,
  named: RemotePath,
  { json = false, dryRun = false }: MoveOptions,
): Promise<number> {
  const isFolder = named.key === '' || named.key.endsWith('/')
  const key = isFolder ? named.key + (source.key.split('/').at(-1) ?? '') : named.key
  const target = { bucket: named.bucket, key }
  const facts = dryRun ? { ...target, dryRun } : await moved(client, source, target)
  if (json) printJson(facts)
  else note(`${printable(`${target.bucket}/${key}`)}  ${dryRun ? 'would be ' : ''}moved`)
  return EXIT.done
}

function moveAll(
  client: DataClient,
  { bucket, folder, pages }: Matching,
  target: RemotePath,
  options: MoveOptions,
): Promise<number> {
  // The listing would come to what was moved, and move it again.
  if (target.bucket === bucket && target.key.startsWith(folder)) throw intoItself(target)
  return reportMany(onePerItem(pages()), 'moved', options, ({ key }) =>
    moved(client, { bucket, key }, { bucket: target.bucket, key: target.key + key.slice(folder.length) }),
  )
}

async function moved(
  client: DataClient,
  source: RemotePath,
  target: RemotePath,
): Promise<Readonly<Record<string, unknown>>> {
  if (source.bucket === target.bucket && source.key === target.key) throw intoItself(target)
  const { headers: before } = await client.call('headObject', { params: { ...source } })
  const etag = before['etag'] ?? ''
  const body = { sourceBucket: source.bucket, sourceKey: source.key, ifMatch: etag }
  const { answer } = await client.call('copyObject', { params: { ...target }, body })
  const { headers: after } = await client.call('headObject', { params: { ...target } })
  for (const name of ['x-service-object-length', 'x-service-checksum-crc64nvme'])
    if (before[name] !== after[name]) throw changed(source, 'its copy was replaced')
  try {
    await client.call('deleteObject', { params: { ...source }, headers: { 'If-Match': etag } })
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 412) throw changed(source, 'it was replaced')
    throw cause
  }
  return { ...answer, movedFrom: `${source.bucket}/${source.key}` }
}

function changed({ bucket, key }: RemotePath, why: string): CommandError {
  return new CommandError(`'${bucket}/${key}' is not removed: ${why} while it was moved`, {
    code: 'precondition_failed',
    hint: 'Both objects are kept. Look at them, and move it again.',
    exitCode: EXIT.refused,
  })
}

function intoItself({ bucket, key }: RemotePath): CommandError {
  return new CommandError(`'${bucket}/${key}' is the source itself, or within it`, {
    code: 'invalid_argument',
    hint: 'Name another target.',
    exitCode: EXIT.usage,
  })
}
