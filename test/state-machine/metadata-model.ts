/**
 * The bytes of metadata that a tenant must be counted, summed from its rows by arithmetic of its own.
 *
 * Knows objects, bucket policies and CORS rules: what the model makes.
 */
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import type { BucketPolicyRecord, CorsRecord } from '../../src/state-machine/buckets/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'

interface Rows {
  readonly rows: ReadonlyMap<string, object>
}

export function rowsOf<R>({ rows }: Rows, kind: string): R[] {
  return [...rows].filter(([key]) => kindOf(key) === kind).map(([, row]) => row as R)
}

/** 256 bytes for each object, policy and set of rules, and their texts in UTF-8. */
export function metadataIn(world: Rows): number {
  const texts = [
    ...rowsOf<ObjectRecord>(world, 'object').map(({ key, contentType, metadata, tags }) => {
      const pairs = [...Object.entries(metadata), ...Object.entries(tags)].flat()
      return [key, contentType, ...pairs].join('')
    }),
    ...rowsOf<BucketPolicyRecord>(world, 'bucketPolicy').map(({ policy }) => policy),
    ...rowsOf<CorsRecord>(world, 'cors').map((row) => JSON.stringify(row)),
  ]
  return texts.reduce((sum, text) => sum + 256 + Buffer.byteLength(text), 0)
}
