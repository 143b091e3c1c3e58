/**
 * The objects that a typed pattern means, page by page.
 *
 * Owns: when a text is a pattern. Rule: a key that exists by exactly that name is meant, otherwise the pattern; so a key with a star can
 * still be named. Only the pages of one listing are in memory.
 */
import { ApiError, type DataClient } from '../../client/clients.ts'
import type { ListedObject } from '../../client/generated/data-operations.ts'
import { CommandError } from '../base/exit.ts'
import { isPattern, literalStart, patternOf } from '../base/glob.ts'
import { objectPages } from '../objects/listing.ts'
import type { RemotePath } from '../objects/remote-path.ts'

export interface Matching {
  readonly bucket: string
  /** What a key has before the name below its target: the part of the pattern up to the last slash before a wildcard. */
  readonly folder: string
  /** Throws CommandError at the end when there was none. */
  readonly pages: () => AsyncGenerator<readonly ListedObject[]>
}

/** Null: the path is meant as it is, also where this key may not look. */
export async function matchingOf(client: DataClient, path: RemotePath): Promise<Matching | null> {
  const { bucket, key } = path
  if (!isPattern(key)) return null
  try {
    await client.call('headObject', { params: { bucket, key } })
    return null
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause
    if (cause.status !== 404) return null
  }
  const start = literalStart(key)
  const { matches } = patternOf(key)
  const folder = start.slice(0, start.lastIndexOf('/') + 1)
  const isMeant = ({ key: one }: ListedObject): boolean => matches(one)
  return { bucket, folder, pages: () => pagesOf(client, path, { start, isMeant }) }
}

/** Everything below a prefix. */
export function everythingBelow(client: DataClient, { bucket, key }: RemotePath): Matching {
  const pages = () => pagesOf(client, { bucket, key }, { start: key, isMeant: () => true })
  return { bucket, folder: key, pages }
}

async function* pagesOf(
  client: DataClient,
  { bucket, key }: RemotePath,
  { start, isMeant }: { readonly start: string; readonly isMeant: (one: ListedObject) => boolean },
): AsyncGenerator<readonly ListedObject[]> {
  let count = 0
  for await (const { objects } of objectPages(client, { bucket, key: start, delimiter: '' })) {
    const meant = objects.filter(isMeant)
    count += meant.length
    if (meant.length > 0) yield meant
  }
  if (count > 0) return
  throw new CommandError(`Nothing matches '${bucket}/${key}'`, {
    code: 'not_found',
    advice: `list what is there with: holdfast ls ${bucket}`,
    hint: '',
  })
}

export async function* onePerItem<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const page of pages) yield* page
}
