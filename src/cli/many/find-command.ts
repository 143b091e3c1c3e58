/**
 * `holdfast find`: the objects below a prefix that have a name, a size or an age, one a line.
 */
import type { ListedObject } from '../../client/generated/data-operations.ts'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { patternOf } from '../base/glob.ts'
import { printable, printJson, printLine } from '../base/printing.ts'
import { objectPages } from '../objects/listing.ts'
import { remotePath } from '../objects/remote-path.ts'

export interface Wanted {
  /** A pattern of the last part of the key. */
  readonly name?: string
  /** A pattern of the whole key. */
  readonly path?: string
  /** Bytes. */
  readonly larger?: number
  readonly smaller?: number
  /** Milliseconds. */
  readonly newer?: number
  readonly older?: number
}

export interface FindOptions extends DataAccessOptions, Wanted {
  readonly print0?: boolean
  readonly json?: boolean
}

export function find(path: string, options: FindOptions): Promise<number> {
  const { bucket, key } = remotePath(path)
  const isWanted = wantedBy(options, Date.now())
  return askData(options, async (client) => {
    for await (const { objects } of objectPages(client, { bucket, key, delimiter: '' }))
      for (const object of objects.filter(isWanted)) {
        const name = `${bucket}/${object.key}`
        if (options.json) printJson({ bucket, ...object })
        else if (options.print0) process.stdout.write(`${name}\0`)
        else printLine(printable(name))
      }
    return EXIT.done
  })
}

/** All that is given must hold. */
export function wantedBy(
  { name, path, larger, smaller, newer, older }: Wanted,
  now: number,
): (object: Pick<ListedObject, 'key' | 'size' | 'lastModified'>) => boolean {
  const names = name === undefined ? null : patternOf(name)
  const paths = path === undefined ? null : patternOf(path)
  return ({ key, size, lastModified }) => {
    const age = now - Date.parse(lastModified)
    return (
      (names?.matches(key.slice(key.lastIndexOf('/') + 1)) ?? true) &&
      (paths?.matches(key) ?? true) &&
      size > (larger ?? -1) &&
      size < (smaller ?? Infinity) &&
      age < (newer ?? Infinity) &&
      age > (older ?? -Infinity)
    )
  }
}
