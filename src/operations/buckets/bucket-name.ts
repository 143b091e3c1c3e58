/**
 * What a bucket may be called: the S3 rules. [decisions 0, "Bucket names"]
 *
 * Rule: a name that breaks them is never handed to the store; on a look-up it simply does not exist. A bucket that got a reserved name
 * before it was reserved stays what it is.
 */
const SHAPE = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** For documents: the source of a pattern. */
export const BUCKET_NAME: string = SHAPE.source
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/

/** What stands at the root of the data listener: in the addresses of the S3 API, where a bucket comes first, such a name would never arrive. */
const RESERVED: ReadonlySet<string> = new Set(['api', 'healthz', 'livez', 'readyz'])

/** Of a new bucket: null when the name is good, else the rule that it breaks. */
export function newBucketNameFault(name: string): string | null {
  if (RESERVED.has(name)) return 'it is reserved for addresses of this service'
  // In addresses of the form <bucket>.<domain> such a label could not be looked up.
  if (name.includes('.-') || name.includes('-.')) return 'a dot and a hyphen may not stand together'
  return bucketNameFault(name)
}

/** null when the name is good, else the rule that it breaks. */
export function bucketNameFault(name: string): string | null {
  if (!SHAPE.test(name)) {
    return 'use 3 to 63 lower-case letters, digits, dots and hyphens, with a letter or digit at both ends'
  }
  if (name.includes('..')) return 'two dots may not stand together'
  if (IPV4.test(name)) return 'it may not look like an IPv4 address'
  if (name.startsWith('xn--')) return 'it may not begin with "xn--"'
  return null
}
