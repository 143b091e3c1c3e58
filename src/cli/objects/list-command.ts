/**
 * `holdfast ls`: buckets, objects, versions.
 */
import type { DataClient } from '../../client/clients.ts'
import type { DataOperations } from '../../client/generated/data-operations.ts'
import { askData, pagesOf } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printable, printJson, printTable, sizeText } from '../base/printing.ts'
import { type RemotePath, remotePath } from './remote-path.ts'
import { objectPages, versionPages } from './listing.ts'

export interface ListOptions extends DataAccessOptions {
  readonly recursive?: boolean
  readonly versions?: boolean
  readonly json?: boolean
}

export function list(path: string | undefined, options: ListOptions): Promise<number> {
  return askData(options, async (client) => {
    if (path === undefined) await listBuckets(client, options)
    else if (options.versions) await listVersions(client, remotePath(path), options)
    else await listObjects(client, remotePath(path), options)
    return EXIT.done
  })
}

async function listBuckets(client: DataClient, { json = false }: ListOptions): Promise<void> {
  let isFirst = true
  for await (const { buckets } of pagesOf((from) => client.call('listBuckets', { query: from }))) {
    if (json) for (const bucket of buckets) printJson(bucket)
    else {
      if (isFirst && buckets.length > 0) printTable([['CREATED'.padEnd(24), 'VERSIONING ', 'BUCKET']])
      printTable(buckets.map(({ createdAt, versioning, name }) => [createdAt, versioning.padEnd(11), name]))
    }
    isFirst = false
  }
}

async function listObjects(
  client: DataClient,
  path: RemotePath,
  { recursive, json }: ListOptions,
): Promise<void> {
  const pages = objectPages(client, { ...path, delimiter: recursive ? '' : '/' })
  for await (const { objects, commonPrefixes } of pages) {
    if (json) {
      for (const prefix of commonPrefixes) printJson({ prefix })
      for (const object of objects) printJson(object)
    } else
      printTable([
        ...commonPrefixes.map((prefix) => [' '.repeat(24), ' '.repeat(10), printable(prefix)]),
        ...objects.map(({ lastModified, size, key }) => [lastModified, sized(size), printable(key)]),
      ])
  }
}

async function listVersions(
  client: DataClient,
  path: RemotePath,
  { recursive, json }: ListOptions,
): Promise<void> {
  const pages = versionPages(client, { ...path, delimiter: recursive ? '' : '/' })
  for await (const { versions, commonPrefixes } of pages) {
    if (json) {
      for (const prefix of commonPrefixes) printJson({ prefix })
      for (const version of versions) printJson(version)
    } else
      printTable([
        ...commonPrefixes.map((prefix) => ['', '', '', '', printable(prefix)]),
        ...versions.map(versionRow),
      ])
  }
}

type Version = DataOperations['listObjectVersions']['answer']['versions'][number]

function versionRow({ lastModified, size, versionId, isLatest, isDeleteMarker, key }: Version): string[] {
  const what = isDeleteMarker ? 'deleted'.padStart(10) : sized(size ?? 0)
  return [lastModified, what, versionId, isLatest ? 'latest' : '', printable(key)]
}

const sized = (bytes: number): string => sizeText(bytes).padStart(10)
