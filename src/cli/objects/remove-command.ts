/**
 * `holdfast rm`: one object or version, or everything below a prefix.
 *
 * Rule: several objects are removed only with --recursive. Each object that could not be removed is reported, and fails the command.
 */
import type { DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printJson, printLine } from '../base/printing.ts'
import { type ObjectToRemove, removeAll } from './batch-removal.ts'
import { objectPages, versionPages } from './listing.ts'
import { objectPath, type RemotePath, remotePath } from './remote-path.ts'

export interface RemoveOptions extends DataAccessOptions {
  readonly recursive?: boolean
  readonly allVersions?: boolean
  readonly versionId?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function remove(path: string, options: RemoveOptions): Promise<number> {
  const { recursive = false, allVersions = false } = options
  if (allVersions && !recursive)
    throw new CommandError('--all-versions removes everything below a prefix', {
      code: 'invalid_argument',
      hint: 'Give --recursive with it, or name one version with --version-id.',
      exitCode: EXIT.usage,
    })
  return askData(options, (client) =>
    recursive ? removeBelow(client, remotePath(path), options) : removeOne(client, objectPath(path), options),
  )
}

async function removeOne(
  client: DataClient,
  { bucket, key }: RemotePath,
  options: RemoveOptions,
): Promise<number> {
  const { versionId, dryRun = false, json = false } = options
  const query = versionId === undefined ? {} : { versionId }
  if (dryRun) await client.call('headObject', { params: { bucket, key }, query })
  const headers = dryRun
    ? {}
    : (await client.call('deleteObject', { params: { bucket, key }, query })).headers
  const markerId =
    headers['x-service-delete-marker'] === 'true' ? (headers['x-service-version-id'] ?? null) : null
  if (json) printJson({ bucket, key, ...query, deleted: !dryRun, deleteMarkerVersionId: markerId })
  else note(`${dryRun ? 'would remove' : 'removed'} ${printable(`${bucket}/${key}`)}`)
  return EXIT.done
}

function removeBelow(client: DataClient, path: RemotePath, options: RemoveOptions): Promise<number> {
  return removeBatches(client, path.bucket, below(client, path, options.allVersions ?? false), options)
}

/** Batches of at most a page of a listing. */
export async function removeBatches(
  client: DataClient,
  bucket: string,
  batches: AsyncIterable<readonly ObjectToRemove[]>,
  { json = false, dryRun = false }: RemoveOptions,
): Promise<number> {
  const counts = { removed: 0, failed: 0 }
  for await (const batch of batches) {
    const results = dryRun
      ? batch.map((one) => ({ ...one, deleted: false, error: undefined }))
      : await removeAll(client, bucket, batch)
    for (const result of results) {
      if (result.error === undefined) counts.removed++
      else counts.failed++
      const name = printable(`${bucket}/${result.key}`)
      if (json) printJson(result)
      else if (result.error === undefined) printLine(`${dryRun ? 'would remove' : 'removed'}  ${name}`)
      else note(`failed  ${name}  ${result.error.code}: ${result.error.message}`)
    }
  }
  note(`${counts.removed} ${dryRun ? 'would be removed' : 'removed'}, ${counts.failed} failed`)
  return counts.failed === 0 ? EXIT.done : EXIT.failed
}

async function* below(
  client: DataClient,
  path: RemotePath,
  allVersions: boolean,
): AsyncGenerator<readonly ObjectToRemove[]> {
  const everything = { ...path, delimiter: '' }
  if (!allVersions)
    for await (const { objects } of objectPages(client, everything)) yield objects.map(({ key }) => ({ key }))
  else
    for await (const { versions } of versionPages(client, everything))
      yield versions.map(({ key, versionId }) => ({ key, versionId }))
}
