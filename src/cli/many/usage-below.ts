/**
 * `holdfast du`: how many bytes and objects are below a prefix, folder by folder.
 *
 * Rule: keys come in order, so only the folders of the present key are in memory, as many as --depth.
 */
import type { DataClient } from '../../client/clients.ts'
import { askData, pagesOf } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printable, printJson, printLine, sizeText } from '../base/printing.ts'
import { objectPages, versionPages } from '../objects/listing.ts'
import { type RemotePath, remotePath } from '../objects/remote-path.ts'

export interface UsageBelowOptions extends DataAccessOptions {
  readonly depth: number
  readonly versions?: boolean
  readonly json?: boolean
}

export interface Folder {
  /** With a slash at its end; empty for all. */
  readonly path: string
  readonly bytes: number
  readonly objects: number
}

interface Sized {
  readonly key: string
  readonly size: number
}

export function usageBelow(path: string | undefined, options: UsageBelowOptions): Promise<number> {
  return askData(options, async (client) => {
    if (path !== undefined) await printFolders(client, remotePath(path), options)
    else
      for await (const { buckets } of pagesOf((from) => client.call('listBuckets', { query: from })))
        for (const { name } of buckets)
          await printFolders(client, { bucket: name, key: '' }, { ...options, depth: 0 })
    return EXIT.done
  })
}

async function printFolders(
  client: DataClient,
  { bucket, key: prefix }: RemotePath,
  { depth, versions = false, json = false }: UsageBelowOptions,
): Promise<void> {
  const keys = versions ? versionsBelow(client, bucket, prefix) : objectsBelow(client, bucket, prefix)
  for await (const { path, bytes, objects } of foldersOf(keys, prefix, depth)) {
    const name = `${bucket}/${prefix}${path}`
    if (json) printJson({ path: name, bytes, objects })
    else printLine(`${sizeText(bytes).padStart(10)}  ${`${objects}`.padStart(8)}  ${printable(name)}`)
  }
}

async function* objectsBelow(client: DataClient, bucket: string, key: string): AsyncGenerator<Sized> {
  for await (const { objects } of objectPages(client, { bucket, key, delimiter: '' })) yield* objects
}

async function* versionsBelow(client: DataClient, bucket: string, key: string): AsyncGenerator<Sized> {
  for await (const { versions } of versionPages(client, { bucket, key, delimiter: '' }))
    for (const { key: name, size = 0, isDeleteMarker } of versions)
      if (!isDeleteMarker) yield { key: name, size }
}

/** Each folder of at most this depth after what is in it, and the whole at last. */
export async function* foldersOf(
  keys: AsyncIterable<Sized>,
  prefix: string,
  depth: number,
): AsyncGenerator<Folder> {
  const open = [{ path: '', bytes: 0, objects: 0 }]
  for await (const { key, size } of keys) {
    const parts = key.slice(prefix.length).split('/').slice(0, -1).slice(0, depth)
    const paths = ['', ...parts.map((_, n) => `${parts.slice(0, n + 1).join('/')}/`)]
    const common = open.findIndex(({ path }, n) => path !== paths[n])
    for (const ended of open.splice(common === -1 ? open.length : common).toReversed()) yield ended
    for (const path of paths.slice(open.length)) open.push({ path, bytes: 0, objects: 0 })
    for (const folder of open) {
      folder.bytes += size
      folder.objects += 1
    }
  }
  yield* open.toReversed()
}
