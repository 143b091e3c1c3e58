/**
 * Whose a request of the data listener is, and what it names: which requests are those of the S3 API, and where bucket and key stand in them.
 *
 * Owns: both styles, path and virtual host. Knows nothing of: whether the bucket exists. Rules: what lies below the mount of the native API, and the
 * paths that it has at the root, stay native, and no bucket has such a name [decisions 17]; a host below one of `listeners.s3_domain` is a bucket, whatever the
 * path; a key is decoded once and is never normalized.
 */
import { originForm, pathOf } from '../../request-target.ts'
import type { S3Level } from '../base/s3-route.ts'

export interface S3Target {
  readonly level: S3Level
  /** '' for none. */
  readonly bucket: string
  /** As it was sent; '' for none. */
  readonly rawKey: string
}

export interface S3Places {
  /** Lower case, without a port. */
  readonly domains: readonly string[]
  /** First parts of paths that are not buckets, such as `api`. */
  readonly nativeNames: ReadonlySet<string>
}

/** `target`: of the request line. */
export function isS3Request(target: string, host: string | undefined, places: S3Places): boolean {
  if (target === '*') return false
  if (bucketOfHost(host, places) !== null) return true
  const [first = ''] = pathOf(originForm(target)).slice(1).split('/', 1)
  return !places.nativeNames.has(first)
}

export function s3TargetOf(target: string, host: string | undefined, places: S3Places): S3Target {
  const path = pathOf(originForm(target)).slice(1)
  const ofHost = bucketOfHost(host, places)
  if (ofHost !== null) return named(ofHost, path)
  const end = path.indexOf('/')
  return end === -1 ? named(path, '') : named(path.slice(0, end), path.slice(end + 1))
}

function named(bucket: string, rawKey: string): S3Target {
  if (rawKey !== '') return { level: 'object', bucket, rawKey }
  return { level: bucket === '' ? 'service' : 'bucket', bucket, rawKey }
}

function bucketOfHost(host: string | undefined, { domains }: S3Places): string | null {
  if (host === undefined || domains.length === 0) return null
  // A name that ends with a dot is the same one. [RFC 9110 4.2.3, RFC 1034 3.1]
  const name = host.toLowerCase().replace(/\.?(:\d+)?$/, '')
  const domain = domains.find((candidate) => name.endsWith(`.${candidate}`))
  return domain === undefined ? null : name.slice(0, -domain.length - 1)
}
